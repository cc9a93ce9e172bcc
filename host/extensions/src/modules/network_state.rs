//! Unloads a network's modules once another node owns it. The next owner loads them at the first call.

use futures_util::future::{BoxFuture, FutureExt as _, ready};
use hub_db::Error;

use crate::app::App;
use crate::cluster::NetworkState;
use crate::modules::Modules;
use crate::modules::endpoints::EndpointState;
use crate::modules::handlers::{self, Handlers};
use crate::values::NetworkId;

/// The loaded modules of all networks.
pub struct LoadedModules;

impl NetworkState for LoadedModules {
    fn restore<'a>(&self, app: &'a App, network: NetworkId) -> BoxFuture<'a, Result<(), Error>> {
        handlers::restore(app, network);
        ready(Ok(())).boxed()
    }

    fn evict(&self, app: &App, network: NetworkId) {
        app.state::<Modules>().evict(network);
        app.state::<Handlers>().evict(network);
        app.state::<EndpointState>().evict(network);
    }

    fn forget(&self, app: &App, network: NetworkId) {
        app.state::<Modules>().forget(network);
        app.state::<Handlers>().evict(network);
        app.state::<EndpointState>().evict(network);
    }
}
