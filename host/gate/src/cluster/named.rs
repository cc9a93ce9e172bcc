//! Networks that requests without a key name: strangers may name any.

use std::net::IpAddr;
use std::time::Duration;

use axum::extract::Request;
use moka::sync::Cache;

use crate::app::App;
use crate::cluster::store;
use crate::http::error::ApiError;
use crate::limits::{Limits, remote_address};
use crate::values::NetworkId;

/// Start of the paths that name a network.
const PREFIX: &str = "/api/public/x/";
/// Time for which it is remembered whether there is a network.
const KNOWN_FOR: Duration = Duration::from_secs(5);
const MAX_KNOWN: u64 = 10_000;

/// Networks that exist, and others, as last looked up.
pub(super) struct NamedNetworks(Cache<NetworkId, bool>);

impl Default for NamedNetworks {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(MAX_KNOWN).time_to_live(KNOWN_FOR).build())
    }
}

/// Network that a request names whose route needs no key.
pub(crate) fn named_network(request: &Request) -> Option<NetworkId> {
    let rest = request.uri().path().strip_prefix(PREFIX)?;
    rest.split('/').next()?.parse().ok().map(NetworkId)
}

/// Network that a request names whose route needs no key, and its address.
pub(super) fn named(request: &Request) -> Option<(NetworkId, IpAddr)> {
    Some((named_network(request)?, remote_address(request.extensions())))
}

impl NamedNetworks {
    /// True if there is the network. A look-up counts as a request of the address.
    pub(super) async fn exists(&self, app: &App, (network, remote): (NetworkId, IpAddr)) -> Result<bool, ApiError> {
        if let Some(exists) = self.0.get(&network) {
            return Ok(exists);
        }
        app.state::<Limits>().addresses.count_public(remote, app.clock.now())?;
        let exists = store::has_network(&app.db, network).await?;
        self.0.insert(network, exists);
        Ok(exists)
    }
}
