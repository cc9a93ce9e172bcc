//! Cache of the networks' event subscriptions and of what their streams request, so that a chat message costs no query.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hub_db::{Error, Tx};
use moka::sync::Cache;

use crate::app::App;
use crate::events::{EventKind, store};
use crate::values::NetworkId;

/// Delay for changes by other processes on the same database; changes at the network's owner apply immediately.
const TTL: Duration = Duration::from_secs(1);
const CAPACITY: u64 = 10_000;

/// Recently read subscriptions.
#[derive(Debug)]
pub struct Subscriptions {
    known: Cache<NetworkId, Known>,
    changes: Arc<AtomicU64>,
}

#[derive(Clone, Debug)]
struct Known {
    names: Arc<HashSet<String>>,
    /// Events that streams request.
    requested: Arc<HashSet<String>>,
    /// Number of changes before it was read. The entry is valid until the next change of any network: they are rare.
    changes: u64,
}

impl Default for Subscriptions {
    fn default() -> Self {
        let known = Cache::builder().max_capacity(CAPACITY).time_to_live(TTL).build();
        Self { known, changes: Arc::default() }
    }
}

impl Subscriptions {
    /// True if an event has subscribers. For the network's owner.
    pub(super) async fn include(&self, app: &App, network: NetworkId, kind: EventKind) -> Result<bool, Error> {
        Ok(self.known(app, network).await?.names.contains(kind.name()))
    }

    /// True if an event has subscribers, or a stream requests it. For the network's owner. A stream at another node counts
    /// within a second.
    pub(super) async fn want(&self, app: &App, network: NetworkId, kind: EventKind) -> Result<bool, Error> {
        let known = self.known(app, network).await?;
        Ok(known.requested.contains(kind.name()) || known.names.contains(kind.name()))
    }

    async fn known(&self, app: &App, network: NetworkId) -> Result<Known, Error> {
        let changes = self.changes.load(Ordering::SeqCst);
        if let Some(known) = self.known.get(&network).filter(|known| known.changes == changes) {
            return Ok(known);
        }
        let names = Arc::new(store::subscriptions(&app.db, network).await?);
        let requested = Arc::new(store::listeners(&app.db, network, app.clock.now()).await?);
        let known = Known { names, requested, changes };
        self.known.insert(network, known.clone());
        Ok(known)
    }

    /// Invalidates all entries: this node became a network's owner, or a stream opened.
    pub(super) fn forget(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
    }

    /// Invalidates all entries once `tx`, which changes subscriptions, has ended.
    pub(super) fn forget_on_end(&self, tx: &Tx) {
        let changes = Arc::clone(&self.changes);
        tx.on_end(move || {
            changes.fetch_add(1, Ordering::SeqCst);
        });
    }
}

/// Prefix of the subscribers that are modules.
pub const MODULE_SUBSCRIBER: &str = "module:";

/// Subscribes to these events from now on, and to no others.
pub async fn subscribe_in(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    subscriber: &str,
    kinds: &[EventKind],
) -> Result<(), Error> {
    app.state::<Subscriptions>().forget_on_end(tx);
    store::unsubscribe(tx, network, subscriber).await?;
    for kind in kinds {
        store::subscribe(tx, network, subscriber, kind.name()).await?;
    }
    Ok(())
}

/// True if an event that must be requested is: by a stream or a subscriber. A stream at another node counts within a second.
pub async fn is_wanted(app: &App, network: NetworkId, kind: EventKind) -> Result<bool, Error> {
    app.state::<Subscriptions>().want(app, network, kind).await
}
