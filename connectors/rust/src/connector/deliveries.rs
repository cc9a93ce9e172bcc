//! Claims, runs and settles the deliveries of the players who are here.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::task::TaskTracker;
use tracing::warn;
use uuid::Uuid;

use super::Shared;
use super::data::{DataUpdate, guarded};
use super::persist::persist;
use crate::model::{Delivery, DeliveryOnLost};
use crate::{HubError, retry};

const CLAIM_TTL: Duration = Duration::from_mins(1);
/// Time of a claim that is left for completing it.
const MARGIN: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_mins(1);
/// Maximum time between two attempts at a delivery.
const MOST_PAUSE: Duration = Duration::from_secs(30);
const SIDE_BY_SIDE: usize = 16;
const REMEMBERED: usize = 1_000;
/// The end of a claim is told again for so long: past its end the answer says what has become of it.
const PATIENCE: Duration = Duration::from_mins(2);
/// Maximum length of a reason.
const REASON: usize = 256;

/// Outcome of a delivery that cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryFailure {
    /// Reason, for the owner and the shop.
    pub reason: String,
    /// True if it is to be offered again, up to five attempts in all; else it is FAILED.
    pub retry: bool,
}

impl DeliveryFailure {
    /// It cannot be done: FAILED.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), retry: false }
    }

    /// It cannot be done now, such as with a full inventory: offered again.
    pub fn retry(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), retry: true }
    }
}

impl fmt::Display for DeliveryFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for DeliveryFailure {}

type Outcome = Result<(), DeliveryFailure>;

/// Code that carries out a kind of deliveries.
pub(super) enum DeliveryHandler {
    Any(Box<dyn Fn(Delivery) -> BoxFuture<'static, Outcome> + Send + Sync>),
    /// Its effect is part of the player's captured data.
    Data(Box<dyn Fn(&Delivery) -> Outcome + Send + Sync>),
}

impl fmt::Debug for DeliveryHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Self::Data(_)) { "Data" } else { "Any" })
    }
}

pub(super) struct Deliveries {
    kinds: HashMap<String, DeliveryHandler>,
    running: Mutex<HashSet<i64>>,
    /// Claims that the next save of their player completes.
    saving: Mutex<HashMap<String, Claim>>,
    /// Deliveries that are offered again, though their effects were saved after their claims were over.
    carried_out: Mutex<VecDeque<i64>>,
    slots: Semaphore,
    /// Deliveries, and ends of claims, that are under way.
    work: TaskTracker,
}

#[derive(Clone)]
struct Claim {
    delivery: Delivery,
    token: String,
    good_until: Instant,
}

impl Deliveries {
    pub(super) fn new(kinds: HashMap<String, DeliveryHandler>) -> Self {
        let (running, saving, carried_out) = (Mutex::default(), Mutex::default(), Mutex::default());
        let (slots, work) = (Semaphore::new(SIDE_BY_SIDE), TaskTracker::new());
        Self { kinds, running, saving, carried_out, slots, work }
    }

    fn is_saving(&self, id: i64) -> bool {
        self.saving.lock().values().any(|claim| claim.delivery.delivery_id == id)
    }

    /// Notes a delivery that is offered again though the player has it.
    fn note_carried_out(&self, id: i64) {
        let mut carried_out = self.carried_out.lock();
        if carried_out.len() >= REMEMBERED {
            carried_out.pop_front();
        }
        carried_out.push_back(id);
    }

    /// True, once, for a delivery that was noted.
    fn was_carried_out(&self, id: i64) -> bool {
        let mut carried_out = self.carried_out.lock();
        let at = carried_out.iter().position(|each| *each == id);
        at.is_some_and(|at| carried_out.remove(at).is_some())
    }

    fn is_used(&self) -> bool {
        !self.kinds.is_empty()
    }
}

impl Shared {
    /// Looks for deliveries whose event was missed, until the connector stops.
    pub(super) async fn poll_deliveries(self: &Arc<Self>) {
        loop {
            sleep(POLL_INTERVAL).await;
            self.look_for_deliveries(None);
        }
    }

    /// Runs this until the connector has stopped, which waits for it for a while.
    fn spawn_delivery(&self, work: impl Future<Output = ()> + Send + 'static) {
        let work = self.stopped.clone().run_until_cancelled_owned(work);
        self.runtime.spawn(self.deliveries.work.track_future(work));
    }

    /// Waits for the deliveries that have begun when the connector stops.
    pub(super) async fn finish_deliveries(&self, until: Instant) {
        let finished = async {
            self.player_data.followed().await;
            self.deliveries.work.close();
            self.deliveries.work.wait().await;
        };
        if timeout_at(until, finished).await.is_err() && !self.deliveries.work.is_empty() {
            warn!("not all deliveries have ended before the server stopped");
        }
    }

    /// Follows what becomes of players' sessions.
    pub(super) async fn follow_data(self: &Arc<Self>, mut updates: mpsc::UnboundedReceiver<DataUpdate>) {
        while let Some(update) = updates.recv().await {
            let (claims, failure) = match update {
                DataUpdate::Opened(player) => {
                    self.look_for_deliveries(Some(player));
                    continue;
                }
                DataUpdate::Saved(claims) => {
                    self.deliveries.saving.lock().retain(|claim, _| !claims.contains(claim));
                    continue;
                }
                DataUpdate::Followed(sender) => {
                    // Nobody may wait any more.
                    let _ = sender.send(());
                    continue;
                }
                DataUpdate::Separate(claims) => (claims, None),
                DataUpdate::Lost(claims) => (claims, Some(DeliveryFailure::retry("The player's session was lost."))),
                DataUpdate::Refused(claims) => {
                    let reason = "It was carried out, but the hub refused to save the player.";
                    (claims, Some(DeliveryFailure::new(reason)))
                }
            };
            for name in claims {
                let claim = self.deliveries.saving.lock().get(&name).cloned();
                let Some(claim) = claim else { continue };
                if failure.is_some() {
                    self.deliveries.saving.lock().remove(&name);
                }
                let (shared, failure) = (Arc::clone(self), failure.clone());
                self.spawn_delivery(async move {
                    match failure {
                        None => shared.complete_saved(&claim).await,
                        Some(failure) => shared.fail(&claim, &failure).await,
                    }
                });
            }
        }
    }

    /// Asks the hub what can be claimed now.
    pub(super) fn look_for_deliveries(self: &Arc<Self>, player: Option<Uuid>) {
        if !self.deliveries.is_used() || self.stopping.is_cancelled() {
            return;
        }
        let shared = Arc::clone(self);
        self.spawn(async move {
            let list = || shared.client.list_ready_deliveries(&shared.info.server_id, player);
            match persist(Some(POLL_INTERVAL), list).await {
                Ok(ready) => {
                    for delivery in ready.items {
                        if let Some(player) = delivery.player_uuid {
                            shared.delivery_ready(delivery.delivery_id, player, &delivery.kind);
                        }
                    }
                }
                Err(error) => warn!("deliveries cannot be read: {}", error.message()),
            }
        });
    }

    /// A delivery can be claimed.
    pub(super) fn delivery_ready(self: &Arc<Self>, id: i64, player: Uuid, kind: &str) {
        let Some(handler) = self.deliveries.kinds.get(kind).filter(|_| self.is_online(player)) else { return };
        // It comes again when the session is open.
        if matches!(handler, DeliveryHandler::Data(_)) && !self.player_data.is_open(player) {
            return;
        }
        // Its claim is over, and its effect is about to be saved.
        if self.deliveries.is_saving(id) {
            return;
        }
        if self.stopping.is_cancelled() || !self.deliveries.running.lock().insert(id) {
            return;
        }
        let (shared, kind) = (Arc::clone(self), kind.to_owned());
        self.spawn_delivery(async move {
            let attempts = shared.deliver(id, player, &kind).await;
            if let Some(attempts) = attempts {
                // A full inventory is not emptied at once.
                let pause = sleep(Duration::from_secs(1 << attempts.clamp(0, 10)).min(MOST_PAUSE));
                shared.stopping.run_until_cancelled(pause).await;
            }
            shared.deliveries.running.lock().remove(&id);
            if attempts.is_some() {
                shared.look_for_deliveries(Some(player));
            }
        });
    }

    /// Returns the number of attempts so far, if it is to be tried again.
    async fn deliver(self: &Arc<Self>, id: i64, player: Uuid, kind: &str) -> Option<i64> {
        // It is never closed.
        let _slot = self.deliveries.slots.acquire().await.ok()?;
        if self.stopping.is_cancelled() {
            return None;
        }
        let claim = match self.claim(id).await {
            Ok(claim) => claim?,
            Err(error) => {
                warn!("delivery {id} cannot be claimed: {}", error.message());
                return None;
            }
        };
        if self.deliveries.was_carried_out(id) {
            self.complete_saved(&claim).await;
            return None;
        }
        let failure = match self.carry_out_delivery(&claim, player, kind).await {
            Ok(()) => return None,
            Err(failure) => failure,
        };
        warn!("delivery {id} is not carried out: {failure}");
        self.fail(&claim, &failure).await;
        failure.retry.then_some(claim.delivery.attempts)
    }

    async fn claim(&self, id: i64) -> Result<Option<Claim>, HubError> {
        // From the first attempt: the hub may have carried that out.
        let good_until = Instant::now() + CLAIM_TTL.saturating_sub(MARGIN);
        let key = retry::new_key();
        let claim = || self.client.claim_delivery_once(id, &self.info.server_id, &key);
        match persist(Some(CLAIM_TTL), claim).await {
            Ok(claimed) => Ok(Some(Claim { delivery: claimed.delivery, token: claimed.claim, good_until })),
            Err(error) if matches!(error.code(), "claimed" | "settled" | "not_ready") => Ok(None),
            // The hub was killed between the claim and its answer: the claim is nobody's, and runs out.
            Err(error) if error.is("answer_not_kept") => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn carry_out_delivery(
        self: &Arc<Self>,
        claim: &Claim,
        player: Uuid,
        kind: &str,
    ) -> Result<(), DeliveryFailure> {
        if self.stopping.is_cancelled() {
            return Err(DeliveryFailure::retry("The server stops."));
        }
        if !self.is_online(player) {
            return Err(DeliveryFailure::retry("The player has left."));
        }
        if Instant::now() > claim.good_until {
            return Err(DeliveryFailure::retry("The server did not get to it in time."));
        }
        match self.deliveries.kinds.get(kind) {
            Some(DeliveryHandler::Any(handler)) => {
                let work = guarded(|| handler(claim.delivery.clone())).map_err(DeliveryFailure::retry)?;
                let done = tokio::spawn(work).await;
                done.unwrap_or_else(|panic| Err(DeliveryFailure::retry(format!("The handler failed: {panic}"))))?;
                self.complete(claim).await;
                Ok(())
            }
            Some(DeliveryHandler::Data(handler)) => self.deliver_data(claim, player, handler),
            None => Err(DeliveryFailure::retry("The server knows no such kind.")),
        }
    }

    /// Changes the player and captures them in one step; their next save completes the claim.
    fn deliver_data(
        &self,
        claim: &Claim,
        player: Uuid,
        handler: &(dyn Fn(&Delivery) -> Result<(), DeliveryFailure> + Send + Sync),
    ) -> Result<(), DeliveryFailure> {
        let saving = &self.deliveries.saving;
        saving.lock().insert(claim.token.clone(), claim.clone());
        let change = || guarded(|| handler(&claim.delivery)).map_err(DeliveryFailure::retry).flatten();
        let outcome = match self.player_data.visit(player) {
            Some(visit) => visit.change(self.player_data.data(), &claim.token, change),
            None => Err(DeliveryFailure::retry("The player's session is not open.")),
        };
        if outcome.is_err() {
            saving.lock().remove(&claim.token);
        }
        outcome
    }

    /// Completes a delivery; false if that is not answered, or its claim is over.
    async fn complete(&self, claim: &Claim) -> bool {
        let id = claim.delivery.delivery_id;
        let complete = || self.client.complete_delivery(id, &claim.token);
        match persist(Some(PATIENCE), complete).await {
            Ok(_) => return true,
            Err(error) if error.is("stale_claim") => {
                warn!("delivery {id} was carried out too late: its claim is over");
            }
            Err(error) => warn!("delivery {id} cannot be completed: {}", error.message()),
        }
        false
    }

    /// Completes a delivery whose effect is stored: now, or when it is offered again.
    async fn complete_saved(self: &Arc<Self>, claim: &Claim) {
        let is_completed = self.complete(claim).await;
        if !is_completed && claim.delivery.on_lost == DeliveryOnLost::Retry {
            self.deliveries.note_carried_out(claim.delivery.delivery_id);
        }
        self.deliveries.saving.lock().remove(&claim.token);
        if !is_completed {
            self.look_for_deliveries(claim.delivery.player_uuid);
        }
    }

    async fn fail(&self, claim: &Claim, failure: &DeliveryFailure) {
        let id = claim.delivery.delivery_id;
        let reason: String = failure.reason.chars().take(REASON).collect();
        let fail = || self.client.fail_delivery(id, &claim.token, &reason, failure.retry);
        match persist(Some(PATIENCE), fail).await {
            Err(error) if !error.is("stale_claim") => {
                warn!("delivery {id} cannot be given back: {}", error.message());
            }
            _ => {}
        }
    }
}
