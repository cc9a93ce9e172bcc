//! The running hub: what its rooms share.

use std::ops::Deref;
use std::sync::{Arc, Weak};
use std::time::Duration;

use hub_bus::Bus;
use hub_db::Db;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::artifacts::Links;
use crate::clock::{Clock, Moments};
use crate::cluster::{self, ShardRegistry};
use crate::config::Settings;
use crate::control::{self, Control};
use crate::events::{self, Streams};
use crate::files::Files;
use crate::geo::Geo;
use crate::idempotency;
use crate::ids::Ids;
use crate::modules::{self, Modules, open_store};
use crate::networks::{self, KeyCache, Watch};
use crate::players::PlayerRegions;
use crate::punishments;
use crate::servers::{self, Presence};
use crate::transfers;
use crate::waitlist::{self, Waitlist};
use crate::worlds::{self, SnapshotStore};

/// How long requests are still answered on the connections there are, each as the last one, before all are closed.
const LINGER: Duration = Duration::from_millis(1_500);
/// How long they then wait for what is under way; a console command waits for a minute at most.
const ANSWERED_WITHIN: Duration = Duration::from_secs(65);

/// A cheap handle on the one [`AppState`].
#[derive(Clone)]
pub struct App(Arc<AppState>);

/// A handle that does not keep the hub alive, for what the hub itself holds.
#[derive(Clone)]
pub struct WeakApp(Weak<AppState>);

impl WeakApp {
    /// The hub, while it is there.
    pub fn upgrade(&self) -> Option<App> {
        self.0.upgrade().map(App)
    }
}

/// What the rooms share.
pub struct AppState {
    /// What the hub runs with.
    pub settings: Settings,
    /// Where time comes from.
    pub clock: Clock,
    /// Puts what happens in an order.
    pub moments: Moments,
    /// Where identifiers, secrets and seeds come from.
    pub ids: Ids,
    /// Where the truth is.
    pub db: Db,
    /// Where modules keep what they store; on PostgreSQL that is `db`.
    pub module_store: Db,
    /// Where events go.
    pub bus: Bus,
    /// Which node owns which networks.
    pub shards: ShardRegistry,
    /// Where addresses are.
    pub geo: Geo,
    /// Where large files are.
    pub files: Files,
    /// Download links.
    pub links: Links,
    /// Event streams that are open.
    pub streams: Streams,
    /// Keys that were looked up lately.
    pub keys: KeyCache,
    /// Answers that outlive their request.
    pub watch: Watch,
    /// Who is online.
    pub presence: Presence,
    /// Where players are routed from, as far as it was asked lately.
    pub player_regions: PlayerRegions,
    /// Node agents, and what is asked of servers.
    pub control: Control,
    /// The networks' modules.
    pub modules: Modules,
    /// Where snapshots of worlds are.
    pub snapshots: SnapshotStore,
    /// What the waitlist keeps in memory.
    pub waitlist: Waitlist,
    stop: CancellationToken,
    /// Ends with `stop`, or before.
    listening: CancellationToken,
    tasks: TaskTracker,
}

impl Deref for App {
    type Target = AppState;

    fn deref(&self) -> &AppState {
        &self.0
    }
}

impl App {
    /// Opens the database, brings back what the last run knew and starts the background work.
    pub async fn start(settings: Settings, clock: Clock, ids: Ids) -> anyhow::Result<Self> {
        let geo = Geo::open(settings.geoip.as_deref())?;
        let db = Db::connect(&settings.database()).await?;
        db.migrate().await?;
        let module_store = open_store(&settings, &db).await?;
        let (bus, shards) = cluster::open(&settings, &ids).await?;
        let presence = Presence::new(!shards.is_single_node());
        let modules = Modules::open(&settings, &ids)?;
        let snapshots = SnapshotStore::open(&settings)?;
        let files = Files::open(&settings.data)?;
        let waitlist = Waitlist::open(&settings)?;
        let stop = CancellationToken::new();
        let app = Self(Arc::new(AppState {
            settings,
            clock,
            moments: Moments::default(),
            ids,
            db,
            module_store,
            bus,
            shards,
            geo,
            files,
            links: Links::default(),
            streams: Streams::default(),
            keys: KeyCache::default(),
            watch: Watch::default(),
            presence,
            player_regions: PlayerRegions::default(),
            control: Control::default(),
            modules,
            snapshots,
            waitlist,
            listening: stop.child_token(),
            stop,
            tasks: TaskTracker::new(),
        }));
        let states = vec![servers::network_state(&app), control::network_state(&app), modules::network_state(&app)];
        cluster::start(&app, states).await?;
        app.spawn(networks::service::note_uses(app.clone()));
        app.spawn(networks::watch::keep(app.clone()));
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

    /// Runs background work until the hub stops.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                // Once told to stop, no work begins that waited for its time.
                biased;
                () = stop.cancelled() => {}
                () = work => {}
            }
        });
    }

    /// A handle that does not keep the hub alive.
    pub fn downgrade(&self) -> WeakApp {
        WeakApp(Arc::downgrade(&self.0))
    }

    /// Ends when the hub is to stop.
    pub fn stopping(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Stops. One of several nodes first gives what lives here to the others, ends its streams and goes on for a moment
    /// with the other connections it has, so that nobody who connects anew where a connection is refused notices.
    pub async fn stop(&self) {
        if cluster::drain(self).await {
            self.listening.cancel();
            self.bus.close();
            tokio::time::sleep(LINGER).await;
            // Who still waits, for a game server's answer for one, is told it.
            if tokio::time::timeout(ANSWERED_WITHIN, self.shards.wait_for_requests()).await.is_err() {
                tracing::warn!("some requests were not answered in time");
            }
        }
        self.begin_stop();
    }

    /// Ends when no more connections are to be taken.
    pub fn not_listening(&self) -> CancellationToken {
        self.listening.clone()
    }

    /// Ends the streams, which would hold the stop up for ever, and tells everything else to finish.
    pub fn begin_stop(&self) {
        self.stop.cancel();
        self.bus.close();
    }

    /// Waits for the background work, saves what is only in memory and closes the database.
    pub async fn finish_stop(&self) {
        self.tasks.close();
        self.tasks.wait().await;
        servers::stop(self).await;
        control::stop(self).await;
        cluster::leave(self).await;
        if let Err(error) = networks::service::flush_uses(self).await {
            tracing::warn!(%error, "could not note when keys were used");
        }
        self.module_store.close().await;
        self.db.close().await;
    }
}
