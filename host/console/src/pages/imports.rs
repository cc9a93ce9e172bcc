//! Imports from other tools: a file, its forecast, its progress, and what was left out, by line.

use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::post;
use serde_json::{Value, json};

use crate::action::Action;
use crate::answer::see_other;
use crate::page::{Page, page};
use crate::refusal::Refusal;
use crate::visit::Visit;
use crate::{Console, multipart};

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

pub(crate) fn router() -> Router<Console> {
    // The page is one of those above.
    Router::new().route("/console/n/{network}/imports/file", post(upload))
}

async fn upload(State(console): State<Console>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let mut visit = Visit::opened(&mut parts, &console).await;
    if let Err(refusal) = visit.enter().await {
        return visit.refused(&refusal).await;
    }
    let sent = match multipart::read(&parts, body).await {
        Ok((form, file)) => {
            visit.form = form;
            let field = |name| visit.form.get(name).unwrap_or_default().to_owned();
            let dry_run = if field("dryRun").is_empty() { "false" } else { "true" };
            let (kind, currency, prefix, scopes) = (field("kind"), field("currency"), field("prefix"), field("scopes"));
            let query = [
                ("kind", kind.as_str()),
                ("dryRun", dry_run),
                ("currency", &currency),
                ("prefix", &prefix),
                ("scopes", &scopes),
            ];
            visit.upload("/api/manage/imports", &query, file).await
        }
        Err(refusal) => Err(refusal),
    };
    match sent {
        Ok(answer) => {
            let id = answer.body["importId"].as_str().unwrap_or_default().to_owned();
            visit.params.insert("importId".into(), id);
            see_other(&visit.fill("/console/n/{network}/imports/{importId}?done=Imported", &[]), &[])
        }
        Err(refusal) if refusal.is_of_stranger() || refusal.code == "csrf_token_wrong" => visit.refused(&refusal).await,
        Err(refusal) => {
            visit.problem = Some(refusal);
            match list(&visit).await {
                Ok(data) => visit.render("imports.html", data),
                Err(refusal) => visit.refused(&refusal).await,
            }
        }
    }
}
