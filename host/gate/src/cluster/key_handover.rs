//! Hands the key of the hub's secrets to a node that has none, because the data folder of a new machine is empty, or that
//! lacks the newest generation.
//!
//! The request and the answer go through the database, and only the node that asked can read the answer. So the key is
//! given to nobody who merely reads the database, the bus, or a backup. Table: `key_requests`.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hub_bus::Inbox;
use hub_db::{Backend, Db, Error};
use tokio::time::{Instant, sleep};

use crate::app::App;
use crate::clock::millis;
use crate::cluster::ShardRegistry;
use crate::cluster::balance::NODE_TIMEOUT;
use crate::cluster::registry::Node;
use crate::cluster::store::{self as nodes, key_requests as store};
use crate::secrets::{self, KeyRequest, SealingKey};

/// Topic of a new request.
pub(super) const TOPIC: &str = "key-request";
/// Time for another node to answer: it may be starting.
const PATIENCE: Duration = Duration::from_secs(20);
const ASK_INTERVAL: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(100);
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Time in which live nodes notice a new generation and get it.
const HAND_OUT: Duration = Duration::from_secs(4);

impl ShardRegistry {
    /// The key, from another node; none on a single node, or if none answers.
    pub async fn ask_for_key(&self, db: &Db) -> anyhow::Result<Option<SealingKey>> {
        let Some(node) = self.node() else { return Ok(None) };
        // Over another bus nobody would answer.
        node.call_roll_first(db, millis(NODE_TIMEOUT), millis(NODE_TIMEOUT)).await?;
        ask(node, db).await
    }
}

/// The key, from another node; none if none answers.
async fn ask(node: &Node, db: &Db) -> anyhow::Result<Option<SealingKey>> {
    let request = KeyRequest::new()?;
    store::ask(db, request.public()).await?;
    let began = Instant::now();
    let mut asked_at: Option<Instant> = None;
    let answer = loop {
        if let Some(answer) = store::answer(db, request.public()).await? {
            break Some(answer);
        }
        if began.elapsed() >= PATIENCE {
            break None;
        }
        if asked_at.is_none_or(|at| at.elapsed() >= ASK_INTERVAL) {
            asked_at = Some(Instant::now());
            node.cluster.broadcast(TOPIC, Bytes::new()).await?;
        }
        sleep(POLL_INTERVAL).await;
    };
    store::delete(db, request.public()).await?;
    if answer.is_none() {
        let others = nodes::nodes(db, millis(NODE_TIMEOUT)).await?;
        anyhow::ensure!(
            !others.iter().any(|other| other.node != node.name && other.is_live(millis(NODE_TIMEOUT))),
            "another node runs and did not hand over the secrets key in time; start this node again"
        );
    }
    Ok(answer.and_then(|answer| request.open(&answer)))
}

/// Fetches newer generations of the key until the hub stops.
pub(super) async fn keep_current(app: App, node: Arc<Node>) {
    loop {
        sleep(CHECK_INTERVAL).await;
        if let Err(error) = fetch_newer(&app, &node).await {
            tracing::warn!(%error, "could not get the newest secrets key");
        }
    }
}

async fn fetch_newer(app: &App, node: &Node) -> anyhow::Result<()> {
    if secrets::is_key_current(app).await? {
        return Ok(());
    }
    let Some(key) = ask(node, &app.db).await? else { return Ok(()) };
    if secrets::keep_newer(app, key).await? {
        tracing::info!("the newest secrets key was received from another node");
    }
    Ok(())
}

/// Hands a new generation of the key to all live nodes, for as long as they take to notice it. A command replaced the key,
/// and may run where no node does.
pub async fn hand_out(db: &Db, key: &SealingKey) -> Result<(), Error> {
    if db.backend() == Backend::Sqlite || nodes::nodes(db, millis(NODE_TIMEOUT)).await?.is_empty() {
        return Ok(());
    }
    let began = Instant::now();
    while began.elapsed() < HAND_OUT {
        for request in store::unanswered(db).await? {
            if let Some(answer) = secrets::seal_for(key, &request) {
                store::put_answer(db, &request, &answer).await?;
            }
        }
        sleep(POLL_INTERVAL).await;
    }
    Ok(())
}

/// Answers other nodes' requests until the hub stops.
pub(super) async fn answer_all(app: App, mut inbox: Inbox) {
    while inbox.next().await.is_some() {
        if let Err(error) = answer(&app).await {
            tracing::warn!(%error, "could not hand the secrets key to another node");
        }
    }
}

async fn answer(app: &App) -> Result<(), Error> {
    if !secrets::is_key_current(app).await? {
        return Ok(());
    }
    for request in store::unanswered(&app.db).await? {
        if let Some(answer) = secrets::seal_key_for(app, &request) {
            store::put_answer(&app.db, &request, &answer).await?;
            tracing::info!("handed the secrets key to another node");
        }
    }
    Ok(())
}
