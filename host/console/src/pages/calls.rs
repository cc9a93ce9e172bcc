//! Calls of modules: the latest of a point, one of them explained, and what another version would have answered.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::action::Action;
use crate::form::Field;
use crate::page::{Page, page};
use crate::refusal::Refusal;
use crate::visit::{Visit, encode};

pub(super) static PAGES: &[Page] = &[
    page!("/n/{network}/modules/chains/{point}/calls", "calls.html", list),
    page!("/n/{network}/modules/chains/{point}/calls/{callId}", "call.html", one),
    page!("/n/{network}/modules/{name}/replay", "replay.html", replay),
];

const REPLAY: &str = "/api/manage/modules/{name}/{version}/replay";
const ONE: &[Field] = &[Field::text("point"), Field::text("callId")];
const MANY: &[Field] = &[Field::text("point"), Field::number("last")];

/// Both change nothing: their answers are on the page of the form.
pub(super) static ACTIONS: &[Action] = &[
    Action::post(
        "/n/{network}/modules/chains/{point}/calls/{callId}",
        REPLAY,
        ONE,
        "/n/{network}/modules/chains/{point}/calls/{callId}",
        "",
    )
    .show(),
    Action::post("/n/{network}/modules/{name}/replay", REPLAY, MANY, "/n/{network}/modules/{name}/replay", "").show(),
];

const CALLS: &str = "/api/manage/extension-points/{point}/calls";

async fn list(visit: &Visit) -> Result<Value, Refusal> {
    let (module, failed) = (visit.query("module"), visit.query("failed"));
    let query = [("limit", "100"), ("offset", visit.query("offset")), ("module", module), ("failed", failed)];
    Ok(json!({"calls": visit.get(CALLS, &query).await?}))
}

async fn one(visit: &Visit) -> Result<Value, Refusal> {
    let call = match visit.get("/api/manage/extension-points/{point}/calls/{callId}", &[]).await {
        // Only the latest are kept.
        Err(refusal) if refusal.status == StatusCode::NOT_FOUND => Value::Null,
        call => call?,
    };
    let mut versions = json!({});
    for module in call["modules"].as_array().into_iter().flatten() {
        let shown = module["name"].as_str().unwrap_or_default();
        let name = encode(shown);
        let list = visit.part(&format!("/api/manage/modules/{name}"), &[("limit", "20")]).await?;
        versions[shown] = list["items"].clone();
    }
    Ok(json!({"call": call, "versions": versions}))
}

async fn replay(visit: &Visit) -> Result<Value, Refusal> {
    Ok(json!({"versions": visit.get("/api/manage/modules/{name}", &[("limit", "20")]).await?}))
}
