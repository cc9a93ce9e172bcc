//! The activation of a module: one version, configuration and set of grants at several extension points, changed together.

use axum::Router;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use axum::routing::post;
use serde_json::{Map, Value, json};
use tokio::join;

use crate::Console;
use crate::action::{Action, Verb};
use crate::answer::see_other;
use crate::form::{Field, Form, body};
use crate::page::{Page, page};
use crate::pages::chain_config::{ask_settings, schema_of, with_settings};
use crate::pages::chain_conflict::shown;
use crate::pages::modules::POINTS;
use crate::refusal::Refusal;
use crate::visit::Visit;

pub(super) static PAGES: &[Page] = &[page!("/n/{network}/modules/{name}/activation", "activation.html", read)];

const PAGE: &str = "/n/{network}/modules/{name}/activation";
const ACTIVATION: &str = "/api/manage/modules/{name}/activation";
const VERSIONS: &str = "/api/manage/modules/{name}";
/// Points where a module answers with effects: it needs grants there.
const WITH_EFFECTS: [&str; 3] = ["events", "endpoints", "schedules"];
/// Rights of a module, each a field of the form.
const GRANTS: &[Field] = &[
    Field::lines("scopes"),
    Field::lines("hosts"),
    Field::lines("secrets"),
    Field::lines("permissionNodes"),
    Field::lines("commands"),
];
/// Fields of a link that a person or a program chose.
const CHOSEN: [&str; 9] =
    ["point", "version", "config", "mode", "percent", "onFailure", "instances", "limits", "grants"];

pub(super) static ACTIONS: &[Action] = &[
    Action::post(
        "/n/{network}/modules/{name}/activation/rollback",
        "/api/manage/modules/{name}/activation/rollback",
        &[],
        PAGE,
        "Rolled back",
    ),
    Action::post("/n/{network}/modules/{name}/activation/end", ACTIVATION, &[], PAGE, "Removed")
        .verb(Verb::Delete)
        .confirm("name"),
];

pub(crate) fn router() -> Router<Console> {
    Router::new().route("/console/n/{network}/modules/{name}/activation", post(apply))
}

/// Links without their figures.
fn chosen(activation: &Value) -> Vec<Value> {
    let links = activation["links"].as_array().into_iter().flatten();
    let of = |link: &Value| {
        let fields = CHOSEN.iter().filter(|field| !link[**field].is_null());
        Value::Object(fields.map(|field| ((*field).to_owned(), link[*field].clone())).collect())
    };
    links.map(of).collect()
}

/// The activation as a form: as it is, as it was typed, or as the manifest of the newest version asks for.
async fn read(visit: &Visit) -> Result<Value, Refusal> {
    let (activation, versions) = join!(visit.get(ACTIVATION, &[]), visit.get(VERSIONS, &[("limit", "20")]));
    let (activation, versions) = (activation?, versions?);
    let typed = visit.form.get("was").is_some().then_some(&visit.form);
    let links = chosen(&activation);
    let ready = || versions["items"].as_array().into_iter().flatten().filter(|it| it["state"] == "READY");
    let newest = ready().next().cloned().unwrap_or_default();
    let first = links.first().cloned().unwrap_or_default();
    let version = match typed {
        Some(form) => json!(form.get("version").and_then(|version| version.parse::<i64>().ok())),
        None if first.is_null() => newest["version"].clone(),
        None => first["version"].clone(),
    };
    let manifest = ready().find(|it| it["version"] == version).unwrap_or(&newest)["manifest"].clone();
    let config = match typed {
        Some(form) => form.get("config.0").unwrap_or("{}").to_owned(),
        None => serde_json::to_string_pretty(first.get("config").unwrap_or(&json!({}))).unwrap_or_default(),
    };
    let name = visit.params.get("name").cloned().unwrap_or_default();
    let mut row = json!({"name": name, "version": version, "config": config});
    let by_name = Map::from_iter([(name, versions["items"].clone())]);
    let schema = schema_of(&by_name, &row);
    ask_settings(&mut row, schema, typed.map(|form| (form, 0)));
    let grants = GRANTS.iter().map(|field| {
        let name = field.name();
        let given = if first.is_null() { &manifest[name] } else { &first["grants"][name] };
        let lines = given.as_array().into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>().join("\n");
        let value = typed.map_or(lines, |form| form.get(name).unwrap_or_default().to_owned());
        json!({"name": name, "value": value, "asked": manifest[name]})
    });
    let grants: Vec<_> = grants.collect();
    // One that some version serves, or where the module is.
    let serves =
        |point: &str| ready().any(|it| it["points"].as_array().is_some_and(|all| all.iter().any(|it| it == point)));
    let now = |point: &str| activation["links"].as_array().into_iter().flatten().find(|link| link["point"] == point);
    let points = POINTS.into_iter().filter(|point| serves(point) || now(point).is_some()).map(|point| {
        let link = now(point).cloned().unwrap_or_default();
        let field = |name: &str| match typed {
            Some(form) => json!(form.get(&format!("{name}.{point}"))),
            None => link[name].clone(),
        };
        let on = typed.map_or(!link.is_null() || first.is_null(), |form| form.get(&format!("at.{point}")).is_some());
        json!({"point": point, "on": on, "mode": field("mode"), "percent": field("percent"),
            "onFailure": field("onFailure"), "effects": WITH_EFFECTS.contains(&point), "now": link})
    });
    let points: Vec<_> = points.collect();
    let was = json!(links).to_string();
    Ok(
        json!({"activation": activation, "versions": versions, "row": row, "grants": grants, "points": points, "was": was}),
    )
}

/// The activation that a form asks for.
fn activation_of(form: &Form) -> Result<Value, Refusal> {
    let invalid = |message: String| Refusal::new("invalid_request", &message, StatusCode::BAD_REQUEST);
    let number = |name: &str| {
        let text = form.get(name).unwrap_or_default();
        text.parse::<i64>().map_err(|_| invalid(format!("{name} must be a number.")))
    };
    let config = serde_json::from_str(form.get("config.0").unwrap_or("{}"))
        .map_err(|error| invalid(format!("The configuration is not JSON: {error}.")))?;
    let config = with_settings(config, form, 0).map_err(|why| invalid(format!("{why}.")))?;
    let mut links = Map::new();
    for point in POINTS.into_iter().filter(|point| form.get(&format!("at.{point}")).is_some()) {
        let before = before(form);
        let before = before.iter().find(|link| link["point"] == point);
        let mut link = Map::new();
        for kept in ["instances", "limits"] {
            if let Some(value) = before.and_then(|link| link.get(kept)) {
                link.insert(kept.to_owned(), value.clone());
            }
        }
        for name in ["mode", "onFailure"] {
            if let Some(value) = form.get(&format!("{name}.{point}")) {
                link.insert(name.to_owned(), json!(value));
            }
        }
        if link.get("mode").is_some_and(|mode| mode == "CANARY") {
            link.insert("percent".to_owned(), json!(number(&format!("percent.{point}"))?));
        }
        links.insert(point.to_owned(), Value::Object(link));
    }
    let mut activation = json!({"version": number("version")?, "config": config, "points": links});
    let grants = body(GRANTS, form)?;
    if grants.as_object().is_some_and(|grants| !grants.is_empty()) {
        activation["grants"] = grants;
    }
    if let Some(from) = form.get("from").filter(|_| activation["points"]["events"].is_object()) {
        activation["from"] = json!(from);
    }
    Ok(activation)
}

/// Links that the form was made from.
fn before(form: &Form) -> Vec<Value> {
    form.exact("was").and_then(|was| serde_json::from_str(was).ok()).unwrap_or_default()
}

async fn apply(mut visit: Visit) -> Response {
    let done = match visit.enter().await {
        Ok(()) => put(&mut visit).await,
        Err(refusal) => Err(refusal),
    };
    match done {
        Ok(()) => see_other(&visit.fill("/console/n/{network}/modules/{name}/activation?done=Saved", &[]), &[]),
        Err(refusal) if refusal.is_of_stranger() || refusal.code == "csrf_token_wrong" => visit.refused(&refusal).await,
        Err(refusal) => {
            visit.problem = Some(refusal);
            match read(&visit).await {
                Ok(data) => visit.render("activation.html", data),
                Err(refusal) => visit.refused(&refusal).await,
            }
        }
    }
}

/// Activates the module, unless its links changed since the page was made.
async fn put(visit: &mut Visit) -> Result<(), Refusal> {
    let body = activation_of(&visit.form)?;
    let (now, revision) = visit.get_with_revision(ACTIVATION).await?;
    let (before, now) = (before(&visit.form), chosen(&now));
    if before != now {
        visit.result = json!({"conflict": conflict(&before, &now, &body)});
        let message = "Somebody changed this meanwhile. Nothing you typed is lost.";
        return Err(Refusal::new("revision_changed", message, StatusCode::CONFLICT));
    }
    let is_forced = visit.form.get("force").is_some();
    let route = if is_forced { "/api/manage/modules/{name}/activation?force=true" } else { ACTIVATION };
    // Between this look and the change the revision decides.
    visit.send_from(Method::PUT, route, Some(&body), revision.as_deref()).await?;
    Ok(())
}

/// The links before, theirs and yours, point by point.
fn conflict(before: &[Value], now: &[Value], body: &Value) -> Vec<Value> {
    let of = |links: &[Value], point: &str| {
        let links: Vec<_> = links.iter().filter(|link| link["point"] == point).map(shown).collect();
        if links.is_empty() { Value::Null } else { json!(links.join(", ")) }
    };
    let yours = |point: &str| {
        let mut link = body["points"].get(point)?.clone();
        (link["version"], link["config"]) = (body["version"].clone(), body["config"].clone());
        Some(shown(&link))
    };
    let rows = POINTS.into_iter().map(
        |point| json!({"field": point, "before": of(before, point), "theirs": of(now, point), "yours": yours(point)}),
    );
    rows.filter(|row| row["before"] != row["theirs"] || row["before"] != row["yours"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_becomes_an_activation() {
        let was =
            r#"[{"point": "chat", "version": 1, "mode": "ACTIVE", "limits": {"fuel": 5}, "instances": "REUSED"}]"#;
        let form = form_urlencoded::Serializer::new(String::new())
            .extend_pairs([
                ("was", was),
                ("version", "2"),
                ("config.0", r#"{"words": ["x"]}"#),
                ("set.0.n.days", "3"),
                ("at.chat", "1"),
                ("mode.chat", "CANARY"),
                ("percent.chat", "20"),
                ("onFailure.chat", "SKIP"),
                ("at.events", "1"),
                ("mode.events", "ACTIVE"),
                ("mode.schedules", "ACTIVE"),
                ("scopes", "economy:write\nevents:read"),
                ("hosts", ""),
                ("from", "NOW"),
            ])
            .finish();
        let form = Form::parse(form.as_bytes()).unwrap();
        let activation = activation_of(&form).unwrap();
        let chat =
            json!({"mode": "CANARY", "percent": 20, "onFailure": "SKIP", "limits": {"fuel": 5}, "instances": "REUSED"});
        let expected = json!({"version": 2, "config": {"words": ["x"], "days": 3}, "from": "NOW",
            "points": {"chat": chat, "events": {"mode": "ACTIVE"}},
            "grants": {"scopes": ["economy:write", "events:read"]}});
        assert_eq!(activation, expected);
        let rows = conflict(&before(&form), &[], &activation);
        assert_eq!(rows[0]["yours"], r#"2 canary 20 % {"days":3,"words":["x"]}"#);
        assert_eq!((&rows[0]["before"], &rows[0]["theirs"]), (&json!("1 active"), &Value::Null));
        assert_eq!((rows.len(), &rows[1]["field"]), (2, &json!("events")));
        assert!(activation_of(&Form::parse(b"version=x").unwrap()).unwrap_err().message.contains("version"));
    }
}
