//! The editor of a chain: a draft beside its consequences. Nothing is sent before it is applied, and a change by somebody
//! else in the meantime is shown instead of being overwritten.

use axum::Router;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use axum::routing::get;
use serde_json::{Map, Value, json};
use tokio::join;

use crate::Console;
use crate::answer::see_other;
use crate::form::Form;
use crate::pages::chain_config::{ask_settings, schema_of, with_settings};
use crate::pages::chain_conflict::conflict;
use crate::refusal::Refusal;
use crate::visit::{Visit, encode};

/// Fields of a link that belong to the chain; the others are figures.
const FIELDS: [&str; 9] =
    ["name", "version", "config", "mode", "percent", "onFailure", "instances", "limits", "grants"];
const POINT: &str = "/api/manage/extension-points/{point}";
/// Maximum number of links that a form is read for.
const MOST_LINKS: usize = 17;

pub(crate) fn router() -> Router<Console> {
    Router::new().route("/console/n/{network}/modules/chains/{point}", get(page).post(apply))
}

async fn page(mut visit: Visit) -> Response {
    let shown = match visit.enter().await {
        Ok(()) => read(&visit).await,
        Err(refusal) => Err(refusal),
    };
    match shown {
        Ok(data) => visit.render("chain.html", data),
        Err(refusal) => visit.refused(&refusal).await,
    }
}

/// The chain as rows of the form. The rows of a form that was refused are those that were typed.
async fn read(visit: &Visit) -> Result<Value, Refusal> {
    let (chain, modules, changes) = join!(
        visit.get(POINT, &[]),
        visit.get("/api/manage/modules", &[("limit", "200")]),
        visit.get("/api/manage/extension-points/{point}/revisions", &[("limit", "5")]),
    );
    let (chain, modules, changes) = (chain?, modules?, changes?);
    let of_chain = || chain["modules"].as_array().into_iter().flatten().map(link_of).map(|link| row(&link, None));
    let mut rows: Vec<_> = if visit.form.get("links").is_some() { typed(&visit.form) } else { of_chain().collect() };
    let mut versions = Map::new();
    for shown in rows.iter().filter_map(|row| row["name"].as_str()) {
        if !versions.contains_key(shown) {
            let name = encode(shown);
            let list = visit.part(&format!("/api/manage/modules/{name}"), &[("limit", "20")]).await?;
            versions.insert(shown.to_owned(), list["items"].clone());
        }
    }
    let is_typed = visit.form.get("links").is_some();
    for (at, row) in rows.iter_mut().enumerate() {
        let form = is_typed.then_some((&visit.form, at));
        let schema = schema_of(&versions, row);
        ask_settings(row, schema, form);
        // Figures of what the row was.
        let mut links = chain["modules"].as_array().into_iter().flatten();
        let same = |link: &&Value| ["name", "version", "mode"].iter().all(|field| link[field] == row["was"][field]);
        row["figures"] = links.find(same).cloned().unwrap_or_default();
    }
    Ok(json!({"chain": chain, "rows": rows, "versions": versions, "modules": modules, "changes": changes["items"]}))
}

/// A link without its figures.
fn link_of(shown: &Value) -> Value {
    let fields = FIELDS.iter().filter(|field| !shown[**field].is_null());
    Value::Object(fields.map(|field| ((*field).to_owned(), shown[*field].clone())).collect())
}

/// A row of the form: the link as it was, and what it is to become.
fn row(link: &Value, typed: Option<(&Form, usize)>) -> Value {
    let field = |name: &str| match typed {
        Some((form, at)) => json!(form.get(&format!("{name}.{at}")).unwrap_or_default()),
        None => link[name].clone(),
    };
    let config = match typed {
        Some(_) => field("config"),
        None => json!(serde_json::to_string_pretty(&link["config"]).unwrap_or_default()),
    };
    json!({
        "link": link.to_string(), "name": link["name"], "was": link, "version": field("version"), "mode": field("mode"),
        "percent": field("percent"), "onFailure": field("onFailure"), "config": config,
        "position": field("position"), "remove": typed.is_some_and(|(form, at)| form.get(&format!("remove.{at}")).is_some()),
    })
}

fn typed(form: &Form) -> Vec<Value> {
    let links = (0..MOST_LINKS).filter_map(|at| {
        let link: Value = serde_json::from_str(form.exact(&format!("link.{at}"))?).ok()?;
        Some(row(&link, Some((form, at))))
    });
    links.collect()
}

/// The chain that a form asks for, in the order of its positions.
fn chain_of(form: &Form) -> Result<Value, Refusal> {
    let invalid = |message: String| Refusal::new("invalid_request", &message, StatusCode::BAD_REQUEST);
    let mut links: Vec<(f64, Value)> = vec![];
    for (at, row) in typed(form).into_iter().enumerate() {
        if row["remove"] == true {
            continue;
        }
        let name = row["name"].as_str().unwrap_or_default();
        let text = |field: &str| row[field].as_str().unwrap_or_default().to_owned();
        let number =
            |field: &str| text(field).parse::<i64>().map_err(|_| invalid(format!("{name}: {field} must be a number.")));
        let config: Value = serde_json::from_str(&text("config"))
            .map_err(|error| invalid(format!("The configuration of {name} is not JSON: {error}.")))?;
        let config = with_settings(config, form, at).map_err(|why| invalid(format!("{name}: {why}.")))?;
        let mut link = row["was"].clone();
        for (field, value) in [
            ("version", json!(number("version")?)),
            ("mode", json!(text("mode"))),
            ("onFailure", json!(text("onFailure"))),
            ("config", config),
            ("percent", json!(if text("mode") == "CANARY" { number("percent")? } else { 100 })),
        ] {
            link[field] = value;
        }
        links.push((text("position").parse().unwrap_or(at as f64 + 1.0), link));
    }
    if let Some(name) = form.get("add") {
        let version = form.get("addVersion").and_then(|version| version.parse::<i64>().ok());
        let version = version.ok_or_else(|| invalid(format!("{name}: the version must be a number.")))?;
        let mode = form.get("addMode").unwrap_or("SHADOW");
        let mut link = json!({"name": name, "version": version, "mode": mode, "config": {}});
        if mode == "CANARY" {
            let percent = form.get("addPercent").unwrap_or("10").parse::<i64>();
            link["percent"] = json!(percent.map_err(|_| invalid(format!("{name}: percent must be a number.")))?);
        }
        links.push((f64::MAX, link));
    }
    links.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    Ok(json!({"modules": links.into_iter().map(|(_, link)| link).collect::<Vec<_>>()}))
}

async fn apply(mut visit: Visit) -> Response {
    let done = match visit.enter().await {
        Ok(()) => put(&mut visit).await,
        Err(refusal) => Err(refusal),
    };
    match done {
        Ok(()) => {
            let page = visit.fill("/console/n/{network}/modules/chains/{point}?done=Saved", &[]);
            see_other(&page, &[])
        }
        Err(refusal) if refusal.is_of_stranger() || refusal.code == "csrf_token_wrong" => visit.refused(&refusal).await,
        Err(refusal) => {
            visit.problem = Some(refusal);
            match read(&visit).await {
                Ok(data) => visit.render("chain.html", data),
                Err(refusal) => visit.refused(&refusal).await,
            }
        }
    }
}

/// Puts the chain, unless it changed since the page was made.
async fn put(visit: &mut Visit) -> Result<(), Refusal> {
    let body = chain_of(&visit.form)?;
    let route =
        if visit.form.get("force").is_some() { "/api/manage/extension-points/{point}?force=true" } else { POINT };
    let revision = visit.form.get("revision").map(str::to_owned);
    let sent = visit.send_from(Method::PUT, route, Some(&body), revision.as_deref()).await;
    let Err(refusal) = sent else { return Ok(()) };
    if refusal.code != "revision_changed" {
        return Err(refusal);
    }
    let links = |chain: &Value| chain["modules"].as_array().into_iter().flatten().map(link_of).collect::<Vec<_>>();
    let of_form = || typed(&visit.form).into_iter().map(|row| row["was"].clone()).collect::<Vec<_>>();
    let changed = &refusal.details["changed"];
    let before = if changed["before"].is_null() { of_form() } else { links(&changed["before"]) };
    let conflict = conflict(&[before, links(&changed["now"]), links(&body)]);
    visit.result = json!({"conflict": conflict});
    let message = "Somebody changed this chain meanwhile. Nothing you typed is lost.";
    Err(Refusal { message: message.to_owned(), ..refusal })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_becomes_a_chain_in_the_order_of_its_positions() {
        let link = |name: &str| json!({"name": name, "version": 1, "config": {}, "limits": {"fuel": 5}}).to_string();
        let mut form = form_urlencoded::Serializer::new(String::new());
        for (at, name, position, mode) in
            [("0", "a", "2", "CANARY"), ("1", "b", "1", "ACTIVE"), ("2", "c", "3", "ACTIVE")]
        {
            form.append_pair(&format!("link.{at}"), &link(name))
                .append_pair(&format!("version.{at}"), "7")
                .append_pair(&format!("mode.{at}"), mode)
                .append_pair(&format!("percent.{at}"), "20")
                .append_pair(&format!("onFailure.{at}"), "SKIP")
                .append_pair(&format!("config.{at}"), r#"{"x": 1}"#)
                .append_pair(&format!("position.{at}"), position);
        }
        form.append_pair("remove.2", "1").append_pair("add", "d").append_pair("addVersion", "3");
        let form = Form::parse(form.finish().as_bytes()).unwrap();
        let chain = chain_of(&form).unwrap();
        let changed = |name: &str, mode: &str, percent: i64| {
            json!({"name": name, "version": 7, "config": {"x": 1}, "limits": {"fuel": 5}, "mode": mode, "percent": percent,
                "onFailure": "SKIP"})
        };
        let added = json!({"name": "d", "version": 3, "mode": "SHADOW", "config": {}});
        let canary = Form::parse(b"add=d&addVersion=3&addMode=CANARY&addPercent=25").unwrap();
        assert_eq!(chain_of(&canary).unwrap()["modules"][0]["percent"], 25);
        assert_eq!(chain, json!({"modules": [changed("b", "ACTIVE", 100), changed("a", "CANARY", 20), added]}));
    }
}
