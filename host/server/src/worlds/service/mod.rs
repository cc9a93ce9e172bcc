//! The rules of worlds on demand.

mod boot;
mod callbacks;
mod drain;
mod error;
mod home;
mod open;
mod snapshots;

use hub_db::Tx;
use serde::Serialize;

use crate::app::App;
use crate::clock::{Millis, millis};
use crate::events::{self, EventKind};
use crate::values::{Identifier, NetworkId};

pub(super) use boot::boot_waiting;
pub(super) use callbacks::{SavedSnapshot, heartbeat, ready, release_all, unloaded};
pub(super) use drain::{ask_snapshot, drain_idle, release};
pub(crate) use home::{home_of, hosts};
pub(super) use open::{Opened, open};
pub(super) use snapshots::{mint, read, receive};

/// When a lease ends that is renewed now.
fn expiry(app: &App, now: Millis) -> Millis {
    now.saturating_add(millis(app.settings.lease()))
}

/// Publishes an event for a node, or for the whole network, with the change it tells of.
async fn publish(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    kind: EventKind,
    node: Option<&Identifier>,
    payload: impl Serialize,
) -> Result<(), hub_db::Error> {
    events::publish_in(app, tx, network, kind, node.map(Identifier::as_str), payload).await
}
