//! Deletes networks permanently: their rows, their blobs, and their state in the memory of nodes.
//!
//! One node claims a network and deletes its rows in small transactions, with a pause after each as long as it took, so
//! that it delays no other work. The network and its keys come last, so that an interrupted deletion resumes. Requests
//! in progress may still write: after the longest of them has ended, the rows are searched again.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use hub_db::{Backend, Db};
use parking_lot::Mutex;
use thiserror::Error;
use tokio::time::Instant;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::{ActorType, KeyCache, OPERATOR_NETWORK, Origin};
use crate::background::every;
use crate::blobs::{BlobError, Blobs};
use crate::clock::{Clock, Millis, millis};
use crate::component::{NetworkTable, Tables};
use crate::ids::Ids;
use crate::limits::Limits;
use crate::networks::admin_store as store;
use crate::values::NetworkId;

const INTERVAL: Duration = Duration::from_secs(1);
/// Table of the networks' keys.
const KEYS: &str = "api_keys";
/// Longer than any transaction of the deletion takes.
const CLAIM: Millis = 60_000;
/// Longer than any request: an upload has 15 minutes.
const LATE_WRITES: Millis = 20 * 60 * 1000;
/// Initial and maximum number of rows deleted in one transaction.
const FIRST_BATCH: usize = 100;
const MAX_BATCH: usize = 2_000;
/// Target duration of a transaction.
const BATCH_TIME: Duration = Duration::from_millis(20);

/// Reason for which a network could not be deleted.
#[derive(Debug, Error)]
pub enum DeletionError {
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
    /// The blobs could not be deleted.
    #[error(transparent)]
    Blobs(#[from] BlobError),
}

/// Dependencies of deletions.
pub struct Deletion<'a> {
    pub db: &'a Db,
    pub module_store: &'a Db,
    pub blobs: &'a Blobs,
    pub clock: &'a Clock,
    pub ids: &'a Ids,
    pub tables: &'static Tables,
}

/// Deletes due networks, on one of the nodes, and has every node drop their state.
pub(super) fn start(app: &App) {
    let forgotten = Arc::new(Mutex::new(HashSet::new()));
    every(app, INTERVAL, "delete networks", move |app| run(app, Arc::clone(&forgotten)));
}

async fn run(app: App, forgotten: Arc<Mutex<HashSet<NetworkId>>>) -> Result<(), DeletionError> {
    let (db, module_store, blobs) = (&app.db, &app.module_store, app.state::<Blobs>());
    let tables = app.components().tables();
    let deletion = Deletion { db, module_store, blobs, clock: &app.clock, ids: &app.ids, tables };
    for network in store::due_deletions(&app.db, app.clock.now()).await? {
        // State in memory would be saved again.
        forget(&app, network);
        deletion.run(network).await?;
    }
    let gone: HashSet<_> = store::recently_deleted(&app.db).await?.into_iter().collect();
    let new: Vec<_> = {
        let mut forgotten = forgotten.lock();
        forgotten.retain(|network| gone.contains(network));
        gone.into_iter().filter(|network| forgotten.insert(*network)).collect()
    };
    for network in new {
        forget(&app, network);
    }
    Ok(())
}

fn forget(app: &App, network: NetworkId) {
    for state in app.components().network_states() {
        state.forget(app, network);
    }
    app.bus.close_network(network.0.as_u128());
    app.state::<Limits>().evict(network);
    app.state::<KeyCache>().clear();
}

impl Deletion<'_> {
    /// Deletes a due network completely, unless another node does.
    pub async fn run(&self, network: NetworkId) -> Result<(), DeletionError> {
        if self.blobs.is_held().await? {
            // A backup is in progress and contains its rows.
            return Ok(());
        }
        let now = self.clock.now();
        if !store::claim_deletion(self.db, network, now, now.saturating_add(CLAIM)).await? {
            return Ok(());
        }
        let is_again = store::is_deleted(self.db, network).await?;
        let is_last = |table: &NetworkTable| [self.tables.networks().name, KEYS].contains(&table.name);
        // From the last component to the first: counts of stored rows come after the rows that they count.
        for table in self.tables.of_networks().iter().rev().filter(|table| !is_last(table)) {
            if !self.delete_rows(table, network).await? {
                return Ok(());
            }
        }
        self.blobs.delete_network(network).await?;
        // The network's keys come last; until then they are refused as those of a suspended network.
        if let Some(keys) = self.tables.find(KEYS)
            && !self.delete_rows(keys, network).await?
        {
            return Ok(());
        }
        let now = self.clock.now();
        let again_at = (!is_again).then(|| now.saturating_add(LATE_WRITES));
        self.db
            .transaction(async |mut tx| {
                if self.db.backend() == Backend::Sqlite {
                    store::delete_search_number(&mut tx, network).await?;
                }
                tx.delete_rows(self.tables.networks(), network.0, 1).await?;
                if !is_again {
                    let origin =
                        Origin::without_request(ActorType::System, "deletion", "deletion", self.clock, self.ids);
                    let change = Change::new(Action::NetworkDeleted, network);
                    audit::record(&mut tx, OPERATOR_NETWORK, &origin, change).await?;
                }
                store::finish_deletion(&mut tx, network, now, again_at).await
            })
            .await?;
        tracing::info!(%network, "deleted a network");
        Ok(())
    }

    /// Deletes all rows of a table; false if the network is no longer to be deleted.
    async fn delete_rows(&self, table: &NetworkTable, network: NetworkId) -> Result<bool, DeletionError> {
        let is_elsewhere = table.rule.is_in_module_store && self.db.backend() == Backend::Sqlite;
        let mut batch = FIRST_BATCH;
        loop {
            let (began, until) = (Instant::now(), self.clock.now().saturating_add(CLAIM));
            let deleted = self.db.transaction(async |mut tx| {
                if !store::renew_claim(&mut tx, network, until).await? {
                    return Ok::<_, hub_db::Error>(None);
                }
                if is_elsewhere {
                    return Ok(Some(0));
                }
                tx.delete_rows(table, network.0, batch).await.map(Some)
            });
            let Some(mut deleted) = deleted.await? else { return Ok(false) };
            if is_elsewhere {
                let elsewhere =
                    self.module_store.transaction(async |mut tx| tx.delete_rows(table, network.0, batch).await);
                deleted = elsewhere.await?;
            }
            if deleted < batch as u64 {
                return Ok(true);
            }
            let took = began.elapsed();
            batch = if took > BATCH_TIME { (batch / 2).max(1) } else { (batch * 2).min(MAX_BATCH) };
            tokio::time::sleep(took).await;
        }
    }
}

/// Time a network's keys are refused before its rows are deleted: other nodes notice the suspension within a second,
/// and requests in progress end.
pub(super) const GRACE: Duration = Duration::from_secs(2);
/// Time within which a deletion can be cancelled.
pub(super) const REVOCABLE: Duration = Duration::from_hours(7 * 24);

/// Time of a deletion, now or in seven days.
pub(super) fn delete_at(now: Millis, at_once: bool) -> Millis {
    now.saturating_add(millis(if at_once { GRACE } else { REVOCABLE }))
}
