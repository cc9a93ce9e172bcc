//! Shared infrastructure, and each component's in-memory state. It starts and stops nothing.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Deref;
use std::sync::{Arc, Weak};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hub_bus::Bus;
use hub_db::Db;
use ipnet::{IpNet, Ipv4Net};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::answer_memory::AnswerMemory;
use crate::auth::{KeyCache, RevocationWatch};
use crate::blobs::Blobs;
use crate::clock::{Clock, LogicalClock};
use crate::cluster::ShardRegistry;
use crate::collections::IndexBuilds;
use crate::config::Settings;
use crate::control::Control;
use crate::events::{Outbox, Streams, Subscriptions};
use crate::fault::FaultLog;
use crate::geo::Geo;
use crate::hang_up::AbandonedRequests;
use crate::http::connection::Connections;
use crate::http::json::WrittenJson;
use crate::ids::Ids;
use crate::imports::Imports;
use crate::keyed_lock::KeyedLock;
use crate::limits::{Limits, Usage};
use crate::mail::Mailer;
use crate::metering::Metering;
use crate::modules::Modules;
use crate::monitoring::Monitoring;
use crate::people::People;
use crate::players::PlayerRegions;
use crate::secrets::HubSecrets;
use crate::servers::Presence;
use crate::shared_reads::SharedReads;
use crate::values::NetworkId;
use crate::waitlist::Waitlist;
use crate::webhooks::Webhooks;

const LOOPBACK: Ipv4Net = Ipv4Net::new_assert(Ipv4Addr::new(127, 0, 0, 0), 8);

/// Cheap handle on the one [`AppState`].
#[derive(Clone)]
pub struct App(Arc<AppState>);

/// Handle that does not keep the hub alive, for use inside the hub itself.
#[derive(Clone)]
pub struct WeakApp(Weak<AppState>);

impl WeakApp {
    /// Returns the hub while it exists.
    pub fn upgrade(&self) -> Option<App> {
        self.0.upgrade().map(App)
    }
}

/// State shared by the components.
pub struct AppState {
    /// Settings of the hub.
    pub settings: Settings,
    /// Source of time.
    pub clock: Clock,
    /// Orders events.
    pub logical_clock: LogicalClock,
    /// Orders audit log entries of the same millisecond.
    pub(crate) audit_order: Arc<LogicalClock>,
    /// Source of identifiers, secrets and seeds.
    pub ids: Ids,
    /// Main database.
    pub db: Db,
    /// Database of the modules' stores; on PostgreSQL the same as `db`.
    pub module_store: Db,
    /// Blob store.
    pub(crate) blobs: Blobs,
    /// Event bus.
    pub bus: Bus,
    /// Owners of the networks' shards.
    pub shards: ShardRegistry,
    /// Location of IP addresses.
    pub geo: Geo,
    /// Usage of limits that is counted in memory.
    pub usage: Usage,
    /// Usage of the networks since it was last stored.
    pub metering: Metering,
    /// Metrics for the operator.
    pub monitoring: Monitoring,
    /// The hub's own secrets.
    pub secrets: HubSecrets,
    /// Open connections.
    pub connections: Connections,
    /// Committed events that wait to be published.
    pub outbox: Outbox,
    /// Cache of event subscriptions.
    pub subscriptions: Subscriptions,
    /// Requests that continue after their client disconnected.
    pub(crate) abandoned: AbandonedRequests,
    /// Memory for large responses.
    pub(crate) answer_memory: AnswerMemory,
    /// Open event streams.
    pub streams: Streams,
    /// Cache of API keys.
    pub keys: KeyCache,
    /// Ends streams of revoked keys.
    pub revocations: RevocationWatch,
    /// Limits of networks and addresses.
    pub limits: Limits,
    /// Online players and servers.
    pub presence: Presence,
    /// Cache of players' regions for routing.
    pub player_regions: PlayerRegions,
    /// Leaderboards being read, by query.
    pub(crate) leaderboards: SharedReads<(NetworkId, String), WrittenJson>,
    /// Lock for catalog writes.
    pub(crate) catalog_writes: KeyedLock<NetworkId>,
    /// Wakes the builder of collection indexes.
    pub(crate) index_builds: IndexBuilds,
    /// Imports running on this node.
    pub(crate) imports: Imports,
    /// Node agents and pending commands.
    pub control: Control,
    /// The networks' modules.
    pub modules: Modules,
    /// Sends mail.
    pub(crate) mailer: Mailer,
    /// In-memory state of user sign-in.
    pub(crate) people: People,
    /// In-memory state of the waitlist.
    pub waitlist: Waitlist,
    /// Sends events to webhooks.
    pub(crate) webhooks: Webhooks,
    /// Active faults with start time.
    pub faults: FaultLog,
    stop: CancellationToken,
    /// Cancelled with `stop`, or before.
    listening: CancellationToken,
    tasks: TaskTracker,
}

impl Deref for App {
    type Target = AppState;

    fn deref(&self) -> &AppState {
        &self.0
    }
}

impl AppState {
    /// Creates the state of a hub that has not started yet.
    pub(crate) fn open(
        settings: Settings,
        clock: Clock,
        ids: Ids,
        db: Db,
        module_store: Db,
        bus: Bus,
        shards: ShardRegistry,
    ) -> anyhow::Result<Self> {
        let stop = CancellationToken::new();
        Ok(Self {
            logical_clock: LogicalClock::default(),
            audit_order: Arc::default(),
            geo: Geo::open(settings.geoip.as_deref())?,
            blobs: Blobs::open(&settings, &db)?,
            usage: Usage::default(),
            metering: Metering::new(ids.token(16)),
            monitoring: Monitoring::new(settings.metrics.is_some())?,
            secrets: HubSecrets::default(),
            connections: connections(&settings),
            outbox: Outbox::default(),
            subscriptions: Subscriptions::default(),
            abandoned: AbandonedRequests::default(),
            answer_memory: AnswerMemory::default(),
            streams: Streams::default(),
            keys: KeyCache::default(),
            revocations: RevocationWatch::default(),
            limits: Limits::default(),
            presence: Presence::new(!shards.is_single_node()),
            player_regions: PlayerRegions::default(),
            leaderboards: SharedReads::default(),
            catalog_writes: KeyedLock::default(),
            index_builds: IndexBuilds::default(),
            imports: Imports::default(),
            control: Control::default(),
            modules: Modules::open(&settings, &ids)?,
            mailer: Mailer::new(&settings)?,
            people: People::open(&settings)?,
            waitlist: Waitlist::default(),
            webhooks: Webhooks::new(&settings)?,
            faults: FaultLog::default(),
            listening: stop.child_token(),
            stop,
            tasks: TaskTracker::new(),
            settings,
            clock,
            ids,
            db,
            module_store,
            bus,
            shards,
        })
    }
}

/// Number of allowed connections. The other files that the process may open are for the database, blobs and other
/// nodes.
fn connections(settings: &Settings) -> Connections {
    const PER_ADDRESS: u32 = 4096;
    let open_files = rlimit::Resource::NOFILE.get_soft().unwrap_or(1024).try_into().unwrap_or(u32::MAX);
    let limit = settings.max_connections.unwrap_or(open_files - open_files / 8);
    let per_address = settings.max_connections_per_address.unwrap_or(PER_ADDRESS.min(limit / 4));
    let mut exempt = settings.trusted_proxies.clone();
    if settings.connections.is_loopback_exempt {
        exempt.extend([IpNet::from(IpAddr::from(Ipv6Addr::LOCALHOST)), IpNet::V4(LOOPBACK)]);
    }
    tracing::info!(limit, per_address, "connections");
    Connections::new(limit as usize, per_address as usize, exempt)
}

impl App {
    /// Creates a handle on this state.
    pub(crate) fn new(state: AppState) -> Self {
        Self(Arc::new(state))
    }

    /// Runs background work for the caller's network until the hub stops.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.spawn_boxed(work.boxed());
    }

    /// Spawns boxed futures only: each further task type would compile the runtime's machinery again.
    fn spawn_boxed(&self, work: BoxFuture<'static, ()>) {
        let stop = self.stop.clone();
        self.tasks.spawn(hub_db::in_current_tenant(async move {
            tokio::select! {
                // After a stop no queued work may begin.
                biased;
                () = stop.cancelled() => {}
                () = work => {}
            }
        }));
    }

    /// Runs work that the hub waits for when it stops, so the work must end by itself soon.
    pub(crate) fn spawn_until_done(&self, work: impl Future<Output = ()> + Send + 'static) {
        let work: BoxFuture<'static, ()> = work.boxed();
        self.tasks.spawn(work);
    }

    /// Returns a handle that does not keep the hub alive.
    pub fn downgrade(&self) -> WeakApp {
        WeakApp(Arc::downgrade(&self.0))
    }

    /// Cancelled when the hub stops.
    pub fn stopping(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Cancelled when the hub stops accepting connections.
    pub fn not_listening(&self) -> CancellationToken {
        self.listening.clone()
    }

    /// Stops accepting connections.
    pub(crate) fn stop_listening(&self) {
        self.listening.cancel();
    }

    /// Ends streams, which would delay the stop forever, and asks all other work to finish.
    pub fn begin_stop(&self) {
        self.stop.cancel();
        self.bus.close();
    }

    /// Waits for background work to end.
    pub(crate) async fn background_ended(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}
