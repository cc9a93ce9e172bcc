//! Creates deliveries, each once for its reference.

use std::future::ready;

use sha2::{Digest as _, Sha256};

use crate::app::App;
use crate::clock::Millis;
use crate::deliveries::error::DeliveriesError;
use crate::deliveries::model::{Delivery, DeliveryState, OnLost};
use crate::deliveries::ready::publish;
use crate::deliveries::store;
use crate::deliveries::store::references::{self, NewReference, UsedReference};
use crate::deliveries::values::{DeliveryKind, Reference};
use crate::http::document::Document;
use crate::limits::{self, Limit, check_rows};
use crate::punishments;
use crate::values::{Identifier, NetworkId, PlayerId, hex};

/// Time after which the player of a name is looked up again: a player may be seen with it just while the delivery is
/// created.
const SECOND_LOOK: Millis = 1_000;

/// A delivery to create.
#[derive(Clone, Debug)]
pub(in crate::deliveries) struct NewDelivery {
    pub(in crate::deliveries) player: Option<PlayerId>,
    pub(in crate::deliveries) name: Option<Identifier>,
    pub(in crate::deliveries) kind: DeliveryKind,
    pub(in crate::deliveries) payload: Document,
    pub(in crate::deliveries) server_type: Option<Identifier>,
    pub(in crate::deliveries) server_id: Option<Identifier>,
    pub(in crate::deliveries) not_before: Option<Millis>,
    pub(in crate::deliveries) expires_at: Option<Millis>,
    pub(in crate::deliveries) reference: Option<Reference>,
    pub(in crate::deliveries) on_lost: OnLost,
}

/// A delivery as created, now or before.
#[derive(Debug)]
pub(in crate::deliveries) struct Created {
    pub(in crate::deliveries) delivery: Delivery,
    pub(in crate::deliveries) is_new: bool,
}

impl NewDelivery {
    fn folded(&self) -> Option<String> {
        self.name.as_ref().map(|name| name.as_str().to_lowercase())
    }

    /// Hashes by which a repetition is recognized: ids and names as the hub reads them, JSON by its value.
    fn hashes(&self, network: NetworkId) -> Option<NewReference> {
        let reference = self.reference.as_ref()?;
        let payload = self.payload.to_value();
        let values = serde_json::json!([
            self.player,
            self.folded(),
            self.kind,
            payload,
            self.server_type,
            self.server_id,
            self.not_before,
            self.expires_at,
            self.on_lost,
        ]);
        let digest = |text: String| hex(&Sha256::digest(text));
        Some(NewReference { reference: digest(format!("{network}\n{reference}")), values: digest(values.to_string()) })
    }

    fn check_times(&self, now: Millis) -> Result<(), DeliveriesError> {
        let Some(expires_at) = self.expires_at else { return Ok(()) };
        if expires_at <= now {
            return Err(DeliveriesError::Invalid("In the body, `expiresAt`: must not be in the past."));
        }
        if self.not_before.is_some_and(|not_before| expires_at < not_before) {
            return Err(DeliveriesError::Invalid("In the body, `expiresAt`: must not be before `notBefore`."));
        }
        Ok(())
    }

    fn into_delivery(self, network: NetworkId, id: i64, now: Millis) -> Delivery {
        Delivery {
            player_uuid: self.player,
            player_name: self.name.map(Identifier::into_string),
            payload: self.payload,
            server_type: self.server_type.map(Identifier::into_string),
            server_id: self.server_id.map(Identifier::into_string),
            on_lost: self.on_lost,
            reference: self.reference.map(Reference::into_string),
            not_before: self.not_before,
            expires_at: self.expires_at,
            ..Delivery::new(network, id, self.kind.as_str(), now)
        }
    }
}

/// Creates a delivery; one with a reference that was used before is returned.
pub(in crate::deliveries) async fn create(
    app: &App,
    network: NetworkId,
    new: NewDelivery,
) -> Result<Created, DeliveriesError> {
    let hashes = new.hashes(network);
    if let Some(hashes) = &hashes
        && let Some(used) = references::find(&app.db, network, &hashes.reference).await?
    {
        let found = store::get(&app.db, network, used.delivery_id).await?;
        return repetition(network, new, hashes, &used, found);
    }
    let now = app.clock.now();
    new.check_times(now)?;
    let _adding = check_rows::<DeliveriesError>(app, network, store::OPEN, 1, ready(Ok(false))).await?;
    let most = limits::bound(app, Limit::DeliveriesPerPlayer);
    app.db
        .transaction(async |mut tx| {
            let tx = &mut tx;
            let id = store::take_id(tx, network).await?;
            if let Some(hashes) = &hashes {
                let owner = (new.player, new.folded());
                let owner = (owner.0, owner.1.as_deref());
                if !references::insert(tx, network, hashes, id, owner, now).await? {
                    // Another request came first, and has ended: it held the counter.
                    let used = references::find(&mut *tx, network, &hashes.reference).await?;
                    let used = used.ok_or(hub_db::Error::Conflict)?;
                    let found = store::get(&mut *tx, network, used.delivery_id).await?;
                    return repetition(network, new.clone(), hashes, &used, found);
                }
            }
            let folded = new.folded();
            let mut delivery = new.clone().into_delivery(network, id, now);
            delivery.due_at = delivery.next_due(now);
            if let (None, Some(name)) = (delivery.player_uuid, &delivery.player_name) {
                delivery.player_uuid = punishments::service::player_named(&mut *tx, network, name).await?;
                let look = now.saturating_add(SECOND_LOOK);
                if delivery.player_uuid.is_none() {
                    delivery.due_at = Some(delivery.due_at.map_or(look, |at| at.min(look)));
                }
            }
            let (player, name) = (delivery.player_uuid, folded.as_deref());
            let used = store::count_open(tx, network, player, name, most.saturating_add(1)).await?;
            limits::check(app, Limit::DeliveriesPerPlayer, used, 1)?;
            store::insert(tx, &delivery, name).await?;
            if hashes.is_some() && new.player.is_none() && player.is_some() {
                references::set_player(tx, network, id, player).await?;
            }
            publish(app, tx, &delivery).await?;
            Ok(Created { delivery, is_new: true })
        })
        .await
}

/// Answer to a reference that was used.
fn repetition(
    network: NetworkId,
    new: NewDelivery,
    hashes: &NewReference,
    used: &UsedReference,
    found: Option<Delivery>,
) -> Result<Created, DeliveriesError> {
    let is_erased = used.values_sha256.is_none() || (found.is_none() && used.state.is_none());
    if !is_erased && used.values_sha256.as_ref() != Some(&hashes.values) {
        return Err(DeliveriesError::ReferenceUsed);
    }
    let delivery = match found {
        Some(delivery) if !is_erased => delivery,
        _ => {
            let state = used.state.as_deref().and_then(|state| state.parse().ok());
            let mut delivery = new.into_delivery(network, used.delivery_id, used.created_at);
            delivery.state = state.filter(|_| !is_erased).unwrap_or(DeliveryState::Cancelled);
            delivery.attempts = used.attempts;
            delivery.settled_at = Some(used.settled_at.unwrap_or(used.created_at));
            if is_erased {
                without_person(delivery)
            } else {
                // A name's player is known since.
                Delivery { player_uuid: delivery.player_uuid.or(used.player_uuid), ..delivery }
            }
        }
    };
    Ok(Created { delivery, is_new: false })
}

/// The rest of an erased player's delivery.
fn without_person(mut delivery: Delivery) -> Delivery {
    delivery.player_uuid = None;
    delivery.player_name = None;
    delivery.payload = Document::null();
    (delivery.server_type, delivery.server_id) = (None, None);
    (delivery.not_before, delivery.expires_at) = (None, None);
    delivery
}
