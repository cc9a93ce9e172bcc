//! Rules of deliveries.

mod claims;
mod create;
mod manage;
mod names;

pub use claims::complete_in;
pub(super) use claims::{claim, complete, fail};
pub(super) use create::{Created, NewDelivery, create};
pub(super) use manage::{Decision, decide, list};
pub(super) use names::resolve_in;
pub(crate) use names::{bind_name, bind_names};

use crate::app::App;
use crate::clock::Millis;
use crate::deliveries::body::DeliveryBody;
use crate::deliveries::error::DeliveriesError;
use crate::deliveries::model::Delivery;
use crate::deliveries::ready::{MAX_OFFERED, place_of, tell};
use crate::deliveries::store::{self, Range};
use crate::limits;
use crate::presence::{self, Arrival};
use crate::values::{Identifier, NetworkId, PlayerId};

/// Deliveries that a server may claim now, of one of its players or all, in the order of their creation, at most `limit`.
pub(super) async fn claimable(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    player: Option<PlayerId>,
    limit: i64,
) -> Result<Vec<Delivery>, DeliveriesError> {
    let players = match player {
        Some(player) => vec![player],
        None => presence::service::players_on(app, network, server.as_str(), None),
    };
    let place_at = |player: &PlayerId| place_of(app, network, *player).filter(|place| place.server_id == *server);
    let Some(place) = players.first().and_then(place_at) else { return Ok(vec![]) };
    Ok(store::claimable(&app.db, network, &players, &place, Range::All, app.clock.now(), limit).await?)
}

/// Deliveries of a player that the server may claim where the player is now; at most 100, and none while the player is
/// offline.
pub async fn offered(app: &App, network: NetworkId, player: PlayerId) -> Result<Vec<DeliveryBody>, DeliveriesError> {
    let Some(place) = place_of(app, network, player) else { return Ok(vec![]) };
    let now = app.clock.now();
    let found = store::claimable(&app.db, network, &[player], &place, Range::All, now, MAX_OFFERED).await?;
    Ok(found.into_iter().map(DeliveryBody::from).collect())
}

/// Tells a server which deliveries of a player who just joined it can be claimed. A failure is only logged.
pub async fn record_join(app: &App, network: NetworkId, player: PlayerId) {
    if let Err(error) = tell_all(app, network, player).await {
        tracing::warn!(%network, %error, "could not tell the deliveries of a player who joined");
    }
}

async fn tell_all(app: &App, network: NetworkId, player: PlayerId) -> Result<(), DeliveriesError> {
    // Most players have none: a transaction is for the others.
    if offered(app, network, player).await?.is_empty() {
        return Ok(());
    }
    let told = app.db.transaction(async |mut tx| tell(app, &mut tx, network, player, Range::All).await);
    Ok(told.await?)
}

/// Like [`record_join`], for players who came with a server's list: one read for all who have none.
pub async fn record_arrivals(app: &App, network: NetworkId, arrivals: &[Arrival]) -> Result<(), hub_db::Error> {
    let players: Vec<_> = arrivals.iter().map(|arrival| arrival.player).collect();
    for player in store::awaiting(&app.db, network, &players).await? {
        record_join(app, network, player).await;
    }
    Ok(())
}

/// Number of HELD deliveries, counted up to `most`, and the time of the oldest.
pub async fn held(app: &App, network: NetworkId, most: i64) -> Result<(i64, Option<Millis>), hub_db::Error> {
    store::held(&app.db, network, most).await
}

/// Number of open deliveries, as last counted.
pub async fn open(app: &App, network: NetworkId) -> Result<i64, hub_db::Error> {
    limits::used(app, network, store::OPEN).await
}
