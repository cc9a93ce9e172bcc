//! Lets agents and their commands follow a network from owner to owner.

use futures_util::future::{BoxFuture, FutureExt as _};
use hub_db::Error;

use crate::app::{App, WeakApp};
use crate::cluster::NetworkState;
use crate::control::saving;
use crate::values::NetworkId;

/// Weak, since the hub itself holds it.
struct ControlState(WeakApp);

/// The agents of all networks, for the cluster.
pub(crate) fn network_state(app: &App) -> Box<dyn NetworkState> {
    Box::new(ControlState(app.downgrade()))
}

impl NetworkState for ControlState {
    fn restore(&self, network: NetworkId) -> BoxFuture<'_, Result<(), Error>> {
        async move {
            let Some(app) = self.0.upgrade() else { return Ok(()) };
            saving::restore(&app, network).await
        }
        .boxed()
    }

    fn save(&self, network: NetworkId) -> BoxFuture<'_, Result<(), Error>> {
        async move {
            let Some(app) = self.0.upgrade() else { return Ok(()) };
            saving::save(&app, network).await
        }
        .boxed()
    }

    fn evict(&self, network: NetworkId) {
        if let Some(app) = self.0.upgrade() {
            app.control.evict(network);
        }
    }
}
