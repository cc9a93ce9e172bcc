//! Scheduling of erasures.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use hub_db::{Db, Error, Tx};
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::oneshot;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Origin;
use crate::background::every;
use crate::blobs::Blobs;
use crate::clock::Millis;
use crate::cluster::ShardRegistry;
use crate::erasure::erase::Eraser;
use crate::erasure::store::{self, ForgottenPlayer, Position};
use crate::erasure::{memory, retention};
use crate::http::error::ApiError;
use crate::ids::Ids;
use crate::jobs::{self, Backoff, Job, JobError, JobKind, JobOutcome, NewJob, RunsAt, Unattended};
use crate::limits::{self, Limit, OpenGuard};
use crate::presence;
use crate::side_by_side::SideBySide;
use crate::values::{NetworkId, PlayerId};

const INTERVAL: Duration = Duration::from_secs(1);
/// Time for which a request waits for the completion; the rest happens in the background.
const PATIENCE: Duration = Duration::from_secs(15);
/// Interval at which a command or a request looks for the completion.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Maximum age of an erasure for nodes to remove the player from memory.
pub(super) const RECENT: Millis = 10 * 60 * 1000;
const RECENT_BATCH: i64 = 1_000;

/// Erasures; their keys are the players. The payload is the UUID that replaces the player's, and is deleted with the job:
/// from then on nothing links the rows that stay with the player.
static ERASURE: JobKind = JobKind {
    name: "erasure",
    runs_at: RunsAt::AnyNode,
    is_of_hub: false,
    concurrency: 8,
    backoff: Backoff { first: Duration::from_secs(1), longest: Duration::from_mins(10) },
    max_attempts: None,
};

/// Starts the background work: carries out erasures, and removes players erased by other nodes from memory.
pub fn start(app: &App) {
    jobs::work(app, &ERASURE, run);
    let forgetting = Arc::new(Forgetting::default());
    every(app, INTERVAL, "forget players in memory", move |app| forget_in_memory(app, Arc::clone(&forgetting)));
    retention::start(app);
}

async fn run(app: App, job: Job) -> Result<JobOutcome, JobError> {
    let eraser = Eraser {
        db: &app.db,
        module_store: &app.module_store,
        blobs: app.state::<Blobs>(),
        clock: &app.clock,
        tables: app.components().tables(),
        has_other_nodes: !app.state::<ShardRegistry>().is_single_node(),
    };
    Ok(run_job(&eraser, &job).await?)
}

async fn run_job(eraser: &Eraser<'_>, job: &Job) -> Result<JobOutcome, Error> {
    let replacement = serde_json::from_value(job.payload.clone());
    if let (Ok(player), Ok(replacement)) = (job.key.parse(), replacement) {
        eraser.run(job.network, PlayerId(player), replacement).await?;
    } else {
        // Only an imported file can contain it. It must not end the erasures of a restore.
        tracing::warn!(network = %job.network, "an erasure from a file cannot be read, and is dropped");
    }
    Ok(JobOutcome::Done)
}

/// Erasures that are done in this node's memory, and the pass that does them.
#[derive(Debug, Default)]
struct Forgetting {
    done: Mutex<HashSet<Position>>,
    /// Time that the other nodes know: all until then are done.
    noted: Mutex<Option<Millis>>,
    pass: SideBySide,
}

async fn forget_in_memory(app: App, forgetting: Arc<Forgetting>) -> Result<(), Error> {
    let since = app.clock.now().saturating_sub(RECENT);
    let first = (since, NetworkId(uuid::Uuid::nil()), PlayerId(uuid::Uuid::nil()));
    let position = |player: &ForgottenPlayer| (player.forgotten_at, player.network_id, player.player_uuid);
    let (mut recent, mut last) = (HashSet::<Position>::new(), Some(first));
    while let Some(after) = last {
        let batch = store::after(&app.db, after, RECENT_BATCH).await?;
        last = batch.last().map(position).filter(|_| batch.len() as i64 == RECENT_BATCH);
        recent.extend(batch.iter().map(position));
    }
    let mut new = BTreeMap::<NetworkId, Vec<Position>>::new();
    {
        let mut done = forgetting.done.lock();
        done.retain(|position| recent.contains(position));
        for position in recent.iter().filter(|position| !done.contains(*position)) {
            new.entry(position.1).or_default().push(*position);
        }
    }
    let first_open = new.values().flatten().map(|position| position.0).min();
    let until = first_open.map(|at| at - 1).or_else(|| recent.iter().map(|position| position.0).max());
    if until.is_some() && until > *forgetting.noted.lock() {
        app.state::<ShardRegistry>().note_forgotten(&app.db, until.unwrap_or_default()).await?;
        *forgetting.noted.lock() = until;
    }
    let work = |app: App, network| {
        let (forgetting, open) = (Arc::clone(&forgetting), new.get(&network).cloned().unwrap_or_default());
        async move {
            for position in open {
                let subject = store::subject(&app.db, network, position.2).await?;
                memory::forget(&app, network, &subject).await?;
                forgetting.done.lock().insert(position);
            }
            Ok::<_, Error>(())
        }
    };
    forgetting.pass.run(&app, new.keys().copied(), "forget players in memory", work).await;
    Ok(())
}

/// Records the erasure of a player, to be carried out by a job.
pub async fn record(db: &Db, origin: &Origin, network: NetworkId, player: PlayerId) -> Result<(), Error> {
    db.transaction(async |mut tx| {
        store::record(&mut tx, network, player, origin.clock.now()).await?;
        enqueue(&mut tx, origin, network, player).await?;
        audit::record(&mut tx, network, origin, Change::new(Action::PlayerForgotten, player)).await
    })
    .await
}

async fn enqueue(tx: &mut Tx, origin: &Origin, network: NetworkId, player: PlayerId) -> Result<(), Error> {
    let job = NewJob::new(&ERASURE, network, &player).with_payload(json!(origin.ids.uuid()));
    jobs::enqueue(tx, &job, origin.clock.now()).await
}

/// Records erasures made since a backup, to be repeated. Returns their number.
pub async fn record_again(db: &Db, origin: &Origin, forgotten: &[Position]) -> Result<usize, Error> {
    let mut count = 0;
    // In turn: a restore, while nothing else runs.
    for (at, network, player) in forgotten {
        let is_new = db
            .transaction(async |mut tx| {
                let is_new = store::record_again(&mut tx, *network, *player, *at).await?;
                if is_new {
                    enqueue(&mut tx, origin, *network, *player).await?;
                    let change = Change::new(Action::PlayerForgotten, player);
                    audit::record(&mut tx, *network, origin, change).await?;
                }
                Ok::<_, Error>(is_new)
            })
            .await?;
        count += usize::from(is_new);
    }
    Ok(count)
}

/// Completes all recorded erasures while no hub runs.
pub async fn erase_unfinished(eraser: &Eraser<'_>, ids: &Ids) -> Result<(), Error> {
    let unattended = Unattended { db: eraser.db, clock: eraser.clock, ids, kind: &ERASURE };
    unattended.run_all(async |job| run_job(eraser, job).await).await
}

/// Completes the recorded erasure of a player, in a command beside hubs that may do so, too.
pub async fn erase_recorded(eraser: &Eraser<'_>, ids: &Ids, network: NetworkId, player: PlayerId) -> Result<(), Error> {
    let unattended = Unattended { db: eraser.db, clock: eraser.clock, ids, kind: &ERASURE };
    while is_unfinished(eraser.db, network, player).await? {
        unattended.run_one(network, &player.to_string(), async |job| run_job(eraser, job).await).await?;
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    Ok(())
}

async fn is_unfinished(db: &Db, network: NetworkId, player: PlayerId) -> Result<bool, Error> {
    Ok(store::find(db, network, player).await?.is_some_and(|player| player.finished_at.is_none()))
}

/// Erases a player: in memory immediately, in the database within some seconds or in the background.
pub(super) async fn forget(app: &App, origin: &Origin, network: NetworkId, player: PlayerId) -> Result<(), ApiError> {
    let place = limits::open::<ApiError>(app, network, Limit::PlayersForgottenAtOnce).await?;
    let is_recorded = store::is_recorded(&app.db, network, player);
    let _adding = limits::check_rows::<ApiError>(app, network, store::FORGOTTEN_PLAYERS, 1, is_recorded).await?;
    let subject = store::subject(&app.db, network, player).await?;
    // Ends a running visit, so that the erasure counts all of it for its days.
    presence::service::forget_player(app, network, player).await?;
    memory::forget_chat(app, network, &subject).await;
    record(&app.db, origin, network, player).await?;
    jobs::wake(app, &ERASURE);
    memory::forget(app, network, &subject).await?;
    let _ = tokio::time::timeout(PATIENCE, finished(app, network, player, place)).await;
    Ok(())
}

/// Resolves when an erasure is finished, and holds its place until then.
fn finished(app: &App, network: NetworkId, player: PlayerId, place: OpenGuard) -> oneshot::Receiver<()> {
    let (done, ended) = oneshot::channel();
    let waiter = app.clone();
    app.spawn(async move {
        while is_unfinished(&waiter.db, network, player).await.unwrap_or(true) {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        drop(place);
        let _ = done.send(());
    });
    ended
}

/// Erased players of all networks after a position, oldest first.
pub async fn list_after(db: &Db, position: Position, limit: i64) -> Result<Vec<ForgottenPlayer>, Error> {
    store::after(db, position, limit).await
}

/// Page of a network's erased players, newest first, and their number.
pub(super) async fn page(
    db: &Db,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<ForgottenPlayer>, i64), Error> {
    store::page(db, network, limit, offset).await
}
