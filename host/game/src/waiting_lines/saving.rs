//! Saves tickets behind the memory, many at once together, and announces matches in the same transaction.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hub_db::{Error, Tx};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::app::App;
use crate::cluster::ShardRegistry;
use crate::events::{EventKind, is_listening, publish_copies_in};
use crate::matchmaking::{MatchAnswer, Mode};
use crate::presence::{self, NetworkPresence, Presence, Role};
use crate::side_by_side::for_each_network;
use crate::values::{Identifier, NetworkId, PlayerId};
use crate::waiting_lines::memory::UnsavedTickets;
use crate::waiting_lines::model::{LineName, LineSettings, Ticket, TicketState};
use crate::waiting_lines::network::{NetworkLines, WaitingLines};
use crate::waiting_lines::saved::SavedTicket;
use crate::waiting_lines::store;

/// A ticket was matched.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TicketMatched {
    #[schema(example = "0b0cbd8c-8d1f-4c1e-a3c5-6a4f1cbf8c5e")]
    ticket_id: Uuid,
    player_uuid: PlayerId,
    /// The rest of the party.
    party: Vec<PlayerId>,
    /// The match; its `transferId` holds the slots for 15 seconds.
    #[serde(rename = "match")]
    #[schema(value_type = MatchAnswer)]
    matched: Box<RawValue>,
}

/// A match to announce.
struct Announcement {
    event: TicketMatched,
    /// Servers where the players are, and proxies.
    targets: BTreeSet<Identifier>,
}

/// Changes on their way to the database.
#[derive(Default)]
struct Changes {
    saved: Vec<SavedTicket>,
    deleted: Vec<Uuid>,
    matched: Vec<Announcement>,
}

/// Restores a network's lines.
pub(super) async fn restore(app: &App, network: NetworkId) -> Result<(), Error> {
    let tickets = store::tickets(&app.db, network).await?;
    let settings = store::settings(&app.db, network).await?;
    if tickets.is_empty() && settings.is_empty() {
        return Ok(());
    }
    let (settings, now) = (by_name(settings), app.clock.now());
    let lines = app.state::<WaitingLines>().of(network);
    lines.change(app, network, |lines, presence| lines.restore(tickets, settings, presence, now));
    lines.has_settings.store(true, Ordering::Release);
    Ok(())
}

/// The network's lines, with their settings.
pub(super) async fn loaded(app: &App, network: NetworkId) -> Result<Arc<NetworkLines>, Error> {
    let lines = app.state::<WaitingLines>().of(network);
    if !lines.has_settings.load(Ordering::Acquire) {
        let _settings = lines.settings.lock().await;
        if !lines.has_settings.load(Ordering::Acquire) {
            let settings = by_name(store::settings(&app.db, network).await?);
            let now = app.clock.now();
            lines.change(app, network, |lines, presence| lines.restore(vec![], settings, presence, now));
            lines.has_settings.store(true, Ordering::Release);
        }
    }
    Ok(lines)
}

fn by_name(settings: Vec<(String, LineSettings)>) -> Vec<(LineName, Mode, LineSettings)> {
    let settings = settings.into_iter().filter_map(|(line, settings)| {
        let mode = LineName::parse(&line)?;
        Some((LineName::of(&mode), mode, settings))
    });
    settings.collect()
}

/// Saves what is only in memory, including all earlier changes of the caller. Concurrent calls share one transaction.
pub(super) async fn save(app: &App, network: NetworkId, lines: &Arc<NetworkLines>) -> Result<(), Error> {
    let batch_before = lines.batch.load(Ordering::SeqCst);
    let mut saved_batch = lines.saved_batch.lock().await;
    if *saved_batch > batch_before {
        // Another call took the caller's changes with its own and saved them.
        return Ok(());
    }
    if lines.read(|lines| lines.unsaved.is_empty()) {
        return Ok(());
    }
    let batch = lines.batch.fetch_add(1, Ordering::SeqCst) + 1;
    let (unsaved, changes) = take(app, network, lines);
    let mut pending = Pending { lines, unsaved: Some(unsaved) };
    if !app.state::<ShardRegistry>().is_single_node() {
        // Slots outlive this node before anybody learns of them.
        presence::save(app, network).await?;
    }
    write(app, network, lines, &changes).await?;
    pending.unsaved = None;
    *saved_batch = batch;
    Ok(())
}

fn take(app: &App, network: NetworkId, lines: &Arc<NetworkLines>) -> (UnsavedTickets, Changes) {
    app.state::<Presence>().with(network, |presence| {
        lines.read(|lines| {
            let unsaved = std::mem::take(&mut lines.unsaved);
            let mut changes = Changes::default();
            for id in &unsaved.changed {
                match lines.find(*id) {
                    Some(ticket) => changes.saved.push(ticket.into()),
                    None => changes.deleted.push(*id),
                }
            }
            let now = app.clock.now();
            let matched = unsaved.matched.iter().filter_map(|id| lines.find(*id));
            let matched = matched.filter(|ticket| ticket.state == TicketState::Matched);
            changes.matched = matched.filter_map(|ticket| announcement(presence, ticket, now)).collect();
            (unsaved, changes)
        })
    })
}

fn announcement(presence: &NetworkPresence, ticket: &Ticket, now: i64) -> Option<Announcement> {
    let of_players = ticket.players().filter_map(|player| presence.locate(player, now)).map(|at| at.server_id);
    let proxies = presence.online(now).filter(|server| server.info.role == Role::Proxy);
    let targets = of_players.chain(proxies.map(|server| server.info.server_id.clone())).collect();
    let event = TicketMatched {
        ticket_id: ticket.id,
        player_uuid: ticket.player,
        party: ticket.context.party.clone(),
        matched: RawValue::from_string(ticket.answer.as_deref()?.to_owned()).ok()?,
    };
    Some(Announcement { event, targets })
}

async fn write(app: &App, network: NetworkId, lines: &Arc<NetworkLines>, changes: &Changes) -> Result<(), Error> {
    app.db
        .transaction(async |mut tx| {
            // A node that lost the network must not overwrite rows of its new owner, nor with what it had in memory before
            // it got the network back. The caller tries again at the owner.
            let is_owner = app.state::<ShardRegistry>().lock_lease(&mut tx, network).await?;
            if !is_owner || !app.state::<WaitingLines>().has(network, lines) {
                return Err(Error::Busy);
            }
            store::save_tickets(&mut tx, network, &changes.saved).await?;
            store::delete_tickets(&mut tx, network, &changes.deleted).await?;
            announce(app, &mut tx, network, &changes.matched).await
        })
        .await
}

async fn announce(app: &App, tx: &mut Tx, network: NetworkId, matched: &[Announcement]) -> Result<(), Error> {
    if matched.is_empty() || !is_listening(app, tx, network, &[EventKind::TicketMatched]).await? {
        return Ok(());
    }
    for Announcement { event, targets } in matched {
        let targets: Vec<_> = targets.iter().map(Identifier::as_str).collect();
        publish_copies_in(app, tx, network, EventKind::TicketMatched, &targets, event).await?;
    }
    Ok(())
}

/// Changes on their way to the database. They are put back if they do not arrive, also if the saving request is
/// cancelled.
struct Pending<'a> {
    lines: &'a NetworkLines,
    unsaved: Option<UnsavedTickets>,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if let Some(unsaved) = self.unsaved.take() {
            self.lines.read(|lines| lines.unsaved.put_back(unsaved));
        }
    }
}

/// Saves what is only in memory, in all networks.
pub(super) async fn stop(app: &App) {
    let all = app.state::<WaitingLines>().all();
    for_each_network(all, "save waiting lines", |network, lines| async move { save(app, network, &lines).await }).await;
}
