//! A network's modules, and the chains that they are in.

use axum::Router;
use axum::extract::State;
use axum::routing::post;
use serde_json::{Value, json};
use tokio::join;

use crate::Console;
use crate::action::{Action, Verb};
use crate::form::Field;
use crate::page::{Page, page};
use crate::refusal::Refusal;
use crate::upload::{Upload, fields};
use crate::visit::Visit;

pub(super) static PAGES: &[Page] = &[
    page!("/n/{network}/modules", "modules.html", list),
    page!("/n/{network}/modules/{name}", "module.html", one),
    page!("/n/{network}/modules/{name}/dead-letters", "dead-letters.html", dead_letters),
    page!("/n/{network}/modules/chains/{point}/differences", "differences.html", differences),
    page!("/n/{network}/modules/chains/{point}/revisions", "revisions.html", revisions),
];

const LETTERS: &str = "/n/{network}/modules/{name}/dead-letters";
const REVISIONS: &str = "/n/{network}/modules/chains/{point}/revisions";
const CODE: &[Field] = &[Field::text("code")];

pub(super) static ACTIONS: &[Action] = &[
    Action::post(
        "/n/{network}/modules/chains/{point}/revisions/{revision}/restore",
        "/api/manage/extension-points/{point}/revisions/{revision}/restore",
        &[],
        REVISIONS,
        "Restored",
    )
    .at_revision(),
    Action::post(
        "/n/{network}/modules/kept/{name}/end",
        "/api/manage/extension-points/events/kept/{name}",
        &[],
        "/n/{network}/modules",
        "Removed",
    )
    .verb(Verb::Delete),
    Action::post(
        "/n/{network}/modules/{name}/versions/{version}/delete",
        "/api/manage/modules/{name}/{version}",
        &[],
        "/n/{network}/modules/{name}",
        "Deleted",
    )
    .verb(Verb::Delete),
    Action::post(LETTERS, "/api/manage/modules/{name}/dead-letters/retry", CODE, LETTERS, "Retried"),
    Action::post(
        "/n/{network}/modules/{name}/dead-letters/{deadLetterId}/retry",
        "/api/manage/modules/{name}/dead-letters/{deadLetterId}/retry",
        &[],
        LETTERS,
        "Retried",
    ),
    Action::post(
        "/n/{network}/modules/{name}/dead-letters/{deadLetterId}/delete",
        "/api/manage/modules/{name}/dead-letters/{deadLetterId}",
        &[],
        LETTERS,
        "Deleted",
    )
    .verb(Verb::Delete),
];

static FILE: Upload = Upload {
    route: "/api/manage/modules",
    query: |form| fields(form, &["name"]),
    page: &PAGES[0],
    then: ("/console/n/{network}/modules/{name}?done=Uploaded", "name"),
};

pub(crate) fn router() -> Router<Console> {
    let upload = async |State(console), request| FILE.answer(console, request).await;
    Router::new().route("/console/n/{network}/modules", post(upload))
}

/// All extension points.
pub(super) const POINTS: [&str; 9] =
    ["matchmaking", "chat", "punishment", "login", "economy", "queue", "events", "endpoints", "schedules"];

async fn list(visit: &Visit) -> Result<Value, Refusal> {
    let modules = visit.get("/api/manage/modules", &[("limit", "100")]).await?;
    let mut chains = vec![];
    for point in POINTS {
        let chain = visit.get(&format!("/api/manage/extension-points/{point}"), &[]).await?;
        chains.push(json!({"point": point, "chain": chain}));
    }
    Ok(json!({"modules": modules, "chains": chains}))
}

/// Versions of a module, its links and what they do, and its log.
async fn one(visit: &Visit) -> Result<Value, Refusal> {
    let page = [("page", visit.query("page"))];
    let (versions, log, activation, schedules, secrets) = join!(
        visit.get("/api/manage/modules/{name}", &page),
        visit.part("/api/manage/modules/{name}/logs", &[("limit", "100")]),
        visit.get("/api/manage/modules/{name}/activation", &[]),
        visit.get("/api/manage/modules/{name}/schedules", &[("limit", "100")]),
        visit.part("/api/manage/secrets", &[]),
    );
    let (versions, activation, schedules, secrets) = (versions?, activation?, schedules?, secrets?);
    let at_endpoints = |link: &&Value| link["point"] == "endpoints";
    let link = activation["links"].as_array().into_iter().flatten().find(at_endpoints);
    let mut endpoints = Value::Null;
    if let Some(version) = link.and_then(|link| link["version"].as_i64()) {
        let name = visit.fill("{name}", &[]);
        let active = visit.get(&format!("/api/manage/modules/{name}/{version}"), &[]).await?;
        endpoints = active["manifest"]["endpoints"].clone();
    }
    let links = activation["links"].clone();
    Ok(json!({"versions": versions, "log": log?, "links": links, "endpoints": endpoints,
        "schedules": schedules["items"], "secrets": secrets["secrets"]}))
}

/// Events that a module did not handle.
async fn dead_letters(visit: &Visit) -> Result<Value, Refusal> {
    let query = [("limit", "50"), ("page", visit.query("page"))];
    Ok(json!({"letters": visit.get("/api/manage/modules/{name}/dead-letters", &query).await?}))
}

/// Answers of a chain's shadows beside those that decide.
async fn differences(visit: &Visit) -> Result<Value, Refusal> {
    Ok(json!({"chain": visit.get("/api/manage/extension-points/{point}", &[]).await?}))
}

/// Earlier forms of a chain, and who made them.
async fn revisions(visit: &Visit) -> Result<Value, Refusal> {
    let query = [("limit", "50"), ("page", visit.query("page"))];
    let (chain, revisions) = join!(
        visit.get("/api/manage/extension-points/{point}", &[]),
        visit.get("/api/manage/extension-points/{point}/revisions", &query),
    );
    Ok(json!({"chain": chain?, "revisions": revisions?}))
}
