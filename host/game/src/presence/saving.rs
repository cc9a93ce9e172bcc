//! Saves presence in the database on changes, and restores it at start.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use hub_db::{Error, Tx};
use tokio::time::Instant;
use uuid::Uuid;

use crate::app::App;
use crate::background::every;
use crate::clock::millis;
use crate::cluster::ShardRegistry;
use crate::events::{EventKind, is_listening, publish_in, publish_resync_in};
use crate::networks;
use crate::presence::memory::{Changes, NetworkPresence, PresenceEvent, PresenceEvents, SharedPresence, Unsaved};
use crate::presence::store::{presence, reservations, under_lease};
use crate::presence::{Hooks, Presence};
use crate::values::{Identifier, NetworkId};

/// Interval of saving changes that no request waits for, such as heartbeats.
const SAVE_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum wait for others' saves; afterwards a caller fails as busy instead of saving itself.
const MAX_WAIT: Duration = Duration::from_secs(3);
/// Networks saved at once where all are waited for.
const PLACES: usize = 8;
/// Number of players recorded at once who came or left without a report.
const UNREPORTED_BATCH: usize = 100;
/// Maximum number of such batches in one pass; the next goes on.
const UNREPORTED_BATCHES: usize = 10;
/// Number of players saved again at once.
const PLAYER_BATCH: usize = 500;

/// Events of presence.
const PRESENCE_EVENTS: [EventKind; 5] = [
    EventKind::ServerOnline,
    EventKind::ServerOffline,
    EventKind::PlayerJoined,
    EventKind::PlayerLeft,
    EventKind::PlayerSwitched,
];

/// Restores the presence of the last run and starts the background work. With several nodes, each restores a network
/// when it becomes its owner.
pub(super) async fn start(app: &App) -> anyhow::Result<()> {
    if app.state::<ShardRegistry>().is_single_node() {
        // In turn: reads, before the first request.
        for network in networks::service::network_ids(&app.db).await? {
            restore(app, network).await?;
        }
    }
    every(app, SAVE_INTERVAL, "save presence", |app| async move {
        // Memory comes first: nobody is noticed late because others, or the database, are slow.
        let networks = swept(&app);
        let noted = note_restart(&app).await;
        save_side_by_side(&app, networks).await;
        noted
    });
    Ok(())
}

/// Restores a network's presence.
pub(super) async fn restore(app: &App, network: NetworkId) -> Result<(), Error> {
    // A killed run may not have saved the heartbeats of its last second.
    let offline_after = millis(app.settings.offline_after()).saturating_add(millis(SAVE_INTERVAL));
    let servers = presence::online_servers(&app.db, network).await?;
    let players = presence::players(&app.db, network).await?;
    let reservations = if app.state::<ShardRegistry>().is_single_node() {
        vec![]
    } else {
        reservations::all(&app.db, network, app.clock.now()).await?
    };
    if !(servers.is_empty() && players.is_empty() && reservations.is_empty()) {
        let now = app.clock.now();
        app.state::<Presence>()
            .with(network, |presence| presence.restore(servers, players, reservations, now, offline_after));
    }
    Ok(())
}

/// Saves the changes that are only in memory.
pub(super) async fn stop(app: &App) {
    if let Err(error) = save_all(app).await {
        tracing::error!(%error, "could not save presence");
    }
}

/// Removes expired entries and saves changes, in every network, and waits for all.
pub async fn save_all(app: &App) -> Result<(), Error> {
    let save = async |(network, shared): (NetworkId, Arc<SharedPresence>)| {
        hub_db::with_tenant(network.0, save_shared_and_record(app, network, &shared)).await
    };
    let saves = stream::iter(swept(app)).map(save).buffer_unordered(PLACES);
    saves.fold(Ok(()), async |result: Result<(), Error>, saved| result.and(saved)).await
}

/// Like [`save_all`], but waits for no network whose rows are locked.
async fn save_side_by_side(app: &App, networks: Vec<(NetworkId, Arc<SharedPresence>)>) {
    let networks = networks.into_iter().map(|(network, _)| network);
    let pass = &app.state::<Presence>().pass;
    pass.run(app, networks, "save presence", |app, network| async move { save_due(&app, network).await }).await;
}

/// Saves the changes in a network, or all of it if that is due.
async fn save_due(app: &App, network: NetworkId) -> Result<(), Error> {
    let Some(shared) = app.state::<Presence>().find(network) else { return Ok(()) };
    if !shared.is_saved_again.swap(false, Ordering::Relaxed) {
        return save_shared_and_record(app, network, &shared).await;
    }
    let saved = save_again(app, network, &shared).await;
    if saved.is_err() {
        shared.is_saved_again.store(true, Ordering::Relaxed);
    }
    saved
}

/// Saves the changes in a network, and then has the components above record who came or left without a report.
async fn save_shared_and_record(app: &App, network: NetworkId, shared: &SharedPresence) -> Result<(), Error> {
    save_shared(app, network, shared).await?;
    let hooks = app.state::<Hooks>().0;
    let _recording = shared.recording.lock().await;
    for _ in 0..UNREPORTED_BATCHES {
        let (arrivals, departures) = shared.with(|presence| presence.take_unreported(UNREPORTED_BATCH));
        if !arrivals.is_empty()
            && let Err(error) = hooks.arrived(app, network, &arrivals).await
        {
            shared.with(|presence| {
                presence.put_back_arrivals(arrivals);
                presence.put_back_departures(departures);
            });
            return Err(error);
        }
        if !departures.is_empty()
            && let Err(error) = hooks.departed(app, network, &departures).await
        {
            shared.with(|presence| presence.put_back_departures(departures));
            return Err(error);
        }
        if arrivals.len() < UNREPORTED_BATCH && departures.len() < UNREPORTED_BATCH {
            break;
        }
    }
    Ok(())
}

/// All networks, without their expired entries.
fn swept(app: &App) -> Vec<(NetworkId, Arc<SharedPresence>)> {
    let all = app.state::<Presence>().all();
    for (_, shared) in &all {
        shared.with(|presence| presence.sweep(app.clock.now()));
    }
    all
}

/// Has everything saved again when the database server was restarted or replaced: one that took over may lack the last
/// changes that the previous one acknowledged.
async fn note_restart(app: &App) -> Result<(), Error> {
    let Some(started_at) = presence::server_start(&app.db).await? else { return Ok(()) };
    let before = app.state::<Presence>().server_start();
    if before.is_some_and(|before| before != started_at) {
        tracing::info!("the database server was restarted or replaced; saving presence again");
        for (_, shared) in app.state::<Presence>().all() {
            shared.is_saved_again.store(true, Ordering::Relaxed);
        }
    }
    app.state::<Presence>().set_server_start(started_at);
    Ok(())
}

/// Saves all of a network again, some players at a time, so that other saves wait only for a part of it.
async fn save_again(app: &App, network: NetworkId, shared: &SharedPresence) -> Result<(), Error> {
    let players = shared.with(NetworkPresence::mark_unsaved);
    save_shared(app, network, shared).await?;
    for players in players.chunks(PLAYER_BATCH) {
        shared.with(|presence| presence.mark_players_unsaved(players));
        save_shared(app, network, shared).await?;
    }
    Ok(())
}

/// Saves the changes in a network, including all earlier ones of the caller. Concurrent calls share one transaction.
pub async fn save(app: &App, network: NetworkId) -> Result<(), Error> {
    save_shared(app, network, &app.state::<Presence>().shared(network)).await
}

/// Saves a network that is about to move, with all that is to be recorded of its players.
pub(super) async fn save_and_record(app: &App, network: NetworkId) -> Result<(), Error> {
    save_shared_and_record(app, network, &app.state::<Presence>().shared(network)).await
}

/// Saves slots reserved on a server if they must outlive this process: with several nodes, another one may take over at
/// any moment. Call it before a slot is answered. If it fails, they are released: the refused caller tries again, maybe
/// as another player.
pub(crate) async fn save_reserved(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    slots: &[Uuid],
) -> Result<(), Error> {
    if app.state::<ShardRegistry>().is_single_node() {
        return Ok(());
    }
    let saved = save(app, network).await;
    if saved.is_err() {
        app.state::<Presence>().with(network, |presence| presence.release_slots(server, slots));
    }
    saved
}

async fn save_shared(app: &App, network: NetworkId, shared: &SharedPresence) -> Result<(), Error> {
    let (has_unsaved, batch_before) = shared.with(|presence| (presence.has_unsaved(), presence.batch));
    if !has_unsaved && shared.saved_batch.try_lock().is_ok() {
        return Ok(());
    }
    let began = Instant::now();
    let mut saved_batch = shared.saved_batch.lock().await;
    if *saved_batch > batch_before {
        // Another call took the caller's changes with its own and saved them.
        return Ok(());
    }
    if began.elapsed() > MAX_WAIT {
        // Others failed or were slow meanwhile. One after the other, callers would wait ever longer.
        return Err(Error::Busy);
    }
    let (batch, (unsaved, changes)) = shared.with(|presence| (presence.batch + 1, presence.take_unsaved()));
    if !unsaved.is_empty() {
        let mut pending = Pending { shared, unsaved: Some(unsaved) };
        if let Some(unsaved) = &pending.unsaved {
            write(app, network, &changes, &unsaved.events).await?;
        }
        pending.unsaved = None;
    }
    *saved_batch = batch;
    Ok(())
}

async fn write(app: &App, network: NetworkId, changes: &Changes, events: &PresenceEvents) -> Result<(), Error> {
    let Changes { servers, heartbeats, offline, joined, left, visits, reserved, released } = changes;
    let is_moved = !(joined.is_empty() && left.is_empty() && visits.is_empty());
    let is_routine = servers.is_empty() && offline.is_empty() && !is_moved;
    if is_routine && events.is_empty() && app.state::<ShardRegistry>().is_single_node() {
        return presence::update_last_seen(&app.db, network, heartbeats).await;
    }
    let now = app.clock.now();
    if is_routine
        && events.is_empty()
        && let Some(lease) = app.state::<ShardRegistry>().held_lease(network)
    {
        if !under_lease::save(&app.db, &lease, network, changes, now).await? {
            lease.end();
        }
        return Ok(());
    }
    app.db
        .transaction(async |mut tx| {
            // A node that lost the network must not overwrite rows of its new owner.
            if !app.state::<ShardRegistry>().lock_lease(&mut tx, network).await? {
                return Ok(());
            }
            for server in servers {
                presence::save_server(&mut tx, network, server).await?;
            }
            for (id, last_heartbeat) in offline {
                presence::mark_offline(&mut tx, network, id, *last_heartbeat).await?;
            }
            presence::save_players(&mut tx, network, joined).await?;
            presence::delete_players(&mut tx, network, left).await?;
            if !visits.is_empty() {
                app.state::<Hooks>().0.save_visits(app, &mut tx, network, visits).await?;
            }
            presence::update_last_seen(&mut tx, network, heartbeats).await?;
            reservations::delete(&mut tx, network, released).await?;
            reservations::save(&mut tx, network, reserved, now).await?;
            publish(app, &mut tx, network, events).await
        })
        .await
}

/// Publishes saved changes to the network's streams.
async fn publish(app: &App, tx: &mut Tx, network: NetworkId, events: &PresenceEvents) -> Result<(), Error> {
    if events.is_empty() || !is_listening(app, tx, network, &PRESENCE_EVENTS).await? {
        return Ok(());
    }
    if events.is_cut {
        publish_resync_in(app, tx, network).await?;
    }
    for PresenceEvent { kind, payload } in &events.events {
        publish_in(app, tx, network, *kind, None, payload).await?;
    }
    Ok(())
}

/// Changes on their way to the database. They are put back if they do not arrive, also if the saving request is
/// cancelled.
struct Pending<'a> {
    shared: &'a SharedPresence,
    unsaved: Option<Unsaved>,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if let Some(unsaved) = self.unsaved.take() {
            self.shared.with(|presence| presence.put_back(unsaved));
        }
    }
}
