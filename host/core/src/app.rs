//! Infrastructure that the components share. It knows no component: the state that each keeps in memory is the component's
//! own, found by its type. It starts and stops nothing.

mod states;

pub use states::States;

use std::any::Any;
use std::ops::Deref;
use std::sync::{Arc, Weak};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hub_bus::Bus;
use hub_db::Db;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock::{Clock, LogicalClock};
use crate::config::Settings;
use crate::fault::FaultLog;
use crate::geo::Geo;
use crate::ids::Ids;
use crate::mail::Mailer;
use crate::passes::Passes;

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

/// Infrastructure that the components share, and their states.
pub struct AppState {
    /// Settings of the hub.
    pub settings: Settings,
    /// Source of time.
    pub clock: Clock,
    /// Orders events.
    pub logical_clock: LogicalClock,
    /// Source of identifiers, secrets and seeds.
    pub ids: Ids,
    /// Main database.
    pub db: Db,
    /// Database of the modules' stores; on PostgreSQL the same as `db`.
    pub module_store: Db,
    /// Event bus.
    pub bus: Bus,
    /// Location of IP addresses.
    pub geo: Geo,
    /// Sends mail.
    pub mailer: Mailer,
    /// Active faults with start time.
    pub faults: FaultLog,
    /// Periodic work that runs now.
    pub passes: Passes,
    states: States,
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
    /// The infrastructure of a hub that has seen nothing yet, with its components' states.
    pub fn open(
        settings: Settings,
        clock: Clock,
        ids: Ids,
        db: Db,
        module_store: Db,
        bus: Bus,
        states: States,
    ) -> anyhow::Result<Self> {
        let stop = CancellationToken::new();
        Ok(Self {
            logical_clock: LogicalClock::default(),
            geo: Geo::open(settings.geoip.as_deref())?,
            mailer: Mailer::new(&settings)?,
            faults: FaultLog::default(),
            passes: Passes::default(),
            states,
            listening: stop.child_token(),
            stop,
            tasks: TaskTracker::new(),
            settings,
            clock,
            ids,
            db,
            module_store,
            bus,
        })
    }

    /// The state of a component, which its declaration registers.
    #[inline]
    pub fn state<T: Any + Send + Sync>(&self) -> &T {
        self.states.get()
    }
}

impl App {
    /// Creates a handle on this state.
    pub fn new(state: AppState) -> Self {
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
    pub fn spawn_until_done(&self, work: impl Future<Output = ()> + Send + 'static) {
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
    pub fn stop_listening(&self) {
        self.listening.cancel();
    }

    /// Ends streams, which would delay the stop forever, and asks all other work to finish.
    pub fn begin_stop(&self) {
        self.stop.cancel();
        self.bus.close();
    }

    /// Waits for background work to end.
    pub async fn background_ended(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}
