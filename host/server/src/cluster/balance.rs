//! Keeps this node's leases, and its share of the shards.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hub_bus::Inbox;

use crate::app::App;
use crate::clock::millis;
use crate::cluster::homes::{Node, TOPIC};
use crate::cluster::{SHARDS, store};

/// How often leases are renewed and the others' are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A node that was silent this long gets no shards any more.
const SILENT: Duration = Duration::from_secs(5);
/// Shards given to others in one round, so that moving never fills the day.
const MOVES: usize = 16;

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
    let nodes = store::nodes(&app.db, millis(SILENT)).await?;
    let fair = usize::from(SHARDS).div_ceil(nodes.len().max(1));
    let stays = node.table.stays();
    let (have, free) = (stays.len(), node.table.free());
    if have < fair && !free.is_empty() {
        // Each begins at another place, so that nodes that come together do not all want the same.
        let place = nodes.iter().position(|name| *name == node.name).unwrap_or(0);
        let from = free.len() * place / nodes.len().max(1);
        let wanted: Vec<_> = free.iter().cycle().skip(from).take((fair - have).min(free.len())).copied().collect();
        node.claim(app, &wanted).await?;
        node.tell().await;
    }
    let mut moves = stays.into_iter().take(have.saturating_sub(fair).min(MOVES)).peekable();
    if moves.peek().is_none() {
        return Ok(());
    }
    let mut others = node.table.others();
    for stay in moves {
        let Some(to) = poorest(&nodes, &node.name, &others, fair) else { break };
        node.give(app, &stay, Some(&to)).await?;
        *others.entry(to.into()).or_default() += 1;
    }
    node.tell().await;
    Ok(())
}

/// The other node with the fewest shards, if it has less than its share.
fn poorest(nodes: &[String], own: &str, others: &HashMap<Arc<str>, usize>, fair: usize) -> Option<String> {
    let have = |name: &String| others.get(name.as_str()).copied().unwrap_or(0);
    nodes.iter().filter(|name| *name != own && have(name) < fair).min_by_key(|name| have(name)).cloned()
}

/// Gives everything to the others, when the hub stops.
pub(crate) async fn leave(app: &App) {
    let Some(node) = app.homes.node() else { return };
    if let Err(error) = give_all(app, node).await {
        tracing::warn!(%error, "shards were not handed over; others take them when their leases run out");
    }
}

async fn give_all(app: &App, node: &Node) -> Result<(), hub_db::Error> {
    store::forget_node(&app.db, &node.name).await?;
    let others = store::nodes(&app.db, millis(SILENT)).await?;
    let mut to = others.iter().cycle();
    for stay in node.table.stays() {
        node.give(app, &stay, to.next().map(String::as_str)).await?;
    }
    node.tell().await;
    Ok(())
}
