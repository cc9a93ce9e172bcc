//! Finds webhooks with due deliveries, at the owners of their networks, and serves each by one task.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hub_db::{Error, Tx};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::app::App;
use crate::background::every_settled;
use crate::clock::{Settled, millis};
use crate::cluster::ShardRegistry;
use crate::config::Settings;
use crate::limits::{self, Limit};
use crate::networks::service as networks;
use crate::panics::catch_panic;
use crate::side_by_side;
use crate::values::NetworkId;
use crate::webhooks::client::WebhookClient;
use crate::webhooks::permits::{MAX_OF_NETWORK, RequestPermits};
use crate::webhooks::store::queue;
use crate::webhooks::store::webhooks as store;
use crate::webhooks::turn;

/// Interval of searches for due deliveries.
pub(super) const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Retention of finished deliveries.
const RETENTION: Duration = Duration::from_hours(7 * 24);
const SWEEP_INTERVAL: Duration = Duration::from_mins(10);
const SWEEP_BATCH: i64 = 1_000;

/// State of deliveries in memory.
#[derive(Debug)]
pub struct Webhooks {
    pub(super) client: WebhookClient,
    pub(super) permits: RequestPermits,
    serving: Arc<Serving>,
}

/// Webhooks that are being served, or wait for a permit.
#[derive(Debug, Default)]
struct Serving {
    networks: Mutex<HashMap<NetworkId, HashMap<String, Arc<Notify>>>>,
    /// Notified when a webhook may be due that is not among them.
    due: Notify,
}

impl Serving {
    /// Adds a webhook unless it is there, or its network has too many. Returns the handle that wakes its task.
    fn enter(&self, network: NetworkId, id: &str) -> Option<Arc<Notify>> {
        let mut networks = self.networks.lock();
        let webhooks = networks.entry(network).or_default();
        if webhooks.len() >= MAX_OF_NETWORK || webhooks.contains_key(id) {
            return None;
        }
        let wake = Arc::new(Notify::new());
        webhooks.insert(id.to_owned(), Arc::clone(&wake));
        Some(wake)
    }

    fn leave(&self, network: NetworkId, id: &str) {
        let mut networks = self.networks.lock();
        if let Some(webhooks) = networks.get_mut(&network) {
            webhooks.remove(id);
            if webhooks.is_empty() {
                networks.remove(&network);
            }
        }
        drop(networks);
        self.due.notify_one();
    }

    /// Wakes the webhook's task, or has one started.
    fn wake(&self, network: NetworkId, id: &str) {
        let networks = self.networks.lock();
        match networks.get(&network).and_then(|webhooks| webhooks.get(id)) {
            Some(task) => task.notify_one(),
            None => self.due.notify_one(),
        }
    }
}

impl Webhooks {
    pub fn new(settings: &Settings) -> anyhow::Result<Self> {
        let (permits, serving) = (RequestPermits::new(), Arc::default());
        Ok(Self { client: WebhookClient::new(settings)?, permits, serving })
    }

    /// Has a webhook's deliveries sent once `tx` has ended.
    pub(super) fn wake_on_end(&self, tx: &Tx, network: NetworkId, id: &str) {
        let (serving, id) = (Arc::clone(&self.serving), id.to_owned());
        tx.on_end(move || serving.wake(network, &id));
    }
}

/// Starts the background work.
pub(super) fn start(app: &App) {
    app.spawn(watch(app.clone()));
    every_settled(app, SWEEP_INTERVAL, "delete old deliveries of webhooks", forget_old);
}

async fn forget_old(app: App, settled: Settled) -> Result<(), Error> {
    let before = settled.before(millis(RETENTION));
    while queue::forget_before(&app.db, before, SWEEP_BATCH).await? == SWEEP_BATCH.unsigned_abs() {}
    Ok(())
}

/// Sends due deliveries until the hub stops.
async fn watch(app: App) {
    loop {
        let next = app.clock.moment() + POLL_INTERVAL;
        if let Some(Err(error)) = catch_panic("find the due deliveries of webhooks", start_due(&app)).await {
            tracing::warn!(%error, "could not find the due deliveries of webhooks");
        }
        tokio::select! {
            () = app.state::<Webhooks>().serving.due.notified() => {}
            () = app.clock.sleep_until(next) => {}
        }
    }
}

async fn start_due(app: &App) -> Result<(), Error> {
    if app.state::<ShardRegistry>().is_draining() {
        return Ok(());
    }
    let now = app.clock.now();
    // In turn: reads; each webhook is served by itself.
    for network in store::due_networks(&app.db, now).await? {
        if !app.state::<ShardRegistry>().owns(network) || !networks::is_active(&app.db, network).await? {
            continue;
        }
        let most = limits::bound(app, Limit::Webhooks);
        for (id, failures) in store::due(&app.db, network, now, most).await? {
            if let Some(wake) = app.state::<Webhooks>().serving.enter(network, &id) {
                let guard = ServingGuard { serving: Arc::clone(&app.state::<Webhooks>().serving), network, id };
                // The task ends soon after the hub stops.
                app.spawn_until_done(serve(app.clone(), guard, wake, failures > 0));
            }
        }
    }
    Ok(())
}

/// Serves a webhook once it has a permit.
async fn serve(app: App, guard: ServingGuard, wake: Arc<Notify>, is_failing: bool) {
    let (network, id) = (guard.network, guard.id.as_str());
    let stopping = app.stopping();
    // Waiting is no failure of the receiver: the webhook is claimed afterwards.
    let _permit = tokio::select! {
        permit = app.state::<Webhooks>().permits.serve(network, is_failing) => permit,
        () = stopping.cancelled() => return,
    };
    // Deliveries that it leaves are resumed.
    side_by_side::serve(network, "deliver to a webhook", turn::run(&app, network, id, &wake)).await;
}

/// Marks a webhook as being served until it is dropped.
struct ServingGuard {
    serving: Arc<Serving>,
    network: NetworkId,
    id: String,
}

impl Drop for ServingGuard {
    fn drop(&mut self) {
        self.serving.leave(self.network, &self.id);
    }
}
