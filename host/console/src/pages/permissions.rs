//! Groups and players' permissions: who may what, and why.

use axum::Router;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use axum::routing::get;
use serde_json::{Map, Value, json};
use tokio::join;

use crate::Console;
use crate::action::{Action, Verb};
use crate::answer::see_other;
use crate::form::{Field, Form};
use crate::page::{Page, page};
use crate::refusal::Refusal;
use crate::visit::Visit;

pub(super) static PAGES: &[Page] = &[
    page!("/n/{network}/permissions", "permissions.html", list),
    page!("/n/{network}/players/{uuid}/permissions", "player-permissions.html", of_player),
];

const GROUPS: &str = "/api/plugin/permissions/groups";
const GROUP: &str = "/api/plugin/permissions/groups/{groupId}";
const OWN: &str = "/api/plugin/permissions/users/{uuid}/permissions";
const NODE: &[Field] = &[
    Field::text("node"),
    Field::choice("value"),
    Field::text("context"),
    Field::text("world"),
    Field::number("expiresAt"),
];
const NEW: &[Field] = &[Field::text("displayName"), Field::number("priority")];
const OF_PLAYER: &str = "/n/{network}/players/{uuid}/permissions";
/// Texts of a group beside its nodes.
const FIELDS: [&str; 5] = ["displayName", "priority", "chatPrefix", "chatPrefixColor", "chatNameColor"];
/// Maximum number of nodes that a form is read for: as many as a group may have, and the blank rows.
const MOST_NODES: usize = 2_010;

pub(super) static ACTIONS: &[Action] = &[
    Action::post("/n/{network}/permissions", GROUP, NEW, "/n/{network}/permissions", "Saved").verb(Verb::Put),
    Action::post("/n/{network}/permissions/{groupId}/delete", GROUP, &[], "/n/{network}/permissions", "Deleted")
        .verb(Verb::Delete)
        .confirm("groupId"),
    Action::post(OF_PLAYER, OWN, NODE, OF_PLAYER, "Saved"),
    Action::post(
        "/n/{network}/players/{uuid}/permissions/remove",
        "/api/plugin/permissions/users/{uuid}/permissions/remove",
        NODE,
        OF_PLAYER,
        "Removed",
    ),
];

async fn list(visit: &Visit) -> Result<Value, Refusal> {
    Ok(json!({"groups": visit.get(GROUPS, &[]).await?}))
}

/// A player's own nodes, and with a question in the address the answer and how it came about.
async fn of_player(visit: &Visit) -> Result<Value, Refusal> {
    let node = visit.query("node");
    let context = [("context", visit.query("context")), ("world", visit.query("world"))];
    let asked = [context[0], context[1], ("node", node), ("explain", "true")];
    let effective = "/api/plugin/permissions/users/{uuid}/effective";
    let (player, own, all, asked, groups) = join!(
        visit.get("/api/plugin/players/{uuid}", &[]),
        visit.get(OWN, &[]),
        visit.get(effective, &context),
        async { if node.is_empty() { Ok(Value::Null) } else { visit.get(effective, &asked).await } },
        visit.get(GROUPS, &[]),
    );
    let answer = asked?;
    Ok(json!({
        "player": player?, "nodes": own?, "effective": all?, "asked": answer["explanation"][0], "groups": groups?,
    }))
}

pub(crate) fn router() -> Router<Console> {
    Router::new().route("/console/n/{network}/permissions/{groupId}", get(group_page).post(apply))
}

async fn group_page(mut visit: Visit) -> Response {
    let shown = match visit.enter().await {
        Ok(()) => read(&visit).await,
        Err(refusal) => Err(refusal),
    };
    match shown {
        Ok(data) => visit.render("permission-group.html", data),
        Err(refusal) => visit.refused(&refusal).await,
    }
}

/// The group, and its nodes as rows of the form: those that were typed, where it was refused.
async fn read(visit: &Visit) -> Result<Value, Refusal> {
    let groups = visit.get(GROUPS, &[]).await?;
    let id = visit.params.get("groupId").map(String::as_str);
    let mut found = groups.as_array().into_iter().flatten();
    let group = found.find(|group| group["groupId"].as_str() == id).cloned().ok_or_else(Refusal::not_found)?;
    let rows =
        if visit.form.get("was").is_some() { json!(nodes_of(&visit.form)) } else { group["permissions"].clone() };
    Ok(json!({"group": group, "rows": rows, "groups": groups, "was": group.to_string()}))
}

/// The nodes that a form asks for.
fn nodes_of(form: &Form) -> Vec<Value> {
    let row = |at: usize| {
        let node = form.get(&format!("node.{at}"))?;
        if form.get(&format!("remove.{at}")).is_some() {
            return None;
        }
        let text = |name: &str| form.get(&format!("{name}.{at}")).map(str::to_owned);
        let expires = text("expiresAt").map(|it| it.parse::<i64>().map_or_else(|_| json!(it), |it| json!(it)));
        let value = text("value").is_none_or(|value| value == "true");
        Some(
            json!({"node": node, "value": value, "context": text("context"), "world": text("world"), "expiresAt": expires}),
        )
    };
    (0..MOST_NODES).filter_map(row).collect()
}

fn group_of(form: &Form) -> Value {
    let text = |name: &&str| form.get(name).map(|text| json!(text));
    let mut group: Map<_, _> = FIELDS.iter().filter_map(|name| Some(((*name).to_owned(), text(name)?))).collect();
    if let Some(priority) = form.get("priority") {
        group.insert("priority".into(), priority.parse::<i64>().map_or_else(|_| json!(priority), |it| json!(it)));
    }
    group.insert("permissions".into(), json!(nodes_of(form)));
    Value::Object(group)
}

async fn apply(mut visit: Visit) -> Response {
    let done = match visit.enter().await {
        Ok(()) => put(&mut visit).await,
        Err(refusal) => Err(refusal),
    };
    match done {
        Ok(()) => see_other(&visit.fill("/console/n/{network}/permissions/{groupId}?done=Saved", &[]), &[]),
        Err(refusal) if refusal.is_of_stranger() || refusal.code == "csrf_token_wrong" => visit.refused(&refusal).await,
        Err(refusal) => {
            visit.problem = Some(refusal);
            match read(&visit).await {
                Ok(data) => visit.render("permission-group.html", data),
                Err(refusal) => visit.refused(&refusal).await,
            }
        }
    }
}

/// Puts the group, unless it changed since the page was made. Between the look and the change its revision decides.
async fn put(visit: &mut Visit) -> Result<(), Refusal> {
    let body = group_of(&visit.form);
    let (now, revision) = visit.get_with_revision(GROUP).await?;
    let was: Value = visit.form.get("was").and_then(|was| serde_json::from_str(was).ok()).unwrap_or_default();
    if was != now {
        visit.result = json!({"conflict": conflict(&was, &now, &body)});
        let message = "Somebody changed this group meanwhile. Nothing you typed is lost.";
        return Err(Refusal::new("revision_changed", message, StatusCode::CONFLICT));
    }
    visit.send_from(Method::PUT, GROUP, Some(&body), revision.as_deref()).await.map(drop)
}

/// Differences between before, theirs and yours, field by field and node by node.
fn conflict(was: &Value, now: &Value, yours: &Value) -> Vec<Value> {
    let mut rows = vec![];
    for field in FIELDS {
        if was[field] != now[field] {
            rows.push(json!({"field": field, "before": was[field], "theirs": now[field], "yours": yours[field]}));
        }
    }
    let nodes = |group: &Value| -> Map<String, Value> {
        let nodes = group["permissions"].as_array().into_iter().flatten();
        nodes.map(|node| (name_of(node), json!(shown(node)))).collect()
    };
    let (was, now, yours) = (nodes(was), nodes(now), nodes(yours));
    for name in was.keys().chain(now.keys().filter(|name| !was.contains_key(*name))) {
        if was.get(name) != now.get(name) {
            rows.push(
                json!({"field": name, "before": was.get(name), "theirs": now.get(name), "yours": yours.get(name)}),
            );
        }
    }
    rows
}

fn name_of(node: &Value) -> String {
    let parts = ["node", "context", "world"].map(|part| node[part].as_str().unwrap_or_default());
    parts.join(" ").trim_end().to_owned()
}

fn shown(node: &Value) -> String {
    let value = if node["value"] == false { "no" } else { "yes" };
    node["expiresAt"].as_i64().map_or_else(|| value.to_owned(), |at| format!("{value}, {at}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_becomes_a_group_without_blank_and_removed_rows() {
        let form = b"displayName=VIP&priority=5&node.0=a&value.0=false&node.1=b&remove.1=1&node.2=&node.3=c&context.3=server%3Dx&expiresAt.3=7";
        let node = |node: &str, value: bool, context: Option<&str>, expires: Option<i64>| json!({"node": node, "value": value, "context": context, "world": null, "expiresAt": expires});
        let expected = json!({"displayName": "VIP", "priority": 5,
            "permissions": [node("a", false, None, None), node("c", true, Some("server=x"), Some(7))]});
        assert_eq!(group_of(&Form::parse(form).unwrap()), expected);
    }

    #[test]
    fn a_conflict_names_what_others_changed() {
        let group = |priority: i64, nodes: Value| json!({"priority": priority, "permissions": nodes});
        let was = group(1, json!([{"node": "a", "value": true}]));
        let now = group(2, json!([{"node": "a", "value": false}, {"node": "b", "value": true}]));
        let fields: Vec<_> = conflict(&was, &now, &was).into_iter().map(|row| row["field"].clone()).collect();
        assert_eq!(fields, ["priority", "a", "b"]);
    }
}
