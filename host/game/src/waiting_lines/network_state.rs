//! Moves lines with a network from owner to owner.

use futures_util::future::{BoxFuture, FutureExt as _};
use hub_db::Error;

use crate::app::App;
use crate::cluster::NetworkState;
use crate::values::NetworkId;
use crate::waiting_lines::network::WaitingLines;
use crate::waiting_lines::saving;

/// Lines of all networks.
pub struct LinesState;

impl NetworkState for LinesState {
    fn restore<'a>(&self, app: &'a App, network: NetworkId) -> BoxFuture<'a, Result<(), Error>> {
        saving::restore(app, network).boxed()
    }

    fn save<'a>(&self, app: &'a App, network: NetworkId) -> BoxFuture<'a, Result<(), Error>> {
        async move {
            match app.state::<WaitingLines>().find(network) {
                Some(lines) => saving::save(app, network, &lines).await,
                None => Ok(()),
            }
        }
        .boxed()
    }

    fn evict(&self, app: &App, network: NetworkId) {
        app.state::<WaitingLines>().evict(app, network);
    }
}
