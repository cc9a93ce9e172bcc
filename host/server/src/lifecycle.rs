//! Starts and stops the hub. It stands above the components; nothing but the commands and tests imports it.

use std::time::Duration;

use hub_db::Db;

use crate::app::{App, AppState};
use crate::clock::Clock;
use crate::cluster;
use crate::config::Settings;
use crate::ids::Ids;
use crate::values::NetworkId;
use crate::{auth, blobs, control, events, idempotency, modules, servers, waitlist};
use crate::{punishments, transfers, worlds};

/// How long requests are still answered on the connections there are, each as the last one, before all are closed.
const LINGER: Duration = Duration::from_millis(1_500);
/// How long the stop then waits for what is under way; a console command waits for a minute at most.
const ANSWERED_WITHIN: Duration = Duration::from_secs(65);

/// Opens the database, restores what the last run knew and starts the background work.
pub async fn start(settings: Settings, clock: Clock, ids: Ids) -> anyhow::Result<App> {
    let db = Db::connect(&settings.database()).await?;
    db.migrate().await?;
    let module_store = modules::open_store(&settings, &db).await?;
    let (bus, homes) = cluster::open(&settings, &ids).await?;
    let app = App::new(AppState::open(settings, clock, ids, db, module_store, bus, homes)?);
    cluster::start(&app).await?;
    auth::start(&app);
    blobs::start(&app);
    control::start(&app).await?;
    events::start(&app);
    idempotency::start(&app);
    servers::start(&app).await?;
    punishments::start(&app);
    transfers::start(&app);
    worlds::start(&app);
    waitlist::start(&app);
    Ok(app)
}

/// Stops. One of several nodes first gives its networks to the others, ends its streams and goes on for a moment with the
/// other connections it has, so that nobody who connects anew where a connection is refused notices.
pub async fn stop(app: &App) {
    if cluster::hand_over(app).await {
        app.stop_listening();
        app.bus.close();
        tokio::time::sleep(LINGER).await;
        // Whoever waits for a game server's answer is told it.
        if tokio::time::timeout(ANSWERED_WITHIN, app.homes.all_answered()).await.is_err() {
            tracing::warn!("some requests were not answered in time");
        }
    }
    app.begin_stop();
}

/// Waits for the background work, saves what is only in memory and closes the database.
pub async fn finish_stop(app: &App) {
    app.background_ended().await;
    servers::stop(app).await;
    control::stop(app).await;
    cluster::leave(app).await;
    if let Err(error) = auth::flush_uses(app).await {
        tracing::warn!(%error, "could not note when keys were used");
    }
    app.module_store.close().await;
    app.db.close().await;
}

/// Restores what was known in memory of a network that lives here from now on.
pub(crate) async fn restore(app: &App, network: NetworkId) -> Result<(), hub_db::Error> {
    // A request that was late may have left something here after the network had moved away.
    evict(app, network);
    control::bring_back(app, network).await?;
    servers::bring_back(app, network).await
}

/// Evicts everything in memory of a network that lives elsewhere from now on.
pub(crate) fn evict(app: &App, network: NetworkId) {
    app.presence.forget(network);
    app.control.forget(network);
    app.modules.forget(network);
}
