//! Imports from other tools: a file, its forecast, its progress, and what was left out, by line.

use axum::Router;
use axum::extract::State;
use axum::routing::post;
use serde_json::{Value, json};

use crate::Console;
use crate::action::Action;
use crate::page::{Page, page};
use crate::refusal::Refusal;
use crate::upload::{Upload, fields};
use crate::visit::Visit;

pub(super) static PAGES: &[Page] = &[
    page!("/n/{network}/imports", "imports.html", list),
    page!("/n/{network}/imports/{importId}", "import.html", one),
];

const IMPORT: &str = "/n/{network}/imports/{importId}";

pub(super) static ACTIONS: &[Action] = &[Action::post(
    "/n/{network}/imports/{importId}/cancel",
    "/api/manage/imports/{importId}/cancel",
    &[],
    IMPORT,
    "Cancelled",
)];

async fn list(visit: &Visit) -> Result<Value, Refusal> {
    let query = [("limit", "20"), ("page", visit.query("page"))];
    Ok(json!({"imports": visit.get("/api/manage/imports", &query).await?}))
}

async fn one(visit: &Visit) -> Result<Value, Refusal> {
    Ok(json!({"import": visit.get("/api/manage/imports/{importId}", &[]).await?}))
}

static FILE: Upload = Upload {
    route: "/api/manage/imports",
    query: |form| {
        let dry_run = form.get("dryRun").is_some();
        let mut query = fields(form, &["kind", "currency", "prefix", "scopes"]);
        query.push(("dryRun", dry_run.to_string()));
        query
    },
    page: &PAGES[0],
    then: ("/console/n/{network}/imports/{importId}?done=Imported", "importId"),
};

pub(crate) fn router() -> Router<Console> {
    let upload = async |State(console), request| FILE.answer(console, request).await;
    Router::new().route("/console/n/{network}/imports/file", post(upload))
}
