//! Starts and stops the hub. It is above the components: only commands and tests import it.

use std::time::Duration;

use hub_db::{Db, TimeLimits, without_time_limit};

use crate::app::{App, AppState};
use crate::clock::Clock;
use crate::cluster;
use crate::config::Settings;
use crate::ids::Ids;
use crate::{
    archive, audit, auth, blobs, collections, control, data_folder, events, forgetting, health, idempotency, imports,
    limits, metering, modules, monitoring, networks, people, plans, servers, waitlist, webhooks,
};
use crate::{punishments, transfers, worlds};

/// Time during which existing connections still serve requests, each its last one, before all are closed. A request on
/// a connection that closes at that moment would get no response.
const LINGER: Duration = Duration::from_millis(1_500);
/// Maximum time for requests in progress to end; a console command waits for at most a minute.
const ANSWERED_WITHIN: Duration = Duration::from_secs(65);

/// State that follows a network from owner to owner, in the order of restoration.
const NETWORK_STATES: &[&dyn cluster::NetworkState] =
    &[&events::WaitingEvents, &servers::PresenceState, &control::AgentState, &modules::LoadedModules];

/// Opens the database, restores saved state and starts the background work.
pub async fn start(settings: Settings, clock: Clock, ids: Ids) -> anyhow::Result<App> {
    let data = settings.data.clone();
    tokio::task::spawn_blocking(move || data_folder::make_private(&data)).await?;
    let statement = Duration::from_millis(settings.database_timeout);
    let db = Db::connect_limited(&settings.database(), TimeLimits { statement, ..TimeLimits::default() }).await?;
    let clock = cluster::clock_of(&settings, clock, &db).await?;
    db.migrate().await?;
    archive::backup::refuse_incomplete(&db).await?;
    // It may have to be moved from another file first.
    let module_store = without_time_limit(Box::pin(modules::open_store(&settings, &db))).await?;
    let (bus, shards) = cluster::open(&settings, &ids).await?;
    let app = App::new(AppState::open(settings, clock, ids, db, module_store, bus, shards)?);
    cluster::start(&app, NETWORK_STATES).await?;
    auth::start(&app);
    limits::start(&app).await?;
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

/// Stops the hub. A node of a cluster first transfers its networks to the others. Then the hub accepts no more
/// connections, ends its streams and serves existing connections for a moment, so that clients which reconnect after a
/// refusal notice nothing.
pub async fn stop(app: &App) {
    let has_others = cluster::drain(app).await;
    app.stop_listening();
    app.bus.close();
    let _ = tokio::time::timeout(LINGER, app.connections.all_closed()).await;
    // Requests that wait for a game server get their responses.
    if has_others && tokio::time::timeout(ANSWERED_WITHIN, app.shards.wait_for_requests()).await.is_err() {
        tracing::warn!("some requests did not finish in time");
    }
    app.begin_stop();
}

/// Waits for the background work, saves in-memory state and closes the database.
pub async fn finish_stop(app: &App) {
    app.background_ended().await;
    servers::stop(app).await;
    control::stop(app).await;
    metering::stop(app).await;
    cluster::leave(app).await;
    if let Err(error) = auth::flush_uses(app).await {
        tracing::warn!(%error, "could not store when keys were used");
    }
    app.module_store.close().await;
    app.db.close().await;
}
