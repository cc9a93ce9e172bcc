//! Deletes networks permanently: their rows, their blobs, and their state in the memory of nodes.
//!
//! A job deletes the rows in small transactions, with a pause after each as long as it took, so that it delays no other
//! work. The network and its keys come last, so that an interrupted deletion resumes. Requests in progress may still
//! write: after the longest of them has ended, the job runs once more.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use hub_db::{Backend, Db, Tx};
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
use crate::jobs::{self, Backoff, Job, JobError, JobKind, JobOutcome, NewJob, RunsAt, Unattended};
use crate::limits::Limits;
use crate::networks::{admin_store as store, moves_store};
use crate::values::NetworkId;

const INTERVAL: Duration = Duration::from_secs(1);
/// Pause while a backup, which contains the network's rows, is in progress.
const BACKUP_PAUSE: Millis = 1_000;
/// Table of the networks' keys.
const KEYS: &str = "api_keys";
/// Pause while the time is doubtful.
const DOUBT_PAUSE: Millis = 10_000;
/// Longer than any request: an upload has 15 minutes.
const LATE_WRITES: Millis = 20 * 60 * 1000;
/// Deletions, of the hub's own; their keys are the networks.
static DELETION: JobKind = JobKind {
    name: "network-deletion",
    runs_at: RunsAt::AnyNode,
    is_of_hub: true,
    concurrency: 1,
    backoff: Backoff { first: Duration::from_secs(1), longest: Duration::from_mins(10) },
    max_attempts: None,
};
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

/// Queues the deletion of a network.
pub(super) async fn enqueue(tx: &mut Tx, network: NetworkId, now: Millis, at: Millis) -> Result<(), hub_db::Error> {
    jobs::reschedule(tx, &NewJob::new(&DELETION, OPERATOR_NETWORK, &network), now, at).await
}

/// Takes the deletion of a network back.
pub(super) async fn cancel(tx: &mut Tx, network: NetworkId) -> Result<(), hub_db::Error> {
    jobs::cancel(tx, OPERATOR_NETWORK, &DELETION, &network.to_string()).await
}

/// Deletes due networks, and has every node drop their state.
pub(super) fn start(app: &App) {
    jobs::work(app, &DELETION, run);
    let forgotten = Arc::new(Mutex::new(HashSet::new()));
    every(app, INTERVAL, "forget deleted networks", move |app| forget_deleted(app, Arc::clone(&forgotten)));
}

async fn run(app: App, job: Job) -> Result<JobOutcome, JobError> {
    let network = NetworkId(job.key.parse().map_err(|error: uuid::Error| JobError::permanent(&error))?);
    if app.clock.settled().is_none() {
        return Ok(JobOutcome::RunAt(app.clock.now().saturating_add(DOUBT_PAUSE)));
    }
    // State in memory would be saved again.
    forget(&app, network);
    let (db, module_store, blobs) = (&app.db, &app.module_store, app.state::<Blobs>());
    let tables = app.components().tables();
    let deletion = Deletion { db, module_store, blobs, clock: &app.clock, ids: &app.ids, tables };
    Ok(deletion.run(network).await?)
}

async fn forget_deleted(app: App, forgotten: Arc<Mutex<HashSet<NetworkId>>>) -> Result<(), hub_db::Error> {
    let since = app.clock.now().saturating_sub(2 * LATE_WRITES);
    let gone: HashSet<_> = store::deleted_since(&app.db, since).await?.into_iter().collect();
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
    app.state::<KeyCache>().invalidate_network(network);
}

impl Deletion<'_> {
    /// Deletes a due network in a command, unless a hub is at it.
    pub async fn run_due(&self, network: NetworkId) -> Result<(), DeletionError> {
        let unattended = Unattended { db: self.db, clock: self.clock, ids: self.ids, kind: &DELETION };
        unattended.run_one(OPERATOR_NETWORK, &network.to_string(), async |_| self.run(network).await).await
    }

    /// Deletes a network completely, unless it is no longer to be deleted.
    async fn run(&self, network: NetworkId) -> Result<JobOutcome, DeletionError> {
        if self.blobs.is_held().await? {
            return Ok(JobOutcome::RunAt(self.clock.now().saturating_add(BACKUP_PAUSE)));
        }
        let is_again = store::is_deleted(self.db, network).await?;
        let is_last = |table: &NetworkTable| [self.tables.networks().name, KEYS].contains(&table.name);
        // From the last component to the first: counts of stored rows come after the rows that they count.
        for table in self.tables.of_networks().iter().rev().filter(|table| !is_last(table)) {
            if !self.delete_rows(table, network).await? {
                return Ok(JobOutcome::Done);
            }
        }
        self.blobs.delete_network(network).await?;
        // The network's keys come last; until then they are refused as those of a suspended network.
        if let Some(keys) = self.tables.find(KEYS)
            && !self.delete_rows(keys, network).await?
        {
            return Ok(JobOutcome::Done);
        }
        let now = self.clock.now();
        self.db
            .transaction(async |mut tx| {
                if self.db.backend() == Backend::Sqlite {
                    store::delete_search_number(&mut tx, network).await?;
                }
                tx.delete_rows(self.tables.networks(), network.0, 1).await?;
                moves_store::delete(&mut tx, network).await?;
                if store::finish_deletion(&mut tx, network, now).await? {
                    let origin =
                        Origin::without_request(ActorType::System, "deletion", "deletion", self.clock, self.ids);
                    let change = Change::new(Action::NetworkDeleted, network);
                    audit::record(&mut tx, OPERATOR_NETWORK, &origin, change).await?;
                }
                Ok::<_, hub_db::Error>(())
            })
            .await?;
        tracing::info!(%network, "deleted a network");
        Ok(if is_again { JobOutcome::Done } else { JobOutcome::RunAt(now.saturating_add(LATE_WRITES)) })
    }

    /// Deletes all rows of a table; false if the network is no longer to be deleted.
    async fn delete_rows(&self, table: &NetworkTable, network: NetworkId) -> Result<bool, DeletionError> {
        let is_elsewhere = table.rule.is_in_module_store && self.db.backend() == Backend::Sqlite;
        let mut batch = FIRST_BATCH;
        loop {
            let began = Instant::now();
            let deleted = self.db.transaction(async |mut tx| {
                if !store::begin_deletion(&mut tx, network, self.clock.now()).await? {
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
