//! The rules of worlds on demand.

mod boot;
mod callbacks;
mod drain;
mod error;
mod home;
mod open;
mod snapshots;

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

/// Publishes an event for a node, or for the whole network. What it tells of is committed already: a bus that takes
/// nothing any more (the hub is stopping) is no failure, since a node learns the state of each lease from its next
/// heartbeat.
async fn publish(app: &App, network: NetworkId, kind: EventKind, node: Option<&Identifier>, payload: impl Serialize) {
    if let Err(error) = events::publish(app, network, kind, node.map(Identifier::as_str), payload).await {
        tracing::warn!(%error, event = kind.name(), "could not tell of a world");
    }
}
