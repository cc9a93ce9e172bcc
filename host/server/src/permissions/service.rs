//! The rules of permissions.

use std::collections::BTreeMap;

use hub_db::Tx;
use serde::Serialize;
use thiserror::Error;
use utoipa::ToSchema;

use crate::app::App;
use crate::clock::Millis;
use crate::compute::{MANY_ROWS, compute_if};
use crate::events::{self, EventKind};
use crate::http::answer::ANSWER_LIMIT;
use crate::http::error::ApiError;
use crate::limits::{self, Limit, QuotaExceeded, check_rows};
use crate::permissions::body::EffectiveBody;
use crate::permissions::context::{ContextSet, PermissionContext, PermissionWorld};
use crate::permissions::model::{Group, Node};
use crate::permissions::resolver::{self, Decision, Resolved};
use crate::permissions::store;
use crate::values::{Identifier, NetworkId, PlayerId};

/// What can be wrong with a request about permissions.
#[derive(Debug, Error)]
pub(crate) enum PermissionsError {
    /// No such group in the caller's network.
    #[error("This network has no group `{0}`.")]
    UnknownGroup(Identifier),
    /// The explanation of so many nodes has no room in one answer.
    #[error("The explanation is too large for one answer; ask for single nodes by `node`.")]
    TooLarge,
    /// More than the network may have.
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
            PermissionsError::TooLarge => Self::bad_request("answer_too_large", message),
            PermissionsError::Quota(exceeded) => exceeded.into(),
            PermissionsError::Database(error) => error.into(),
        }
    }
}

/// All groups, the highest priority first, without the nodes that have expired.
pub(super) async fn groups(app: &App, network: NetworkId) -> Result<Vec<Group>, PermissionsError> {
    let now = app.clock.now();
    let mut groups = store::groups(&app.db, network).await?;
    for group in &mut groups {
        group.nodes.retain(|node| node.is_live(now));
    }
    Ok(groups)
}

/// One group, without the nodes that have expired.
pub(super) async fn group(app: &App, network: NetworkId, id: Identifier) -> Result<Group, PermissionsError> {
    let found = store::group(&app.db, network, id.as_str()).await?;
    let mut group = found.ok_or(PermissionsError::UnknownGroup(id))?;
    let now = app.clock.now();
    group.nodes.retain(|node| node.is_live(now));
    Ok(group)
}

/// Creates or replaces a group. Of nodes with the same name, context and world the last counts.
pub(super) async fn put_group(app: &App, network: NetworkId, mut group: Group) -> Result<(), PermissionsError> {
    let nodes: BTreeMap<_, _> = group.nodes.iter().map(|node| (node.key(), node.clone())).collect();
    group.nodes = nodes.into_values().collect();
    limits::check(app, Limit::NodesPerGroup, 0, group.nodes.len() as i64)?;
    app.db
        .transaction(async |mut tx| {
            store::put_group(&mut tx, network, &group).await?;
            // This one is among them.
            let (groups, bytes) = store::count_groups(&mut tx, network).await?;
            limits::check(app, Limit::Groups, groups - 1, 1)?;
            limits::check(app, Limit::GroupBytes, bytes, 0)?;
            Ok(group_changed(app, &mut tx, network, &group.id).await?)
        })
        .await
}

/// What of a network's permissions changed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"groupId": "vip", "revision": 42}))]
pub(crate) struct PermissionsChange {
    /// The group that was put or deleted: what all players may do may have changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "vip")]
    group_id: Option<String>,
    /// The player whose own nodes changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    player_uuid: Option<PlayerId>,
    /// Rises with every change; effective permissions of this revision or a later one have it.
    #[schema(example = 42)]
    revision: i64,
}

pub(super) async fn group_changed(app: &App, tx: &mut Tx, network: NetworkId, id: &str) -> Result<(), hub_db::Error> {
    let revision = store::raise_group_revision(tx, network).await?;
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

/// Deletes a group. Memberships of it stay with their holders and have no effect until it exists again.
pub(super) async fn delete_group(app: &App, network: NetworkId, id: Identifier) -> Result<(), PermissionsError> {
    app.db
        .transaction(async |mut tx| {
            if !store::delete_group(&mut tx, network, id.as_str()).await? {
                return Err(PermissionsError::UnknownGroup(id.clone()));
            }
            Ok(group_changed(app, &mut tx, network, id.as_str()).await?)
        })
        .await
}

/// A player's own nodes.
pub(super) async fn nodes(app: &App, network: NetworkId, player: PlayerId) -> Result<Vec<Node>, PermissionsError> {
    Ok(store::nodes(&app.db, network, player, app.clock.now()).await?)
}

/// Adds a node to a player, or gives one they have a new value and expiry.
pub(super) async fn add_node(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    node: &Node,
) -> Result<(), PermissionsError> {
    let now = app.clock.now();
    let is_there = store::has_node(&app.db, network, player, node.key());
    check_rows::<PermissionsError>(app, network, store::PLAYER_NODES, 1, is_there).await?;
    let had_nodes = store::had_nodes(&app.db, network, player);
    check_rows::<PermissionsError>(app, network, store::PLAYERS_WITH_NODES, 1, had_nodes).await?;
    app.db
        .transaction(async |mut tx| {
            store::delete_expired(&mut tx, network, player, now).await?;
            if !store::update_node(&mut tx, network, player, node).await? {
                store::put_node(&mut tx, network, player, node).await?;
                // This one is among them.
                let (nodes, bytes) = store::count_nodes(&mut tx, network, player).await?;
                limits::check(app, Limit::NodesPerPlayer, nodes - 1, 1)?;
                limits::check(app, Limit::NodeBytesPerPlayer, bytes, 0)?;
            }
            Ok(player_changed(app, &mut tx, network, player).await?)
        })
        .await
}

/// Removes a node from a player. One they do not have is no error.
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

/// The resolved permissions of a player.
#[derive(Clone, Debug)]
pub(super) struct EffectivePermissions {
    /// The last change that they have.
    pub(super) revision: i64,
    /// When they change without one: the first node expires.
    pub(super) valid_until: Option<Millis>,
    /// The groups that count, in the order they do.
    pub(super) groups: Vec<String>,
    /// For the nodes asked for, in that order; or for all that are decided, by name.
    pub(super) results: Vec<NodeResult>,
}

/// What is decided about one node.
#[derive(Clone, Debug)]
pub(super) struct NodeResult {
    /// As it was asked for; in lower case where none was.
    pub(super) node: String,
    /// What decides it; none where nothing does.
    pub(super) source: Option<Source>,
}

impl NodeResult {
    /// With the groups that the decision came through where it is to be explained.
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

/// The node that decides, and where it comes from.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// The node as it is stored.
    pub(super) node: Node,
    /// The groups from the player to the holder of the node; empty where it is the player's own, or is not explained.
    pub(super) through: Vec<String>,
}

/// What resolving a player needs, in two statements, however many groups there are.
async fn load(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    now: Millis,
) -> Result<(Vec<Node>, Vec<Group>), hub_db::Error> {
    tokio::try_join!(store::nodes(&app.db, network, player, now), store::groups(&app.db, network))
}

/// What a player in the contexts `current` may do: the nodes `wanted`, or all that are decided where none is wanted.
pub(super) async fn effective(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    current: &ContextSet,
    wanted: &[Identifier],
    explain: bool,
) -> Result<EffectivePermissions, PermissionsError> {
    let now = app.clock.now();
    // Before the nodes: they may be newer than their revision, never older.
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

/// The revision of a player's effective permissions, without working them out.
pub(super) async fn revision(app: &App, network: NetworkId, player: PlayerId) -> Result<i64, PermissionsError> {
    Ok(store::revision(&app.db, network, player).await?)
}

/// What a player may do without any context, as its own route answers it.
pub(crate) async fn effective_body(
    app: &App,
    network: NetworkId,
    player: PlayerId,
) -> Result<EffectiveBody, PermissionsError> {
    let nowhere = ContextSet::new(None, None);
    let effective = effective(app, network, player, &nowhere, &[], false).await?;
    Ok(EffectiveBody::new(player, effective, false))
}

/// Whether a player may do one thing in a context; none where nothing decides it.
pub(crate) async fn check(
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
