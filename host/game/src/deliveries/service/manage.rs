//! Decisions of people.

use std::future::ready;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Caller;
use crate::deliveries::error::DeliveriesError;
use crate::deliveries::model::{Delivery, DeliveryState};
use crate::deliveries::ready::publish;
use crate::deliveries::store;
use crate::deliveries::store::list::DeliveryFilter;
use crate::limits::{self, Limit, check_rows};
use crate::values::NetworkId;

/// Decision of a person about a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::deliveries) enum Decision {
    /// Offer it again.
    Retry,
    /// Take it back.
    Cancel,
    /// It did happen.
    Confirm,
}

impl Decision {
    fn action(self) -> Action {
        match self {
            Self::Retry => Action::DeliveryRetried,
            Self::Cancel => Action::DeliveryCancelled,
            Self::Confirm => Action::DeliveryConfirmed,
        }
    }
}

/// A page of the matching deliveries, newest first, and their number.
pub(in crate::deliveries) async fn list(
    app: &App,
    network: NetworkId,
    filter: &DeliveryFilter,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Delivery>, i64), DeliveriesError> {
    Ok(store::list::list(&app.db, network, filter, limit, offset).await?)
}

/// Carries out a decision.
pub(in crate::deliveries) async fn decide(
    app: &App,
    caller: &Caller,
    id: i64,
    decision: Decision,
) -> Result<Delivery, DeliveriesError> {
    let network = caller.network;
    let origin = caller.origin(app);
    let most = limits::bound(app, Limit::DeliveriesPerPlayer);
    // One that has ended is open again.
    let found = store::get(&app.db, network, id).await?;
    let reopens = decision == Decision::Retry && found.is_some_and(|found| found.state == DeliveryState::Failed);
    let _adding = if reopens {
        Some(check_rows::<DeliveriesError>(app, network, store::OPEN, 1, ready(Ok(false))).await?)
    } else {
        None
    };
    app.db
        .transaction(async |mut tx| {
            let now = app.clock.now();
            let found = store::lock(&mut tx, network, id).await?;
            let mut delivery = found.ok_or(DeliveriesError::Unknown(id))?;
            let before = delivery.state;
            let decided = match decision {
                Decision::Retry => delivery.retry(now),
                Decision::Cancel => delivery.cancel(now),
                Decision::Confirm => delivery.confirm(now),
            };
            decided.map_err(DeliveriesError::not_possible(before.as_str()))?;
            if before == DeliveryState::Failed {
                let player = delivery.player_uuid;
                let used = store::count_open(&mut tx, network, player, None, most.saturating_add(1)).await?;
                limits::check(app, Limit::DeliveriesPerPlayer, used, 1)?;
            }
            store::save(&mut tx, &delivery).await?;
            publish(app, &mut tx, &delivery).await?;
            let state = |state: DeliveryState| serde_json::json!({ "state": state });
            let change = Change::new(decision.action(), id).before(state(before)).after(state(delivery.state));
            audit::record(&mut tx, network, &origin, change).await?;
            Ok(delivery)
        })
        .await
}
