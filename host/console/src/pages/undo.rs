//! Undoing a change from its entry in the audit log. What others changed since is shown before it is overwritten.

use axum::Router;
use axum::http::Method;
use axum::response::Response;
use axum::routing::post;
use serde_json::{Value, json};

use crate::Console;
use crate::answer::see_other;
use crate::pages::{hub, network};
use crate::refusal::Refusal;
use crate::visit::Visit;

pub(crate) fn router() -> Router<Console> {
    Router::new().route("/console/n/{network}/audit/undo", post(undo)).route("/console/hub/audit/undo", post(undo))
}

async fn undo(mut visit: Visit) -> Response {
    let of_hub = !visit.params.contains_key("network");
    let page = if of_hub { "/console/hub/audit" } else { "/console/n/{network}/audit" };
    let done = match visit.enter().await {
        Ok(()) => take_back(&mut visit, of_hub).await,
        Err(refusal) => Err(refusal),
    };
    match done {
        Ok(()) => see_other(&visit.fill(&format!("{page}?done=Undone"), &[]), &[]),
        Err(refusal) if refusal.is_of_stranger() || refusal.code == "csrf_token_wrong" => visit.refused(&refusal).await,
        Err(refusal) => {
            visit.problem = Some(refusal);
            let data = if of_hub { hub::audit(&visit).await } else { network::audit(&visit).await };
            match data {
                Ok(data) => visit.render("audit.html", data),
                Err(refusal) => visit.refused(&refusal).await,
            }
        }
    }
}

async fn take_back(visit: &mut Visit, of_hub: bool) -> Result<(), Refusal> {
    let (entry, undo) = if of_hub {
        ("/api/admin/audit/{id}", "/api/admin/audit/{id}/undo")
    } else {
        ("/api/manage/audit/{id}", "/api/manage/audit/{id}/undo")
    };
    let force = if visit.form.get("force").is_some() { "?force=true" } else { "" };
    let sent = visit.send_from(Method::POST, &format!("{undo}{force}"), None, None).await;
    let Err(refusal) = sent else { return Ok(()) };
    let changed = &refusal.details["changed"];
    if changed.is_object() && force.is_empty() {
        let entry = visit.get(entry, &[]).await?;
        visit.result = json!({"conflict": conflicts(&entry, &changed["now"]), "entry": entry["id"]});
    }
    Err(refusal)
}

/// Fields of an entry that are others now.
fn conflicts(entry: &Value, now: &Value) -> Vec<Value> {
    let (before, after) = (&entry["before"], &entry["after"]);
    // A value that is no object is the only field.
    let alone = !before.is_object() && !after.is_object();
    let of = |value: &Value, name: &str| if alone { value.clone() } else { value[name].clone() };
    let names = now.as_object().into_iter().flat_map(|now| now.keys());
    let fields = names.filter(|name| {
        let (before, after) = (of(before, name), of(after, name));
        before != after && after != now[name.as_str()]
    });
    let shown = fields.map(|name| {
        json!({"field": name, "before": of(before, name), "yours": of(after, name), "theirs": now[name.as_str()]})
    });
    shown.collect()
}
