//! In-memory state of components at a network's owner.

use futures_util::future::{BoxFuture, FutureExt as _, ready};
use hub_db::Error;

use crate::app::App;
use crate::values::NetworkId;

/// A component's state of networks, which follows them from owner to owner through the database.
pub trait NetworkState: Send + Sync {
    /// Loads a network's state when this node becomes its owner.
    fn restore<'a>(&self, _app: &'a App, _network: NetworkId) -> BoxFuture<'a, Result<(), Error>> {
        ready(Ok(())).boxed()
    }

    /// Saves state that is only in memory before the network moves to its next owner.
    fn save<'a>(&self, _app: &'a App, _network: NetworkId) -> BoxFuture<'a, Result<(), Error>> {
        ready(Ok(())).boxed()
    }

    /// Drops a network's state: another node owns it.
    fn evict(&self, app: &App, network: NetworkId);

    /// Drops all state of a deleted network, even if this node no longer owns it.
    fn forget(&self, app: &App, network: NetworkId) {
        self.evict(app, network);
    }
}
