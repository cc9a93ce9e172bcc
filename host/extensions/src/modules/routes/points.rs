//! The extension points and their chains.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::StatusCode;
use hub_sandbox::contract::Point;
use hub_sandbox::{BreakerState, LinkStats, ShadowExample, ShadowStats};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::{ModulesRead, ModulesWrite, Unbound};
use crate::clock::Millis;
use crate::cluster::RequestLease;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::if_match::{IF_MATCH_DESCRIPTION, IfMatch};
use crate::modules::handlers::{self, HandlerStats, KeptHandler};
use crate::modules::model::LinkSpec;
use crate::modules::service::ModulesError;
use crate::modules::service::chains::{self as service, ChainCaller};
use crate::modules::state::ActiveChain;
use crate::values::NetworkId;

/// An extension point and its chain of modules. With an empty chain the built-in behaviour decides.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ExtensionPoint {
    #[schema(value_type = String, example = "matchmaking")]
    point: Point,
    /// Increases with every change of the chain; 0 before the first.
    #[schema(example = 1)]
    revision: i64,
    /// In order of execution.
    pub(super) modules: Vec<ActiveModule>,
    /// Scope of the figures: NODE, the calls of the answering hub node since it started.
    #[schema(value_type = String, example = "NODE")]
    counted: &'static str,
    /// Only if true: its modules wait since a backup was restored, until the chain is put again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) paused: Option<bool>,
    /// Only at `events`: modules that were taken out, and whose events are still queued.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    kept: Option<Vec<Kept>>,
    /// Only in answers to PUT: modules that fail a trial call with this configuration. They are active because they
    /// already were, or because of `force`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    warnings: Option<Vec<Warning>>,
}

/// A module that was taken out of the chain of `events`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = KeptModule)]
struct Kept {
    #[schema(example = "votes")]
    name: String,
    /// Time until which its events are queued.
    until: Millis,
    /// Number of queued events.
    #[schema(example = 17)]
    lag_events: i64,
}

/// A module that failed its trial call.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChainWarning)]
pub(super) struct Warning {
    pub(super) name: String,
    pub(super) version: i64,
    /// Reason, and its last log lines.
    pub(super) message: String,
}

/// A module in a chain, with statistics of its calls.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ChainModule)]
pub(super) struct ActiveModule {
    #[serde(flatten)]
    pub(super) link: LinkSpec,
    calls: u64,
    /// Calls that trapped, exceeded a limit, gave an invalid answer or could not be run.
    failures: u64,
    /// Calls whose caller timed out: the built-in behaviour decided, and the module has not failed.
    late: u64,
    /// Median duration of recent calls.
    p50_micros: u64,
    p99_micros: u64,
    /// Median fuel of recent calls.
    fuel_p50: u64,
    /// CLOSED: it is called. OPEN: half of its calls failed, and it is skipped for a while. `HALF_OPEN`: one call
    /// probes it.
    #[schema(value_type = String, example = "CLOSED")]
    breaker: BreakerState,
    /// Calls by outcome: `ok`, or the code of the failure.
    #[schema(value_type = BTreeMap<String, u64>, example = json!({"ok": 1041, "timed_out": 1}))]
    outcomes: BTreeMap<&'static str, u64>,
    /// Peak memory of recent calls.
    memory_peak_bytes: usize,
    /// Only for a SHADOW: comparison of its answers with those of the ACTIVE or CANARY version of its name on the same
    /// calls, or with the chain without that module if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    shadow: Option<Shadow>,
    /// Only at `events`, as all that follows: events that it handled, of all its versions and nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    delivered: Option<i64>,
    /// Attempts after the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    retried: Option<i64>,
    /// Dead letters there are now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    dead_letters: Option<i64>,
    /// Dead letters that were deleted because there were too many.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    dropped_dead_letters: Option<i64>,
    /// Queued events that its version does not name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    skipped: Option<i64>,
    /// Events that too many calls of modules led to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    too_deep: Option<i64>,
    /// Calls that ran again because their state had changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    conflicts: Option<i64>,
    /// Calls under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    running: Option<i64>,
    /// Queued events.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    lag_events: Option<i64>,
    /// Age of the oldest queued event; 0 without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    lag_ms: Option<i64>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ShadowComparison)]
struct Shadow {
    same: u64,
    different: u64,
    failed: u64,
    /// Calls that it missed, because too many were in progress or its breaker was open, and late ones.
    skipped: u64,
    /// The latest ten differing or failed calls, newest first.
    examples: Vec<Difference>,
}

/// A call that a SHADOW answered differently.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ShadowDifference)]
struct Difference {
    call_id: String,
    at: u64,
    #[schema(value_type = Object)]
    expected: Value,
    #[schema(value_type = Object)]
    actual: Value,
}

impl From<ShadowStats> for Shadow {
    fn from(stats: ShadowStats) -> Self {
        let ShadowStats { same, different, failed, skipped, examples } = stats;
        let shown =
            |it: ShadowExample| Difference { call_id: it.call_id, at: it.at, expected: it.expected, actual: it.actual };
        Self { same, different, failed, skipped, examples: examples.into_iter().rev().map(shown).collect() }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PutChainQuery {
    /// Activate modules even if their trial call fails, for example because the configuration expects other input.
    #[param(required = false)]
    pub(super) force: Option<bool>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = Chain)]
pub(super) struct PutChain {
    /// In order of execution, at most 16; empty restores the built-in behaviour.
    #[schema(max_items = 16)]
    modules: Vec<LinkSpec>,
}

/// Parses the name of a point.
pub(super) fn parse_point(point: &str) -> Result<Point, ModulesError> {
    Point::from_name(point).ok_or_else(|| ModulesError::UnknownPoint(point.to_owned()))
}

pub(super) fn to_response(app: &App, point: Point, chain: Option<&ActiveChain>) -> ExtensionPoint {
    let now = u64::try_from(app.clock.now()).unwrap_or(0);
    let links = chain.into_iter().flat_map(ActiveChain::links);
    let modules = links.map(|(spec, link)| {
        let stats = link.map_or_else(LinkStats::default, |link| link.stats());
        ActiveModule {
            link: spec.clone(),
            calls: stats.calls,
            failures: stats.failures,
            late: stats.late,
            p50_micros: stats.p50_micros,
            p99_micros: stats.p99_micros,
            fuel_p50: stats.fuel_p50,
            // A module that could not be loaded is skipped as well.
            breaker: link.map_or(BreakerState::Open, |link| link.breaker(now)),
            outcomes: stats.outcomes,
            memory_peak_bytes: stats.memory_peak_bytes,
            shadow: link.and_then(|link| link.shadow()).map(Shadow::from),
            delivered: None,
            retried: None,
            dead_letters: None,
            dropped_dead_letters: None,
            skipped: None,
            too_deep: None,
            conflicts: None,
            running: None,
            lag_events: None,
            lag_ms: None,
        }
    });
    let revision = chain.map_or(0, |chain| chain.revision);
    let paused = chain.and_then(|chain| chain.is_paused.then_some(true));
    ExtensionPoint { point, revision, modules: modules.collect(), counted: "NODE", paused, kept: None, warnings: None }
}

/// Adds the figures of handlers at `events`.
pub(super) async fn with_handlers(
    app: &App,
    network: NetworkId,
    mut point: ExtensionPoint,
) -> Result<ExtensionPoint, ModulesError> {
    if point.point != Point::Events {
        return Ok(point);
    }
    for module in &mut point.modules {
        let HandlerStats { counts, dead_letters, running, lag_events, lag_ms } =
            handlers::stats(app, network, &module.link.name).await?;
        module.delivered = Some(counts.delivered);
        module.retried = Some(counts.retried);
        module.dead_letters = Some(dead_letters);
        module.dropped_dead_letters = Some(counts.dropped_dead_letters);
        module.skipped = Some(counts.skipped);
        module.too_deep = Some(counts.too_deep);
        module.conflicts = Some(counts.conflicts);
        module.running = Some(running as i64);
        module.lag_events = Some(lag_events);
        module.lag_ms = Some(lag_ms);
    }
    let kept = handlers::kept(app, network).await?.into_iter();
    let shown = |KeptHandler { name, until, lag_events }| Kept { name, until, lag_events };
    point.kept = Some(kept.map(shown).collect());
    Ok(point)
}

/// End a kept module
///
/// A module that was taken out of the chain of `events` is still queued its events for 24 hours. This ends it at once, and
/// deletes them. 404 `unknown_module` if there is none.
#[utoipa::path(delete, path = "/api/manage/extension-points/events/kept/{name}", operation_id = "delete_kept_module",
    tag = "Modules", security(("apiKey" = ["modules:write"])), params(("name" = String, Path, example = "votes")),
    responses((status = 204, description = "Ended"), (status = 404, body = ErrorBody, description = "No such module")))]
pub(super) async fn end_kept(
    ModulesWrite(caller): ModulesWrite,
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<StatusCode, ApiError> {
    handlers::end_kept(&app, caller.network, &name, &caller.origin(&app)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Get the chain of an extension point
///
/// The points are `matchmaking`, `chat`, `punishment`, `login`, `economy`, `queue`, `events`, `endpoints` and `schedules`.
/// Counts and times are those of this hub node, since it started or the module was activated.
#[utoipa::path(get, path = "/api/manage/extension-points/{point}", operation_id = "get_extension_point",
    tag = "Modules", security(("apiKey" = ["modules:read"])), params(("point" = String, Path, example = "matchmaking")),
    responses((status = 200, body = ExtensionPoint), (status = 404, body = ErrorBody, description = "No such point")))]
pub(super) async fn get(
    ModulesRead(caller): ModulesRead,
    State(app): State<App>,
    Path(point): Path<String>,
) -> Result<Json<ExtensionPoint>, ApiError> {
    let point = parse_point(&point)?;
    let chain = service::get(&app, caller.network, point).await?;
    Ok(Json(with_handlers(&app, caller.network, to_response(&app, point, chain.as_deref())).await?))
}

/// Replace the chain of an extension point
///
/// In effect from the next call on; no call is lost. An unchanged module keeps its counts. All breakers are closed. An
/// unknown name or version is 400 `unknown_module`.
///
/// A CANARY runs for `percent` of the players and replaces the ACTIVE version of its name for them; a selected player
/// stays selected when the share grows. While its breaker is open the ACTIVE version serves them. A chain has at most
/// one CANARY of each name. A SHADOW gets real calls without effect: it reads the network's data, its writes are
/// visible only to itself, and `shadow` shows how its answers differ.
///
/// With `If-Match` it replaces the chain only at that `revision`: if somebody else changed it meanwhile, the answer is 409
/// `revision_changed` with the chain at that revision and the current one.
///
/// `limits` lowers the limits of each call of a module; values above those of the network's plan are 400.
///
/// At `events` a module is handed the events of its manifest, from the moment of this answer: what it needs is to be in its
/// `grants` (400 `grant_needed`, with `needed`), which hold nothing that the caller may not do itself (403
/// `forbidden_scope`). Its mode is ACTIVE. At `schedules` a module runs at the times of its manifest, with grants as at
/// `events`; a schedule whose times stay the same goes on.
///
/// At `endpoints` a module answers the routes of its manifest, with grants as at `events`. The secrets that it names must be
/// set (400 `secret_missing`).
///
/// Each module is tried once with its configuration. A failure is 400 `failed_trial`, and nothing changes; a module
/// that is unchanged in the chain stays and is listed in `warnings`, as are all failing modules with `force`.
#[utoipa::path(put, path = "/api/manage/extension-points/{point}", operation_id = "put_extension_point",
    tag = "Modules", security(("apiKey" = ["modules:write"])),
    params(("point" = String, Path, example = "matchmaking"), PutChainQuery,
        ("If-Match" = Option<String>, Header, description = IF_MATCH_DESCRIPTION)),
    responses((status = 200, body = ExtensionPoint), (status = 404, body = ErrorBody, description = "No such point"),
        (status = 409, body = ErrorBody, description = "Somebody changed the chain since that revision")))]
pub(super) async fn put(
    Unbound(caller, ..): Unbound<ModulesWrite>,
    State(app): State<App>,
    lease: RequestLease,
    IfMatch(expected): IfMatch,
    Path(point): Path<String>,
    Query(query): Query<PutChainQuery>,
    Json(body): Json<PutChain>,
) -> Result<Json<ExtensionPoint>, ApiError> {
    let point = parse_point(&point)?;
    let force = query.force.unwrap_or_default();
    let by = ChainCaller { scopes: caller.scopes, origin: caller.origin(&app), expected };
    let (chain, failed) = service::put(&app, caller.network, point, body.modules, force, &lease, &by).await?;
    let warnings = failed.into_iter().map(|(name, version, message)| Warning { name, version, message });
    let shown = with_handlers(&app, caller.network, to_response(&app, point, chain.as_deref())).await?;
    Ok(Json(ExtensionPoint { warnings: Some(warnings.collect()), ..shown }))
}

/// Restore the previous chain
///
/// A second call undoes the first. 400 `nothing_to_roll_back` if there is no previous chain.
#[utoipa::path(post, path = "/api/manage/extension-points/{point}/rollback", operation_id = "rollback_extension_point",
    tag = "Modules", security(("apiKey" = ["modules:write"])),
    params(("point" = String, Path, example = "matchmaking"),
        ("If-Match" = Option<String>, Header, description = IF_MATCH_DESCRIPTION)),
    responses((status = 200, body = ExtensionPoint), (status = 404, body = ErrorBody, description = "No such point"),
        (status = 409, body = ErrorBody, description = "Somebody changed the chain since that revision")))]
pub(super) async fn roll_back(
    Unbound(caller, ..): Unbound<ModulesWrite>,
    State(app): State<App>,
    lease: RequestLease,
    IfMatch(expected): IfMatch,
    Path(point): Path<String>,
) -> Result<Json<ExtensionPoint>, ApiError> {
    let point = parse_point(&point)?;
    let by = ChainCaller { scopes: caller.scopes, origin: caller.origin(&app), expected };
    let chain = service::roll_back(&app, caller.network, point, &lease, &by).await?;
    Ok(Json(with_handlers(&app, caller.network, to_response(&app, point, chain.as_deref())).await?))
}
