//! Deletes events from the outbox, and passes them to their subscribers.

use std::collections::{HashMap, HashSet};

use futures_util::future::BoxFuture;
use hub_db::{Error, Tx};

use crate::app::App;
use crate::events::Outbox;
use crate::events::data::resync;
use crate::events::store::{self, SubscribedEvent};
use crate::values::NetworkId;

/// Maximum number of events for subscribers per transaction: SQLite's writer waits for it.
const MOST_GIVEN: usize = 500;

/// Receives the events of subscribers when they leave the outbox.
pub trait EventConsumer: Sync {
    /// True if it receives the events of this subscriber.
    fn serves(&self, subscriber: &str) -> bool;

    /// Receives events of a network, in order, in the transaction that deletes them.
    fn take<'a>(
        &'a self,
        app: &'a App,
        tx: &'a mut Tx,
        network: NetworkId,
        events: &'a [SubscribedEvent],
    ) -> BoxFuture<'a, Result<(), Error>>;
}

/// Deletes published events and passes them to their subscribers.
pub(super) async fn delete(app: &App, network: NetworkId, ids: &HashSet<i64>) -> Result<(), Error> {
    // Subscribers from before an event's change are seen: the event was read before this.
    let subscribed = store::subscribed(&app.db, network, ids).await?;
    if subscribed.is_empty() {
        return store::delete(&app.db, network, ids).await;
    }
    for part in parts(ids, &subscribed) {
        app.db
            .transaction(async |mut tx| {
                // Another node may have been faster and passed them on, or left a RESYNC in their place.
                let deleted = store::delete_returning(&mut tx, network, &part).await?;
                let is_taken = |event: &&SubscribedEvent| deleted.get(&event.id) == Some(&event.name);
                let taken: Vec<_> = subscribed.iter().filter(is_taken).cloned().collect();
                hand_over(app, &mut tx, network, &taken).await
            })
            .await?;
    }
    Ok(())
}

/// Passes events to the consumers of their subscribers.
async fn hand_over(app: &App, tx: &mut Tx, network: NetworkId, events: &[SubscribedEvent]) -> Result<(), Error> {
    if events.is_empty() {
        return Ok(());
    }
    for consumer in app.state::<Outbox>().consumers() {
        let its: Vec<_> = events.iter().filter(|event| consumer.serves(&event.subscriber)).cloned().collect();
        if !its.is_empty() {
            consumer.take(app, tx, network, &its).await?;
        }
    }
    Ok(())
}

/// Splits the events, in order, into parts for at most [`MOST_GIVEN`] subscribers.
fn parts(ids: &HashSet<i64>, subscribed: &[SubscribedEvent]) -> Vec<HashSet<i64>> {
    let mut subscribers = HashMap::new();
    for event in subscribed {
        *subscribers.entry(event.id).or_insert(0_usize) += 1;
    }
    let mut ids: Vec<_> = ids.iter().copied().collect();
    ids.sort_unstable();
    let (mut parts, mut given) = (vec![HashSet::new()], 0);
    for id in ids {
        let of_event = subscribers.get(&id).copied().unwrap_or(0);
        if given > 0 && given + of_event > MOST_GIVEN {
            parts.push(HashSet::new());
            given = 0;
        }
        given += of_event;
        if let Some(part) = parts.last_mut() {
            part.insert(id);
        }
    }
    parts
}

/// If more than `most` events wait, replaces the oldest with a RESYNC. Their subscribers still get them all. Returns
/// the number of replaced events.
pub(super) async fn trim(app: &App, network: NetworkId, most: i64) -> Result<usize, Error> {
    let (name, data) = resync(app.clock.now());
    app.db
        .transaction(async |mut tx| {
            let Some(last) = store::excess(&mut tx, network, most).await? else { return Ok(0) };
            // First: what commits from here on stays, and whoever subscribed before it is seen.
            let mut dropped = store::lock_up_to(&mut tx, network, last).await?;
            let taken = store::subscribed(&mut tx, network, &dropped).await?;
            // Otherwise it was published meanwhile.
            if !dropped.remove(&last) {
                return Ok(0);
            }
            store::replace(&mut tx, network, last, (name, &data)).await?;
            store::delete(&mut tx, network, &dropped).await?;
            hand_over(app, &mut tx, network, &taken).await?;
            Ok::<_, Error>(dropped.len())
        })
        .await
}
