//! Rules of permissions.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use hub_db::Tx;
use serde::Serialize;
use thiserror::Error;
use utoipa::ToSchema;

use crate::app::App;
use crate::clock::Millis;
use crate::compute::{MANY_ROWS, compute_if};
use crate::events::{self, EventKind};
use crate::http::answer::ANSWER_LIMIT;
use crate::http::error::{ApiError, ChangedValue, ErrorDetails};
use crate::limits::{self, Limit, QuotaExceeded, check_rows};
use crate::permissions::body::EffectiveBody;
use crate::permissions::context::{ContextSet, PermissionContext, PermissionWorld};
use crate::permissions::model::{Group, Node};
use crate::permissions::resolver::{self, Decision, Resolved};
use crate::permissions::store;
use crate::values::{Identifier, NetworkId, PlayerId};

/// Reason for the failure of a request about permissions.
#[derive(Debug, Error)]
pub enum PermissionsError {
    /// No such group in the caller's network.
    #[error("This network has no group `{0}`.")]
    UnknownGroup(String),
    /// Another change came first.
    #[error("Somebody changed the group `{id}` since revision {}; it is at revision {} now.", .changed.expected, .changed.revision)]
    Changed { id: String, changed: Box<ChangedValue> },
    /// The explanation of the requested nodes exceeds one answer.
    #[error("The explanation is too large for one answer; request single nodes by `node`.")]
    TooLarge,
    /// The network's quota is used up.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<PermissionsError> for ApiError {
    fn from(error: PermissionsError) -> Self {
        let message = error.to_string();
        match error {
            PermissionsError::UnknownGroup(_) => Self::not_found("unknown_group", message),
            PermissionsError::Changed { changed, .. } => Self::new(StatusCode::CONFLICT, "revision_changed", message)
                .details(ErrorDetails { changed: Some(changed), ..ErrorDetails::default() }),
            PermissionsError::TooLarge => Self::bad_request("answer_too_large", message),
            PermissionsError::Quota(exceeded) => exceeded.into(),
            PermissionsError::Database(error) => error.into(),
        }
    }
}

/// Ids and display names of all groups.
pub async fn group_names(app: &App, network: NetworkId) -> Result<Vec<(String, Option<String>)>, hub_db::Error> {
    store::group_names(&app.db, network).await
}

/// All groups, highest priority first, without expired nodes.
pub(super) async fn groups(app: &App, network: NetworkId) -> Result<Vec<Group>, PermissionsError> {
    let now = app.clock.now();
    let mut groups = store::groups(&app.db, network).await?;
    for group in &mut groups {
        group.nodes.retain(|node| node.is_live(now));
    }
    Ok(groups)
}

/// One group, without expired nodes.
pub(super) async fn group(app: &App, network: NetworkId, id: Identifier) -> Result<Group, PermissionsError> {
    let found = store::group(&app.db, network, id.as_str()).await?;
    let mut group = found.ok_or_else(|| PermissionsError::UnknownGroup(id.into_string()))?;
    let now = app.clock.now();
    group.nodes.retain(|node| node.is_live(now));
    Ok(group)
}

/// Creates or replaces a group, only at the revision `expected` if one is given. Of nodes with the same name, context and
/// world the last counts. Returns the new revision.
pub(super) async fn put_group(
    app: &App,
    network: NetworkId,
    mut group: Group,
    expected: Option<i64>,
) -> Result<i64, PermissionsError> {
    let nodes: BTreeMap<_, _> = group.nodes.iter().map(|node| (node.key(), node.clone())).collect();
    group.nodes = nodes.into_values().collect();
    limits::check(app, Limit::NodesPerGroup, 0, group.nodes.len() as i64)?;
    app.db
        .transaction(async |mut tx| {
            let revision = store::raise_group_revision(&mut tx, network).await?;
            check_unchanged(&mut tx, network, &group.id, expected).await?;
            store::put_group(&mut tx, network, &group, revision).await?;
            // Includes this group.
            let (groups, bytes) = store::count_groups(&mut tx, network).await?;
            limits::check(app, Limit::Groups, groups - 1, 1)?;
            limits::check(app, Limit::GroupBytes, bytes, 0)?;
            group_changed(app, &mut tx, network, &group.id, revision).await?;
            Ok(revision)
        })
        .await
}

/// Refuses a change of a group that is not at the revision `expected`. No other change of a group is under way: the
/// network's revision is locked.
async fn check_unchanged(
    tx: &mut Tx,
    network: NetworkId,
    id: &str,
    expected: Option<i64>,
) -> Result<(), PermissionsError> {
    let Some(expected) = expected else { return Ok(()) };
    let found = store::group(&mut *tx, network, id).await?;
    let group = found.ok_or_else(|| PermissionsError::UnknownGroup(id.to_owned()))?;
    if group.revision == expected {
        return Ok(());
    }
    let now = serde_json::to_value(&group).map_err(|error| hub_db::Error::from(sqlx::Error::Encode(error.into())))?;
    let changed = ChangedValue { expected, before: None, revision: group.revision, now };
    Err(PermissionsError::Changed { id: group.id, changed: Box::new(changed) })
}

/// A change of a network's permissions.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"groupId": "vip", "revision": 42}))]
pub(crate) struct PermissionsChange {
    /// Group that was put or deleted: the effective permissions of all players may have changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "vip")]
    group_id: Option<String>,
    /// Player whose own nodes changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    player_uuid: Option<PlayerId>,
    /// Rises with every change; effective permissions of this revision or a later one include it.
    #[schema(example = 42)]
    revision: i64,
}

/// Tells a group's change, which has this revision.
pub(super) async fn group_changed(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    id: &str,
    revision: i64,
) -> Result<(), hub_db::Error> {
    let change = PermissionsChange { group_id: Some(id.to_owned()), player_uuid: None, revision };
    events::publish_in(app, tx, network, EventKind::PermissionsUpdated, None, change).await
}

pub(super) async fn player_changed(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    player: PlayerId,
) -> Result<(), hub_db::Error> {
    let revision = store::raise_player_revision(tx, network, player).await?;
    let change = PermissionsChange { group_id: None, player_uuid: Some(player), revision };
    events::publish_in(app, tx, network, EventKind::PermissionsUpdated, None, change).await
}

/// Deletes a group, only at the revision `expected` if one is given. Memberships of it stay with their holders and have no
/// effect until it exists again.
pub(super) async fn delete_group(
    app: &App,
    network: NetworkId,
    id: &Identifier,
    expected: Option<i64>,
) -> Result<(), PermissionsError> {
    let id = id.as_str();
    app.db
        .transaction(async |mut tx| {
            let revision = store::raise_group_revision(&mut tx, network).await?;
            check_unchanged(&mut tx, network, id, expected).await?;
            if !store::delete_group(&mut tx, network, id).await? {
                return Err(PermissionsError::UnknownGroup(id.to_owned()));
            }
            Ok(group_changed(app, &mut tx, network, id, revision).await?)
        })
        .await
}

/// A player's own nodes.
pub(super) async fn nodes(app: &App, network: NetworkId, player: PlayerId) -> Result<Vec<Node>, PermissionsError> {
    Ok(store::nodes(&app.db, network, player, app.clock.now()).await?)
}

/// Adds a node to a player, or updates its value and expiry.
pub(super) async fn add_node(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    node: &Node,
) -> Result<(), PermissionsError> {
    let is_there = store::has_node(&app.db, network, player, node.key());
    let _adding = check_rows::<PermissionsError>(app, network, store::PLAYER_NODES, 1, is_there).await?;
    let had_nodes = store::had_nodes(&app.db, network, player);
    let _adding = check_rows::<PermissionsError>(app, network, store::PLAYERS_WITH_NODES, 1, had_nodes).await?;
    app.db
        .transaction(async |mut tx| {
            store::delete_expired(&mut tx, network, player, app.clock.cutoff()).await?;
            if !store::update_node(&mut tx, network, player, node).await? {
                store::put_node(&mut tx, network, player, node).await?;
                // Includes this node.
                let (nodes, bytes) = store::count_nodes(&mut tx, network, player).await?;
                limits::check(app, Limit::NodesPerPlayer, nodes - 1, 1)?;
                limits::check(app, Limit::NodeBytesPerPlayer, bytes, 0)?;
            }
            Ok(player_changed(app, &mut tx, network, player).await?)
        })
        .await
}

/// Removes a node from a player. A missing node is not an error.
pub(super) async fn remove_node(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    node: &Node,
) -> Result<(), PermissionsError> {
    app.db
        .transaction(async |mut tx| {
            if store::delete_node(&mut tx, network, player, node.key()).await? {
                player_changed(app, &mut tx, network, player).await?;
            }
            Ok(())
        })
        .await
}

/// Resolved permissions of a player.
#[derive(Clone, Debug)]
pub(super) struct EffectivePermissions {
    /// Last change they include.
    pub(super) revision: i64,
    /// Time of the next expiry of a node, which changes them.
    pub(super) valid_until: Option<Millis>,
    /// Groups of the player, in order of precedence.
    pub(super) groups: Vec<String>,
    /// Requested nodes, in that order; or all decided nodes, by name.
    pub(super) results: Vec<NodeResult>,
}

/// Decision on one node.
#[derive(Clone, Debug)]
pub(super) struct NodeResult {
    /// Spelled like the request, or in lower case if none was requested.
    pub(super) node: String,
    /// Deciding node; none if undecided.
    pub(super) source: Option<Source>,
}

impl NodeResult {
    /// Includes the groups the decision came through if it is to be explained.
    fn new(node: &str, resolved: &Resolved<'_>, decision: Option<Decision<'_>>, explain: bool) -> Self {
        let path = |decision| if explain { resolved.path(decision) } else { vec![] };
        let source = decision.map(|decision| Source {
            node: decision.node.clone(),
            through: path(decision).into_iter().map(|group| group.id.clone()).collect(),
        });
        Self { node: node.to_owned(), source }
    }

    pub(super) fn value(&self) -> Option<bool> {
        self.source.as_ref().map(|source| source.node.value)
    }
}

/// The deciding node, and its origin.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// The node as stored.
    pub(super) node: Node,
    /// Groups from the player to the holder of the node; empty if it is the player's own, or is not explained.
    pub(super) through: Vec<String>,
}

/// Reads the rows for resolving a player, in two statements, however many groups there are.
async fn load(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    now: Millis,
) -> Result<(Vec<Node>, Vec<Group>), hub_db::Error> {
    tokio::try_join!(store::nodes(&app.db, network, player, now), store::groups(&app.db, network))
}

/// Effective permissions of a player in the contexts `current`: the nodes `wanted`, or all decided nodes if none is
/// wanted.
pub(super) async fn effective(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    current: &ContextSet,
    wanted: &[Identifier],
    explain: bool,
) -> Result<EffectivePermissions, PermissionsError> {
    let now = app.clock.now();
    // Read before the nodes: they may be newer than their revision, never older.
    let revision = store::revision(&app.db, network, player).await?;
    let (own, groups) = load(app, network, player, now).await?;
    let nodes = own.iter().chain(groups.iter().flat_map(|group| &group.nodes));
    let valid_until = nodes.filter_map(|node| node.expires_at).filter(|at| *at > now).min();
    let evaluate = || {
        let resolved = resolver::resolve(&own, &groups, current, now);
        let decisions: Vec<_> = if wanted.is_empty() {
            resolved.decisions().map(|(node, decision)| (node, Some(decision))).collect()
        } else {
            wanted.iter().map(|node| (node.as_str(), resolved.check(node.as_str()))).collect()
        };
        let mut results = Vec::with_capacity(decisions.len());
        // Each node may have come through all groups.
        let mut left = ANSWER_LIMIT;
        for (node, decision) in decisions {
            let result = NodeResult::new(node, &resolved, decision, explain);
            let through = result.source.iter().flat_map(|source| &source.through).map(String::len).sum::<usize>();
            left = left.checked_sub(through).ok_or(PermissionsError::TooLarge)?;
            results.push(result);
        }
        let groups = resolved.groups().map(|group| group.id.clone()).collect();
        Ok(EffectivePermissions { revision, valid_until, groups, results })
    };
    compute_if(has_many_nodes(&own, &groups), evaluate).await
}

fn has_many_nodes(own: &[Node], groups: &[Group]) -> bool {
    own.len() + groups.iter().map(|group| group.nodes.len()).sum::<usize>() > MANY_ROWS
}

/// Revision of a player's effective permissions, without resolving them.
pub(super) async fn revision(app: &App, network: NetworkId, player: PlayerId) -> Result<i64, PermissionsError> {
    Ok(store::revision(&app.db, network, player).await?)
}

/// A player's permissions without any context, in the form of their own route.
pub(crate) async fn effective_body(
    app: &App,
    network: NetworkId,
    player: PlayerId,
) -> Result<EffectiveBody, PermissionsError> {
    let nowhere = ContextSet::new(None, None);
    let effective = effective(app, network, player, &nowhere, &[], false).await?;
    Ok(EffectiveBody::new(player, effective, false))
}

/// Decision on one permission of a player in a context; none if undecided.
pub async fn check(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    node: &str,
    context: Option<&PermissionContext>,
    world: Option<&PermissionWorld>,
) -> Result<Option<bool>, PermissionsError> {
    let now = app.clock.now();
    let current = ContextSet::new(context, world);
    let (own, groups) = load(app, network, player, now).await?;
    let check = || resolver::resolve(&own, &groups, &current, now).check(node).map(|decision| decision.node.value);
    Ok(compute_if(has_many_nodes(&own, &groups), check).await)
}
