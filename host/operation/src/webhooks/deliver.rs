//! Sends waiting deliveries, at the owners of their networks.
//!
//! A webhook with waiting deliveries is claimed in the database and served by one task, one request at a time. A
//! network has as many such tasks as webhooks, and a node some hundred; recently failed webhooks get at most half of
//! these, so that hanging ones do not delay the others.

use std::collections::HashSet;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use hub_db::{Error, with_tenant};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::app::App;
use crate::background::every;
use crate::clock::{Millis, millis};
use crate::cluster::ShardRegistry;
use crate::config::Settings;
use crate::limits::{self, Limit};
use crate::values::NetworkId;
use crate::webhooks::client::WebhookClient;
use crate::webhooks::model::{Delivery, DeliveryState, DisabledReason, Webhook};
use crate::webhooks::outcome::{Attempt, Verdict};
use crate::webhooks::store::queue;
use crate::webhooks::store::webhooks as store;
use crate::webhooks::{notice, schedule};

/// Interval of searches for due deliveries.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Duration of a webhook's claim for each request: longer than one takes. After a kill the webhook pauses this long.
const CLAIM: Duration = Duration::from_secs(20);
/// Deliveries read at once.
const BATCH: i64 = 16;
/// Number of deliveries after which a webhook queues behind the other due ones.
const MAX_PER_TURN: usize = 64;
/// Maximum number of webhooks served at once.
const MAX_CONCURRENT: usize = 512;

/// Error of deliveries that waited behind one that was given up.
const NOT_TRIED: &str = "not tried: the previous delivery failed until it expired";

/// Retention of finished deliveries.
const RETENTION: Duration = Duration::from_hours(7 * 24);
const SWEEP_INTERVAL: Duration = Duration::from_mins(10);
const SWEEP_BATCH: i64 = 1_000;

/// State of deliveries in memory.
#[derive(Debug)]
pub struct Webhooks {
    pub(super) client: WebhookClient,
    wake: Arc<Notify>,
    running: Mutex<Running>,
}

/// Webhooks that are being served.
#[derive(Debug, Default)]
struct Running {
    webhooks: HashSet<(NetworkId, String)>,
    failing: usize,
}

impl Running {
    fn enter(&mut self, network: NetworkId, id: &str, is_failing: bool) -> bool {
        let has_room = self.webhooks.len() < MAX_CONCURRENT && !(is_failing && self.failing >= MAX_CONCURRENT / 2);
        let is_entered = has_room && self.webhooks.insert((network, id.to_owned()));
        self.failing += usize::from(is_entered && is_failing);
        is_entered
    }

    fn leave(&mut self, network: NetworkId, id: &str, is_failing: bool) {
        self.webhooks.remove(&(network, id.to_owned()));
        self.failing -= usize::from(is_failing);
    }
}

impl Webhooks {
    pub fn new(settings: &Settings) -> anyhow::Result<Self> {
        let (wake, running) = (Arc::default(), Mutex::default());
        Ok(Self { client: WebhookClient::new(settings)?, wake, running })
    }

    /// Handle to notify when something may be due.
    pub(super) fn wake_handle(&self) -> Arc<Notify> {
        Arc::clone(&self.wake)
    }
}

/// Starts the background work.
pub(super) fn start(app: &App) {
    app.spawn(watch(app.clone()));
    every(app, SWEEP_INTERVAL, "delete old deliveries of webhooks", forget_old);
}

async fn forget_old(app: App) -> Result<(), Error> {
    let before = app.clock.now() - millis(RETENTION);
    while queue::forget_before(&app.db, before, SWEEP_BATCH).await? == SWEEP_BATCH.unsigned_abs() {}
    Ok(())
}

/// Sends due deliveries until the hub stops.
async fn watch(app: App) {
    loop {
        let began = app.clock.now();
        if let Err(error) = start_due(&app).await {
            warn(&error, "could not find the due deliveries of webhooks");
        }
        tokio::select! {
            () = app.state::<Webhooks>().wake.notified() => {}
            () = app.clock.sleep_until(began.saturating_add(millis(POLL_INTERVAL))) => {}
        }
    }
}

fn warn(error: &dyn Display, what: &str) {
    tracing::warn!(%error, "{what}");
}

async fn start_due(app: &App) -> Result<(), Error> {
    if app.state::<ShardRegistry>().is_draining() {
        return Ok(());
    }
    let now = app.clock.now();
    let mut networks = store::due_networks(&app.db, now).await?;
    if networks.is_empty() {
        return Ok(());
    }
    // Each round begins with another network, so that all get their share if there are too many.
    let first = usize::try_from(app.ids.seed() % networks.len() as u64).unwrap_or(0);
    networks.rotate_left(first);
    for network in networks.into_iter().filter(|network| app.state::<ShardRegistry>().owns(*network)) {
        let most = limits::bound(app, Limit::Webhooks);
        for (id, failures) in store::due(&app.db, network, now, most).await? {
            let is_failing = failures > 0;
            if !app.state::<Webhooks>().running.lock().enter(network, &id, is_failing) {
                continue;
            }
            let task = app.clone();
            // The task ends soon after the hub stops.
            app.spawn_until_done(async move {
                let _running = RunningGuard { app: task.clone(), network, id: id.clone(), is_failing };
                if let Err(error) = with_tenant(network.0, run(&task, network, &id)).await {
                    warn(&error, "a webhook's deliveries were interrupted and will be resumed");
                }
            });
        }
    }
    Ok(())
}

/// Marks a webhook as being served until it is dropped.
struct RunningGuard {
    app: App,
    network: NetworkId,
    id: String,
    is_failing: bool,
}

impl Drop for RunningGuard {
    fn drop(&mut self) {
        self.app.state::<Webhooks>().running.lock().leave(self.network, &self.id, self.is_failing);
        self.app.state::<Webhooks>().wake.notify_one();
    }
}

/// Sends one webhook's waiting deliveries until none is left, or one fails.
async fn run(app: &App, network: NetworkId, id: &str) -> Result<(), Error> {
    let now = app.clock.now();
    let mut until = now.saturating_add(millis(CLAIM));
    let Some(mut webhook) = store::claim(&app.db, network, id, (now, until)).await? else { return Ok(()) };
    let (mut sent, stopping) = (0, app.stopping());
    'turn: while sent < MAX_PER_TURN {
        let batch = queue::waiting(&app.db, network, id, BATCH).await?;
        if batch.is_empty() {
            break;
        }
        for delivery in batch {
            if !app.state::<ShardRegistry>().owns(network) {
                break 'turn;
            }
            let sending = app.state::<Webhooks>().client.send(&webhook, &delivery, app.clock.now());
            let attempt = tokio::select! {
                attempt = sending => attempt,
                // The next claimer of the webhook sends it once more.
                () = stopping.cancelled() => break 'turn,
            };
            match finish(app, &webhook, &delivery, &attempt).await? {
                Next::Another(claimed) => until = claimed,
                Next::Changed(claimed) => {
                    until = claimed;
                    break 'turn;
                }
                Next::Later => return Ok(()),
            }
            webhook.failures = 0;
            sent += 1;
        }
    }
    store::release(&app.db, network, id, (until, app.clock.now())).await
}

/// Step after an attempt; the webhook is claimed until then.
enum Next {
    /// Send the next delivery.
    Another(Millis),
    /// Read the webhook again: it was changed.
    Changed(Millis),
    /// Stop: it pauses, or nothing is left.
    Later,
}

/// Stores the outcome of an attempt.
async fn finish(app: &App, webhook: &Webhook, delivery: &Delivery, attempt: &Attempt) -> Result<Next, Error> {
    let (network, id, now) = (webhook.network, webhook.id.as_str(), app.clock.now());
    let claimed = now.saturating_add(millis(CLAIM));
    let state = match attempt.verdict {
        Verdict::Delivered => DeliveryState::Delivered,
        Verdict::Retry(_) => DeliveryState::Waiting,
        Verdict::Refused | Verdict::Gone => DeliveryState::Failed,
    };
    let pause = match attempt.verdict {
        Verdict::Retry(asked) => Some(schedule::pause(webhook.failures + 1, asked, app.ids.seed())),
        _ => attempt.quiet.map(|quiet| millis(quiet.min(schedule::LONGEST_PAUSE))),
    };
    let has_failed = matches!(attempt.verdict, Verdict::Retry(_) | Verdict::Gone);
    let next_attempt_at = pause.map_or(claimed, |pause| now.saturating_add(pause));
    let (next, disabled) = app
        .db
        .transaction(async |mut tx| {
            let change = (attempt.verdict, next_attempt_at);
            let after = queue::note_in_webhook(&mut tx, network, id, change, now).await?;
            let Some((updated_at, failing_since)) = after else { return Ok((Next::Later, None)) };
            let noted = queue::note_attempt(&mut tx, network, (id, delivery.seq), (state, attempt), now).await?;
            if noted && state != DeliveryState::Waiting {
                queue::count_finished(&mut tx, network, id, (1, delivery.data.len() as i64)).await?;
            }
            let disabled = disabled_by(attempt, failing_since, now);
            if let Some(reason) = disabled {
                notice::disable(app, &mut tx, webhook, reason).await?;
            } else if has_failed {
                let expired = now - millis(schedule::TTL);
                queue::give_up(&mut tx, network, id, (expired, NOT_TRIED), now).await?;
            }
            queue::forget(&mut tx, network, id, limits::bound(app, Limit::WebhookDeliveries)).await?;
            let next = match (pause, disabled) {
                (Some(_), _) | (_, Some(_)) => Next::Later,
                _ if updated_at != webhook.updated_at => Next::Changed(claimed),
                _ => Next::Another(claimed),
            };
            Ok::<_, Error>((next, disabled))
        })
        .await?;
    if let Some(reason) = disabled {
        notice::mail(app, webhook, reason).await;
    }
    Ok(next)
}

/// Reason for which this attempt disables the webhook, if it does.
fn disabled_by(attempt: &Attempt, failing_since: Option<Millis>, now: Millis) -> Option<DisabledReason> {
    let fails_for_long = |since| now - since >= millis(schedule::DISABLED_AFTER);
    match attempt.verdict {
        Verdict::Gone => Some(DisabledReason::Gone),
        _ => failing_since.is_some_and(fails_for_long).then_some(DisabledReason::Failing),
    }
}
