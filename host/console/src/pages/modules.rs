//! A network's modules, and the chains that they are in.

use axum::Router;
use axum::extract::State;
use axum::routing::post;
use serde_json::{Value, json};
use tokio::join;

use crate::Console;
use crate::page::{Page, page};
use crate::refusal::Refusal;
use crate::upload::{Upload, fields};
use crate::visit::Visit;

pub(super) static PAGES: &[Page] =
    &[page!("/n/{network}/modules", "modules.html", list), page!("/n/{network}/modules/{name}", "module.html", one)];

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

const POINTS: [&str; 3] = ["matchmaking", "chat", "punishment"];

async fn list(visit: &Visit) -> Result<Value, Refusal> {
    let modules = visit.get("/api/manage/modules", &[("limit", "100")]).await?;
    let mut chains = vec![];
    for point in POINTS {
        let chain = visit.get(&format!("/api/manage/extension-points/{point}"), &[]).await?;
        chains.push(json!({"point": point, "chain": chain}));
    }
    Ok(json!({"modules": modules, "chains": chains}))
}

async fn one(visit: &Visit) -> Result<Value, Refusal> {
    let (versions, log) = join!(
        visit.get("/api/manage/modules/{name}", &[]),
        visit.part("/api/manage/modules/{name}/logs", &[("limit", "100")]),
    );
    Ok(json!({"versions": versions?, "log": log?}))
}
