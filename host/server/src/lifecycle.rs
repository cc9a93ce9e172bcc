//! Starts and stops the hub. It stands above the components; nothing but the commands and tests imports it.

use std::time::Duration;

use hub_db::{Db, TimeLimits};

use crate::app::{App, AppState};
use crate::clock::Clock;
use crate::cluster;
use crate::config::Settings;
use crate::ids::Ids;
use crate::{
    archive, audit, auth, blobs, collections, control, data_folder, events, forgetting, health, idempotency, imports,
    metering, modules, monitoring, networks, people, plans, servers, waitlist, webhooks,
};
use crate::{punishments, transfers, worlds};

/// How long requests are still answered on the connections there are, each as the last one, before all are closed. A
/// request on a connection that closes at that moment would get no answer.
const LINGER: Duration = Duration::from_millis(1_500);
/// How long the stop then waits for what is under way; a console command waits for a minute at most.
const ANSWERED_WITHIN: Duration = Duration::from_secs(65);

/// What follows a network from owner to owner, in the order in which it is restored.
const NETWORK_STATES: &[&dyn cluster::NetworkState] =
    &[&events::WaitingEvents, &servers::PresenceState, &control::AgentState, &modules::LoadedModules];

/// Opens the database, restores what the last run knew and starts the background work.
pub async fn start(settings: Settings, clock: Clock, ids: Ids) -> anyhow::Result<App> {
    let data = settings.data.clone();
    tokio::task::spawn_blocking(move || data_folder::make_private(&data)).await?;
    let statement = Duration::from_millis(settings.database_timeout);
    let db = Db::connect_limited(&settings.database(), TimeLimits { statement, ..TimeLimits::default() }).await?;
    let clock = cluster::clock_of(&settings, clock, &db).await?;
    db.migrate().await?;
    archive::backup::refuse_incomplete(&db).await?;
    let module_store = modules::open_store(&settings, &db).await?;
    let (bus, shards) = cluster::open(&settings, &ids).await?;
    let app = App::new(AppState::open(settings, clock, ids, db, module_store, bus, shards)?);
    cluster::start(&app, NETWORK_STATES).await?;
    auth::start(&app);
    plans::start(&app).await?;
    audit::start(&app);
    networks::start(&app, NETWORK_STATES);
    blobs::start(&app);
    collections::start(&app);
    control::start(&app).await?;
    events::start(&app, &webhooks::FanOut).await?;
    idempotency::start(&app);
    servers::start(&app).await?;
    punishments::start(&app);
    transfers::start(&app);
    worlds::start(&app);
    waitlist::start(&app);
    imports::start(&app);
    webhooks::start(&app);
    forgetting::start(&app);
    people::start(&app);
    metering::start(&app)?;
    health::start(&app);
    monitoring::start(&app).await?;
    Ok(app)
}

/// Stops. One of several nodes first gives its networks to the others. Then the hub accepts no more connections, ends its
/// streams and goes on for a moment with the other connections it has, so that nobody who connects anew where a connection
/// is refused notices.
pub async fn stop(app: &App) {
    let has_others = cluster::drain(app).await;
    app.stop_listening();
    app.bus.close();
    let _ = tokio::time::timeout(LINGER, app.connections.all_closed()).await;
    // Whoever waits for a game server's answer is told it.
    if has_others && tokio::time::timeout(ANSWERED_WITHIN, app.shards.wait_for_requests()).await.is_err() {
        tracing::warn!("some requests were not answered in time");
    }
    app.begin_stop();
}

/// Waits for the background work, saves what is only in memory and closes the database.
pub async fn finish_stop(app: &App) {
    app.background_ended().await;
    servers::stop(app).await;
    control::stop(app).await;
    metering::stop(app).await;
    cluster::leave(app).await;
    if let Err(error) = auth::flush_uses(app).await {
        tracing::warn!(%error, "could not note when keys were used");
    }
    app.module_store.close().await;
    app.db.close().await;
}
