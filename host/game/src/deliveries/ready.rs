//! Events of deliveries.

use hub_db::{Error, Tx};

use crate::app::App;
use crate::deliveries::body::{DeliveryReady, DeliverySettled};
use crate::deliveries::model::{Delivery, DeliveryState, Place};
use crate::deliveries::store::{self, Range};
use crate::events::{EventKind, publish_in};
use crate::metric_recorder::MetricRecorder;
use crate::metric_recorder::table::DELIVERIES;
use crate::presence;
use crate::values::{NetworkId, PlayerId};

/// Maximum number of deliveries that one answer offers, and that a join tells.
pub(super) const MAX_OFFERED: i64 = 100;

/// Place where a player is, if this node knows it.
pub(super) fn place_of(app: &App, network: NetworkId, player: PlayerId) -> Option<Place> {
    let at = presence::service::online_player(app, network, player)?;
    Some(Place { server_id: at.server_id, server_type: at.server_type })
}

/// Tells the player's server which of these deliveries can be claimed there now.
pub(super) async fn tell(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    player: PlayerId,
    range: Range<'_>,
) -> Result<(), Error> {
    let Some(place) = place_of(app, network, player) else { return Ok(()) };
    let now = app.clock.now();
    let ready = store::claimable(&mut *tx, network, &[player], &place, range, now, MAX_OFFERED).await?;
    for delivery in ready {
        let Delivery { delivery_id, kind, .. } = delivery;
        let event = DeliveryReady { delivery_id, player_uuid: player, kind };
        publish_in(app, tx, network, EventKind::DeliveryReady, Some(place.server_id.as_str()), event).await?;
    }
    Ok(())
}

/// Publishes the effects of a change: the end of a delivery, that it can be claimed, and that those can which it blocked.
pub(super) async fn publish(app: &App, tx: &mut Tx, delivery: &Delivery) -> Result<(), Error> {
    let network = delivery.network_id;
    if matches!(delivery.state, DeliveryState::Pending) {
        return match delivery.player_uuid {
            Some(player) => {
                let range = Range::One { kind: &delivery.kind, id: delivery.delivery_id };
                tell(app, tx, network, player, range).await
            }
            None => Ok(()),
        };
    }
    let counter = app.state::<MetricRecorder>().counter(&DELIVERIES, &[delivery.state.as_str()]);
    tx.on_end(move || counter.increment(1));
    let event = DeliverySettled { delivery: delivery.clone().into() };
    publish_in(app, tx, network, EventKind::DeliverySettled, None, event).await?;
    match delivery.player_uuid {
        Some(player) => {
            let range = Range::After { kind: &delivery.kind, id: delivery.delivery_id };
            tell(app, tx, network, player, range).await
        }
        None => Ok(()),
    }
}
