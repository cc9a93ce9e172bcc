//! Unloads a network's modules once another node owns it. The next owner loads them at the first call.

use crate::app::App;
use crate::cluster::NetworkState;
use crate::modules::Modules;
use crate::modules::endpoints::EndpointState;
use crate::modules::handlers::Handlers;
use crate::modules::open::OpenNetworks;
use crate::values::NetworkId;

/// The loaded modules of all networks.
pub struct LoadedModules;

impl NetworkState for LoadedModules {
    fn evict(&self, app: &App, network: NetworkId) {
        app.state::<Modules>().evict(network);
        app.state::<Handlers>().evict(network);
        app.state::<EndpointState>().evict(network);
        app.state::<OpenNetworks>().evict(network);
    }

    fn forget(&self, app: &App, network: NetworkId) {
        app.state::<Modules>().forget(network);
        app.state::<Handlers>().evict(network);
        app.state::<EndpointState>().evict(network);
        app.state::<OpenNetworks>().evict(network);
    }
}
