//! Background work: gives slots that came free to those who wait, and tells players their places.
//!
//! Presence wakes the loop of a network in which somebody waits; time wakes it through a short interval, which looks at
//! one number per network with lines.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hub_db::Error;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::app::App;
use crate::background::every;
use crate::cluster::ShardRegistry;
use crate::events::{self, EventKind};
use crate::presence::Presence;
use crate::values::{Identifier, NetworkId, PlayerId};
use crate::waiting_lines::memory::PlaceChange;
use crate::waiting_lines::network::WaitingLines;
use crate::waiting_lines::{ranked, saving};

/// Interval of looking for what time alone makes due.
const DUE_INTERVAL: Duration = Duration::from_millis(250);
/// Interval of telling places.
const TELL_INTERVAL: Duration = Duration::from_secs(2);
/// Players located under one lock.
const LOCATED_AT_ONCE: usize = 512;

/// A waiting player's place changed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TicketUpdated {
    #[schema(example = "0b0cbd8c-8d1f-4c1e-a3c5-6a4f1cbf8c5e")]
    ticket_id: Uuid,
    player_uuid: PlayerId,
    /// Place among the players who wait in the line, from 1.
    #[schema(example = 3)]
    position: usize,
    /// Number of players who wait in the line.
    #[schema(example = 12)]
    waiting: usize,
    /// Estimated time until the match, in milliseconds; null if unknown.
    #[schema(example = 45_000)]
    eta_ms: Option<i64>,
}

pub(super) fn start(app: &App) {
    let woken = app.clone();
    app.spawn(async move {
        let wake = Arc::clone(&woken.state::<WaitingLines>().wake);
        loop {
            wake.notified().await;
            match_due(&woken).await;
        }
    });
    every(app, DUE_INTERVAL, "match waiting players", |app| async move {
        match_due(&app).await;
        Ok::<_, Infallible>(())
    });
    every(app, TELL_INTERVAL, "tell waiting players their places", |app| async move {
        tell_places(&app).await;
        Ok::<_, Infallible>(())
    });
}

async fn match_due(app: &App) {
    let (state, now) = (app.state::<WaitingLines>(), app.clock.now());
    let due: Vec<_> =
        state.all().into_iter().filter(|(_, lines)| lines.is_due(now)).map(|(network, _)| network).collect();
    if due.is_empty() {
        return;
    }
    let work = |app: App, network| async move { match_network(&app, network).await };
    state.matching.run(app, due, "match waiting players", work).await;
}

/// Matches the waiting players of one network, and saves what changed.
pub(super) async fn match_network(app: &App, network: NetworkId) -> Result<(), Error> {
    let Some(lines) = app.state::<WaitingLines>().find(network) else { return Ok(()) };
    if !app.state::<ShardRegistry>().owns(network) {
        return Ok(());
    }
    lines.clear_wake();
    ranked::run(app, network, &lines).await;
    saving::save(app, network, &lines).await
}

async fn tell_places(app: &App) {
    let state = app.state::<WaitingLines>();
    let networks = state.all().into_iter().filter(|(_, lines)| lines.has_waiting()).map(|(network, _)| network);
    let work = |app: App, network| async move { tell(&app, network).await };
    state.telling.run(app, networks, "tell waiting players their places", work).await;
}

async fn tell(app: &App, network: NetworkId) -> Result<(), Error> {
    let Some(lines) = app.state::<WaitingLines>().find(network) else { return Ok(()) };
    if !app.state::<ShardRegistry>().owns(network) {
        return Ok(());
    }
    let now = app.clock.now();
    let changes = lines.read(|lines| lines.take_place_changes(now));
    if changes.is_empty() || !events::is_requested(app, network, EventKind::TicketUpdated).await? {
        return Ok(());
    }
    for changes in changes.chunks(LOCATED_AT_ONCE) {
        let located: Vec<(Identifier, &PlaceChange)> = app.state::<Presence>().with(network, |presence| {
            let at = |change: &PlaceChange| presence.locate(change.player, now).map(|at| at.server_id);
            changes.iter().filter_map(|change| Some((at(change)?, change))).collect()
        });
        for (server, change) in located {
            let PlaceChange { ticket, player, position, waiting, eta } = *change;
            let event = TicketUpdated { ticket_id: ticket, player_uuid: player, position, waiting, eta_ms: eta };
            let target = Some(server.as_str());
            if let Err(error) = events::publish(app, network, EventKind::TicketUpdated, target, event).await {
                // The next place is told again.
                tracing::debug!(%network, %error, "could not tell a waiting player their place");
                return Ok(());
            }
        }
    }
    Ok(())
}
