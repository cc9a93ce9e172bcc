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
pub(super) use callbacks::{Saved, heartbeat, ready, release_all, unloaded};
pub(super) use drain::{ask_snapshot, drain_idle, release};
pub(crate) use home::{home_of, hosts};
pub(super) use open::{Opened, open};
pub(super) use snapshots::{mint, read, receive};

/// How long a lease lasts that is renewed now.
fn until(app: &App, now: Millis) -> Millis {
    now.saturating_add(millis(app.settings.lease()))
}

/// Tells a node, or the whole network. What is told is committed already: a bus that takes nothing any more (the hub is
/// stopping) is no failure, since a node learns the state of each lease from its next heartbeat.
async fn tell(app: &App, network: NetworkId, kind: EventKind, node: Option<&Identifier>, payload: impl Serialize) {
    if let Err(error) = events::publish(app, network, kind, node.map(Identifier::as_str), payload).await {
        tracing::warn!(%error, event = kind.name(), "could not tell of a world");
    }
}
