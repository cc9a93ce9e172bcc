//! Waiting events of a network, which follow its owner.

use futures_util::future::{BoxFuture, FutureExt as _, ready};
use hub_db::Error;

use crate::app::App;
use crate::cluster::NetworkState;
use crate::events::{Outbox, Subscriptions};
use crate::values::NetworkId;

/// Waiting events of a network, which follow its owner.
pub struct WaitingEvents;

impl NetworkState for WaitingEvents {
    /// Publishes events left by an earlier owner before new ones, and reads the subscriptions made there.
    fn restore<'a>(&self, app: &'a App, network: NetworkId) -> BoxFuture<'a, Result<(), Error>> {
        app.state::<Outbox>().mark(network);
        app.state::<Subscriptions>().forget();
        ready(Ok(())).boxed()
    }

    fn evict(&self, _app: &App, _network: NetworkId) {}
}
