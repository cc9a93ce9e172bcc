//! Freezes networks that move: each node admits nothing more of them, lets what is under way end, and saves what only its
//! memory has. A network that has left is forgotten, one that has arrived is restored before it is served.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use tokio::time::{Instant, sleep};

use crate::app::App;
use crate::auth::KeyCache;
use crate::auth::moves::{LEAVING, LEFT, MovingNetworks};
use crate::cluster::ShardRegistry;
use crate::identity::Identity;
use crate::network_moves::store::{self, MoveRow};
use crate::values::NetworkId;

const INTERVAL: Duration = Duration::from_millis(250);
/// Time for requests under way to end; longer ones wait for something that no longer happens here.
const GRACE: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Networks that become still at once.
const SIDE_BY_SIDE: usize = 8;

/// Moves that this node has dealt with, with their states.
type Known = HashMap<NetworkId, (String, String)>;

/// Loads the moves before the first request.
pub(super) async fn start(app: &App) -> anyhow::Result<()> {
    set(app, &store::moves(&app.db).await?, &HashSet::new());
    Ok(())
}

/// Watches the moves until the hub stops. Its pace is real time even where a test holds the clock.
pub(super) fn run(app: &App) {
    let watched = app.clone();
    app.spawn(async move {
        let mut known = Known::new();
        loop {
            if let Err(error) = pass(&watched, &mut known).await {
                tracing::warn!(%error, "could not look for networks that move");
            }
            sleep(INTERVAL).await;
        }
    });
}

/// `unready` are networks that have arrived and are not served yet.
fn set(app: &App, moves: &[MoveRow], unready: &HashSet<NetworkId>) {
    let state_of = |row: &MoveRow| {
        let url = (row.state == LEFT).then(|| Arc::from(&*row.url));
        (row.network_id, url)
    };
    let unready = unready.iter().map(|network| (*network, None));
    app.state::<MovingNetworks>().set(moves.iter().map(state_of).chain(unready).collect());
}

async fn pass(app: &App, known: &mut Known) -> Result<(), hub_db::Error> {
    let moves = store::moves(&app.db).await?;
    let mut unready = HashSet::new();
    // In turn: an operator's commands bring few networks at once, and all that was refused here waits for its own alone.
    for (network, (_, state)) in known.iter() {
        if state != LEAVING
            && !moves.iter().any(|row| row.network_id == *network)
            && let Err(error) = restore(app, *network).await
        {
            tracing::warn!(%error, %network, "could not load a network that has arrived; it is tried again");
            unready.insert(*network);
        }
    }
    set(app, &moves, &unready);
    known.retain(|network, _| unready.contains(network) || moves.iter().any(|row| row.network_id == *network));
    let is_new =
        |row: &&MoveRow| known.get(&row.network_id).is_none_or(|(id, state)| (id, state) != (&row.move_id, &row.state));
    let new: Vec<_> = moves.iter().filter(is_new).cloned().collect();
    let done = stream::iter(new).map(async |row| (deal_with(app, &row).await, row));
    for (dealt_with, row) in done.buffer_unordered(SIDE_BY_SIDE).collect::<Vec<_>>().await {
        match dealt_with {
            Ok(()) => drop(known.insert(row.network_id, (row.move_id, row.state))),
            // The next pass tries again; the command waits.
            Err(error) => tracing::warn!(%error, network = %row.network_id, "could not freeze a network that moves"),
        }
    }
    Ok(())
}

async fn deal_with(app: &App, row: &MoveRow) -> Result<(), hub_db::Error> {
    if row.state == LEAVING {
        become_still(app, row).await?;
    } else {
        // Another hub has it, or will send it again.
        for state in app.components().network_states() {
            state.forget(app, row.network_id);
        }
        // Written after the arrival, they would be a difference to what was sent.
        app.state::<KeyCache>().forget_uses(row.network_id);
        app.bus.close_network(row.network_id.0.as_u128());
    }
    let node = app.state::<ShardRegistry>().node_name().unwrap_or(&app.state::<Identity>().node);
    store::note_still(&app.db, row, node).await
}

/// Loads what a network brought along, before its first request.
async fn restore(app: &App, network: NetworkId) -> Result<(), hub_db::Error> {
    let owns = app.state::<ShardRegistry>().owns(network);
    for state in app.components().network_states() {
        state.evict(app, network);
        // Otherwise its owner does so.
        if owns {
            state.restore(app, network).await?;
        }
    }
    Ok(())
}

async fn become_still(app: &App, row: &MoveRow) -> Result<(), hub_db::Error> {
    let (networks, network) = (app.state::<MovingNetworks>(), row.network_id);
    let until = Instant::now() + GRACE;
    while networks.requests(network) > 0 {
        if Instant::now() >= until {
            networks.cut(network);
        }
        sleep(POLL_INTERVAL).await;
    }
    let shards = app.state::<ShardRegistry>();
    if shards.owns(network) {
        // In turn: states of one network, as at a move from node to node.
        for state in app.components().network_states() {
            state.save(app, network).await?;
        }
    }
    Ok(())
}
