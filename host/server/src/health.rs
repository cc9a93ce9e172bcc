//! Liveness, readiness, and the build stamp.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::endpoints::{Endpoints, RouteFacts, public_endpoints};
use crate::http::extract::Json;

const PING_TIMEOUT: Duration = Duration::from_secs(1);

/// The routes; they need no key.
pub(crate) fn router() -> Endpoints {
    // Whoever watches the hub is never refused.
    let watched = RouteFacts::default();
    public_endpoints![version]
        .route(utoipa_axum::routes!(healthz), watched)
        .route(utoipa_axum::routes!(readyz), watched)
}

/// The process lives
///
/// Answers as long as the hub can answer anything; says nothing about its database.
#[utoipa::path(get, path = "/healthz", tag = "Health", operation_id = "get_health", responses((status = 200, body = Health)))]
async fn healthz() -> Json<Health> {
    Json(Health { status: "OK", lacks: vec![] })
}

#[derive(Debug, Serialize, ToSchema)]
struct Health {
    /// `OK` or `UNAVAILABLE`.
    #[schema(value_type = String, example = "OK")]
    status: &'static str,
    /// What is missing: `database`, `bus`, `homes`.
    #[schema(value_type = Vec<String>)]
    lacks: Vec<&'static str>,
}

/// The hub can do its work
///
/// 503 names what it lacks; a load balancer should send callers elsewhere meanwhile.
#[utoipa::path(get, path = "/readyz", tag = "Health", operation_id = "get_readiness",
    responses((status = 200, body = Health), (status = 503, body = Health, description = "Not ready")))]
async fn readyz(State(app): State<App>) -> (StatusCode, Json<Health>) {
    let mut lacks = vec![];
    // A database behind a cut connection does not answer at all. That networks keep it busy is no reason to stop sending
    // them here.
    if !matches!(tokio::time::timeout(PING_TIMEOUT, app.db.reserved().ping()).await, Ok(Ok(()))) {
        lacks.push("database");
    }
    if !app.bus.is_reachable() {
        lacks.push("bus");
    }
    lacks.extend(app.shards.lacks());
    if app.stopping().is_cancelled() || app.shards.is_draining() {
        lacks.push("time: the hub is stopping");
    }
    if lacks.is_empty() {
        return (StatusCode::OK, Json(Health { status: "OK", lacks }));
    }
    (StatusCode::SERVICE_UNAVAILABLE, Json(Health { status: "UNAVAILABLE", lacks }))
}

/// What this hub was built from.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct BuildStamp {
    #[schema(value_type = String, example = "hub")]
    component: &'static str,
    #[schema(value_type = String, example = "0.1.0")]
    version: &'static str,
    /// How many commits lie behind this build.
    build: u64,
    /// The commit's short hash.
    #[schema(value_type = String, example = "1a2b3c4")]
    commit: &'static str,
    /// When the commit was made, ISO 8601.
    #[schema(value_type = String, example = "2026-11-21T10:00:00Z")]
    build_time: &'static str,
    /// Whether the tree had changes that no commit holds.
    dev: bool,
}

/// The build stamp
#[utoipa::path(get, path = "/api/version", tag = "About", operation_id = "get_version", responses((status = 200, body = BuildStamp)))]
async fn version() -> Json<BuildStamp> {
    Json(BuildStamp {
        component: "hub",
        version: env!("CARGO_PKG_VERSION"),
        build: env!("HUB_BUILD").parse().unwrap_or(0),
        commit: env!("HUB_COMMIT"),
        build_time: env!("HUB_BUILD_TIME"),
        dev: env!("HUB_DEV") == "true",
    })
}
