//! What the components share: infrastructure, and the state each keeps in memory. It starts and stops nothing.

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

/// What the components share.
pub struct AppState {
    /// What the hub runs with.
    pub settings: Settings,
    /// Where time comes from.
    pub clock: Clock,
    /// Puts what happens in an order.
    pub logical_clock: LogicalClock,
    /// Orders the entries of the audit logs that are written in one millisecond.
    pub(crate) audit_order: Arc<LogicalClock>,
    /// Where identifiers, secrets and seeds come from.
    pub ids: Ids,
    /// Where the truth is.
    pub db: Db,
    /// Where modules keep what they store; on PostgreSQL that is `db`.
    pub module_store: Db,
    /// Where blobs are.
    pub(crate) blobs: Blobs,
    /// Where events go.
    pub bus: Bus,
    /// Which node owns which networks.
    pub shards: ShardRegistry,
    /// Where addresses are.
    pub geo: Geo,
    /// What networks use of their limits, as far as it is counted in memory.
    pub usage: Usage,
    /// What networks have used since it was last stored.
    pub metering: Metering,
    /// What the operator watches.
    pub monitoring: Monitoring,
    /// The hub's own secrets.
    pub secrets: HubSecrets,
    /// Connections that are open.
    pub connections: Connections,
    /// Events of committed changes that wait to be published.
    pub outbox: Outbox,
    /// What is subscribed to, as far as it was read lately.
    pub subscriptions: Subscriptions,
    /// Requests that go on though their callers hung up.
    pub(crate) abandoned: AbandonedRequests,
    /// What large answers take of the memory.
    pub(crate) answer_memory: AnswerMemory,
    /// Event streams that are open.
    pub streams: Streams,
    /// Keys that were looked up lately.
    pub keys: KeyCache,
    /// Streams that end when their key is revoked.
    pub revocations: RevocationWatch,
    /// What networks and addresses may use.
    pub limits: Limits,
    /// Who is online.
    pub presence: Presence,
    /// Where players are routed from, as far as it was asked lately.
    pub player_regions: PlayerRegions,
    /// Leaderboards that are being read, by what was asked for.
    pub(crate) leaderboards: SharedReads<(NetworkId, String), WrittenJson>,
    /// Held by who adds to a network's catalog.
    pub(crate) catalog_writes: KeyedLock<NetworkId>,
    /// Wakes who builds the indexes of collections.
    pub(crate) index_builds: IndexBuilds,
    /// Imports that run at this node.
    pub(crate) imports: Imports,
    /// Node agents, and what is asked of servers.
    pub control: Control,
    /// The networks' modules.
    pub modules: Modules,
    /// Sends mail.
    pub(crate) mailer: Mailer,
    /// What the sign-in of people keeps in memory.
    pub(crate) people: People,
    /// What the waitlist keeps in memory.
    pub waitlist: Waitlist,
    /// Sends to webhooks.
    pub(crate) webhooks: Webhooks,
    /// Since when what is wrong is so.
    pub faults: FaultLog,
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

impl AppState {
    /// The state of a hub that has seen nothing yet.
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

/// How many connections there may be. The rest of the files that the process may open is for the database, blobs, and the
/// other nodes.
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
    /// A handle on this state.
    pub(crate) fn new(state: AppState) -> Self {
        Self(Arc::new(state))
    }

    /// Runs background work until the hub stops, for the network whose work the caller does.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.spawn_boxed(work.boxed());
    }

    /// One type of task for all work: each further one would compile the runtime's machinery anew.
    fn spawn_boxed(&self, work: BoxFuture<'static, ()>) {
        let stop = self.stop.clone();
        self.tasks.spawn(hub_db::in_current_tenant(async move {
            tokio::select! {
                // Once told to stop, no work begins that waited for its time.
                biased;
                () = stop.cancelled() => {}
                () = work => {}
            }
        }));
    }

    /// Runs work that is not cut off when the hub stops: the stop waits for it, so it ends by itself soon after.
    pub(crate) fn spawn_until_done(&self, work: impl Future<Output = ()> + Send + 'static) {
        let work: BoxFuture<'static, ()> = work.boxed();
        self.tasks.spawn(work);
    }

    /// A handle that does not keep the hub alive.
    pub fn downgrade(&self) -> WeakApp {
        WeakApp(Arc::downgrade(&self.0))
    }

    /// Cancelled when the hub is to stop.
    pub fn stopping(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Cancelled when no more connections are to be taken.
    pub fn not_listening(&self) -> CancellationToken {
        self.listening.clone()
    }

    /// Takes no more connections.
    pub(crate) fn stop_listening(&self) {
        self.listening.cancel();
    }

    /// Ends the streams, which would hold the stop up for ever, and tells everything else to finish.
    pub fn begin_stop(&self) {
        self.stop.cancel();
        self.bus.close();
    }

    /// Waits for the background work to end.
    pub(crate) async fn background_ended(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}
