//! Imports groups and nodes from another tool. They are added to the existing ones: a node of the same name, context
//! and world is replaced, others stay.

use std::collections::BTreeMap;
use std::future::ready;

use hub_db::{Executor, Tx};
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::import_outcome::ImportOutcome;
use crate::limits::{self, Limit, check_rows};
use crate::permissions::model::{Group, Node};
use crate::permissions::service::{PermissionsError, group_changed, player_changed};
use crate::permissions::store;
use crate::values::{Identifier, NetworkId, PlayerId};

/// A group of another tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupImport {
    pub id: Identifier,
    /// None keeps the existing one.
    pub display_name: Option<String>,
    pub priority: i64,
    /// None keeps the existing one.
    pub chat_prefix: Option<String>,
    pub nodes: Vec<Node>,
}

/// Merges a group into the existing one.
async fn merge(
    on: &mut Executor<'_>,
    network: NetworkId,
    import: &GroupImport,
) -> Result<(Option<Group>, Group), hub_db::Error> {
    let stored = store::group(on, network, import.id.as_str()).await?;
    let mut merged = stored.clone().unwrap_or_else(|| Group {
        id: import.id.as_str().to_owned(),
        display_name: None,
        priority: 0,
        chat_prefix: None,
        chat_prefix_color: None,
        chat_name_color: None,
        nodes: vec![],
        revision: 0,
    });
    merged.priority = import.priority;
    merged.display_name = import.display_name.clone().or(merged.display_name);
    merged.chat_prefix = import.chat_prefix.clone().or(merged.chat_prefix);
    let nodes: BTreeMap<_, _> = merged.nodes.iter().chain(&import.nodes).map(|node| (node.key(), node)).collect();
    merged.nodes = nodes.into_values().cloned().collect();
    Ok((stored, merged))
}

/// Size of a group in bytes, as [`store::count_groups`] counts it.
fn bytes(group: &Group) -> i64 {
    let texts = [&group.display_name, &group.chat_prefix, &group.chat_prefix_color, &group.chat_name_color];
    let texts = group.id.len() + texts.into_iter().flatten().map(String::len).sum::<usize>();
    let nodes = serde_json::to_string(&group.nodes).map_or(0, |nodes| nodes.len());
    i64::try_from(200 + nodes + 6 * texts).unwrap_or(i64::MAX)
}

/// Group after the import; refused if it exceeds the network's limits.
pub async fn plan_group(
    app: &App,
    network: NetworkId,
    import: &GroupImport,
) -> Result<ImportOutcome, PermissionsError> {
    let (stored, merged) = merge(&mut Executor::from(&app.db), network, import).await?;
    let outcome = ImportOutcome::of(stored.is_some(), stored.as_ref() != Some(&merged));
    if outcome != ImportOutcome::Unchanged {
        limits::check(app, Limit::NodesPerGroup, 0, i64::try_from(merged.nodes.len()).unwrap_or(i64::MAX))?;
        let (groups, used) = store::count_groups(&app.db, network).await?;
        limits::check(app, Limit::Groups, groups, i64::from(stored.is_none()))?;
        limits::check(app, Limit::GroupBytes, used, bytes(&merged) - stored.as_ref().map_or(0, bytes))?;
    }
    Ok(outcome)
}

/// Writes a planned group.
pub async fn write_group(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    import: &GroupImport,
) -> Result<(), hub_db::Error> {
    let (_, merged) = merge(&mut Executor::from(&mut *tx), network, import).await?;
    let revision = store::raise_group_revision(tx, network).await?;
    store::put_group(tx, network, &merged, revision).await?;
    group_changed(app, tx, network, &merged.id, revision).await
}

/// Plan for a player's nodes: its outcome, the new and changed nodes, and the number of new ones. Refused if it exceeds
/// the player's limits.
pub async fn plan_nodes(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    nodes: &[Node],
) -> Result<(ImportOutcome, Vec<Node>, i64), PermissionsError> {
    let stored = store::nodes(&app.db, network, player, app.clock.now()).await?;
    let all: BTreeMap<_, _> = stored.iter().map(|node| (node.key(), node)).collect();
    let different: Vec<_> = nodes.iter().filter(|node| all.get(&node.key()) != Some(node)).cloned().collect();
    let new = different.iter().filter(|node| !all.contains_key(&node.key())).count();
    let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    if new > 0 {
        limits::check(app, Limit::NodesPerPlayer, count(stored.len()), count(new))?;
        let bytes = |node: &Node| {
            let (name, context, world) = node.key();
            100 + name.len() + context.len() + world.len()
        };
        let added = different.iter().filter(|node| !all.contains_key(&node.key())).map(bytes).sum::<usize>();
        let used = stored.iter().map(bytes).sum::<usize>();
        limits::check(app, Limit::NodeBytesPerPlayer, count(used), count(added))?;
    }
    Ok((ImportOutcome::of(!stored.is_empty(), !different.is_empty()), different, count(new)))
}

/// Refuses new nodes and players with nodes beyond the network's limits.
pub async fn check_new_nodes(
    app: &App,
    network: NetworkId,
    (nodes, players): (i64, i64),
) -> Result<(), PermissionsError> {
    for (rows, new) in [(store::PLAYER_NODES, nodes), (store::PLAYERS_WITH_NODES, players)] {
        if new > 0 {
            drop(check_rows::<PermissionsError>(app, network, rows, new, ready(Ok(false))).await?);
        }
    }
    Ok(())
}

/// Writes a player's planned nodes.
pub async fn write_nodes(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    player: PlayerId,
    nodes: &[Node],
) -> Result<(), hub_db::Error> {
    store::delete_expired(tx, network, player, app.clock.cutoff()).await?;
    for node in nodes {
        store::put_node(tx, network, player, node).await?;
    }
    player_changed(app, tx, network, player).await
}
