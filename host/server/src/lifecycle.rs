//! Starts and stops the hub. It is above the components: only commands and tests import it.

use std::time::Duration;

use hub_db::{Db, TimeLimits};

use crate::app::{App, AppState, States};
use crate::clock::Clock;
use crate::cluster::{self, ClusterError, ShardRegistry};
use crate::component::Opening;
use crate::components::components;
use crate::config::Settings;
use crate::fault::FaultKind;
use crate::http::connection::Connections;
use crate::identity::Identity;
use crate::ids::Ids;
use crate::metering::Metering;
use crate::modules::{self, HubDocument, Modules};
use crate::presence::{self, Hooks};
use crate::secrets::{HubSecrets, open_key};
use crate::{archive, data_folder, module_data, module_effects, presence_hooks, timekeeping};

/// Time during which existing connections still serve requests, each its last one, before all are closed. A request on
/// a connection that closes at that moment would get no response.
const LINGER: Duration = Duration::from_millis(1_500);
/// Interval of attempts to start.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum time for requests in progress to end; a console command waits for at most a minute.
const ANSWERED_WITHIN: Duration = Duration::from_secs(65);

/// Opens the database, restores saved state and starts the background work.
pub async fn start(settings: Settings, clock: Clock, ids: Ids) -> anyhow::Result<App> {
    let data = settings.data.clone();
    tokio::task::spawn_blocking(move || data_folder::make_private(&data)).await?;
    let statement = Duration::from_millis(settings.database_timeout);
    let usual = TimeLimits::default();
    let connection = settings.database_patience.unwrap_or(usual.connection);
    let db = Db::connect_limited(&settings.database(), TimeLimits { connection, statement, ..usual }).await?;
    cluster::check_clock(&settings, &clock, &db).await?;
    db.migrate().await?;
    let clock = timekeeping::clock_of(&settings, clock, &db).await?;
    archive::backup::refuse_incomplete(&db).await?;
    let identity = Identity::join(&settings, &clock, &ids, &db).await?;
    let module_store = modules::open_store(&settings, &db).await?;
    let (bus, shards) = cluster::open(&settings, &ids, &identity).await?;
    let key_file = settings.secrets_key_file();
    let key = open_key(&settings, &db, || Box::pin(shards.ask_for_key(&db))).await?;
    let mut opened = States::default();
    opened.insert(identity);
    opened.insert(shards);
    opened.insert(HubSecrets::new(key, key_file));
    let states = states(&settings, &ids, &db, opened)?;
    let app = App::new(AppState::open(settings, clock, ids, db, module_store, bus, states)?);
    if let Err(error) = begin(&app).await {
        app.begin_stop();
        app.background_ended().await;
        app.module_store.close().await;
        app.db.close().await;
        return Err(error);
    }
    Ok(app)
}

async fn begin(app: &App) -> anyhow::Result<()> {
    for component in components().list() {
        (component.start)(app).await?;
        (component.background)(app);
    }
    Ok(())
}

/// Starts the hub once its database and bus are there. `missing` is told the one that is waited for. Fails for any other
/// reason.
pub async fn start_when_possible(
    settings: Settings,
    clock: Clock,
    ids: Ids,
    missing: impl Fn(FaultKind),
) -> anyhow::Result<App> {
    let mut told = None;
    loop {
        let error = match start(settings.clone(), clock.clone(), ids.clone()).await {
            Err(error) => error,
            started => return started,
        };
        let Some(kind) = unavailable(&error) else { return Err(error) };
        missing(kind);
        if told.replace(kind) != Some(kind) {
            tracing::warn!("waiting: {error:#}");
        }
        tokio::time::sleep(RETRY_INTERVAL).await;
    }
}

/// The part that cannot be reached, if that is the reason of a failed start.
fn unavailable(error: &anyhow::Error) -> Option<FaultKind> {
    error.chain().find_map(|cause| {
        match (cause.downcast_ref::<hub_db::Error>(), cause.downcast_ref::<ClusterError>()) {
            (Some(error), _) if error.is_unavailable() => Some(FaultKind::Database),
            (_, Some(error)) if error.is_unavailable() => Some(FaultKind::Bus),
            _ => None,
        }
    })
}

/// The initial state of each component, beside those that were opened before.
fn states(settings: &Settings, ids: &Ids, db: &Db, mut states: States) -> anyhow::Result<States> {
    states.insert(components());
    for component in components().list() {
        (component.register)(&mut states, Opening { settings, ids, db })?;
    }
    // Those that call components above them.
    states.insert(Metering::new(ids.token(16), &presence::PresencePeaks));
    states.insert(Modules::open(settings, ids, &module_data::GameData, &module_effects::GameEffects)?);
    states.insert(HubDocument::default());
    states.insert(Hooks(&presence_hooks::ComponentHooks));
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
    for component in components().list().iter().rev() {
        (component.stop)(app).await;
    }
    app.module_store.close().await;
    app.db.close().await;
}
