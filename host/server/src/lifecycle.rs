//! Starts and stops the hub. It is above the components: only commands and tests import it.

use std::time::Duration;

use hub_db::{Db, TimeLimits};

use crate::app::{App, AppState, States};
use crate::auth::{AuditOrder, KeyCache, RevocationWatch};
use crate::blobs::Blobs;
use crate::client_disconnect::AbandonedRequests;
use crate::clock::Clock;
use crate::cluster::{self, ShardRegistry};
use crate::collections::IndexBuilds;
use crate::config::Settings;
use crate::control::Control;
use crate::events::{Outbox, Streams, Subscriptions};
use crate::http::connection::Connections;
use crate::ids::Ids;
use crate::imports::Imports;
use crate::limits::{Limits, Usage};
use crate::localization::CatalogWrites;
use crate::metering::Metering;
use crate::metric_recorder::MetricRecorder;
use crate::modules::Modules;
use crate::monitoring::Monitoring;
use crate::networks::left::{AllCreations, Creations};
use crate::people::People;
use crate::players::PlayerRegions;
use crate::presence::{Hooks, Presence};
use crate::response_budget::ResponseBudget;
use crate::secrets::{HubSecrets, open_key};
use crate::usage_counters::UsageCounters;
use crate::waitlist::Waitlist;
use crate::webhooks::Webhooks;
use crate::{
    archive, audit, auth, blobs, collections, control, data_folder, economy, erasure, events, health, idempotency,
    imports, metering, modules, monitoring, networks, people, plans, presence, waitlist, webhooks,
};
use crate::{module_data, players, presence_hooks, punishments, statistics, transfers, worlds};

/// Time during which existing connections still serve requests, each its last one, before all are closed. A request on
/// a connection that closes at that moment would get no response.
const LINGER: Duration = Duration::from_millis(1_500);
/// Maximum time for requests in progress to end; a console command waits for at most a minute.
const ANSWERED_WITHIN: Duration = Duration::from_secs(65);

/// State that follows a network from owner to owner, in the order of restoration.
const NETWORK_STATES: &[&dyn cluster::NetworkState] = &[
    &events::WaitingEvents,
    &presence::PresenceState,
    &control::AgentState,
    &modules::LoadedModules,
    &players::KnownRegions,
];

/// Components whose things outlive the request that created them.
pub const CREATIONS: &[&dyn Creations] =
    &[&webhooks::CreatedWebhooks, &people::service::GivenRoles, &modules::UploadedModules];

/// Opens the database, restores saved state and starts the background work.
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
    let secrets = HubSecrets::new(open_key(&settings, &db).await?);
    let states = states(&settings, &ids, &db, shards, secrets)?;
    let app = App::new(AppState::open(settings, clock, ids, db, module_store, bus, states)?);
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
    presence::start(&app).await?;
    punishments::start(&app);
    transfers::start(&app);
    worlds::start(&app);
    waitlist::start(&app);
    imports::start(&app);
    webhooks::start(&app);
    erasure::start(&app);
    people::start(&app);
    metering::start(&app)?;
    health::start(&app);
    monitoring::start(&app).await?;
    Ok(app)
}

/// The initial state of each component.
fn states(
    settings: &Settings,
    ids: &Ids,
    db: &Db,
    shards: ShardRegistry,
    secrets: HubSecrets,
) -> anyhow::Result<States> {
    let mut states = States::default();
    states.insert(Presence::new(!shards.is_single_node()));
    states.insert(Hooks(&presence_hooks::ComponentHooks));
    states.insert(shards);
    states.insert(Connections::of(settings));
    states.insert(secrets);
    states.insert(MetricRecorder::new(settings.metrics.is_some())?);
    states.insert(Monitoring::default());
    states.insert(UsageCounters::default());
    states.insert(Metering::new(ids.token(16), &presence::PresencePeaks));
    states.insert(Limits::default());
    states.insert(Usage::default());
    states.insert(KeyCache::default());
    states.insert(AllCreations(CREATIONS));
    states.insert(RevocationWatch::default());
    states.insert(AuditOrder::default());
    states.insert(AbandonedRequests::default());
    states.insert(ResponseBudget::default());
    states.insert(Blobs::open(settings, db)?);
    states.insert(Outbox::default());
    states.insert(Streams::default());
    states.insert(Subscriptions::default());
    states.insert(Modules::open(settings, ids, &module_data::GameData)?);
    states.insert(PlayerRegions::default());
    states.insert(economy::Leaderboards::default());
    states.insert(statistics::Leaderboards::default());
    states.insert(CatalogWrites::default());
    states.insert(IndexBuilds::default());
    states.insert(Control::default());
    states.insert(Imports::default());
    states.insert(People::open(settings)?);
    states.insert(Waitlist::default());
    states.insert(Webhooks::new(settings)?);
    Ok(states)
}

/// Stops the hub. A node of a cluster first transfers its networks to the others. Then the hub accepts no more
/// connections, ends its streams and serves existing connections for a moment, so that clients which reconnect after a
/// refusal notice nothing.
pub async fn stop(app: &App) {
    let has_others = cluster::drain(app).await;
    app.stop_listening();
    app.bus.close();
    let _ = tokio::time::timeout(LINGER, app.state::<Connections>().all_closed()).await;
    // Requests that wait for a game server get their responses.
    if has_others
        && tokio::time::timeout(ANSWERED_WITHIN, app.state::<ShardRegistry>().wait_for_requests()).await.is_err()
    {
        tracing::warn!("some requests did not finish in time");
    }
    app.begin_stop();
}

/// Waits for the background work, saves in-memory state and closes the database.
pub async fn finish_stop(app: &App) {
    app.background_ended().await;
    presence::stop(app).await;
    control::stop(app).await;
    metering::stop(app).await;
    cluster::leave(app).await;
    if let Err(error) = auth::flush_uses(app).await {
        tracing::warn!(%error, "could not store when keys were used");
    }
    app.module_store.close().await;
    app.db.close().await;
}
