//! Keeps this node's share of the shards fair.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use hub_bus::Inbox;
use tokio::time::Instant;

use crate::app::App;
use crate::clock::millis;
use crate::cluster::arrivals::Source;
use crate::cluster::eligibility::{self, LiveNode};
use crate::cluster::lease::ShardLease;
use crate::cluster::registry::{LEASE_TTL, LEASES_TOPIC, Node};
use crate::cluster::store::{self, NodeRow, Target};
use crate::cluster::{ShardRegistry, key_handover, renewal};
use crate::values::SHARDS;

/// A node silent for this long gets no more shards. Shorter than a lease, so that the others can share all of its
/// shards as soon as they are free.
pub(super) const NODE_TIMEOUT: Duration = Duration::from_secs(3);
/// Probing continues for this long after a node was last seen: requests may still wait there.
const PROBED_FOR: Duration = Duration::from_secs(90);
/// A node silent for this long is deleted: a restarted node has a new name.
const NODE_RETENTION: Duration = Duration::from_hours(24);
/// Time for a stopping node to release its remaining shards. Its leases do not last longer.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(10);
/// A shard to move, and its target.
type Move = (Arc<ShardLease>, Target);

/// Maximum number of shards moved to other nodes per round.
const MAX_MOVES: usize = 16;
const MAX_CONCURRENT_MOVES: usize = 16;

/// Joins the cluster and starts this node's part; does nothing on a single node.
pub(super) async fn start(app: &App) -> anyhow::Result<()> {
    let Some(node) = app.state::<ShardRegistry>().node() else { return Ok(()) };
    node.set_states(app.components().network_states());
    let calls = node.call_roll_first(&app.db, millis(PROBED_FOR), millis(NODE_TIMEOUT)).await?;
    let inbox = node.cluster.listen(LEASES_TOPIC).await?;
    let key_requests = node.cluster.listen(key_handover::TOPIC).await?;
    // Reachability is known before other nodes first see this one.
    let nodes = store::nodes(&app.db, millis(NODE_TIMEOUT)).await?;
    node.peers.set(&node.name, &nodes, millis(NODE_TIMEOUT));
    node.peers.probe_all(&node.http).await;
    renewal::refresh(app, node).await;
    try_balance(app, node).await;
    node.announce_change().await;
    app.spawn(renewal::run(app.clone(), Arc::clone(node)));
    app.spawn(run(app.clone(), Arc::clone(node)));
    app.spawn(probe(Arc::clone(node)));
    app.spawn(listen(Arc::clone(node), inbox));
    app.spawn(Arc::clone(node).answer_calls(calls));
    app.spawn(key_handover::answer_all(app.clone(), key_requests));
    app.spawn(key_handover::keep_current(app.clone(), Arc::clone(node)));
    app.spawn(Arc::clone(node).say_name_repeatedly());
    Ok(())
}

async fn listen(node: Arc<Node>, mut inbox: Inbox) {
    while inbox.next().await.is_some() {
        node.refresh.notify_one();
    }
}

async fn probe(node: Arc<Node>) {
    node.peers.run(&node.http, || node.refresh.notify_one()).await;
}

async fn run(app: App, node: Arc<Node>) {
    loop {
        node.refreshed.notified().await;
        try_balance(&app, &node).await;
    }
}

async fn try_balance(app: &App, node: &Node) {
    if !node.is_draining()
        && let Err(error) = balance(app, node).await
    {
        tracing::warn!(%error, "could not claim or move shards");
    }
}

/// Claims or moves shards if this node has fewer or more than its share.
async fn balance(app: &App, node: &Node) -> Result<(), hub_db::Error> {
    if node.peers.take_changed() {
        // The database knows this node's reachable peers since the leases were refreshed.
        node.announce_change().await;
    }
    let nodes = eligible_nodes(app, node).await?;
    let share = usize::from(SHARDS).div_ceil(nodes.len().max(1));
    let leases = node.locations.local_leases();
    let (owned, unowned) = (leases.len(), node.locations.unowned());
    let is_eligible = nodes.contains(&node.name);
    if is_eligible && owned < share && !unowned.is_empty() {
        // Each node begins at another offset, so that nodes started together do not claim the same shards.
        let index = nodes.iter().position(|name| *name == node.name).unwrap_or(0);
        let offset = unowned.len() * index / nodes.len().max(1);
        let count = (share - owned).min(unowned.len());
        let claimed: Vec<_> = unowned.iter().cycle().skip(offset).take(count).copied().collect();
        node.claim(app, &claimed).await?;
        node.announce_change().await;
    }
    let now = Instant::now();
    let (mut moves, leases) =
        if is_eligible { follow_requests(&nodes, &node.name, leases, now) } else { (vec![], leases) };
    let excess = match is_eligible {
        true => owned.saturating_sub(share + moves.len()).min(MAX_MOVES.saturating_sub(moves.len())),
        false if node.clock_watch.is_off() || node.is_cut_off() || node.bus_health.should_evacuate(now) => owned,
        false => 0,
    };
    let mut counts = node.locations.remote_counts();
    for lease in leases.into_iter().take(excess) {
        let Some(to) = least_loaded(&nodes, &node.name, &counts, share) else { break };
        *counts.entry(to.as_str().into()).or_default() += 1;
        moves.push((lease, Target::Node(to)));
    }
    if !moves.is_empty() {
        transfer(app, node, moves).await;
    }
    Ok(())
}

/// Moves shards to the nodes at which their requests arrive. Returns these moves, and the shards that may move to
/// nodes with fewer: none whose requests arrive here, those with few requests first, and recently acquired ones last,
/// because their requests may arrive here.
fn follow_requests(
    nodes: &[String],
    own: &str,
    leases: Vec<Arc<ShardLease>>,
    now: Instant,
) -> (Vec<Move>, Vec<Arc<ShardLease>>) {
    let (mut moves, mut quiet, mut mixed, mut unknown) = (vec![], vec![], vec![], vec![]);
    for lease in leases {
        match lease.arrivals.source(now) {
            Source::Node(to)
                if moves.len() < MAX_MOVES
                    && to != own
                    && nodes.contains(&to)
                    && lease.may_follow.load(Ordering::Relaxed) =>
            {
                moves.push((lease, Target::Source(to)));
            }
            Source::Quiet => quiet.push(lease),
            Source::Mixed | Source::Node(_) => mixed.push(lease),
            Source::Unknown => unknown.push(lease),
            Source::Here => {}
        }
    }
    (moves, [quiet, mixed, unknown].concat())
}

/// Names of the nodes that should own shards, in order. Records it if this one should not because of its links, its
/// clock or the bus.
async fn eligible_nodes(app: &App, node: &Node) -> Result<Vec<String>, hub_db::Error> {
    let rows = store::nodes(&app.db, millis(PROBED_FOR)).await?;
    node.peers.set(&node.name, &rows, millis(NODE_TIMEOUT));
    let is_live = |row: &NodeRow| row.is_live(millis(NODE_TIMEOUT));
    if app.bus.is_reachable() {
        node.roll_call.compare(&node.name, &rows, is_live);
    } else {
        node.roll_call.forget();
    }
    let live: Vec<_> = rows.iter().filter(|row| is_live(row)).collect();
    node.shared_options.compare(&node.name, &live, &node.roll_call.elders());
    let live = rows.into_iter().filter(is_live).map(LiveNode::from).collect();
    let fit = eligibility::fit(live);
    let is_candidate = fit.iter().any(|live| live.name == node.name);
    let is_outvoted = node.clock_watch.is_off() && fit.iter().any(|live| live.fitness.is_clock_right);
    node.clock_watch.is_outvoted.store(is_outvoted, Ordering::Relaxed);
    let is_without_bus = node.bus_health.is_reported_lost() && fit.iter().any(|live| live.fitness.reaches_bus);
    node.bus_health.is_outvoted.store(is_without_bus, Ordering::Relaxed);
    let others = node.locations.remote_counts();
    let shards = |name: &str| {
        if name == node.name { node.locations.local_leases().len() } else { others.get(name).copied().unwrap_or(0) }
    };
    let eligible = eligibility::connected(fit, shards);
    node.set_cut_off(is_candidate && !eligible.contains(&node.name));
    Ok(eligible)
}

/// Transfers several shards concurrently: each may have to wait for running requests. A failure does not affect the
/// others.
async fn transfer(app: &App, node: &Node, moves: Vec<Move>) {
    stream::iter(moves)
        .for_each_concurrent(MAX_CONCURRENT_MOVES, async |(lease, to)| {
            if let Err(error) = node.transfer(app, &lease, &to).await {
                warn_of_failed_transfer(&error);
            }
        })
        .await;
    node.announce_change().await;
}

/// Other node with the fewest shards, if it has less than its share.
fn least_loaded(nodes: &[String], own: &str, counts: &HashMap<Arc<str>, usize>, share: usize) -> Option<String> {
    let count = |name: &String| counts.get(name.as_str()).copied().unwrap_or(0);
    nodes.iter().filter(|name| *name != own && count(name) < share).min_by_key(|name| count(name)).cloned()
}

/// Transfers all shards to other nodes before the hub stops, while it still answers. False if there are none: the last
/// node keeps its shards until it has stopped.
pub async fn drain(app: &App) -> bool {
    let Some(node) = app.state::<ShardRegistry>().node() else { return false };
    let drained = async {
        let nodes = eligible_nodes(app, node).await?;
        if nodes.iter().all(|name| *name == node.name) {
            return Ok(false);
        }
        transfer_all(app, node).await.map(|()| true)
    };
    tokio::select! {
        drained = drained => drained.unwrap_or_else(|error| {
            warn_of_failed_transfer(&error);
            false
        }),
        // All leases have expired.
        () = node.database.lost(LEASE_TTL, Duration::ZERO) => {
            tracing::warn!("the database is unreachable; other nodes take over this node's shards");
            false
        }
    }
}

/// Releases the remaining shards after the hub has stopped.
pub(super) async fn leave(app: &App) {
    let Some(node) = app.state::<ShardRegistry>().node() else { return };
    match tokio::time::timeout(LEAVE_TIMEOUT, transfer_all(app, node)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => warn_of_failed_transfer(&error),
        Err(_) => tracing::warn!("not all shards were released in time; their leases expire"),
    }
}

fn warn_of_failed_transfer(error: &hub_db::Error) {
    tracing::warn!(%error, "could not transfer a shard; another node takes it when its lease expires");
}

async fn transfer_all(app: &App, node: &Node) -> Result<(), hub_db::Error> {
    node.draining.store(true, Ordering::Relaxed);
    store::retire_node(&app.db, &node.name, millis(NODE_TIMEOUT)).await?;
    let others = eligible_nodes(app, node).await?;
    let mut targets = others.iter().cycle();
    let mut target = || targets.next().map_or(Target::Any, |name| Target::Node(name.clone()));
    let leases = node.locations.local_leases().into_iter();
    transfer(app, node, leases.map(|lease| (lease, target())).collect()).await;
    store::delete_node(&app.db, &node.name, millis(NODE_RETENTION)).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Uptime;
    use crate::values::NetworkId;

    #[test]
    fn what_has_just_come_is_the_last_to_be_given_away() {
        let later = || Uptime::now() + LEASE_TTL;
        let lease = |shard| Arc::new(ShardLease::new(shard, 1, later()));
        let began = Instant::now();
        let [quiet, busy, mixed, elsewhere] = [2, 3, 4, 5].map(lease);
        let old = [&quiet, &busy, &mixed, &elsewhere].map(Arc::clone);
        let nodes = ["here", "there"].map(str::to_owned);
        let follow = |leases: &[Arc<ShardLease>], now| {
            let (moves, others) = follow_requests(&nodes, "here", leases.to_vec(), now);
            let moves: Vec<_> = moves.into_iter().map(|(lease, to)| (lease.shard, to)).collect();
            (moves, others.iter().map(|lease| lease.shard).collect::<Vec<_>>())
        };
        let network = NetworkId(uuid::Uuid::from_u128(1));
        for _ in 0..50 {
            busy.arrivals.count_here(network);
            mixed.arrivals.count_here(network);
            mixed.arrivals.count_forwarded(network, "there");
            elsewhere.arrivals.count_forwarded(network, "there");
        }
        assert_eq!(follow(&old, began), (vec![], vec![2, 3, 4, 5]), "nodes that start even out at once");
        let next_window = began + Duration::from_secs(11);
        assert_eq!(follow(&old, next_window), (vec![], vec![2, 4, 5]), "it has followed its requests just now");
        elsewhere.may_follow.store(true, Ordering::Relaxed);
        assert_eq!(follow(&old, next_window), (vec![(5, Target::Source("there".to_owned()))], vec![2, 4]));
        let new = [lease(1)];
        let all = [&new[..], &old].concat();
        assert_eq!(follow(&all, began).1, vec![2, 4, 1], "its first window is not over");
    }
}
