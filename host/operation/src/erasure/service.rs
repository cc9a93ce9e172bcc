//! Scheduling of erasures.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use hub_db::{Db, Error};
use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Origin;
use crate::background::every;
use crate::blobs::Blobs;
use crate::clock::Millis;
use crate::cluster::ShardRegistry;
use crate::erasure::erase::{CLAIM, Eraser};
use crate::erasure::store::{self, ForgottenPlayer, Position};
use crate::erasure::{memory, retention};
use crate::http::error::ApiError;
use crate::ids::Ids;
use crate::limits::{self, Limit, OpenGuard};
use crate::values::{NetworkId, PlayerId};

const INTERVAL: Duration = Duration::from_secs(1);
/// Time for which a request waits for the completion; the rest happens in the background.
const PATIENCE: Duration = Duration::from_secs(15);
/// Maximum age of an erasure for nodes to remove the player from memory.
const RECENT: Millis = 10 * 60 * 1000;
const RECENT_BATCH: i64 = 1_000;

/// Starts the background work: resumes interrupted erasures, and removes players erased by other nodes from memory.
pub fn start(app: &App) {
    let known = Arc::new(Mutex::new(HashSet::new()));
    every(app, INTERVAL, "forget players", move |app| run(app, Arc::clone(&known)));
    retention::start(app);
}

type Known = Arc<Mutex<HashSet<Position>>>;

async fn run(app: App, known: Known) -> Result<(), Error> {
    forget_in_memory(&app, &known).await?;
    let now = app.clock.now();
    while let Some(player) = store::claim_next(&app.db, app.ids.uuid(), now, now.saturating_add(CLAIM)).await? {
        // Concurrently with other networks. Players without a slot are claimed again when the claim has expired.
        let opened = limits::open::<ApiError>(&app, player.network_id, Limit::PlayersForgottenAtOnce).await;
        if let Ok(place) = opened {
            spawn_forgetting(&app, player, place);
        }
    }
    Ok(())
}

/// Erases a player in the background; the receiver is notified at the end.
fn spawn_forgetting(app: &App, player: ForgottenPlayer, place: OpenGuard) -> oneshot::Receiver<()> {
    let (done, ended) = oneshot::channel();
    let worker = app.clone();
    app.spawn(async move {
        // It is recorded: a failure is retried once the claim has expired.
        if let Err(error) = forget_claimed(&worker, &player).await {
            tracing::warn!(%error, "could not forget a player; trying again later");
        }
        drop(place);
        let _ = done.send(());
    });
    ended
}

async fn forget_in_memory(app: &App, known: &Known) -> Result<(), Error> {
    let since = app.clock.now().saturating_sub(RECENT);
    let first = (since, NetworkId(uuid::Uuid::nil()), PlayerId(uuid::Uuid::nil()));
    let position = |player: &ForgottenPlayer| (player.forgotten_at, player.network_id, player.player_uuid);
    let (mut recent, mut last) = (HashSet::<Position>::new(), Some(first));
    while let Some(after) = last {
        let batch = store::after(&app.db, after, RECENT_BATCH).await?;
        last = batch.last().map(position).filter(|_| batch.len() as i64 == RECENT_BATCH);
        recent.extend(batch.iter().map(position));
    }
    let new: Vec<_> = {
        let mut known = known.lock();
        known.retain(|position| recent.contains(position));
        recent.into_iter().filter(|position| known.insert(*position)).collect()
    };
    for (_, network, player) in new {
        let forgetting = async {
            let subject = store::subject(&app.db, network, player).await?;
            memory::forget(app, network, &subject).await
        };
        hub_db::with_tenant(network.0, forgetting).await?;
    }
    Ok(())
}

async fn forget_claimed(app: &App, player: &ForgottenPlayer) -> Result<bool, Error> {
    let eraser = Eraser {
        db: &app.db,
        module_store: &app.module_store,
        blobs: app.state::<Blobs>(),
        clock: &app.clock,
        tables: app.components().tables(),
        has_other_nodes: !app.state::<ShardRegistry>().is_single_node(),
    };
    hub_db::with_tenant(player.network_id.0, eraser.run(player)).await
}

/// Records the erasure of a player, to be carried out by the caller.
pub async fn record(db: &Db, origin: &Origin, network: NetworkId, player: PlayerId) -> Result<ForgottenPlayer, Error> {
    let now = origin.clock.now();
    let replacement = origin.ids.uuid();
    db.transaction(async |mut tx| {
        let times = (now, now.saturating_add(CLAIM));
        let recorded = store::record(&mut tx, network, player, replacement, times).await?;
        audit::record(&mut tx, network, origin, Change::new(Action::PlayerForgotten, player)).await?;
        Ok(recorded)
    })
    .await
}

/// Records erasures made since a backup, to be repeated. Returns their number.
pub async fn record_again(db: &Db, origin: &Origin, forgotten: &[Position]) -> Result<usize, Error> {
    let mut count = 0;
    for (at, network, player) in forgotten {
        let replacement = origin.ids.uuid();
        let is_new = db
            .transaction(async |mut tx| {
                let is_new = store::record_again(&mut tx, *network, *player, replacement, *at).await?;
                if is_new {
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
    // No other process works on it.
    let (now, until) = (Millis::MAX, eraser.clock.now().saturating_add(CLAIM));
    while let Some(player) = store::claim_next(eraser.db, ids.uuid(), now, until).await? {
        eraser.run(&player).await?;
    }
    Ok(())
}

/// Erases a player: in memory immediately, in the database within some seconds or in the background.
pub(super) async fn forget(app: &App, origin: &Origin, network: NetworkId, player: PlayerId) -> Result<(), ApiError> {
    let place = limits::open::<ApiError>(app, network, Limit::PlayersForgottenAtOnce).await?;
    let is_recorded = store::is_recorded(&app.db, network, player);
    limits::check_rows::<ApiError>(app, network, store::FORGOTTEN_PLAYERS, 1, is_recorded).await?;
    let subject = store::subject(&app.db, network, player).await?;
    let recorded = record(&app.db, origin, network, player).await?;
    memory::forget(app, network, &subject).await?;
    let _ = tokio::time::timeout(PATIENCE, spawn_forgetting(app, recorded, place)).await;
    Ok(())
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
