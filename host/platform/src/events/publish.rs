//! Publication of events, together with their changes or immediately.

use hub_bus::Event;
use hub_db::{Error, Tx};
use serde::Serialize;
use tracing::Instrument as _;

use crate::app::App;
use crate::clock::Millis;
use crate::events::data::{data, resync};
use crate::events::{EventKind, Outbox, PublishError, Subscriptions, store};
use crate::secrets;
use crate::values::NetworkId;

/// Table of waiting events.
const OUTBOX: &str = "outbox";

/// Publishes an event with its change: never if `tx` is rolled back, always once it is committed, regardless of the
/// client or of this process. It goes to all of the network's streams, or only to that of the server `target`: the
/// fields of `payload`, with the event's name as `type` and the time as `at`. An event that must be requested is
/// dropped if no stream or subscriber requests it.
///
/// Call it after the change is written, so that streams see the events of one row in the order of its changes.
pub async fn publish_in(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    kind: EventKind,
    target: Option<&str>,
    payload: impl Serialize,
) -> Result<(), Error> {
    let now = app.clock.now();
    let data = stored(app, network, kind, data(kind, now, payload))?;
    if kind.needs_listener() {
        if !store::insert_if_wanted(tx, network, kind.name(), target, &data, now).await? {
            return Ok(());
        }
    } else {
        store::insert(tx, network, kind.name(), target, &data, now).await?;
    }
    mark_on_end(app, tx, network);
    Ok(())
}

/// Publishes one event like [`publish_in`] to several servers. Subscribers get it once.
pub async fn publish_copies_in(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    kind: EventKind,
    targets: &[&str],
    payload: impl Serialize,
) -> Result<(), Error> {
    let now = app.clock.now();
    let data = stored(app, network, kind, data(kind, now, payload))?;
    store::insert_copies(tx, network, kind.name(), targets, &data, now).await?;
    mark_on_end(app, tx, network);
    Ok(())
}

/// Publishes events like [`publish_in`], of one kind that must be requested, if it is.
pub async fn publish_many_in(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    kind: EventKind,
    payloads: impl Iterator<Item = impl Serialize>,
) -> Result<(), Error> {
    let now = app.clock.now();
    for payload in payloads {
        let data = stored(app, network, kind, data(kind, now, payload))?;
        if !store::insert_if_wanted(tx, network, kind.name(), None, &data, now).await? {
            return Ok(());
        }
        mark_on_end(app, tx, network);
    }
    Ok(())
}

/// Form of an event's data in the database: its credentials are sealed.
fn stored(app: &App, network: NetworkId, kind: EventKind, data: serde_json::Result<String>) -> Result<String, Error> {
    let data = data.map_err(|error| sqlx::Error::Encode(error.into()))?;
    if kind.holds_credential() {
        secrets::seal_text(app, OUTBOX, &data)
    } else {
        secrets::seal_fields(app, network, data)
    }
}

/// An event's data from the database as it was; none if its key is lost.
pub(super) fn opened(app: &App, network: NetworkId, data: String) -> Option<String> {
    if secrets::is_sealed(&data) {
        return secrets::unseal_text(app, OUTBOX, &data);
    }
    Some(secrets::open_fields(app, network, data))
}

/// False if an event's data from the database needs a key that this node lacks.
pub(super) fn can_open(app: &App, network: NetworkId, data: &str) -> bool {
    if secrets::is_sealed(data) {
        return secrets::unseal_text(app, OUTBOX, data).is_some();
    }
    secrets::opens_fields(app, network, data)
}

/// Event data up to the fields known to the statement: JSON of an unclosed object.
pub fn open_data(kind: EventKind, now: Millis, payload: impl Serialize) -> Result<String, Error> {
    let mut data = data(kind, now, payload).map_err(|error| sqlx::Error::Encode(error.into()))?;
    data.pop();
    Ok(data)
}

/// Triggers publication of the event that this task's statement wrote with [`insert_event`](super::insert_event).
pub async fn publish_written(app: &App, network: NetworkId) {
    let outbox = app.state::<Outbox>().clone();
    app.db.on_end(move || outbox.mark(network)).await;
}

/// Publishes an event with this name and data once `tx` is committed.
pub(super) async fn insert_in(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    (name, target, data): (&str, Option<&str>, &str),
    now: Millis,
) -> Result<(), Error> {
    store::insert(tx, network, name, target, data, now).await?;
    mark_on_end(app, tx, network);
    Ok(())
}

/// Asks all streams of the network, together with a change, to reload everything.
pub async fn publish_resync_in(app: &App, tx: &mut Tx, network: NetworkId) -> Result<(), Error> {
    let now = app.clock.now();
    let (name, data) = resync(now);
    insert_in(app, tx, network, (name, None, &data), now).await
}

fn mark_on_end(app: &App, tx: &Tx, network: NetworkId) {
    let outbox = app.state::<Outbox>().clone();
    tx.on_end(move || outbox.mark(network));
}

/// Publishes an event without a stored change, immediately: it is lost with the process unless it has subscribers. For
/// changes use [`publish_in`].
pub async fn publish(
    app: &App,
    network: NetworkId,
    kind: EventKind,
    target: Option<&str>,
    payload: impl Serialize,
) -> Result<(), PublishError> {
    if hub_db::has_uncommitted_writes() {
        return Err(PublishError::Uncommitted);
    }
    let now = app.clock.now();
    let data = data(kind, now, payload)?;
    if kind.is_subscribable() && app.state::<Subscriptions>().include(app, network, kind).await? {
        let data = secrets::seal_fields(app, network, data)?;
        let write = async |mut tx| insert_in(app, &mut tx, network, (kind.name(), target, &data), now).await;
        return Ok(app.db.transaction(write).await?);
    }
    // After the events of changes whose requests were answered.
    app.state::<Outbox>().settled(network).await;
    let event = Event { name: kind.name(), target: target.map(str::to_owned), data };
    let span = tracing::trace_span!(target: "hub_trace", "publish", event = event.name);
    app.bus.publish(network.0.as_u128(), event, now).instrument(span).await?;
    Ok(())
}
