//! Moves agents and their commands with a network between owners.

use futures_util::future::{BoxFuture, FutureExt as _};
use hub_db::Error;

use crate::app::App;
use crate::cluster::NetworkState;
use crate::control::{Control, saving};
use crate::values::NetworkId;

/// Agents of all networks.
pub struct AgentState;

impl NetworkState for AgentState {
    fn restore<'a>(&self, app: &'a App, network: NetworkId) -> BoxFuture<'a, Result<(), Error>> {
        saving::restore(app, network).boxed()
    }

    fn save<'a>(&self, app: &'a App, network: NetworkId) -> BoxFuture<'a, Result<(), Error>> {
        saving::save(app, network).boxed()
    }

    fn evict(&self, app: &App, network: NetworkId) {
        app.state::<Control>().evict(network);
    }
}
