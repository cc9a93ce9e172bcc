//! Claims, and how they end.

use hub_db::Tx;

use crate::app::App;
use crate::auth::Caller;
use crate::deliveries::error::DeliveriesError;
use crate::deliveries::model::{Claim, Delivery, DeliveryState};
use crate::deliveries::ready::{place_of, publish};
use crate::deliveries::store;
use crate::deliveries::values::ClaimText;
use crate::values::{Identifier, NetworkId, PlayerId};

/// Length of a claim's secret: 190 bits.
const SECRET_LENGTH: usize = 32;

/// A claim with its delivery.
#[derive(Debug)]
pub(in crate::deliveries) struct ClaimedDelivery {
    pub(in crate::deliveries) claim: String,
    pub(in crate::deliveries) delivery: Delivery,
}

/// Claims a delivery for a server.
pub(in crate::deliveries) async fn claim(
    app: &App,
    network: NetworkId,
    id: i64,
    server: &Identifier,
) -> Result<ClaimedDelivery, DeliveriesError> {
    let claim = Claim::text(id, &app.ids.token(SECRET_LENGTH));
    let delivery = app
        .db
        .transaction(async |mut tx| {
            let now = app.clock.now();
            let found = store::lock(&mut tx, network, id).await?;
            let mut delivery = found.ok_or(DeliveriesError::Unknown(id))?;
            check(app, &mut tx, &delivery, server, now).await?;
            delivery.start_claim(server.as_str(), Claim::hash(&claim), now);
            store::save(&mut tx, &delivery).await?;
            Ok::<_, DeliveriesError>(delivery)
        })
        .await?;
    Ok(ClaimedDelivery { claim, delivery })
}

/// Refuses a claim that is not possible now.
async fn check(
    app: &App,
    tx: &mut Tx,
    delivery: &Delivery,
    server: &Identifier,
    now: i64,
) -> Result<(), DeliveriesError> {
    match delivery.state {
        DeliveryState::Pending if !delivery.is_over(now) => {}
        DeliveryState::Claimed => return Err(DeliveriesError::Claimed),
        _ => return Err(DeliveriesError::Settled),
    }
    let player =
        delivery.player_uuid.ok_or(DeliveriesError::NotReady("Nobody was seen with the player's name yet."))?;
    let place = place_of(app, delivery.network_id, player).filter(|place| place.server_id == *server);
    let place = place.ok_or(DeliveriesError::NotReady("The player is not on that server."))?;
    if !delivery.fits(&place) {
        return Err(DeliveriesError::NotReady("The delivery belongs to another server or type of servers."));
    }
    if !delivery.is_due(now) {
        return Err(DeliveriesError::NotReady("The delivery is not due yet."));
    }
    if store::is_blocked(tx, delivery, player, &place, now).await? {
        return Err(DeliveriesError::NotReady("An earlier delivery of this kind is still open."));
    }
    Ok(())
}

/// The delivery and its claim, or else the error of a claim that is none.
async fn find(tx: &mut Tx, caller: &Caller, id: i64, claim: &ClaimText) -> Result<(Delivery, Claim), DeliveriesError> {
    let delivery = store::lock(tx, caller.network, id).await?.ok_or(DeliveriesError::Unknown(id))?;
    if delivery.claimed_by.as_deref().is_some_and(|server| !caller.speaks_for(server)) {
        return Err(DeliveriesError::ForeignServer);
    }
    let claim = Claim::parse(claim).filter(|claim| claim.delivery == id).ok_or(DeliveriesError::StaleClaim)?;
    Ok((delivery, claim))
}

/// Settles a claimed delivery as delivered.
pub(in crate::deliveries) async fn complete(
    app: &App,
    caller: &Caller,
    id: i64,
    claim: &ClaimText,
) -> Result<Delivery, DeliveriesError> {
    app.db
        .transaction(async |mut tx| {
            let (mut delivery, claim) = find(&mut tx, caller, id, claim).await?;
            if delivery.complete(&claim, app.clock.now())? {
                save(app, &mut tx, &delivery).await?;
            }
            Ok(delivery)
        })
        .await
}

/// Ends a claim without success: the delivery is tried again, or failed.
pub(in crate::deliveries) async fn fail(
    app: &App,
    caller: &Caller,
    id: i64,
    claim: &ClaimText,
    (reason, retry): (Option<String>, bool),
) -> Result<Delivery, DeliveriesError> {
    app.db
        .transaction(async |mut tx| {
            let (mut delivery, claim) = find(&mut tx, caller, id, claim).await?;
            if delivery.fail(&claim, reason.clone(), retry, app.clock.now())? {
                save(app, &mut tx, &delivery).await?;
            }
            Ok(delivery)
        })
        .await
}

/// Settles claims of a player at a server as delivered, together with what `tx` writes. One that is not good is
/// [`DeliveriesError::StaleClaim`], upon which the caller rolls back. The events are published with the transaction.
pub async fn complete_in(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    player: PlayerId,
    server: &Identifier,
    claims: &[ClaimText],
) -> Result<Vec<Delivery>, DeliveriesError> {
    let parsed: Option<Vec<_>> = claims.iter().map(Claim::parse).collect();
    let mut parsed = parsed.ok_or(DeliveriesError::StaleClaim)?;
    // One order for all, so that no two transactions wait for each other.
    parsed.sort_by_key(|claim| claim.delivery);
    parsed.dedup();
    let now = app.clock.now();
    let mut settled = Vec::with_capacity(parsed.len());
    for claim in parsed {
        let found = store::lock(tx, network, claim.delivery).await?;
        let mut delivery = found.ok_or(DeliveriesError::StaleClaim)?;
        let is_theirs = delivery.player_uuid == Some(player) && delivery.claimed_by.as_deref() == Some(server.as_str());
        if !is_theirs || !delivery.is_held_by(&claim, now) {
            return Err(DeliveriesError::StaleClaim);
        }
        delivery.complete(&claim, now)?;
        store::save(tx, &delivery).await?;
        settled.push(delivery);
    }
    for delivery in &settled {
        publish(app, tx, delivery).await?;
    }
    Ok(settled)
}

/// Writes and publishes a change.
async fn save(app: &App, tx: &mut Tx, delivery: &Delivery) -> Result<(), hub_db::Error> {
    store::save(tx, delivery).await?;
    publish(app, tx, delivery).await
}
