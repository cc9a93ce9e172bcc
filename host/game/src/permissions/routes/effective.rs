//! The effective permissions of a player.

use std::fmt;

use axum::extract::State;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Deserializer, de};
use sha2::{Digest as _, Sha256};
use utoipa::IntoParams;

use crate::app::App;
use crate::auth::PermissionsWrite;
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::answer::{ANSWER_LIMIT, json_size};
use crate::http::error::ApiError;
use crate::http::extract::{Json, Path, Query};
use crate::permissions::body::EffectiveBody;
use crate::permissions::context::{ContextSet, PermissionContext, PermissionWorld};
use crate::permissions::service::{self, PermissionsError};
use crate::values::{Identifier, PlayerId, blank_as_absent, hex};

/// Maximum number of nodes in one request.
const MAX_NODES: usize = 100;

pub(super) fn router() -> Endpoints {
    endpoints![get_effective_permissions: large_answer]
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct EffectiveQuery {
    /// Contexts of the player, as `key=value` pairs separated by commas; a single word is a server.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>, example = "server=lobby,gamemode=skyblock")]
    context: Option<PermissionContext>,
    /// World of the player.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>, example = "world_nether")]
    world: Option<PermissionWorld>,
    /// Requested nodes, separated by commas, at most 100. Default: all decided nodes.
    #[serde(default, deserialize_with = "comma_separated")]
    #[param(value_type = Option<String>, example = "essentials.fly,essentials.home")]
    node: Vec<Identifier>,
    /// Include the deciding node and the groups it was reached through.
    #[serde(default)]
    #[param(required = false, default = false)]
    explain: bool,
}

fn comma_separated<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Identifier>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    let names: Vec<Identifier> = names.map(str::parse).collect::<Result<_, _>>().map_err(de::Error::custom)?;
    if names.len() > MAX_NODES {
        return Err(de::Error::custom(format_args!("must be at most {MAX_NODES} nodes")));
    }
    Ok(names)
}

/// Get a player's effective permissions
///
/// Resolved by LuckPerms' rules: the player's own nodes before groups; groups by priority, depth first; a node bound to
/// more contexts before one bound to fewer, a temporary before a permanent one; the node itself before wildcards,
/// longer wildcards before shorter. The value is true, false, or null if undecided. `docs/connectors/permissions.md` has all
/// rules. Changes count at once, and expiry at the time of the request. An explanation over 4 MiB is 400
/// `answer_too_large`.
///
/// To cache the answer, request it again when `PERMISSIONS_UPDATED` names a group or the player with a later
/// `revision`, and at `validUntil`. With `If-None-Match` a current answer is 304, without being resolved again.
#[utoipa::path(get, path = "/api/plugin/permissions/users/{uuid}/effective", tag = "Permissions",
    security(("apiKey" = ["permissions:write", "plugin"])),
    params(("uuid" = PlayerId, Path), EffectiveQuery,
        ("If-None-Match" = Option<String>, Header, description = "The `ETag` of an answer to the same request")),
    responses((status = 200, body = EffectiveBody, headers(("ETag" = String, description = "Identifies this answer"))),
        (status = 304, description = "The answer with this `ETag` is still current")))]
async fn get_effective_permissions(
    PermissionsWrite(caller): PermissionsWrite,
    State(app): State<App>,
    Path(player): Path<PlayerId>,
    Query(query): Query<EffectiveQuery>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let question = Sha256::digest(uri.path_and_query().map_or("", PathAndQuery::as_str));
    let question = hex(&question[..8]);
    let sent: Vec<_> = headers.get_all(header::IF_NONE_MATCH).iter().collect();
    if !sent.is_empty() {
        let (revision, now) = (service::revision(&app, caller.network, player).await?, app.clock.now());
        let texts = sent.iter().filter_map(|value| value.to_str().ok()).flat_map(|text| text.split(','));
        let mut tags = texts.filter_map(EffectiveTag::parse);
        if let Some(tag) = tags.find(|tag| tag.question == question && tag.holds(revision, now)) {
            return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, tag.to_string())]).into_response());
        }
    }
    let current = ContextSet::new(query.context.as_ref(), query.world.as_ref());
    let effective = service::effective(&app, caller.network, player, &current, &query.node, query.explain).await?;
    let body = EffectiveBody::new(player, effective, query.explain);
    if query.explain && json_size(&body) > ANSWER_LIMIT {
        return Err(PermissionsError::TooLarge.into());
    }
    let (revision, valid_until) = body.version();
    let tag = EffectiveTag { revision, valid_until, question: &question };
    Ok(([(header::ETAG, tag.to_string())], Json(body)).into_response())
}

/// Identifies an answer by its inputs, so that it can be revalidated without being resolved again.
struct EffectiveTag<'a> {
    revision: i64,
    valid_until: Option<Millis>,
    /// Hash of path and query.
    question: &'a str,
}

impl<'a> EffectiveTag<'a> {
    /// Parses a tag in its sent form; none if it is not one of these.
    fn parse(text: &'a str) -> Option<Self> {
        let text = text.trim();
        let quoted = text.strip_prefix("W/").unwrap_or(text).strip_prefix('"')?.strip_suffix('"')?;
        let mut parts = quoted.split('-');
        let (revision, until, question) = (parts.next()?, parts.next()?, parts.next()?);
        let valid_until = if until.is_empty() { None } else { Some(until.parse().ok()?) };
        parts.next().is_none().then_some(Self { revision: revision.parse().ok()?, valid_until, question })
    }

    fn holds(&self, revision: i64, now: Millis) -> bool {
        self.revision == revision && self.valid_until.is_none_or(|until| now < until)
    }
}

impl fmt::Display for EffectiveTag<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let until = self.valid_until.map(|until| until.to_string()).unwrap_or_default();
        write!(f, "\"{}-{until}-{}\"", self.revision, self.question)
    }
}
