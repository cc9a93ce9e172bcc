//! Unloads a network's modules where another node owns it. The next owner loads them on the first call.

use crate::app::{App, WeakApp};
use crate::cluster::NetworkState;
use crate::values::NetworkId;

/// Weak, since the hub itself holds it.
struct ModulesState(WeakApp);

/// The loaded modules of all networks, for the cluster.
pub(crate) fn network_state(app: &App) -> Box<dyn NetworkState> {
    Box::new(ModulesState(app.downgrade()))
}

impl NetworkState for ModulesState {
    fn evict(&self, network: NetworkId) {
        if let Some(app) = self.0.upgrade() {
            app.modules.forget(network);
        }
    }
}
