//! Revisions of chains.

use axum::extract::State;
use hub_sandbox::contract::Point;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{Actor, ModulesRead, ModulesWrite, Unbound};
use crate::clock::Millis;
use crate::cluster::RequestLease;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::if_match::{IF_MATCH_DESCRIPTION, IfMatch};
use crate::http::page::{Page, PageQuery};
use crate::modules::model::{LinkSpec, Mode};
use crate::modules::routes::points::{ExtensionPoint, parse_point, to_response, with_handlers};
use crate::modules::service::chains::{self, ChainCaller};
use crate::modules::service::revisions::{self as service, KeptChain};

/// A change of a chain.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChainRevisionSummary)]
pub(super) struct Summary {
    #[schema(example = 7)]
    revision: i64,
    /// Time of the change.
    at: Millis,
    actor: Actor,
    /// The chain after it, without configurations.
    modules: Vec<SummaryModule>,
}

/// A module of a chain, in short.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChainRevisionModule)]
struct SummaryModule {
    #[schema(example = "region-first")]
    name: String,
    #[schema(example = 2)]
    version: i64,
    mode: Mode,
    /// Share of players for CANARY, in percent.
    #[schema(example = 100)]
    percent: i64,
}

/// A chain at one of its revisions.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChainRevision)]
pub(super) struct Details {
    #[schema(value_type = String, example = "matchmaking")]
    point: Point,
    #[schema(example = 7)]
    revision: i64,
    /// Time of the change.
    at: Millis,
    actor: Actor,
    /// In order of execution.
    modules: Vec<LinkSpec>,
}

impl From<KeptChain> for Summary {
    fn from(KeptChain { revision, specs, actor, at }: KeptChain) -> Self {
        let short = |LinkSpec { name, version, mode, percent, .. }| SummaryModule { name, version, mode, percent };
        Self { revision, at, actor, modules: specs.into_iter().map(short).collect() }
    }
}

/// List the revisions of a chain
///
/// Newest first. The newest 50 of each extension point are kept, and 4 MiB of them.
#[utoipa::path(get, path = "/api/manage/extension-points/{point}/revisions", operation_id = "list_chain_revisions",
    tag = "Modules", security(("apiKey" = ["modules:read"])),
    params(("point" = String, Path, example = "matchmaking"), PageQuery),
    responses((status = 200, body = Page<Summary>), (status = 404, body = ErrorBody, description = "No such point")))]
pub(super) async fn list(
    ModulesRead(caller): ModulesRead,
    State(app): State<App>,
    Path(point): Path<String>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<Summary>>, ApiError> {
    let point = parse_point(&point)?;
    let place = (query.limit.0, query.page.offset(query.limit));
    let (revisions, total) = service::list(&app, caller.network, point, place).await?;
    let items = revisions.into_iter().map(Summary::from).collect();
    Ok(Json(Page::new(items, query.page, query.limit, total)))
}

/// Get a revision of a chain
#[utoipa::path(get, path = "/api/manage/extension-points/{point}/revisions/{revision}",
    operation_id = "get_chain_revision", tag = "Modules", security(("apiKey" = ["modules:read"])),
    params(("point" = String, Path, example = "matchmaking"), ("revision" = i64, Path, example = 1)),
    responses((status = 200, body = Details), (status = 404, body = ErrorBody, description = "No such revision")))]
pub(super) async fn find(
    ModulesRead(caller): ModulesRead,
    State(app): State<App>,
    Path((point, revision)): Path<(String, i64)>,
) -> Result<Json<Details>, ApiError> {
    let point = parse_point(&point)?;
    let KeptChain { revision, specs, actor, at } = service::find(&app, caller.network, point, revision).await?;
    Ok(Json(Details { point, revision, at, actor, modules: specs }))
}

/// Restore a revision of a chain
///
/// The chain becomes what it was at that revision, as a new revision, from the next call on. 400 `unknown_module` if a
/// version of it was deleted since. With `If-Match` only if the chain is at that revision now.
#[utoipa::path(post, path = "/api/manage/extension-points/{point}/revisions/{revision}/restore",
    operation_id = "restore_chain_revision", tag = "Modules", security(("apiKey" = ["modules:write"])),
    params(("point" = String, Path, example = "matchmaking"), ("revision" = i64, Path, example = 1),
        ("If-Match" = Option<String>, Header, description = IF_MATCH_DESCRIPTION)),
    responses((status = 200, body = ExtensionPoint), (status = 404, body = ErrorBody, description = "No such revision"),
        (status = 409, body = ErrorBody, description = "Somebody changed the chain since the revision of `If-Match`")))]
pub(super) async fn restore(
    Unbound(caller, ..): Unbound<ModulesWrite>,
    State(app): State<App>,
    lease: RequestLease,
    IfMatch(expected): IfMatch,
    Path((point, revision)): Path<(String, i64)>,
) -> Result<Json<ExtensionPoint>, ApiError> {
    let point = parse_point(&point)?;
    let by = ChainCaller { scopes: caller.scopes, origin: caller.origin(&app), expected };
    let chain = chains::restore(&app, caller.network, point, revision, &lease, &by).await?;
    Ok(Json(with_handlers(&app, caller.network, to_response(&app, point, chain.as_deref())).await?))
}
