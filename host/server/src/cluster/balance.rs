//! Keeps this node's leases, and its share of the shards.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use hub_bus::Inbox;
use tokio::time::Instant;

use crate::app::App;
use crate::clock::millis;
use crate::cluster::homes::{Node, TOPIC};
use crate::cluster::table::Stay;
use crate::cluster::{SHARDS, store};

/// How often leases are renewed and the others' are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A node that was silent this long gets no shards any more.
const SILENT: Duration = Duration::from_secs(5);
/// A node that was silent this long is not coming back: a node that starts has a name of its own.
const GONE: Duration = Duration::from_hours(24);
/// Shards given to others in one round, so that moving never fills the day.
const MOVES: usize = 16;
/// Shards that move at once.
const MOVES_AT_ONCE: usize = 16;

/// Joins the other nodes and starts this node's part.
pub(crate) async fn start(app: &App) -> anyhow::Result<()> {
    let Some(node) = app.homes.node() else { return Ok(()) };
    anyhow::ensure!(
        app.db.backend() == hub_db::Backend::Postgres,
        "several nodes (--bus) need a PostgreSQL that they share (--database)"
    );
    let told = node.cluster.listen(TOPIC).await?;
    round(app, node).await?;
    node.tell().await;
    app.spawn(keep(app.clone(), Arc::clone(node)));
    app.spawn(listen(Arc::clone(node), told));
    Ok(())
}

async fn listen(node: Arc<Node>, mut told: Inbox) {
    while told.next().await.is_some() {
        node.look.notify_one();
    }
}

async fn keep(app: App, node: Arc<Node>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = node.look.notified() => {}
        }
        if let Err(error) = round(&app, &node).await {
            tracing::warn!(%error, "could not look after the networks' homes");
        }
    }
}

async fn round(app: &App, node: &Node) -> Result<(), hub_db::Error> {
    node.look(app).await?;
    if node.is_leaving() {
        return Ok(());
    }
    let nodes = store::nodes(&app.db, millis(SILENT)).await?;
    let fair = usize::from(SHARDS).div_ceil(nodes.len().max(1));
    let stays = node.table.stays();
    let (have, free) = (stays.len(), node.table.free());
    let is_wanted = nodes.contains(&node.name);
    if is_wanted && have < fair && !free.is_empty() {
        // Each begins at another place, so that nodes that come together do not all want the same.
        let place = nodes.iter().position(|name| *name == node.name).unwrap_or(0);
        let from = free.len() * place / nodes.len().max(1);
        let wanted: Vec<_> = free.iter().cycle().skip(from).take((fair - have).min(free.len())).copied().collect();
        node.claim(app, &wanted).await?;
        node.tell().await;
    }
    let too_many = match is_wanted {
        true => have.saturating_sub(fair).min(MOVES),
        false if node.bus.is_gone(Instant::now()) => have,
        false => 0,
    };
    let mut others = node.table.others();
    let mut moves = vec![];
    for stay in stays.into_iter().take(too_many) {
        let Some(to) = poorest(&nodes, &node.name, &others, fair) else { break };
        *others.entry(to.as_str().into()).or_default() += 1;
        moves.push((stay, Some(to)));
    }
    if moves.is_empty() { Ok(()) } else { give(app, node, moves).await }
}

/// Gives shards away, several at once: each may have to wait for what is under way.
async fn give(app: &App, node: &Node, moves: Vec<(Arc<Stay>, Option<String>)>) -> Result<(), hub_db::Error> {
    let given = stream::iter(moves)
        .map(Ok)
        .try_for_each_concurrent(MOVES_AT_ONCE, async |(stay, to)| node.give(app, &stay, to.as_deref()).await);
    given.await?;
    node.tell().await;
    Ok(())
}

/// The other node with the fewest shards, if it has less than its share.
fn poorest(nodes: &[String], own: &str, others: &HashMap<Arc<str>, usize>, fair: usize) -> Option<String> {
    let have = |name: &String| others.get(name.as_str()).copied().unwrap_or(0);
    nodes.iter().filter(|name| *name != own && have(name) < fair).min_by_key(|name| have(name)).cloned()
}

/// Gives everything to the others before the hub stops, while it still answers. False where there are none: a node that
/// is alone keeps what it has until it has stopped.
pub(crate) async fn hand_over(app: &App) -> bool {
    let Some(node) = app.homes.node() else { return false };
    let handed_over = async {
        let others = store::nodes(&app.db, millis(SILENT)).await?;
        if others.iter().all(|name| *name == node.name) {
            return Ok(false);
        }
        give_all(app, node).await.map(|()| true)
    };
    handed_over.await.unwrap_or_else(|error| {
        note_failure(&error);
        false
    })
}

/// Gives up what is left, when the hub has stopped.
pub(crate) async fn leave(app: &App) {
    let Some(node) = app.homes.node() else { return };
    if let Err(error) = give_all(app, node).await {
        note_failure(&error);
    }
}

fn note_failure(error: &hub_db::Error) {
    tracing::warn!(%error, "shards were not handed over; others take them when their leases run out");
}

async fn give_all(app: &App, node: &Node) -> Result<(), hub_db::Error> {
    node.leaving.store(true, Ordering::Relaxed);
    store::retire_node(&app.db, &node.name, millis(SILENT)).await?;
    let others = store::nodes(&app.db, millis(SILENT)).await?;
    let mut to = others.iter().cycle();
    give(app, node, node.table.stays().into_iter().map(|stay| (stay, to.next().cloned())).collect()).await?;
    store::forget_node(&app.db, &node.name, millis(GONE)).await
}
