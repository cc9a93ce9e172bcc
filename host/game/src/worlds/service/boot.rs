//! Chooses the node that boots a world, and notifies it.

use std::collections::HashMap;

use hub_db::Tx;
use serde::Serialize;
use utoipa::ToSchema;

use super::{expiry, publish};
use crate::app::App;
use crate::clock::{Millis, millis};
use crate::events::EventKind;
use crate::presence::{Presence, Role, Server, free_slots};
use crate::secrets::{SigningKey, signing_key};
use crate::values::{Identifier, NetworkId};
use crate::worlds::link;
use crate::worlds::model::{Lease, Seed, World};
use crate::worlds::service::error::WorldsError;
use crate::worlds::service::snapshots::get_url;
use crate::worlds::store;

/// A server that could boot a world.
#[derive(Clone, Debug)]
pub(super) struct Node {
    id: Identifier,
    /// True if its event stream is open, so that it is notified at once.
    is_connected: bool,
}

/// The first of the preferred nodes that is online with room, alone; else the joinable game servers of the world's
/// game.
pub(super) fn nodes(
    app: &App,
    network: NetworkId,
    game_id: &Identifier,
    preferred: [Option<&Identifier>; 2],
    now: Millis,
) -> Vec<Node> {
    let has_room = |server: &Server| {
        server.info.role == Role::Game && free_slots(server.info.max_players, server.taken(now, &[])) > 0
    };
    let ids: Vec<Identifier> = app.state::<Presence>().with(network, |presence| {
        let online = preferred.into_iter().flatten().filter_map(|id| presence.server(id.as_str(), now));
        if let Some(server) = online.into_iter().find(|server| has_room(server)) {
            return vec![server.info.server_id.clone()];
        }
        let servers = presence.of_type(game_id, now).filter(|server| has_room(server) && server.takes_players());
        servers.map(|server| server.info.server_id.clone()).collect()
    });
    let is_connected = |id: &Identifier| app.bus.is_connected(network.0.as_u128(), id.as_str());
    ids.into_iter().map(|id| Node { is_connected: is_connected(&id), id }).collect()
}

/// Reason for which no node can boot a world of this game.
pub(super) fn why_no_node(app: &App, network: NetworkId, game_id: &Identifier, now: Millis) -> String {
    let (mut online, mut other_role, mut full) = (0, 0, 0);
    app.state::<Presence>().with(network, |presence| {
        for server in presence.of_type(game_id, now) {
            online += 1;
            if server.info.role != Role::Game {
                other_role += 1;
            } else if free_slots(server.info.max_players, server.taken(now, &[])) == 0 {
                full += 1;
            }
        }
    });
    let why = if online == 0 {
        format!("no server of the type `{game_id}` (its `gameId`) is online")
    } else {
        let closed = online - other_role - full;
        format!(
            "of the online servers of the type `{game_id}`, {other_role} have another role than GAME, {full} are \
             full, and {closed} accept no players in the state of their game"
        )
    };
    format!("No server can boot this world now: {why}.")
}

/// Node with the fewest leases. Nodes that would not be notified now come last.
pub(super) fn choose(nodes: &[Node], leases: Vec<(Identifier, i64)>) -> Option<Identifier> {
    let leases: HashMap<_, _> = leases.into_iter().collect();
    let key = |node: &&Node| (!node.is_connected, leases.get(&node.id).copied().unwrap_or(0), node.id.clone());
    nodes.iter().min_by_key(key).map(|node| node.id.clone())
}

/// Owner of a world.
#[derive(Serialize, ToSchema)]
pub(crate) struct WorldOwner<'a> {
    #[schema(example = "player")]
    scope: &'a str,
    #[schema(example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")]
    id: &'a str,
}

/// Order to a node to boot a world.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WorldBootOrder)]
pub(crate) struct WorldOpen<'a> {
    /// The lease, which the node names in its callbacks.
    #[schema(example = 17)]
    world_id: i64,
    /// Fence for the callbacks.
    #[schema(example = 3)]
    fence: i64,
    /// Duration of the lease unless a heartbeat renews it.
    #[schema(example = 60_000)]
    lease_ms: Millis,
    #[schema(example = "main")]
    world_key: &'a str,
    #[schema(value_type = String, example = "islands")]
    game_id: &'a Identifier,
    owner: WorldOwner<'a>,
    /// PERSISTENT or EPHEMERAL.
    #[schema(example = "PERSISTENT")]
    persistence: &'a str,
    seed: Option<Seed>,
    #[schema(example = "flat")]
    world_gen: Option<&'a str>,
    /// Newest snapshot; null: the world starts empty.
    #[schema(example = "0b0cbd8c-8d1f-4c1e-a3c5-6a4f1cbf8c5e/12/3-1")]
    blob_key: Option<&'a str>,
    /// URL of the snapshot; null if there is none, or if a node keeps it in its own store.
    #[schema(example = "https://hub.example.org/api/worlds/blobs/djEu")]
    snapshot_url: Option<String>,
}

/// Notifies the lease's node to boot the world. `key` signs the link to its snapshot.
pub(super) async fn notify_node(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    lease: &Lease,
    world: &World,
    key: &SigningKey,
) -> Result<(), WorldsError> {
    let snapshot_url = match &world.blob_key {
        Some(blob_key) if lease.is_persistent() => get_url(app, tx, network, blob_key, &lease.hub_url, key).await?,
        _ => None,
    };
    let payload = WorldOpen {
        world_id: lease.id,
        fence: lease.fence,
        lease_ms: millis(app.settings.lease()),
        world_key: world.world_key.as_str(),
        game_id: &world.game_id,
        owner: WorldOwner { scope: world.owner_scope.as_str(), id: world.owner_id.as_str() },
        persistence: &lease.persistence,
        seed: lease.seed.as_deref().and_then(|seed| serde_json::from_str(seed).ok()),
        world_gen: lease.world_gen.as_deref(),
        blob_key: world.blob_key.as_deref().filter(|_| lease.is_persistent()),
        snapshot_url,
    };
    Ok(publish(app, tx, network, EventKind::WorldOpen, lease.node_server_id.as_ref(), payload).await?)
}

/// Boots a world whose lease waited for the previous one to end, once that has happened. Without a node it does
/// nothing: the next run of the background work retries.
pub(in crate::worlds) async fn boot_waiting(app: &App, network: NetworkId, world_no: i64) -> Result<(), WorldsError> {
    let now = app.clock.now();
    let Some(waiting) = store::leases::waiting(&app.db, network, world_no, now).await? else { return Ok(()) };
    let Some(world) = store::worlds::get(&app.db, network, world_no).await? else { return Ok(()) };
    let preferred = [waiting.prefer_node.as_ref(), world.blob_node.as_ref()];
    let nodes = nodes(app, network, &world.game_id, preferred, now);
    let leases = store::leases::per_node(&app.db, network, now).await?;
    let Some(node) = choose(&nodes, leases) else { return Ok(()) };
    let key = signing_key(app, link::PURPOSE).await?;
    app.db
        .transaction(async |mut tx| {
            let assigned = store::leases::assign(&mut tx, network, world_no, &node, now, expiry(app, now)).await?;
            let Some(lease) = assigned else { return Ok(()) };
            // Read again: the previous lease may have left a snapshot in between.
            let newest = store::worlds::get(&mut tx, network, world_no).await?;
            notify_node(app, &mut tx, network, &lease, newest.as_ref().unwrap_or(&world), &key).await
        })
        .await
}
