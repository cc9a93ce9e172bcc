//! Files that are saved: passed on as the hub's routes stream them.

use axum::Router;
use axum::body::to_bytes;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION};
use axum::response::Response;
use axum::routing::get;

use crate::Console;
use crate::refusal::Refusal;
use crate::visit::{Visit, encode};

/// Maximum size of a refusal that is read.
const MOST_BYTES: usize = 64 << 10;

pub(crate) fn router() -> Router<Console> {
    Router::new()
        .route("/console/n/{network}/players/{uuid}/export", get(player))
        .route("/console/n/{network}/audit/export", get(audit))
        .route("/console/hub/audit/export", get(hub_audit))
}

async fn player(visit: Visit) -> Response {
    let name = format!("player-{}.json", visit.params.get("uuid").map(|it| encode(it)).unwrap_or_default());
    save(visit, "/api/manage/players/{uuid}/export", &name).await
}

async fn audit(visit: Visit) -> Response {
    save(visit, "/api/manage/audit/export", "audit.jsonl").await
}

async fn hub_audit(visit: Visit) -> Response {
    save(visit, "/api/admin/audit/export", "audit-of-the-hub.jsonl").await
}

/// Passes a route's answer on as a file of this name. Reading goes on no longer than the person may.
async fn save(mut visit: Visit, route: &str, name: &str) -> Response {
    if let Err(refusal) = visit.enter().await {
        return visit.refused(&refusal).await;
    }
    let path = visit.fill(route, &[]);
    let mut response = visit.console.door.open(&visit.sender, &path, &[]).await;
    if !response.status().is_success() {
        let status = response.status();
        let body = to_bytes(response.into_body(), MOST_BYTES).await.unwrap_or_default();
        return visit.refused(&Refusal::of_hub(status, &body, None)).await;
    }
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(value) = HeaderValue::try_from(format!("attachment; filename=\"{name}\"")) {
        headers.insert(CONTENT_DISPOSITION, value);
    }
    response
}
