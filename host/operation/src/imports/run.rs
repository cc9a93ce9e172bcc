//! Runs imports in the background, at the owners of their networks.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use hub_db::Tx;
use parking_lot::Mutex;
use serde_json::json;
use thiserror::Error;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Origin;
use crate::blobs::{self, BlobError, BlobKey, Blobs};
use crate::clock::{Millis, millis};
use crate::cluster::ShardRegistry;
use crate::imports::apply::{self, ApplyError, TargetCounts};
use crate::imports::batch::BatchSize;
use crate::imports::model::{Import, ImportFailure, ImportState};
use crate::imports::reader::{FileReader, OWN_ERROR, Progress, ReadError};
use crate::imports::record::Item;
use crate::imports::{file, store};
use crate::jobs::{self, Backoff, Job, JobError, JobKind, JobOutcome, NewJob, RunsAt};
use crate::networks::service as networks;
use crate::values::NetworkId;

/// Imports; their keys are the imports' ids. Each has a child process.
static IMPORT: JobKind = JobKind {
    name: "import",
    runs_at: RunsAt::Owner,
    is_of_hub: false,
    concurrency: 3,
    backoff: Backoff { first: Duration::from_secs(2), longest: Duration::from_mins(5) },
    max_attempts: None,
};
/// Number of records after which the database is analyzed for the first time; then after four times as many, and so
/// on.
const FIRST_ANALYSIS: i64 = 1_000;
/// Interval between checks for a cancellation at another node, and for the end of a turn.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Kills of its hubs after which an import counts as their reason.
const MOST_KILLS: i64 = 2;

/// Imports running at this node, one of each network.
#[derive(Debug, Default)]
pub struct Imports {
    running: Mutex<HashMap<NetworkId, Running>>,
}

/// An import that runs here.
#[derive(Debug)]
struct Running {
    id: String,
    cancelled: Arc<Notify>,
}

impl Imports {
    /// Ends an import's child at once if it runs here.
    pub(super) fn cancel(&self, import: &Import) {
        if let Some(running) = self.running.lock().get(&import.network).filter(|running| running.id == import.id) {
            running.cancelled.notify_one();
        }
    }
}

/// Lists an import as running until it is dropped.
struct RunningGuard {
    app: App,
    network: NetworkId,
    cancelled: Arc<Notify>,
}

impl RunningGuard {
    fn new(app: &App, import: &Import) -> Self {
        let cancelled = Arc::<Notify>::default();
        let running = Running { id: import.id.clone(), cancelled: Arc::clone(&cancelled) };
        app.state::<Imports>().running.lock().insert(import.network, running);
        Self { app: app.clone(), network: import.network, cancelled }
    }
}

impl Drop for RunningGuard {
    fn drop(&mut self) {
        self.app.state::<Imports>().running.lock().remove(&self.network);
    }
}

/// Starts the background work.
pub(super) fn start(app: &App) {
    // Files left by a killed hub.
    if let Err(error) = std::fs::remove_dir_all(file::folder(app))
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(%error, "could not delete the files of earlier imports");
    }
    jobs::work(app, &IMPORT, run);
}

/// Queues an import.
pub(super) async fn enqueue(app: &App, tx: &mut Tx, import: &Import) -> Result<(), hub_db::Error> {
    jobs::enqueue_and_wake(app, tx, &NewJob::new(&IMPORT, import.network, &import.id)).await
}

/// Reason for ending an import early.
#[derive(Debug, Error)]
enum RunError {
    /// The import ends with this error.
    #[error("{}", .0.message)]
    Failed(ImportFailure),
    /// The import was cancelled, or another node owns its network.
    #[error("the import no longer runs on this node")]
    Gone,
    /// It goes on after imports of others.
    #[error("others wait")]
    TurnOver,
    /// A batch failed.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// Its child did not start.
    #[error(transparent)]
    Reader(ReadError),
    #[error(transparent)]
    Blob(#[from] BlobError),
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl RunError {
    fn failed(message: impl Into<String>) -> Self {
        Self::Failed(ImportFailure { line: None, message: message.into() })
    }
}

impl From<ReadError> for RunError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Failed(failure) => Self::Failed(failure),
            error @ ReadError::System(_) => Self::Reader(error),
        }
    }
}

/// Runs an import until it ends or is interrupted.
async fn run(app: App, job: Job) -> Result<JobOutcome, JobError> {
    let (network, id) = (job.network, job.key);
    if !networks::is_active(&app.db, network).await? {
        return Ok(JobOutcome::RunAt(app.clock.now().saturating_add(millis(CHECK_INTERVAL))));
    }
    if !store::begin(&app.db, network, &id, app.clock.now()).await? {
        return Ok(JobOutcome::Done);
    }
    let Some(import) = store::find(&app.db, network, &id).await? else { return Ok(JobOutcome::Done) };
    let running = RunningGuard::new(&app, &import);
    let result = if job.kills >= MOST_KILLS {
        Err(RunError::failed(
            "The hub ended twice while this import ran, so it is not tried again. Written records stay; if the file is \
             not at fault, import it again.",
        ))
    } else {
        import_file(&app, &import, &running.cancelled).await
    };
    let failure = match result {
        Ok(()) => None,
        Err(RunError::TurnOver) => return Ok(JobOutcome::NextTurn),
        // Cancelled, or to be continued by the network's new owner.
        Err(RunError::Gone) => return Ok(JobOutcome::RunAt(app.clock.now().saturating_add(millis(CHECK_INTERVAL)))),
        Err(RunError::Failed(failure)) => Some(failure),
        Err(RunError::Apply(ApplyError::Quota(exceeded))) => {
            Some(ImportFailure { line: None, message: exceeded.to_string() })
        }
        Err(error) => return Err(error.into()),
    };
    let state = if failure.is_some() { ImportState::Failed } else { ImportState::Done };
    end(&app, &import, (state, failure.as_ref()), &Origin::system(&app, "imports")).await?;
    Ok(JobOutcome::Done)
}

/// Ends an import and deletes its file; false if it has already ended. Every end, including cancellation, passes
/// through here.
pub(super) async fn end(
    app: &App,
    import: &Import,
    (state, failure): (ImportState, Option<&ImportFailure>),
    origin: &Origin,
) -> Result<bool, hub_db::Error> {
    let key = BlobKey::import(import.network, &import.sha256, &import.id);
    let now = app.clock.now();
    let ended = app.db.transaction(async |mut tx| end_in(&mut tx, import, (state, failure), origin, now).await).await?;
    if ended {
        app.state::<Blobs>().delete_unreferenced(&[key]).await;
    }
    Ok(ended)
}

/// The part of an end in the database. Its node notices, and its file is deleted with others that are not referenced.
pub(super) async fn end_in(
    tx: &mut Tx,
    import: &Import,
    (state, failure): (ImportState, Option<&ImportFailure>),
    origin: &Origin,
    now: Millis,
) -> Result<bool, hub_db::Error> {
    let ended = store::finish(tx, import.network, &import.id, (state, failure), now).await?;
    if ended {
        blobs::mark_unreferenced(tx, &BlobKey::import(import.network, &import.sha256, &import.id)).await?;
        let change = Change::new(Action::ImportEnded, &import.id).after(json!({"kind": import.kind, "state": state}));
        audit::record(tx, import.network, origin, change).await?;
    }
    Ok(ended)
}

async fn import_file(app: &App, import: &Import, cancelled: &Notify) -> Result<(), RunError> {
    let key = BlobKey::import(import.network, &import.sha256, &import.id);
    let file = file::fetch(app, &key).await?;
    let file = file.ok_or_else(|| RunError::failed("The file is missing; upload it again."))?;
    let mut reading = Reading { app, import, cancelled, reader: FileReader::start(app, import, file.path()).await? };
    let Progress::Checked(total) = reading.next().await? else { return Err(out_of_order()) };
    if !store::set_total(&app.db, import.network, &import.id, total).await? {
        return Err(RunError::Gone);
    }
    write(app, import, reading).await
}

/// Reading of an import's file while the import runs here.
struct Reading<'i> {
    app: &'i App,
    import: &'i Import,
    cancelled: &'i Notify,
    reader: FileReader,
}

impl Reading<'_> {
    async fn next(&mut self) -> Result<Progress, RunError> {
        tokio::select! {
            next = self.reader.next() => Ok(next?),
            gone = watch(self.app, self.import, self.cancelled) => Err(gone),
        }
    }
}

/// Failure by a child whose answers are in no order.
fn out_of_order() -> RunError {
    RunError::failed(OWN_ERROR)
}

/// Waits for a cancellation, the end of an import elsewhere, or that of its turn.
async fn watch(app: &App, import: &Import, cancelled: &Notify) -> RunError {
    loop {
        tokio::select! {
            () = cancelled.notified() => return RunError::Gone,
            () = tokio::time::sleep(CHECK_INTERVAL) => {}
        }
        if is_turn_over(app, import) {
            return RunError::TurnOver;
        }
        let stored = store::find(&app.db, import.network, &import.id).await;
        // If the database fails, the next statement reports it.
        if stored.is_ok_and(|stored| stored.is_none_or(|stored| stored.state != ImportState::Running)) {
            return RunError::Gone;
        }
        if networks::is_active(&app.db, import.network).await.is_ok_and(|is_active| !is_active) {
            return RunError::Gone;
        }
    }
}

fn is_turn_over(app: &App, import: &Import) -> bool {
    jobs::is_turn_over(app, &IMPORT, import.network)
}

/// Writes the records that are read.
async fn write(app: &App, import: &Import, mut reading: Reading<'_>) -> Result<(), RunError> {
    let mut import = import.clone();
    let (mut items, mut waiting) = (vec![], VecDeque::new());
    let (mut targets, mut analyze_at) = (TargetCounts::default(), FIRST_ANALYSIS);
    let (mut size, mut is_read) = (BatchSize::new(app.db.backend()), false);
    while !is_read {
        if is_turn_over(app, &import) {
            return Err(RunError::TurnOver);
        }
        let mut rows = 0;
        while !size.is_full(rows) {
            let Some(item) = waiting.pop_front() else {
                match reading.next().await? {
                    Progress::Items(read) => waiting.extend(read),
                    Progress::Done => {
                        is_read = true;
                        break;
                    }
                    Progress::Checked(_) => return Err(out_of_order()),
                }
                continue;
            };
            rows += item.record.rows();
            items.push(item);
        }
        if !items.is_empty() {
            let Some(took) = write_batch(app, &mut import, &items, &mut targets).await? else {
                return Err(RunError::Gone);
            };
            size.adapt(rows, took);
        }
        items.clear();
        if import.done >= analyze_at && !import.dry_run {
            analyze_at = import.done.saturating_mul(4);
            if let Err(error) = store::analyze(&app.db, import.kind).await {
                tracing::debug!(%error, "could not analyze the tables of an import; it continues, perhaps more slowly");
            }
        }
    }
    Ok(())
}

/// Writes a batch and returns the duration of its statements; none if the import no longer runs here.
async fn write_batch(
    app: &App,
    import: &mut Import,
    items: &[Item],
    targets: &mut TargetCounts,
) -> Result<Option<Duration>, RunError> {
    let plan = apply::plan(app, import, items, targets).await?;
    if !import.dry_run {
        plan.check(app, import).await?;
    }
    let mut report = import.report.clone();
    for (item, outcome) in items.iter().zip(&plan.outcomes) {
        report.add(item, outcome);
    }
    let records = items.iter().filter(|item| item.record.is_of_file()).count();
    let done = import.done.saturating_add(i64::try_from(records).unwrap_or(i64::MAX));
    let has_new_notes = report.notes.len() > import.report.notes.len();
    let (current, written) = (&*import, &report);
    let took = app
        .db
        .transaction(async |mut tx| {
            let began = Instant::now();
            if !app.state::<ShardRegistry>().lock_work(&mut tx, current.network).await? {
                return Err(RunError::Gone);
            }
            // First, so that a cancelled import writes nothing.
            if !store::advance(&mut tx, current.network, &current.id, (current.done, done), written, has_new_notes)
                .await?
            {
                return Err(RunError::Gone);
            }
            if !current.dry_run {
                plan.write(app, &mut tx, current).await?;
            }
            Ok(began.elapsed())
        })
        .await;
    let took = match took {
        Err(RunError::Gone) => return Ok(None),
        took => took?,
    };
    import.report = report;
    import.done = done;
    Ok(Some(took))
}
