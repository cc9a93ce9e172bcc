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

/// Infrastructure that the components share, and their states.
pub struct AppState {
    /// What the hub runs with.
    pub settings: Settings,
    /// Where time comes from.
    pub clock: Clock,
    /// Puts what happens in an order.
    pub logical_clock: LogicalClock,
    /// Where identifiers, secrets and seeds come from.
    pub ids: Ids,
    /// Where the truth is.
    pub db: Db,
    /// Where modules keep what they store; on PostgreSQL that is `db`.
    pub module_store: Db,
    /// Where events go.
    pub bus: Bus,
    /// Where addresses are.
    pub geo: Geo,
    /// Sends mail.
    pub(crate) mailer: Mailer,
    /// Since when what is wrong is so.
    pub faults: FaultLog,
    states: States,
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
    /// The infrastructure of a hub that has seen nothing yet, with its components' states.
    pub(crate) fn open(
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

    /// The state of a component, which [`lifecycle`](crate::lifecycle) registered.
    #[inline]
    pub fn state<T: Any + Send + Sync>(&self) -> &T {
        self.states.get()
    }
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
