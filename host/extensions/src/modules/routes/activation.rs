//! Activations of modules.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::{HeaderName, StatusCode};
use hub_sandbox::contract::Point;
use hub_sandbox::manifest::Grants;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{Caller, ModulesRead, ModulesWrite, Unbound};
use crate::cluster::RequestLease;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::if_match::{IF_MATCH_DESCRIPTION, IfMatch, entity_tag};
use crate::modules::limits::LinkLimits;
use crate::modules::model::{Beginning, Instances, Mode, ModuleGrants, OnFailure};
use crate::modules::routes::points::{ActiveModule, PutChainQuery, Warning, parse_point, to_response, with_handlers};
use crate::modules::service::activation::{self as service, ActiveLinks, NewActivation, NewLink};
use crate::modules::service::chains::{ChainCaller, FailedTrial};
use crate::values::NetworkId;

/// All links of a module.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ModuleActivation)]
pub(super) struct Activation {
    #[schema(example = "season")]
    name: String,
    /// By extension point; none if it is in no chain.
    links: Vec<PlacedModule>,
    /// Only in answers to PUT: links that fail a trial call with this configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    warnings: Option<Vec<Warning>>,
}

/// A module's link, and its extension point.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ActivatedModule)]
struct PlacedModule {
    #[schema(value_type = String, example = "events")]
    point: Point,
    /// Only if true: it waits since a backup was restored, until it is activated again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    paused: Option<bool>,
    #[serde(flatten)]
    module: ActiveModule,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = NewModuleActivation)]
pub(super) struct PutActivation {
    #[schema(minimum = 1, example = 1)]
    version: i64,
    /// Passed to the module with every call; at most 64 KiB of JSON.
    #[schema(value_type = Option<Object>)]
    config: Option<Map<String, Value>>,
    /// Rights that the owner allows the module, where it answers with effects.
    #[schema(value_type = Option<ModuleGrants>)]
    grants: Option<Grants>,
    /// At `events`: the first event. Default: `KEPT`.
    from: Option<Beginning>,
    /// Its link at each extension point, at least one. It is taken out of all others.
    #[schema(example = json!({"events": {}, "schedules": {}}))]
    points: BTreeMap<String, PutLink>,
}

/// Values that a link of an activation has of its own.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ActivationLink)]
struct PutLink {
    mode: Option<Mode>,
    /// Share of players for CANARY, in percent.
    #[schema(minimum = 1, maximum = 100)]
    percent: Option<i64>,
    /// SKIP by default. Ignored where the module answers with effects.
    on_failure: Option<OnFailure>,
    instances: Option<Instances>,
    /// Limits of each call below those of the network's plan.
    limits: Option<LinkLimits>,
}

impl From<PutLink> for NewLink {
    fn from(PutLink { mode, percent, on_failure, instances, limits }: PutLink) -> Self {
        Self {
            mode: mode.unwrap_or_default(),
            percent: percent.unwrap_or(100),
            on_failure,
            instances: instances.unwrap_or_default(),
            limits,
        }
    }
}

/// An activation, with its revision as `ETag`.
type Tagged = ([(HeaderName, String); 1], Json<Activation>);

async fn shown(
    app: &App,
    network: NetworkId,
    name: String,
    links: ActiveLinks,
    failed: Option<Vec<FailedTrial>>,
) -> Result<Tagged, ApiError> {
    let tag = entity_tag(service::revision(&links, &name));
    let mut placed = vec![];
    for (point, chain) in links {
        let shown = with_handlers(app, network, to_response(app, point, Some(&chain))).await?;
        let paused = shown.paused;
        let own = shown.modules.into_iter().filter(|module| module.link.name == name);
        placed.extend(own.map(|module| PlacedModule { point, paused, module }));
    }
    let warning = |(name, version, message)| Warning { name, version, message };
    let warnings = failed.map(|failed| failed.into_iter().map(warning).collect());
    Ok((tag, Json(Activation { name, links: placed, warnings })))
}

fn caller_of(app: &App, caller: &Caller) -> ChainCaller {
    ChainCaller { scopes: caller.scopes, origin: caller.origin(app), expected: None }
}

/// Get a module's activation
///
/// Its links at all extension points, whoever made them. The header `ETag` has their revision, for `If-Match` of a
/// change; 0 if it is in no chain.
#[utoipa::path(get, path = "/api/manage/modules/{name}/activation", operation_id = "get_module_activation",
    tag = "Modules", security(("apiKey" = ["modules:read"])), params(("name" = String, Path, example = "season")),
    responses((status = 200, body = Activation, headers(("ETag" = String, description = "The links' revision")))))]
pub(super) async fn get(
    ModulesRead(caller): ModulesRead,
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<Tagged, ApiError> {
    let links = service::get(&app, caller.network, &name).await?;
    shown(&app, caller.network, name, links, None).await
}

/// Activate a module
///
/// Makes these all its links, with one version, one configuration and one set of grants, in one transaction: from then on
/// no call of one point runs another version than those of the others. In each chain it keeps its place; where it is new,
/// it is last. A point that is not named loses it. Each chain gets a new revision.
///
/// The links stay together: a change of one chain that would part them is 400 `use_activation`. Else as for the chain of an
/// extension point.
///
/// With `If-Match` only at that revision of the links: else it is 409 `revision_changed` with those of now.
#[utoipa::path(put, path = "/api/manage/modules/{name}/activation", operation_id = "put_module_activation",
    tag = "Modules", security(("apiKey" = ["modules:write"])),
    params(("name" = String, Path, example = "season"), PutChainQuery,
        ("If-Match" = Option<String>, Header, description = IF_MATCH_DESCRIPTION)),
    responses((status = 200, body = Activation, headers(("ETag" = String, description = "The new revision"))),
        (status = 404, body = ErrorBody, description = "No such point"),
        (status = 409, body = ErrorBody, description = "Somebody changed it since the revision of `If-Match`")))]
pub(super) async fn put(
    Unbound(caller, ..): Unbound<ModulesWrite>,
    State(app): State<App>,
    lease: RequestLease,
    Path(name): Path<String>,
    Query(query): Query<PutChainQuery>,
    expected: IfMatch,
    Json(body): Json<PutActivation>,
) -> Result<Tagged, ApiError> {
    let PutActivation { version, config, grants, from, points } = body;
    let mut links = BTreeMap::new();
    for (point, link) in points {
        links.insert(parse_point(&point)?, link.into());
    }
    let new = NewActivation { version, config: config.unwrap_or_default(), grants, from, points: links };
    let (force, by) = (query.force.unwrap_or_default(), caller_of(&app, &caller));
    let (links, failed) = service::put(&app, caller.network, &name, (new, expected), force, &lease, &by).await?;
    shown(&app, caller.network, name, links, Some(failed)).await
}

/// Deactivate a module
///
/// Takes it out of all chains, in one transaction. With `If-Match` only at that revision of its links.
#[utoipa::path(delete, path = "/api/manage/modules/{name}/activation", operation_id = "delete_module_activation",
    tag = "Modules", security(("apiKey" = ["modules:write"])), params(("name" = String, Path, example = "season"),
        ("If-Match" = Option<String>, Header, description = IF_MATCH_DESCRIPTION)),
    responses((status = 204, description = "It is in no chain"),
        (status = 404, body = ErrorBody, description = "It was in none"),
        (status = 409, body = ErrorBody, description = "Somebody changed it since the revision of `If-Match`")))]
pub(super) async fn delete(
    Unbound(caller, ..): Unbound<ModulesWrite>,
    State(app): State<App>,
    lease: RequestLease,
    Path(name): Path<String>,
    expected: IfMatch,
) -> Result<StatusCode, ApiError> {
    service::delete(&app, caller.network, (&name, expected), &lease, &caller_of(&app, &caller)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Restore a module's previous activation
///
/// Its links become those before the last activation, deactivation or restoration, in one transaction; other modules stay.
/// A second call undoes the first. 400 `nothing_to_roll_back` if there was none. With `If-Match` only at that revision
/// of its links.
#[utoipa::path(post, path = "/api/manage/modules/{name}/activation/rollback", operation_id = "rollback_module_activation",
    tag = "Modules", security(("apiKey" = ["modules:write"])), params(("name" = String, Path, example = "season"),
        ("If-Match" = Option<String>, Header, description = IF_MATCH_DESCRIPTION)),
    responses((status = 200, body = Activation, headers(("ETag" = String, description = "The new revision"))),
        (status = 409, body = ErrorBody, description = "Somebody changed it since the revision of `If-Match`")))]
pub(super) async fn roll_back(
    Unbound(caller, ..): Unbound<ModulesWrite>,
    State(app): State<App>,
    lease: RequestLease,
    Path(name): Path<String>,
    expected: IfMatch,
) -> Result<Tagged, ApiError> {
    let by = caller_of(&app, &caller);
    let links = service::roll_back(&app, caller.network, (&name, expected), &lease, &by).await?;
    shown(&app, caller.network, name, links, None).await
}
