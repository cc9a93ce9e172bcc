//! Liveness, readiness with faults and their start times, and the build stamp.

use std::borrow::Cow;
use std::convert::Infallible;
use std::path::Path;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use hub_db::Backend;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::background::every;
use crate::blobs::Blobs;
use crate::clock::{Clock, Millis};
use crate::cluster::ShardRegistry;
use crate::component::{Component, ErrorCode, Tag};
use crate::endpoints::{Endpoints, RouteFacts, public_endpoints};
use crate::fault::{Fault, FaultKind};
use crate::http::extract::Json;
use crate::identity::{self, Identity};
use crate::timekeeping::Timekeeping;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "liveness, readiness and version of this node",
    tags: &[Tag("Health", "Health of the hub."), Tag("About", "Version of the hub.")],
    errors: &[ErrorCode::new(
        "starting",
        &[503],
        "The hub is starting, and waits for its database or its bus; try again.",
    )],
    routes: router,
    background: start,
    ..Component::new(module_path!())
};

const PING_TIMEOUT: Duration = Duration::from_secs(1);
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// A disk with fewer free bytes counts as full: a transaction may need that many.
const FULL_BELOW: u64 = 4 << 20;

/// Routes, without a key.
fn router() -> Endpoints {
    // Monitoring is never refused and asks this node, regardless of any key in the request.
    let watched = RouteFacts::default().any_node();
    public_endpoints![version]
        .route(utoipa_axum::routes!(healthz), watched)
        .route(utoipa_axum::routes!(readyz), watched)
}

/// Checks for faults periodically, so that their start times are known.
fn start(app: &App) {
    every(app, CHECK_INTERVAL, "check the hub's health", async |app: App| {
        check(&app).await;
        Ok::<_, Infallible>(())
    });
}

/// The process lives
///
/// Succeeds while the process can respond; independent of the database.
#[utoipa::path(get, path = "/healthz", tag = "Health", operation_id = "get_health", responses((status = 200, body = Health)))]
async fn healthz() -> Json<Health> {
    Json(alive())
}

/// Health of a process that can respond.
pub fn alive() -> Health {
    Health { status: "OK", lacks: vec![], faults: vec![] }
}

/// Health of a hub that has not started, because this part cannot be reached.
pub fn waiting_for(part: FaultKind) -> Health {
    let message = match part {
        FaultKind::Bus => "The hub is starting, and the bus does not serve it; the hub's log has the reason.",
        _ => "The hub is starting, and the database does not answer.",
    };
    let report = FaultReport { name: part, since: Clock::System.now(), message: message.into() };
    Health { status: "UNAVAILABLE", lacks: vec![part], faults: vec![report] }
}

/// Health of a node.
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    /// `OK` or `UNAVAILABLE`.
    #[schema(value_type = String, example = "OK")]
    status: &'static str,
    /// Faults because of which other nodes serve clients better.
    lacks: Vec<FaultKind>,
    /// All active faults.
    faults: Vec<FaultReport>,
}

/// An active fault.
#[derive(Debug, Serialize, ToSchema)]
struct FaultReport {
    name: FaultKind,
    /// Time of first detection, in milliseconds since the Unix epoch.
    #[schema(example = 1_795_424_563_000_i64)]
    since: Millis,
    /// Message for the operator.
    #[schema(value_type = String, example = "The bus is unreachable.")]
    message: Cow<'static, str>,
}

/// The hub can do its work
///
/// 503 lists the faults in `lacks`: load balancers should route clients to other nodes. `faults` contains all active
/// faults, including those compensated by other nodes, with their start times.
#[utoipa::path(get, path = "/readyz", tag = "Health", operation_id = "get_readiness",
    responses((status = 200, body = Health), (status = 503, body = Health, description = "Not ready")))]
async fn readyz(State(app): State<App>) -> (StatusCode, Json<Health>) {
    let faults = check(&app).await;
    let lacks: Vec<_> = faults.iter().filter(|(fault, _)| fault.is_disabling).map(|(fault, _)| fault.kind).collect();
    let report = |(fault, since): (Fault, Millis)| FaultReport { name: fault.kind, since, message: fault.message };
    let faults = faults.into_iter().map(report).collect();
    if lacks.is_empty() {
        return (StatusCode::OK, Json(Health { status: "OK", lacks, faults }));
    }
    (StatusCode::SERVICE_UNAVAILABLE, Json(Health { status: "UNAVAILABLE", lacks, faults }))
}

/// Active faults with their start times.
async fn check(app: &App) -> Vec<(Fault, Millis)> {
    let faults = find_faults(app).await;
    app.faults.observe(faults, app.clock.now())
}

/// Active faults, at most one of each kind.
async fn find_faults(app: &App) -> Vec<Fault> {
    let mut faults = vec![];
    // A database behind a broken connection does not answer at all. A database busy with networks' requests is no
    // reason to route them elsewhere.
    if !matches!(tokio::time::timeout(PING_TIMEOUT, app.db.reserved().ping()).await, Ok(Ok(()))) {
        faults.push(Fault::disabling(FaultKind::Database, "The database does not answer."));
    }
    if app.db.backend() == Backend::Sqlite && is_full(&app.settings.data) {
        faults.push(Fault::disabling(FaultKind::Disk, "The disk of the data folder is full."));
    } else if app.db.has_failed_writes() {
        match identity::probe_write(&app.db).await {
            Ok(()) => app.db.note_writes_work(),
            Err(_) => faults.push(Fault::disabling(FaultKind::Disk, "The database cannot be written: its disk fails.")),
        }
    }
    if app.db.lacks_connections() {
        let message = "The database server has no more connections: this node waits for its own.";
        faults.push(Fault::tolerable(FaultKind::Connections, message));
    }
    if !app.bus.is_reachable() {
        // If no node reaches the bus, this one serves as well as any other.
        let fault = if app.state::<ShardRegistry>().others_reach_bus() { Fault::disabling } else { Fault::tolerable };
        faults.push(fault(FaultKind::Bus, "The bus is unreachable."));
    }
    faults.extend(app.state::<ShardRegistry>().faults());
    if !faults.iter().any(|fault| fault.kind == FaultKind::Cluster) {
        faults.extend(app.state::<Identity>().fault().or_else(|| app.state::<Blobs>().fault()));
    }
    if !faults.iter().any(|fault| fault.kind == FaultKind::Clock) {
        faults.extend(app.state::<Timekeeping>().fault());
    }
    faults.extend(app.passes.fault());
    if app.stopping().is_cancelled() || app.state::<ShardRegistry>().is_draining() {
        faults.push(Fault::disabling(FaultKind::Stopping, "The hub is stopping."));
    }
    faults
}

/// True if a folder's disk has too little space for the database. The disk is local, so the check does not block.
fn is_full(folder: &Path) -> bool {
    let Ok(disk) = rustix::fs::statvfs(folder) else { return false };
    let bytes = disk.f_bavail.saturating_mul(disk.f_frsize);
    // Some file systems do not count files.
    bytes < FULL_BELOW || (disk.f_files > 0 && disk.f_favail == 0)
}

/// Build information of this hub.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct BuildStamp {
    #[schema(value_type = String, example = "hub")]
    component: &'static str,
    #[schema(value_type = String, example = "0.1.0")]
    version: &'static str,
    /// Number of commits in the history of this build.
    build: u64,
    /// Short hash of the commit.
    #[schema(value_type = String, example = "1a2b3c4")]
    commit: &'static str,
    /// Time of the commit, ISO 8601.
    #[schema(value_type = String, example = "2026-11-21T10:00:00Z")]
    build_time: &'static str,
    /// True if the working tree had uncommitted changes.
    dev: bool,
}

/// Version, commit and its date, as `hub --version` prints them.
pub const VERSION: &str = env!("HUB_VERSION");

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
