//! The extension points and their chains.

use axum::extract::State;
use hub_sandbox::contract::Point;
use hub_sandbox::{BreakerState, LinkStats};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::http::caller::{ModulesRead, ModulesWrite};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path};
use crate::modules::live::Live;
use crate::modules::model::LinkSpec;
use crate::modules::service::{ModulesError, chains as service};

/// An extension point and the chain of modules that decides there. With none the built-in behaviour does.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ExtensionPoint {
    #[schema(value_type = String, example = "matchmaking")]
    point: Point,
    /// Rises with every change of the chain; 0 before the first.
    #[schema(example = 1)]
    revision: i64,
    /// In the order they run.
    modules: Vec<ActiveModule>,
}

/// A module in a chain, and how its calls went since it is there.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ActiveModule {
    #[serde(flatten)]
    link: LinkSpec,
    calls: u64,
    /// Calls that trapped, went over a limit, answered nonsense or could not be run.
    failures: u64,
    /// The median duration of recent calls.
    p50_micros: u64,
    p99_micros: u64,
    /// The median fuel of recent calls.
    fuel_p50: u64,
    /// CLOSED: it is called. OPEN: it failed too often and is left out for a while. `HALF_OPEN`: the next call tries it.
    #[schema(value_type = String, example = "CLOSED")]
    breaker: BreakerState,
}

#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct PutChain {
    /// In the order they shall run, at most 16; none restores the built-in behaviour.
    #[schema(max_items = 16)]
    modules: Vec<LinkSpec>,
}

fn named(point: &str) -> Result<Point, ModulesError> {
    Point::from_name(point).ok_or_else(|| ModulesError::UnknownPoint(point.to_owned()))
}

fn shown(app: &App, point: Point, live: Option<&Live>) -> Json<ExtensionPoint> {
    let now = u64::try_from(app.clock.now()).unwrap_or(0);
    let never = LinkStats { calls: 0, failures: 0, p50_micros: 0, p99_micros: 0, fuel_p50: 0 };
    let links = live.into_iter().flat_map(|live| live.specs.iter().zip(&live.links));
    let modules = links.map(|(spec, link)| {
        let stats = link.as_ref().map_or(never, |link| link.stats());
        ActiveModule {
            link: spec.clone(),
            calls: stats.calls,
            failures: stats.failures,
            p50_micros: stats.p50_micros,
            p99_micros: stats.p99_micros,
            fuel_p50: stats.fuel_p50,
            // One that could not be loaded is left out as well.
            breaker: link.as_ref().map_or(BreakerState::Open, |link| link.breaker(now)),
        }
    });
    Json(ExtensionPoint { point, revision: live.map_or(0, |live| live.revision), modules: modules.collect() })
}

/// Get the chain of an extension point
///
/// The points are `matchmaking`, `chat` and `punishment`. Counts and times are this hub node's since it started or
/// the module was put there.
#[utoipa::path(get, path = "/api/manage/extension-points/{point}", operation_id = "get_extension_point",
    tag = "Modules", security(("apiKey" = ["modules:read"])), params(("point" = String, Path, example = "matchmaking")),
    responses((status = 200, body = ExtensionPoint), (status = 404, body = ErrorBody, description = "No such point")))]
pub(super) async fn get(
    ModulesRead(caller): ModulesRead,
    State(app): State<App>,
    Path(point): Path<String>,
) -> Result<Json<ExtensionPoint>, ApiError> {
    let point = named(&point)?;
    let live = service::get(&app, caller.network, point).await?;
    Ok(shown(&app, point, live.as_deref()))
}

/// Put a chain in place
///
/// In effect for the next call; no call is lost on the way. A module of the chain before that stays as it was keeps its
/// counts and its breaker. This hub runs the mode ACTIVE and FRESH instances; what it does not run is 400
/// `mode_unavailable`. A name or version that there is not is 400 `unknown_module`.
#[utoipa::path(put, path = "/api/manage/extension-points/{point}", operation_id = "put_extension_point",
    tag = "Modules", security(("apiKey" = ["modules:write"])), params(("point" = String, Path, example = "matchmaking")),
    responses((status = 200, body = ExtensionPoint), (status = 404, body = ErrorBody, description = "No such point")))]
pub(super) async fn put(
    ModulesWrite(caller): ModulesWrite,
    State(app): State<App>,
    Path(point): Path<String>,
    Json(body): Json<PutChain>,
) -> Result<Json<ExtensionPoint>, ApiError> {
    let point = named(&point)?;
    let live = service::put(&app, caller.network, point, body.modules).await?;
    Ok(shown(&app, point, live.as_deref()))
}

/// Restore the chain before
///
/// Once more restores the one that was just left. 400 `nothing_to_roll_back` where there never was another.
#[utoipa::path(post, path = "/api/manage/extension-points/{point}/rollback", operation_id = "roll_back_extension_point",
    tag = "Modules", security(("apiKey" = ["modules:write"])), params(("point" = String, Path, example = "matchmaking")),
    responses((status = 200, body = ExtensionPoint), (status = 404, body = ErrorBody, description = "No such point")))]
pub(super) async fn roll_back(
    ModulesWrite(caller): ModulesWrite,
    State(app): State<App>,
    Path(point): Path<String>,
) -> Result<Json<ExtensionPoint>, ApiError> {
    let point = named(&point)?;
    let live = service::roll_back(&app, caller.network, point).await?;
    Ok(shown(&app, point, live.as_deref()))
}
