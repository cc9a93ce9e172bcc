//! Networks whose modules may run: those that exist and are not suspended.

use std::time::Duration;

use hub_db::Error;
use moka::sync::Cache;

use crate::app::App;
use crate::values::NetworkId;
use hub_platform::networks::service as networks;

/// Time for which it is remembered whether a network is suspended.
const TTL: Duration = Duration::from_secs(1);
const MAX_NETWORKS: u64 = 10_000;

/// Knowledge of networks, for a moment.
#[derive(Debug)]
pub(super) struct OpenNetworks(Cache<NetworkId, bool>);

impl Default for OpenNetworks {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(MAX_NETWORKS).time_to_live(TTL).build())
    }
}

impl OpenNetworks {
    /// Drops what is known of a network.
    pub(super) fn evict(&self, network: NetworkId) {
        self.0.invalidate(&network);
    }

    /// Drops what is known of all networks.
    pub(super) fn evict_all(&self) {
        self.0.invalidate_all();
    }
}

/// True for a network that exists and is not suspended. A change is seen within a second.
pub(super) async fn is_open(app: &App, network: NetworkId) -> Result<bool, Error> {
    let OpenNetworks(known) = app.state::<OpenNetworks>();
    if let Some(is_open) = known.get(&network) {
        return Ok(is_open);
    }
    let is_open = match networks::require_active(&app.db, network).await {
        Ok(()) => true,
        Err(networks::NetworksError::Database(error)) => return Err(error),
        Err(_) => false,
    };
    known.insert(network, is_open);
    Ok(is_open)
}
