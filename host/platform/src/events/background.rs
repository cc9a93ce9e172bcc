//! Background work of the component.

use std::time::Duration;

use crate::app::App;
use crate::background::every;
use crate::cluster::ShardRegistry;
use crate::events::{Outbox, listeners, relay, store, streams};

/// Twice a second, so that the stream of a revoked key ends within a second.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Catches missed events: normally they are published right after their commit.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);
const RENEW_INTERVAL: Duration = Duration::from_mins(1);

/// Starts publishing the outbox and maintaining the open streams.
pub(super) async fn start(app: &App) -> anyhow::Result<()> {
    app.state::<Outbox>().set_left_over(store::newest(&app.db).await?.unwrap_or_default());
    if let Some(inbox) = app.state::<ShardRegistry>().listen(relay::TOPIC).await? {
        app.spawn(relay::listen(app.clone(), inbox));
    }
    app.spawn(relay::run(app.clone()));
    every(app, SWEEP_INTERVAL, "look for events that were not published", relay::sweep);
    every(app, CHECK_INTERVAL, "maintain the open streams", streams::tick);
    every(app, RENEW_INTERVAL, "renew what streams listen to", listeners::renew);
    every(app, CHECK_INTERVAL, "check the keys of open streams", streams::check_keys);
    Ok(())
}

/// Number of committed events waiting to be published, at most 10,000.
pub async fn waiting_events(app: &App) -> Result<i64, hub_db::Error> {
    store::count_waiting(&app.db).await
}
