//! Moves what is known of open sessions with a network between owners.

use futures_util::future::{BoxFuture, FutureExt as _};
use hub_db::Error;

use crate::app::App;
use crate::cluster::{NetworkState, ShardRegistry};
use crate::networks;
use crate::player_sessions::{PlayerSessions, store};
use crate::side_by_side::for_each_network;
use crate::values::NetworkId;

/// Open sessions of all networks.
pub(super) struct OpenSessions;

impl NetworkState for OpenSessions {
    fn restore<'a>(&self, app: &'a App, network: NetworkId) -> BoxFuture<'a, Result<(), Error>> {
        restore(app, network).boxed()
    }

    fn evict(&self, app: &App, network: NetworkId) {
        app.state::<PlayerSessions>().evict(network);
    }
}

async fn restore(app: &App, network: NetworkId) -> Result<(), Error> {
    let now = app.clock.moment();
    for session in store::open(&app.db, network).await? {
        app.state::<PlayerSessions>().restored(network, &session, now);
    }
    Ok(())
}

/// Restores the open sessions of the last run. With several nodes, each restores a network when it becomes its owner.
pub(super) async fn start(app: &App) -> anyhow::Result<()> {
    if app.state::<ShardRegistry>().is_single_node() {
        // In turn: reads, before the first request.
        for network in networks::service::network_ids(&app.db).await? {
            restore(app, network).await?;
        }
    }
    Ok(())
}

/// Reads all again, because an older copy took the database's place.
pub(super) fn forget(app: &App) {
    let networks = app.state::<PlayerSessions>().networks();
    for network in &networks {
        app.state::<PlayerSessions>().evict(*network);
    }
    let task = app.clone();
    app.spawn(async move {
        let networks = networks.into_iter().map(|network| (network, ()));
        for_each_network(networks, "restore open sessions", |network, ()| restore(&task, network)).await;
    });
}
