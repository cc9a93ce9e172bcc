//! Sends one webhook's waiting deliveries, several at once, for a few seconds.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hub_db::{Error, in_current_tenant};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::app::App;
use crate::clock::{Millis, millis};
use crate::cluster::ShardRegistry;
use crate::secrets::{self, HubSecrets};
use crate::values::NetworkId;
use crate::webhooks::Webhooks;
use crate::webhooks::deliver::POLL_INTERVAL;
use crate::webhooks::finish::{Attempted, CLAIM, Next, Progress, finish};
use crate::webhooks::model::{Delivery, Webhook, WebhookKind};
use crate::webhooks::outcome::Verdict;
use crate::webhooks::permits::MAX_OF_WEBHOOK;
use crate::webhooks::store::queue;
use crate::webhooks::store::webhooks as store;
use crate::webhooks::subject_queues::{Order, SubjectQueues};

/// Time after which a webhook waits for a permit again, behind others, and after which held subjects are read again.
const DURATION: Duration = Duration::from_secs(5);
/// Requests at once at the beginning: a receiver that answers gets more and more.
const FIRST_REQUESTS: usize = 4;

/// Sends a webhook's deliveries, until none is left that may be sent, or the webhook is to pause. `wake` is notified
/// when there are new ones.
pub(super) async fn run(app: &App, network: NetworkId, id: &str, wake: &Notify) -> Result<(), Error> {
    if !app.state::<ShardRegistry>().owns(network) {
        return Ok(());
    }
    let now = app.clock.now();
    let claimed = now.saturating_add(millis(CLAIM));
    let webhook = store::claim(&app.db, app.state::<HubSecrets>(), (network, id), (now, claimed)).await?;
    let Some(webhook) = webhook else { return Ok(()) };
    // Empty: another key sealed it.
    if (webhook.url.is_empty() || webhook.secret.is_empty()) && !secrets::is_key_current(app).await? {
        return wait_for_key(app, network, id, (claimed, now)).await;
    }
    let held = queue::held(&app.db, network, id, now).await?;
    let order = match webhook.kind {
        // A channel is read from top to bottom.
        WebhookKind::Discord => Order::Total,
        WebhookKind::Standard if webhook.failures > 0 => Order::Probing,
        WebhookKind::Standard => Order::BySubject,
    };
    let turn = Turn {
        app,
        began_at: now,
        ends: Instant::now() + DURATION,
        window: if webhook.failures > 0 { 1 } else { FIRST_REQUESTS },
        queues: SubjectQueues::new(order, webhook.last_seq, held),
        webhook: Arc::new(webhook),
        sending: JoinSet::new(),
        claimed,
        pause: None,
        is_ending: false,
    };
    turn.run(wake).await
}

/// Ends a claim after a moment: another node has a newer key, which this one gets soon.
async fn wait_for_key(app: &App, network: NetworkId, id: &str, (claimed, now): (Millis, Millis)) -> Result<(), Error> {
    let stopping = app.stopping();
    tokio::select! {
        () = sleep(POLL_INTERVAL) => {}
        () = stopping.cancelled() => {}
    }
    store::release(&app.db, network, id, (claimed, now)).await
}

/// A webhook's turn.
struct Turn<'a> {
    app: &'a App,
    webhook: Arc<Webhook>,
    queues: SubjectQueues,
    sending: JoinSet<Attempted>,
    /// Maximum number of requests at once.
    window: usize,
    began_at: Millis,
    ends: Instant,
    /// End of the claim in the database.
    claimed: Millis,
    /// End of a pause that a failure or a lacking key made, while other requests are under way.
    pause: Option<Millis>,
    /// True if no further request begins.
    is_ending: bool,
}

impl Turn<'_> {
    async fn run(mut self, wake: &Notify) -> Result<(), Error> {
        let stopping = self.app.stopping();
        loop {
            self.is_ending |= Instant::now() >= self.ends || !self.app.state::<ShardRegistry>().owns(self.network());
            if !self.is_ending {
                self.read().await?;
                self.start();
            }
            if self.sending.is_empty() {
                break;
            }
            let attempted = tokio::select! {
                biased;
                // The next claimer of the webhook sends what is under way once more.
                () = stopping.cancelled() => {
                    self.sending.shutdown().await;
                    break;
                }
                attempted = self.sending.join_next() => attempted,
                () = wake.notified(), if !self.is_ending => None,
                // Another node may have queued more.
                () = sleep(POLL_INTERVAL), if !self.is_ending => None,
            };
            match attempted {
                Some(Ok(attempted)) => {
                    if !self.finish(attempted).await? {
                        return Ok(());
                    }
                }
                // It panicked. The claim runs out, so that it is not repeated at once.
                Some(Err(error)) => {
                    tracing::warn!(%error, "a request to a webhook was interrupted and will be repeated");
                    return Ok(());
                }
                None => {
                    let newest = queue::newest(&self.app.db, self.network(), &self.webhook.id).await?;
                    self.queues.set_newest(newest);
                }
            }
        }
        self.release().await
    }

    fn network(&self) -> NetworkId {
        self.webhook.network
    }

    /// Reads deliveries while there is room for them in memory.
    async fn read(&mut self) -> Result<(), Error> {
        while let Some(part) = self.queues.to_read() {
            let of = (self.webhook.id.as_str(), self.began_at);
            let read = queue::waiting(&self.app.db, self.network(), of, &part).await?;
            let can_open = read.iter().all(|it| secrets::opens_fields(self.app, self.network(), &it.data));
            if !can_open && !secrets::is_key_current(self.app).await? {
                // Another node has a newer key, which this one gets soon.
                let soon = self.app.clock.now().saturating_add(millis(POLL_INTERVAL));
                (self.pause, self.is_ending) = (self.pause.max(Some(soon)), true);
                break;
            }
            self.queues.add(&part, read);
        }
        Ok(())
    }

    /// Begins as many requests as it may.
    fn start(&mut self) {
        while self.sending.len() < self.window && self.queues.has_ready() {
            let mut further = None;
            if !self.sending.is_empty() {
                further = self.app.state::<Webhooks>().permits.try_further(self.network());
                if further.is_none() {
                    return;
                }
            }
            let Some(delivery) = self.queues.take() else { return };
            let (app, webhook) = (self.app.clone(), Arc::clone(&self.webhook));
            let request: BoxFuture<'static, Attempted> = async move {
                let _permit = further;
                let opened = secrets::has_fields(&delivery.data).then(|| Delivery {
                    data: secrets::open_fields(&app, webhook.network, delivery.data.clone()),
                    ..delivery.clone()
                });
                let sent = opened.as_ref().unwrap_or(&delivery);
                let attempt = app.state::<Webhooks>().client.send(&webhook, sent, app.clock.now()).await;
                Attempted { delivery, attempt }
            }
            .boxed();
            // Its message is made as the network's computing.
            self.sending.spawn(in_current_tenant(request));
        }
    }

    /// Stores the outcomes of all attempts that have ended. False if the turn is over and the claim with it.
    async fn finish(&mut self, first: Attempted) -> Result<bool, Error> {
        let mut attempted = vec![first];
        while let Some(Ok(another)) = self.sending.try_join_next() {
            attempted.push(another);
        }
        for Attempted { delivery, attempt } in &attempted {
            let is_repeated = matches!(attempt.verdict, Verdict::Retry(_));
            self.queues.ended(delivery.subject, is_repeated);
            self.window = if is_repeated { self.window / 2 } else { self.window + 1 }.clamp(1, MAX_OF_WEBHOOK);
        }
        let is_sending = !self.sending.is_empty();
        let progress = Progress {
            is_sending,
            pause: self.pause,
            held: self.queues.held(),
            rest_at: (!is_sending && self.queues.is_empty()).then(|| (self.began_at, self.queues.cursor())),
        };
        let outcome = finish(self.app, &self.webhook, &attempted, progress).await?;
        (self.claimed, self.pause) = (outcome.claimed, outcome.pause);
        self.queues.set_newest(outcome.newest);
        match outcome.next {
            Next::Another => {}
            Next::NoOther => self.is_ending = true,
            Next::Over => return Ok(false),
        }
        Ok(true)
    }

    /// Ends the claim.
    async fn release(self) -> Result<(), Error> {
        let (db, network, id, now) = (&self.app.db, self.network(), &self.webhook.id, self.app.clock.now());
        if !self.is_ending && self.sending.is_empty() && self.queues.is_empty() {
            let rest_at = (self.claimed, self.queues.cursor());
            if queue::rest(db, network, id, rest_at, (self.began_at, now)).await? {
                return Ok(());
            }
        }
        store::release(db, network, id, (self.claimed, self.pause.unwrap_or(now))).await
    }
}
