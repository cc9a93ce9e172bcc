//! Finds networks with queued events, at their owners, and gives each a task.

use std::sync::Arc;
use std::time::Duration;

use hub_db::Error;

use crate::app::App;
use crate::background::{every, every_settled};
use crate::cluster::ShardRegistry;
use crate::modules::handlers::registry::{Handlers, NetworkHandlers};
use crate::modules::handlers::schedules;
use crate::modules::handlers::store::queue;
use crate::modules::handlers::{lagging, sweep, turn};
use crate::side_by_side;
use crate::values::NetworkId;

/// Interval of searches for events that another node queued, or left.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
const LAG_INTERVAL: Duration = Duration::from_secs(10);
const SWEEP_INTERVAL: Duration = Duration::from_mins(10);

/// Starts the background work.
pub(in crate::modules) fn start(app: &App) {
    app.spawn(watch(app.clone()));
    every(app, POLL_INTERVAL, "find the queued events of handlers", find_queued);
    every(app, LAG_INTERVAL, "look for handlers that lag", lagging::look);
    every(app, POLL_INTERVAL, "store the figures of handlers", sweep::store_counts);
    every_settled(app, POLL_INTERVAL, "find due schedules and timers", schedules::find_due);
    every_settled(app, SWEEP_INTERVAL, "delete old dead letters and kept handlers", sweep::delete_old);
}

/// Wakes the networks with queued events that this node owns.
async fn find_queued(app: App) -> Result<(), Error> {
    for network in queue::networks(&app.db).await? {
        if app.state::<ShardRegistry>().owns(network) {
            app.state::<Handlers>().wake_network(network);
        }
    }
    Ok(())
}

/// Gives each network with queued events a task, until the hub stops.
async fn watch(app: App) {
    loop {
        for network in app.state::<Handlers>().take_due() {
            let handlers = app.state::<Handlers>().network(network);
            if app.state::<ShardRegistry>().is_draining() || !handlers.begin_turn() {
                continue;
            }
            // The task ends soon after the hub stops.
            app.spawn_until_done(serve(app.clone(), network, handlers));
        }
        app.state::<Handlers>().wake.notified().await;
    }
}

async fn serve(app: App, network: NetworkId, handlers: Arc<NetworkHandlers>) {
    side_by_side::serve(network, "hand events over", async { turn::run(&app, network, &handlers).await }).await;
    if handlers.end_turn() && !app.stopping().is_cancelled() {
        app.state::<Handlers>().wake_network(network);
    }
}
