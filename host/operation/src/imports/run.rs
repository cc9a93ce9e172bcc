//! Runs imports in the background, at the owners of their networks.

use std::sync::Arc;
use std::time::Duration;

use hub_db::Tx;
use serde_json::json;
use tempfile::NamedTempFile;
use thiserror::Error;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Origin;
use crate::blobs::{self, BlobError, BlobKey, Blobs};
use crate::cluster::ShardRegistry;
use crate::imports::apply::{self, ApplyError, TargetCounts};
use crate::imports::batch::BatchSize;
use crate::imports::litebans::Names;
use crate::imports::model::{Import, ImportFailure, ImportState};
use crate::imports::record::{Item, ParseError};
use crate::imports::{file, store};
use crate::jobs::{self, Backoff, Job, JobError, JobKind, JobOutcome, NewJob, RunsAt};
use crate::limits::{self, Limit};

/// Imports; their keys are the imports' ids. Each reads on a separate thread.
static IMPORT: JobKind = JobKind {
    name: "import",
    runs_at: RunsAt::Owner,
    concurrency: 2,
    backoff: Backoff { first: Duration::from_secs(2), longest: Duration::from_mins(5) },
    max_attempts: None,
};
/// Number of records after which the database is analyzed for the first time; then after four times as many, and so
/// on.
const FIRST_ANALYSIS: i64 = 1_000;
/// Number of records by which the reader may be ahead of the writer.
const READ_AHEAD: usize = 64;
/// Maximum length of a stored failure reason, in characters: parsers' messages may quote the file.
const LONGEST_MESSAGE: usize = 1_000;
/// Number of records between checks for a cancellation.
const CHECK_EVERY: i64 = 50_000;

/// Starts the background work.
pub fn start(app: &App) {
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
    let failure = match import_file(&app, &import).await {
        Ok(()) => None,
        // Cancelled, or to be continued by the network's new owner.
        Err(RunError::Gone) => return Ok(JobOutcome::RunAt(app.clock.now())),
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
    let ended = app.db.transaction(async |mut tx| {
        let ended = store::finish(&mut tx, import.network, &import.id, (state, failure), now).await?;
        if ended {
            blobs::mark_unreferenced(&mut tx, &key).await?;
            let change =
                Change::new(Action::ImportEnded, &import.id).after(json!({"kind": import.kind, "state": state}));
            audit::record(&mut tx, import.network, origin, change).await?;
        }
        Ok::<_, hub_db::Error>(ended)
    });
    let ended = ended.await?;
    if ended {
        app.state::<Blobs>().delete_unreferenced(&[key]).await;
    }
    Ok(ended)
}

async fn import_file(app: &App, import: &Import) -> Result<(), RunError> {
    let key = BlobKey::import(import.network, &import.sha256, &import.id);
    let file = file::fetch(app, &key).await?;
    let file = Arc::new(file.ok_or_else(|| RunError::failed("The file is missing; upload it again."))?);
    let (names, total) = check(app, import, &file).await?;
    if !store::set_total(&app.db, import.network, &import.id, total).await? {
        return Err(RunError::Gone);
    }
    write(app, import, file, names).await
}

/// Reads the whole file, so that an invalid one changes nothing. Returns the names in it and the number of records.
async fn check(app: &App, import: &Import, file: &Arc<NamedTempFile>) -> Result<(Names, i64), RunError> {
    let (file, reading, now) = (Arc::clone(file), import.clone(), import.created_at);
    let most = limits::bound(app, Limit::ImportRecords);
    let (task, runtime) = (app.clone(), tokio::runtime::Handle::current());
    let checked = tokio::task::spawn_blocking(move || {
        let (mut names, mut total) = (Names::default(), 0_i64);
        file::read(file.path(), &reading, &Names::default(), now, &mut |item| {
            names.note(&item.record);
            total += 1;
            if total > most {
                return Err(ParseError::Wrong {
                    line: item.line,
                    message: format!("The file has more than {most} records (`{}`).", Limit::ImportRecords),
                });
            }
            if total % CHECK_EVERY == 0 && !runtime.block_on(is_running(&task, &reading)) {
                return Err(ParseError::Stopped);
            }
            Ok(())
        })?;
        Ok::<_, ParseError>((names, total))
    });
    Ok(checked.await.map_err(|_| RunError::failed("The hub failed to read the file."))??)
}

async fn is_running(app: &App, import: &Import) -> bool {
    let stored = store::find(&app.db, import.network, &import.id).await;
    // If the database fails, the next statement reports it.
    stored.is_ok_and(|stored| stored.is_some_and(|stored| stored.state == ImportState::Running))
        && !app.stopping().is_cancelled()
}

/// Reads the file again and writes it, from the position of an earlier run.
async fn write(app: &App, import: &Import, file: Arc<NamedTempFile>, names: Names) -> Result<(), RunError> {
    let (send, mut read) = mpsc::channel::<Item>(READ_AHEAD);
    let (reading, now) = (import.clone(), import.created_at);
    let mut skip = import.done;
    let reader = tokio::task::spawn_blocking(move || {
        file::read(file.path(), &reading, &names, now, &mut |item| {
            if skip > 0 {
                skip -= 1;
                return Ok(());
            }
            send.blocking_send(item).map_err(|_| ParseError::Stopped)
        })
    });
    let mut import = import.clone();
    let (mut items, mut targets, mut analyze_at) = (vec![], TargetCounts::default(), FIRST_ANALYSIS);
    let (mut size, mut is_read) = (BatchSize::new(app.db.backend()), false);
    while !is_read {
        let mut rows = 0;
        while !size.is_full(rows) {
            let Some(item) = read.recv().await else {
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
    let done = import.done.saturating_add(i64::try_from(items.len()).unwrap_or(i64::MAX));
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
