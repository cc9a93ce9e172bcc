//! Keeps the database's copy of presence: written as it changes, read at start.

use std::time::Duration;

use hub_db::Error;

use crate::app::App;
use crate::clock::{Millis, millis};
use crate::networks;
use crate::servers::presence::{Changes, Slot, Unsaved};
use crate::servers::store;
use crate::values::NetworkId;

/// How often heartbeats are written down.
const SAVE_EVERY: Duration = Duration::from_secs(1);

/// Brings back the presence that the last run knew and starts the room's background work. One of several nodes brings a
/// network back when it becomes its home.
pub(crate) async fn start(app: &App) -> anyhow::Result<()> {
    if app.shards.is_single_node() {
        for network in networks::service::network_ids(&app.db).await? {
            bring_back(app, network).await?;
        }
    }
    app.spawn(keep(app.clone()));
    Ok(())
}

/// Brings back a network's presence.
pub(crate) async fn bring_back(app: &App, network: NetworkId) -> Result<(), Error> {
    let now = app.clock.now();
    // A run that was killed may not have written its last beats: who is late by no more than that is still there.
    let patience = millis(app.settings.offline_after()).saturating_add(millis(SAVE_EVERY));
    load(app, network, now, patience).await
}

async fn load(app: &App, network: NetworkId, now: Millis, patience: Millis) -> Result<(), Error> {
    let servers = store::present_servers(&app.db, network, now.saturating_sub(patience)).await?;
    let players = store::present_players(&app.db, network).await?;
    let slots = if app.shards.is_single_node() {
        vec![]
    } else {
        store::reservations::kept(&app.db, network, app.clock.now()).await?
    };
    if servers.is_empty() && players.is_empty() && slots.is_empty() {
        return Ok(());
    }
    let until = |heard: Millis| heard.saturating_add(patience);
    let servers = servers.into_iter().map(|server| (until(server.last_heartbeat), server));
    let servers = servers.map(|(until, server)| (server, until)).collect();
    app.presence.with(network, |presence| presence.restore(servers, players, slots, app.clock.now()));
    Ok(())
}

/// Saves what is only in memory.
pub(crate) async fn stop(app: &App) {
    if let Err(error) = save_all(app).await {
        tracing::error!(%error, "could not save who is online");
    }
}

/// Sweeps away what is over and writes down what changed, about every second.
async fn keep(app: App) {
    loop {
        app.clock.sleep(SAVE_EVERY).await;
        if let Err(error) = save_all(&app).await {
            tracing::warn!(%error, "could not save who is online; will try again");
        }
    }
}

/// Writes down what changed in every network.
pub async fn save_all(app: &App) -> Result<(), Error> {
    let mut result = Ok(());
    for (network, slot) in app.presence.slots() {
        slot.with(|presence| presence.sweep(app.clock.now()));
        if let Err(error) = save_slot(app, network, &slot).await {
            result = Err(error);
        }
    }
    result
}

/// Writes down what changed in a network; who calls it finds the changes they made before written when it returns.
/// Calls at once share one transaction.
pub(crate) async fn save(app: &App, network: NetworkId) -> Result<(), Error> {
    save_slot(app, network, &app.presence.slot(network)).await
}

/// Writes down the slots that were reserved, where they must outlive this process: one of several nodes may be followed
/// by another at any moment. Called before anybody is told of a slot.
pub(crate) async fn save_reserved(app: &App, network: NetworkId) -> Result<(), Error> {
    if app.shards.is_single_node() { Ok(()) } else { save(app, network).await }
}

async fn save_slot(app: &App, network: NetworkId, slot: &Slot) -> Result<(), Error> {
    let (has_unsaved, taken_before) = slot.with(|presence| (presence.has_unsaved(), presence.taken));
    if !has_unsaved && slot.saving.try_lock().is_ok() {
        return Ok(());
    }
    let mut written = slot.saving.lock().await;
    if *written > taken_before {
        // By who was before in the queue; what came since is for who made it to write.
        return Ok(());
    }
    let (number, (unsaved, changes)) = slot.with(|presence| (presence.taken + 1, presence.take_unsaved()));
    if !unsaved.is_empty() {
        let taken = Taken { slot, unsaved: Some(unsaved) };
        write(app, network, &changes).await?;
        taken.written();
    }
    *written = number;
    Ok(())
}

async fn write(app: &App, network: NetworkId, changes: &Changes) -> Result<(), Error> {
    let Changes { servers, gone, players, left, .. } = changes;
    let only_beats = servers.is_empty() && gone.is_empty() && players.is_empty() && left.is_empty();
    let slots = store::reservations::Slots::of(&changes.kept, app.clock.now());
    let beats = store::Beats::of(&changes.beats);
    if only_beats && app.shards.is_single_node() {
        return store::note_beats(&app.db, network, beats).await;
    }
    app.db
        .transaction(async |mut tx| {
            // What is known here of a network that lives elsewhere by now is nobody's any more.
            if !app.shards.lock_lease(&mut tx, network).await? {
                return Ok(());
            }
            for server in servers {
                store::save_server(&mut tx, network, server).await?;
            }
            for (id, heard) in gone {
                store::mark_gone(&mut tx, network, id, *heard).await?;
            }
            for player in players {
                store::save_player(&mut tx, network, player).await?;
            }
            for player in left {
                store::delete_player(&mut tx, network, *player).await?;
            }
            if !beats.is_empty() {
                store::note_beats_in(&mut tx, network, beats.clone()).await?;
            }
            store::reservations::free(&mut tx, network, &changes.freed).await?;
            store::reservations::keep(&mut tx, network, &slots).await?;
            Ok(())
        })
        .await
}

/// Marks on their way to the database. They go back where they came from if they do not arrive, also when the request
/// that was to bring them is dropped half-way.
struct Taken<'a> {
    slot: &'a Slot,
    unsaved: Option<Unsaved>,
}

impl Taken<'_> {
    fn written(mut self) {
        self.unsaved = None;
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if let Some(unsaved) = self.unsaved.take() {
            self.slot.with(|presence| presence.put_back(unsaved));
        }
    }
}
