//! The rules of permissions.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::app::App;
use crate::http::error::ApiError;
use crate::permissions::context::{Context, Contexts, World};
use crate::permissions::model::{Group, Node};
use crate::permissions::resolver::{self, Decision, Resolved};
use crate::permissions::store;
use crate::values::{Identifier, NetworkId, PlayerId};

/// The most groups of a network: all of them are read to work out what one player may do.
pub const MOST_GROUPS: i64 = 1_000;
/// The most nodes of one holder.
pub const MOST_NODES: i64 = 2_000;

/// What can be wrong with a request about permissions.
#[derive(Debug, Error)]
pub enum PermissionsError {
    /// No such group in the caller's network.
    #[error("This network has no group `{0}`.")]
    UnknownGroup(Identifier),
    /// One group more than there may be.
    #[error("A network has at most {MOST_GROUPS} groups.")]
    TooManyGroups,
    /// One node more than there may be.
    #[error("A player or group has at most {MOST_NODES} nodes.")]
    TooManyNodes,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<PermissionsError> for ApiError {
    fn from(error: PermissionsError) -> Self {
        let message = error.to_string();
        match error {
            PermissionsError::UnknownGroup(_) => Self::not_found("unknown_group", message),
            PermissionsError::TooManyGroups => Self::bad_request("too_many_groups", message),
            PermissionsError::TooManyNodes => Self::bad_request("too_many_nodes", message),
            PermissionsError::Database(error) => error.into(),
        }
    }
}

/// All groups, the highest priority first, without the nodes that have expired.
pub async fn groups(app: &App, network: NetworkId) -> Result<Vec<Group>, PermissionsError> {
    let now = app.clock.now();
    let mut groups = store::groups(&app.db, network).await?;
    for group in &mut groups {
        group.nodes.retain(|node| node.is_live(now));
    }
    Ok(groups)
}

/// One group, without the nodes that have expired.
pub async fn group(app: &App, network: NetworkId, id: Identifier) -> Result<Group, PermissionsError> {
    let found = store::group(&app.db, network, id.as_str()).await?;
    let mut group = found.ok_or(PermissionsError::UnknownGroup(id))?;
    let now = app.clock.now();
    group.nodes.retain(|node| node.is_live(now));
    Ok(group)
}

/// Puts a group in the place of what has its id. Of nodes that are the same but for value and expiry the last counts.
pub async fn put_group(app: &App, network: NetworkId, mut group: Group) -> Result<(), PermissionsError> {
    let nodes: BTreeMap<_, _> = group.nodes.iter().map(|node| (node.key(), node.clone())).collect();
    group.nodes = nodes.into_values().collect();
    if group.nodes.len() as i64 > MOST_NODES {
        return Err(PermissionsError::TooManyNodes);
    }
    app.db
        .transaction(async |mut tx| {
            store::put_group(&mut tx, network, &group).await?;
            if store::count_groups(&mut tx, network).await? > MOST_GROUPS {
                return Err(PermissionsError::TooManyGroups);
            }
            Ok(())
        })
        .await
}

/// Deletes a group. Memberships of it stay with their holders and count for nothing until it is there again.
pub async fn delete_group(app: &App, network: NetworkId, id: Identifier) -> Result<(), PermissionsError> {
    if store::delete_group(&app.db, network, id.as_str()).await? {
        return Ok(());
    }
    Err(PermissionsError::UnknownGroup(id))
}

/// A player's own nodes.
pub async fn nodes(app: &App, network: NetworkId, player: PlayerId) -> Result<Vec<Node>, PermissionsError> {
    Ok(store::nodes(&app.db, network, player, app.clock.now()).await?)
}

/// Gives a player a node, or gives one they have a new value and expiry.
pub async fn add_node(app: &App, network: NetworkId, player: PlayerId, node: &Node) -> Result<(), PermissionsError> {
    let now = app.clock.now();
    app.db
        .transaction(async |mut tx| {
            store::purge(&mut tx, network, player, now).await?;
            store::put_node(&mut tx, network, player, node).await?;
            if store::count_nodes(&mut tx, network, player).await? > MOST_NODES {
                return Err(PermissionsError::TooManyNodes);
            }
            Ok(())
        })
        .await
}

/// Takes a node from a player. One they do not have is no error.
pub async fn remove_node(app: &App, network: NetworkId, player: PlayerId, node: &Node) -> Result<(), PermissionsError> {
    Ok(store::delete_node(&app.db, network, player, node.key()).await?)
}

/// What is worked out for a player.
#[derive(Clone, Debug)]
pub struct Effective {
    /// The groups that count, in the order they do.
    pub groups: Vec<String>,
    /// The nodes asked for, in that order; or all that something is said of, by name.
    pub answers: Vec<Answer>,
}

/// What is decided about one node.
#[derive(Clone, Debug)]
pub struct Answer {
    /// As it was asked for; in lower case where none was.
    pub node: String,
    /// What decides it; none where nothing does.
    pub source: Option<Source>,
}

impl Answer {
    fn new(node: &str, resolved: &Resolved<'_>, decision: Option<Decision<'_>>) -> Self {
        let source = decision.map(|decision| Source {
            node: decision.node.clone(),
            through: resolved.chain(decision).into_iter().map(|group| group.id.clone()).collect(),
        });
        Self { node: node.to_owned(), source }
    }
}

/// The node that decides, and where it comes from.
#[derive(Clone, Debug)]
pub struct Source {
    /// The node as it is stored.
    pub node: Node,
    /// The groups from the player to the holder of the node; empty where it is the player's own.
    pub through: Vec<String>,
}

/// What a player may do at a place: of `wanted`, or of all there is where none is wanted. Two statements, however many
/// groups there are.
pub async fn effective(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    place: &Contexts,
    wanted: &[Identifier],
) -> Result<Effective, PermissionsError> {
    let now = app.clock.now();
    let (own, groups) = tokio::try_join!(store::nodes(&app.db, network, player, now), store::groups(&app.db, network))?;
    let resolved = resolver::resolve(&own, &groups, place, now);
    let answers = if wanted.is_empty() {
        resolved.all().map(|(node, decision)| Answer::new(node, &resolved, Some(decision))).collect()
    } else {
        wanted.iter().map(|node| Answer::new(node.as_str(), &resolved, resolved.check(node.as_str()))).collect()
    };
    Ok(Effective { groups: resolved.groups().map(|group| group.id.clone()).collect(), answers })
}

/// Whether a player may do one thing at a place; none where nothing says so or otherwise.
pub async fn check(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    node: &str,
    context: Option<&Context>,
    world: Option<&World>,
) -> Result<Option<bool>, PermissionsError> {
    let now = app.clock.now();
    let place = Contexts::new(context, world);
    let (own, groups) = tokio::try_join!(store::nodes(&app.db, network, player, now), store::groups(&app.db, network))?;
    Ok(resolver::resolve(&own, &groups, &place, now).check(node).map(|decision| decision.node.value))
}
