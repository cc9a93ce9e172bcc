//! Moves presence with a network from owner to owner.

use futures_util::future::{BoxFuture, FutureExt as _};
use hub_db::Error;

use crate::app::App;
use crate::cluster::NetworkState;
use crate::metering::OnlinePeaks;
use crate::presence::{Presence, saving};
use crate::values::NetworkId;

/// Presence of all networks.
pub struct PresenceState;

impl NetworkState for PresenceState {
    fn restore<'a>(&self, app: &'a App, network: NetworkId) -> BoxFuture<'a, Result<(), Error>> {
        saving::restore(app, network).boxed()
    }

    fn save<'a>(&self, app: &'a App, network: NetworkId) -> BoxFuture<'a, Result<(), Error>> {
        saving::save_and_record(app, network).boxed()
    }

    fn evict(&self, app: &App, network: NetworkId) {
        app.state::<Presence>().evict(network);
    }
}

/// The most players and servers that networks had online at once.
pub struct PresencePeaks;

impl OnlinePeaks for PresencePeaks {
    fn take(&self, app: &App) -> Vec<(NetworkId, usize, usize)> {
        app.state::<Presence>().take_peaks()
    }
}
