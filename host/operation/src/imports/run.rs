//! Runs imports in the background, at the owners of their networks.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use hub_db::Tx;
use parking_lot::Mutex;
use serde_json::json;
use tempfile::NamedTempFile;
use thiserror::Error;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Origin;
use crate::blobs::{self, BlobError, BlobKey, Blobs};
use crate::budget::{Budget, CancelFlag};
use crate::clock::{Millis, millis};
use crate::cluster::ShardRegistry;
use crate::imports::apply::{self, ApplyError, TargetCounts};
use crate::imports::batch::BatchSize;
use crate::imports::findings::Findings;
use crate::imports::model::{Import, ImportFailure, ImportState};
use crate::imports::record::{Item, ParseError, Sink};
use crate::imports::{file, store};
use crate::jobs::{self, Backoff, Job, JobError, JobKind, JobOutcome, NewJob, RunsAt};
use crate::limits::{self, Limit};
use crate::values::NetworkId;

/// Imports; their keys are the imports' ids. Each reads on a separate thread.
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
/// Number of chunks by which the reader may be ahead of the writer, and rows of a chunk.
const READ_AHEAD: usize = 2;
const CHUNK: usize = 256;
/// Maximum length of a stored failure reason, in characters: parsers' messages may quote the file.
const LONGEST_MESSAGE: usize = 1_000;
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
    cancel: CancelFlag,
}

impl Imports {
    /// Ends an import's reading at once if it runs here.
    pub(super) fn cancel(&self, import: &Import) {
        if let Some(running) = self.running.lock().get(&import.network).filter(|running| running.id == import.id) {
            running.cancel.cancel();
        }
    }
}

/// Lists an import as running until it is dropped.
struct RunningGuard {
    app: App,
    network: NetworkId,
    cancel: CancelFlag,
}

impl RunningGuard {
    fn new(app: &App, import: &Import) -> Self {
        let cancel = CancelFlag::default();
        let running = Running { id: import.id.clone(), cancel: cancel.clone() };
        app.state::<Imports>().running.lock().insert(import.network, running);
        Self { app: app.clone(), network: import.network, cancel }
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

impl From<ParseError> for RunError {
    fn from(error: ParseError) -> Self {
        match error {
            ParseError::Wrong { line, message } => {
                let message = message.chars().take(LONGEST_MESSAGE).collect();
                Self::Failed(ImportFailure { line: line.and_then(|line| i64::try_from(line).ok()), message })
            }
            ParseError::Stopped => Self::Gone,
        }
    }
}

/// Runs an import until it ends or is interrupted.
async fn run(app: App, job: Job) -> Result<JobOutcome, JobError> {
    let (network, id) = (job.network, job.key);
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
        import_file(&app, &import, &running.cancel).await
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

async fn import_file(app: &App, import: &Import, cancel: &CancelFlag) -> Result<(), RunError> {
    let key = BlobKey::import(import.network, &import.sha256, &import.id);
    let file = file::fetch(app, &key).await?;
    let file = Arc::new(file.ok_or_else(|| RunError::failed("The file is missing; upload it again."))?);
    let (findings, total) = check(app, import, &file, cancel).await?;
    if !store::set_total(&app.db, import.network, &import.id, total).await? {
        return Err(RunError::Gone);
    }
    write(app, import, file, findings, cancel).await
}

/// Cancels a budget's work when it is dropped, so that no thread reads for nobody.
struct CancelOnDrop(Option<CancelFlag>);

impl CancelOnDrop {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(flag) = &self.0 {
            flag.cancel();
        }
    }
}

/// Waits for the end of an import elsewhere, or of its turn, and cancels its reading then.
async fn watch(app: &App, import: &Import, cancel: &CancelFlag) -> RunError {
    let end = loop {
        tokio::time::sleep(CHECK_INTERVAL).await;
        if is_turn_over(app, import) {
            break RunError::TurnOver;
        }
        let stored = store::find(&app.db, import.network, &import.id).await;
        // If the database fails, the next statement reports it.
        if stored.is_ok_and(|stored| stored.is_none_or(|stored| stored.state != ImportState::Running)) {
            break RunError::Gone;
        }
    };
    cancel.cancel();
    end
}

fn is_turn_over(app: &App, import: &Import) -> bool {
    jobs::is_turn_over(app, &IMPORT, import.network)
}

/// Reads the whole file, so that an invalid one changes nothing. Returns what it found and the number of records.
async fn check(
    app: &App,
    import: &Import,
    file: &Arc<NamedTempFile>,
    cancel: &CancelFlag,
) -> Result<(Findings, i64), RunError> {
    let (file, reading) = (Arc::clone(file), import.clone());
    let most = limits::bound(app, Limit::ImportRecords);
    let stop = CancelOnDrop(Some(cancel.clone()));
    let flag = cancel.clone();
    let checked = tokio::task::spawn_blocking(move || {
        let budget = Budget::begin(reading.network, file::ALLOWANCE, flag);
        let (mut findings, mut noted, mut total) = (Findings::default(), Findings::default(), 0_i64);
        let mut receive = |item: Item| {
            noted.note(&item.record, &budget);
            total += i64::from(item.record.is_of_file());
            if total > most {
                return Err(ParseError::Wrong {
                    line: item.line,
                    message: format!("The file has more than {most} records (`{}`).", Limit::ImportRecords),
                });
            }
            Ok(())
        };
        let mut sink = Sink::new(&budget, &mut receive);
        file::read(file.path(), &reading, &Findings::default(), &mut findings, &mut sink)?;
        findings.complete(noted);
        Ok::<_, ParseError>((findings, total))
    });
    let checked = tokio::select! {
        checked = checked => checked,
        gone = watch(app, import, cancel) => return Err(gone),
    };
    stop.disarm();
    Ok(checked.map_err(|_| RunError::failed("The hub failed to read the file."))??)
}

/// Reads the file again and writes it, from the position of an earlier run.
async fn write(
    app: &App,
    import: &Import,
    file: Arc<NamedTempFile>,
    findings: Findings,
    cancel: &CancelFlag,
) -> Result<(), RunError> {
    // The reading of the file before ended with its own flag.
    let flag = CancelFlag::default();
    let _stop = CancelOnDrop(Some(flag.clone()));
    let (send, mut read) = mpsc::channel::<Vec<Item>>(READ_AHEAD);
    let reading = import.clone();
    let mut skip = import.done;
    let reader = tokio::task::spawn_blocking(move || {
        let budget = Budget::begin(reading.network, file::ALLOWANCE, flag);
        let (mut chunk, mut rows) = (vec![], 0);
        let mut receive = |item: Item| {
            // Notes on tables have no position; the report has each of them once.
            if skip > 0 && item.record.is_of_file() {
                skip -= 1;
                return Ok(());
            }
            rows += item.record.rows();
            chunk.push(item);
            if rows < CHUNK {
                return Ok(());
            }
            rows = 0;
            send.blocking_send(std::mem::take(&mut chunk)).map_err(|_| ParseError::Stopped)
        };
        let mut sink = Sink::new(&budget, &mut receive);
        file::read(file.path(), &reading, &findings, &mut Findings::default(), &mut sink)?;
        if chunk.is_empty() { Ok(()) } else { send.blocking_send(chunk).map_err(|_| ParseError::Stopped) }
    });
    let mut import = import.clone();
    let (mut items, mut waiting) = (vec![], VecDeque::new());
    let (mut targets, mut analyze_at) = (TargetCounts::default(), FIRST_ANALYSIS);
    let (mut size, mut is_read) = (BatchSize::new(app.db.backend()), false);
    while !is_read {
        if cancel.is_cancelled() {
            return Err(RunError::Gone);
        }
        if is_turn_over(app, &import) {
            return Err(RunError::TurnOver);
        }
        let mut rows = 0;
        while !size.is_full(rows) {
            if waiting.is_empty() {
                let chunk = tokio::select! {
                    chunk = read.recv() => chunk,
                    gone = watch(app, &import, cancel) => return Err(gone),
                };
                waiting.extend(chunk.into_iter().flatten());
            }
            let Some(item) = waiting.pop_front() else {
                is_read = true;
                break;
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
    drop(read);
    Ok(reader.await.map_err(|_| RunError::failed("The hub failed to read the file."))??)
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
            if !app.state::<ShardRegistry>().lock_lease(&mut tx, current.network).await? {
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
