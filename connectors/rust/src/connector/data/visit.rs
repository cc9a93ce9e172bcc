//! A player's visit to this server, and the sessions in which their data is written meanwhile: one after the other while the player is here.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, ReentrantMutex};
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};
use uuid::Uuid;

use super::saving::Waiting;
use super::{Data, DataUpdate, EndReason, guarded};
use crate::connector::deliveries::DeliveryFailure;
use crate::connector::session::is_passing;
use crate::model::{OpenedPlayerSession, PlayerSessionRequest, PlayerSessionState};
use crate::{HubError, RetryPolicy};

const DELAYS: RetryPolicy = RetryPolicy::delays(1, 250, 5_000);
/// Time between looks at who has a player's session after this server had it.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);
/// Time that the last save of the server before is waited for after an outage.
const LAST_SAVE: Duration = Duration::from_secs(5);
const PROBE_INTERVAL: Duration = Duration::from_millis(500);

pub(crate) struct Visit {
    pub(super) player: Uuid,
    name: String,
    /// Serializes calls of the plugin with what follows from them. A plugin's code may come back here.
    calls: ReentrantMutex<()>,
    pub(super) state: Mutex<State>,
    pub(super) wake: Notify,
    /// The visit is over, and all is saved.
    pub(super) over: CancellationToken,
}

#[derive(Default)]
#[allow(clippy::struct_excessive_bools, reason = "each becomes true by itself")]
pub(super) struct State {
    /// True while the player's data may be changed.
    is_open: bool,
    pub(super) fence: Option<i64>,
    has_left: bool,
    pub(super) is_closing: bool,
    pub(super) is_lost: bool,
    /// Highest fence that another server asked for.
    requested: i64,
    pub(super) current: BTreeMap<String, String>,
    pub(super) saved: BTreeMap<String, String>,
    pub(super) claims: Vec<String>,
    pub(super) number: u64,
    pub(super) flushes: u64,
    pub(super) flushed: u64,
    pub(super) waiting: Vec<Waiting>,
}

impl Visit {
    pub(super) fn new(player: Uuid, name: &str) -> Self {
        Self {
            player,
            name: name.to_owned(),
            calls: ReentrantMutex::new(()),
            state: Mutex::default(),
            wake: Notify::new(),
            over: CancellationToken::new(),
        }
    }

    /// Until the player has left and all is saved.
    pub(super) async fn run(&self, data: &Arc<Data>) {
        while let Some(opened) = self.open(data).await {
            let is_usable = self.apply(data, opened);
            self.save_until_closed(data).await;
            self.state.lock().fence = None;
            if !is_usable || !self.until_free(data).await {
                return;
            }
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.state.lock().is_open
    }

    pub(super) fn open_fence(&self) -> Option<i64> {
        let state = self.state.lock();
        state.fence.filter(|_| state.is_open)
    }

    pub(super) fn has_fence(&self, fence: i64) -> bool {
        self.state.lock().fence == Some(fence)
    }

    pub(super) fn get(&self, namespace: &str) -> Option<String> {
        let state = self.state.lock();
        state.current.get(namespace).filter(|_| state.is_open).cloned()
    }

    pub(super) fn put(&self, namespace: &str, text: &str) -> bool {
        let mut state = self.state.lock();
        if state.is_open {
            state.current.insert(namespace.to_owned(), text.to_owned());
        }
        state.is_open
    }

    fn has_left(&self) -> bool {
        self.state.lock().has_left
    }

    /// A new session; none if the player has left or the hub refuses it.
    async fn open(&self, data: &Data) -> Option<OpenedPlayerSession> {
        let include = data.namespaces.iter().map(|namespace| format!("data:{namespace}")).collect();
        let request = PlayerSessionRequest {
            server_id: data.server_id.clone(),
            username: Some(self.name.clone()),
            game_mode: data.game_mode.clone(),
            game_type: data.game_type.clone(),
            include: Some(include),
            ..PlayerSessionRequest::default()
        };
        let mut attempts = 0;
        while !self.has_left() {
            let error = match data.client.open_player_session(self.player, &request).await {
                Ok(opened) => return Some(opened),
                Err(error) => error,
            };
            if !error.is("unknown_server") && !is_passing(&error) {
                warn!("the session of player {} cannot be opened: {}", self.player, error.message());
                self.tell(data, EndReason::Refused);
                return None;
            }
            attempts += 1;
            if attempts == 1 && !error.is("unknown_server") {
                info!("the session of player {} cannot be opened yet: {}", self.player, error.message());
            }
            self.wait(error.retry_after().unwrap_or_else(|| DELAYS.delay(attempts))).await;
            if error.is_transient() {
                self.wait_for_last_save(data).await;
            }
        }
        None
    }

    /// After an outage the server before may have a last save to make, and is not asked for it before its stream is open.
    async fn wait_for_last_save(&self, data: &Data) {
        let mut deadline = None;
        while !self.has_left() && deadline.is_none_or(|deadline| Instant::now() < deadline) {
            match data.client.get_player_session(self.player).await {
                Ok(Some(session))
                    if session.state == PlayerSessionState::Open && session.server_id != data.server_id =>
                {
                    deadline.get_or_insert_with(|| Instant::now() + LAST_SAVE);
                }
                Err(error) if is_passing(&error) => {}
                _ => return,
            }
            self.wait(PROBE_INTERVAL).await;
        }
    }

    /// Hands the data to the game, once; false if it cannot take them.
    fn apply(&self, data: &Data, opened: OpenedPlayerSession) -> bool {
        let found = opened.profile.data.unwrap_or_default();
        let found: HashMap<String, String> =
            found.into_iter().filter_map(|(namespace, entry)| Some((namespace, entry?.data))).collect();
        if opened.taken_over {
            let server = opened.previous_server_id.as_deref().unwrap_or("another server");
            warn!("player {} was taken over from {server}: what it had not saved is missing", self.player);
        }
        let _calls = self.calls.lock();
        {
            let mut state = self.state.lock();
            state.begin(opened.fence, &found);
            if state.is_closing {
                return true;
            }
        }
        let Some(handler) = &data.handler else { return false };
        if let Err(panic) = guarded(|| handler.apply(self.player, &found)) {
            warn!("the data of player {} cannot be applied: {panic}", self.player);
            self.state.lock().is_closing = true;
            self.tell(data, EndReason::Refused);
            return false;
        }
        let is_open = {
            let mut state = self.state.lock();
            state.is_open = !state.has_left && !state.is_closing && !state.is_lost;
            state.is_open
        };
        if is_open {
            data.tell(DataUpdate::Opened(self.player));
        }
        true
    }

    /// Waits until no other server has the player, who has not left by the hub's account either. False if they have left.
    async fn until_free(&self, data: &Data) -> bool {
        while !self.has_left() {
            self.wait(CHECK_INTERVAL).await;
            let (Ok(session), Ok(profile)) = (
                data.client.get_player_session(self.player).await,
                data.client.get_player(self.player, data.game_mode.as_deref()).await,
            ) else {
                continue;
            };
            let is_elsewhere = session.is_some_and(|session| {
                session.state == PlayerSessionState::Open && session.server_id != data.server_id
            });
            let connection = profile.and_then(|profile| profile.connection);
            if !is_elsewhere && connection.is_some_and(|connection| connection.server_id == data.server_id) {
                return !self.has_left();
            }
        }
        false
    }

    /// Captures, to be saved soon, with a claim; false where the session is not open.
    pub(crate) fn capture(&self, data: &Data, claim: Option<&str>) -> bool {
        let _calls = self.calls.lock();
        if !self.is_open() {
            return false;
        }
        let Some(handler) = &data.handler else { return false };
        let captured = match guarded(|| handler.capture(self.player)) {
            Ok(captured) => captured,
            Err(panic) => {
                warn!("player {} cannot be captured: {panic}", self.player);
                return false;
            }
        };
        let mut state = self.state.lock();
        if !state.is_open {
            return false;
        }
        state.current.extend(captured);
        state.claims.extend(claim.map(str::to_owned));
        state.flushes += 1;
        self.wake.notify_one();
        true
    }

    /// Runs a plugin's code that changes the player, and captures the result in the same step: no save has the one without the claim.
    pub(crate) fn change(
        &self,
        data: &Data,
        claim: &str,
        change: impl FnOnce() -> Result<(), DeliveryFailure>,
    ) -> Result<(), DeliveryFailure> {
        let _calls = self.calls.lock();
        if !self.is_open() {
            return Err(DeliveryFailure::retry("The player's session is not open."));
        }
        change()?;
        if self.capture(data, Some(claim)) {
            Ok(())
        } else if self.is_open() {
            // The player has it, so it must not be made again.
            Err(DeliveryFailure::new("It was carried out, but the player cannot be captured."))
        } else {
            Err(DeliveryFailure::retry("The player's session is over."))
        }
    }

    /// Captures, and returns what is answered when all of it is saved.
    pub(super) fn save(&self, data: &Data) -> Option<oneshot::Receiver<Result<(), HubError>>> {
        if !self.capture(data, None) {
            return None;
        }
        let (sender, confirmed) = oneshot::channel();
        let mut state = self.state.lock();
        let flush = state.flushes;
        state.waiting.push(Waiting { flush, sender });
        // It may have been saved meanwhile.
        state.settle(None);
        Some(confirmed)
    }

    /// The player leaves.
    pub(super) fn leave(&self, data: &Data) {
        let _calls = self.calls.lock();
        self.capture(data, None);
        let mut state = self.state.lock();
        state.has_left = true;
        state.close();
        self.wake.notify_one();
    }

    /// Another server asks for the player.
    pub(super) fn requested(&self, data: &Data, fence: i64) {
        {
            let mut state = self.state.lock();
            state.requested = state.requested.max(fence);
            // The answer with this fence may be on its way; then it is closed at once.
            if state.fence != Some(fence) || state.is_closing {
                return;
            }
        }
        let _calls = self.calls.lock();
        let was_open = self.capture(data, None) || self.is_open();
        self.state.lock().close();
        self.wake.notify_one();
        if was_open {
            self.tell(data, EndReason::Requested);
        }
    }

    /// The session is over, and so is the right to save.
    pub(super) fn lose(&self, data: &Data) {
        let was_open = {
            let mut state = self.state.lock();
            if state.is_lost {
                return;
            }
            state.is_lost = true;
            std::mem::take(&mut state.is_open)
        };
        warn!("a session of player {} is lost; what was not saved is dropped", self.player);
        self.wake.notify_one();
        if was_open {
            self.tell(data, EndReason::Lost);
        }
    }

    pub(super) fn tell(&self, data: &Data, reason: EndReason) {
        let _calls = self.calls.lock();
        if self.has_left() {
            return;
        }
        if let Some(handler) = &data.handler
            && let Err(panic) = guarded(|| handler.ended(self.player, reason))
        {
            warn!("the end of a session cannot be told: {panic}");
        }
    }

    /// Until something happens, or the time is over.
    async fn wait(&self, time: Duration) {
        let _ = timeout(time, self.wake.notified()).await;
    }
}

impl State {
    /// A new session.
    fn begin(&mut self, fence: i64, found: &HashMap<String, String>) {
        let stored: BTreeMap<_, _> = found.iter().map(|(name, text)| (name.clone(), text.clone())).collect();
        self.fence = Some(fence);
        // Asked for before its answer was here: nothing is applied.
        self.is_closing = self.has_left || self.requested >= fence;
        self.is_lost = false;
        self.current.clone_from(&stored);
        self.saved = stored;
        self.claims.clear();
        (self.number, self.flushes, self.flushed) = (0, 0, 0);
    }

    fn close(&mut self) {
        self.is_open = false;
        self.is_closing = true;
    }
}
