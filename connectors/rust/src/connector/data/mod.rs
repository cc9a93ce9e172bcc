//! Data of players that moves with them from server to server.

mod link;
mod saving;
mod visit;

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;
use tracing::warn;
use uuid::Uuid;

use self::link::Link;
pub(super) use self::visit::Visit;
use super::persist::persist;
use crate::model::PlayerSessionSave;
use crate::{HubClient, HubError, RetryPolicy};

/// Time for closing a session that nobody has data of.
const CLOSE_PATIENCE: Duration = Duration::from_secs(10);

/// Reason why a player's data may no longer be changed here, though the player has not left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndReason {
    /// Another server has asked for the player; what was captured is saved.
    Requested,
    /// Another server has the player, or a person restored a snapshot: forget everything.
    Lost,
    /// The hub refuses to open the session or to save.
    Refused,
}

/// Reads and writes players in the game, so that their data moves with them. The methods are called on any thread, for a player one
/// after the other, and must not wait long. One that panics stops nothing else.
///
/// [`HubConnector::player_left`](super::HubConnector::player_left) and [`HubConnector::stop`](super::HubConnector::stop) wait for a
/// call that is under way and make one themselves. So players may be served by a lock, which their callers do not hold; or by a message to the
/// game's main loop, if another thread calls these two.
pub trait PlayerDataHandler: Send + Sync + 'static {
    /// Gives a player what is stored: JSON as text by namespace, without those that were never written. Once for each session. The
    /// player is to be locked from the join to here: no moves of items, drops, damage, commands.
    fn apply(&self, player: Uuid, data: &HashMap<String, String>);

    /// Data of a player now, JSON as text by namespace, all that belongs together: at each autosave, when another server asks for the
    /// player, in [`HubConnector::player_left`](super::HubConnector::player_left), and in [`HubConnector::stop`](super::HubConnector::stop).
    /// Drop first what the player holds on the cursor.
    fn capture(&self, player: Uuid) -> HashMap<String, String>;

    /// A player who is still here may no longer be changed: lock them, until `apply` comes again or they leave.
    fn ended(&self, player: Uuid, reason: EndReason) {
        let _ = (player, reason);
    }
}

/// News of sessions for deliveries.
pub(super) enum DataUpdate {
    /// A player's data was applied.
    Opened(Uuid),
    /// Claims were completed by a save.
    Saved(Vec<String>),
    /// Claims are to be completed by themselves.
    Separate(Vec<String>),
    /// Claims whose effects are gone.
    Lost(Vec<String>),
    /// Claims whose effects the players have, though the hub refuses to save them.
    Refused(Vec<String>),
    /// All updates before this one were followed.
    Followed(oneshot::Sender<()>),
}

/// The settings of [`PlayerDataStore`].
pub(super) struct DataOptions {
    pub(super) handler: Option<Arc<dyn PlayerDataHandler>>,
    pub(super) namespaces: Vec<String>,
    pub(super) autosave: Duration,
}

/// Data of the players on this server, in sessions: the right to write it, which one server has at a time. A session is opened when a
/// player joins, and closed with a last save when they leave or another server asks for them. One that is lost is never saved. While
/// the hub is away saves wait and are repeated; none is made twice. A clone is the same one.
#[derive(Clone)]
pub struct PlayerDataStore {
    shared: Arc<Data>,
}

impl fmt::Debug for PlayerDataStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlayerDataStore").field("server_id", &self.shared.server_id).finish_non_exhaustive()
    }
}

/// Shared parts of a store.
pub(super) struct Data {
    client: HubClient,
    server_id: String,
    handler: Option<Arc<dyn PlayerDataHandler>>,
    namespaces: Vec<String>,
    autosave: Duration,
    game_mode: Option<String>,
    game_type: Option<String>,
    /// Visits of those who are here.
    visits: Mutex<HashMap<Uuid, Arc<Visit>>>,
    /// The latest visit of each player, until it is over.
    tails: Mutex<HashMap<Uuid, Arc<Visit>>>,
    link: Link,
    updates: mpsc::UnboundedSender<DataUpdate>,
    runtime: Handle,
    stopped: CancellationToken,
}

impl PlayerDataStore {
    pub(super) fn new(
        client: &HubClient,
        server_id: &str,
        options: DataOptions,
        (game_mode, game_type): (Option<String>, Option<String>),
        updates: mpsc::UnboundedSender<DataUpdate>,
        stopped: CancellationToken,
    ) -> Self {
        let DataOptions { handler, namespaces, autosave } = options;
        let shared = Data {
            // Repeats are made here, where their order is known.
            client: client.with_retries(RetryPolicy::NONE),
            server_id: server_id.to_owned(),
            handler,
            namespaces,
            autosave,
            game_mode,
            game_type,
            visits: Mutex::default(),
            tails: Mutex::default(),
            link: Link::default(),
            updates,
            runtime: Handle::current(),
            stopped,
        };
        Self { shared: Arc::new(shared) }
    }

    /// True from when a player's data was applied until they leave, or another server has them or asks for them.
    pub fn is_open(&self, player: Uuid) -> bool {
        self.visit(player).is_some_and(|visit| visit.is_open())
    }

    /// The fence of a player's open session, for writes of your own.
    pub fn fence(&self, player: Uuid) -> Option<i64> {
        self.visit(player)?.open_fence()
    }

    /// Content of a namespace of a player, by the last capture, `put` or read; none where there is nothing or no session.
    pub fn get(&self, player: Uuid, namespace: &str) -> Option<String> {
        self.visit(player)?.get(namespace)
    }

    /// Sets what a namespace of a player holds: JSON as text. It is saved with the next save. For small documents of a plugin that captures
    /// no such namespace.
    ///
    /// # Errors
    /// `no_session` unless the session is open.
    pub fn put(&self, player: Uuid, namespace: &str, data: &str) -> Result<(), HubError> {
        let is_put = self.visit(player).is_some_and(|visit| visit.put(namespace, data));
        if is_put { Ok(()) } else { Err(no_session()) }
    }

    /// Saves a player now; returns when the hub has confirmed it.
    ///
    /// # Errors
    /// `no_session`, `stale_session`, or `not_saved` where the hub refuses the data.
    pub async fn save(&self, player: Uuid) -> Result<(), HubError> {
        let visit = self.visit(player).ok_or_else(no_session)?;
        let confirmed = visit.save(&self.shared).ok_or_else(no_session)?;
        confirmed.await.unwrap_or_else(|_| Err(stale_session()))
    }

    /// True if sessions are opened: there is a handler, and a namespace.
    pub(super) fn is_enabled(&self) -> bool {
        self.shared.handler.is_some() && !self.shared.namespaces.is_empty()
    }

    pub(super) fn visit(&self, player: Uuid) -> Option<Arc<Visit>> {
        self.shared.visits.lock().get(&player).cloned()
    }

    pub(super) fn data(&self) -> &Data {
        &self.shared
    }

    /// Opens a session for a player.
    pub(super) fn joined(&self, player: Uuid, name: &str) {
        if !self.is_enabled() {
            return;
        }
        let visit = Arc::new(Visit::new(player, name));
        {
            let mut visits = self.shared.visits.lock();
            if visits.contains_key(&player) {
                return;
            }
            visits.insert(player, Arc::clone(&visit));
        }
        let before = self.shared.tails.lock().insert(player, Arc::clone(&visit));
        let shared = Arc::clone(&self.shared);
        self.shared.spawn(async move {
            // The last save of the visit before is part of what this one reads.
            if let Some(before) = before {
                before.over.cancelled().await;
            }
            visit.run(&shared).await;
            visit.over.cancel();
            let mut tails = shared.tails.lock();
            if tails.get(&player).is_some_and(|tail| Arc::ptr_eq(tail, &visit)) {
                tails.remove(&player);
            }
        });
    }

    /// Captures and closes.
    pub(super) fn left(&self, player: Uuid) {
        let visit = self.shared.visits.lock().remove(&player);
        if let Some(visit) = visit {
            visit.leave(&self.shared);
        }
    }

    /// The server stops: captures all.
    pub(super) fn leave_all(&self) {
        let players: Vec<Uuid> = self.shared.visits.lock().keys().copied().collect();
        for player in players {
            self.left(player);
        }
    }

    /// Waits for the last saves.
    pub(super) async fn finish(&self, until: Instant) {
        let tails: Vec<_> = self.shared.tails.lock().values().cloned().collect();
        let mut late = 0;
        for visit in tails {
            if timeout_at(until, visit.over.cancelled()).await.is_err() {
                late += 1;
            }
        }
        if late > 0 {
            warn!("the data of {late} players could not be saved before the server stopped");
        }
    }

    /// Waits until what became of sessions so far has been followed.
    pub(super) async fn followed(&self) {
        let (sender, followed) = oneshot::channel();
        self.shared.tell(DataUpdate::Followed(sender));
        // It is dropped if the connector has stopped.
        let _ = followed.await;
    }

    /// Another server asks for a player.
    pub(super) fn requested(&self, player: Uuid, fence: i64) {
        if !self.is_enabled() {
            return;
        }
        if let Some(visit) = self.visit(player) {
            return visit.requested(&self.shared, fence);
        }
        if self.shared.tails.lock().contains_key(&player) {
            return;
        }
        // Opened by a call whose answer was lost, or by a process before this one: nobody has anything to save.
        let shared = Arc::clone(&self.shared);
        self.shared.spawn(async move {
            let save = PlayerSessionSave { close: Some(true), ..PlayerSessionSave::default() };
            let close = || shared.client.save_player_session(player, fence, &save);
            if let Err(error) = persist(Some(CLOSE_PATIENCE), close).await {
                warn!("a session of player {player} stays open: {}", error.message());
            }
        });
    }

    /// A person ended a session.
    pub(super) fn session_ended(&self, player: Uuid, fence: i64) {
        if let Some(visit) = self.visit(player).filter(|visit| visit.has_fence(fence)) {
            visit.lose(&self.shared);
        }
    }

    /// Saves everybody from time to time, one after the other, so that the hub does not get all at once.
    pub(super) async fn save_all(&self) {
        let interval = self.shared.autosave;
        if !self.is_enabled() || interval.is_zero() {
            return;
        }
        loop {
            let visits: Vec<_> = self.shared.visits.lock().values().cloned().collect();
            let pause = interval / (u32::try_from(visits.len()).unwrap_or(u32::MAX).saturating_add(1));
            sleep(pause).await;
            for visit in visits {
                sleep(pause).await;
                visit.capture(&self.shared, None);
            }
        }
    }
}

impl Data {
    /// Runs this until the connector has stopped.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(self.stopped.clone().run_until_cancelled_owned(task));
    }

    fn tell(&self, update: DataUpdate) {
        // Sending fails if the connector has stopped.
        let _ = self.updates.send(update);
    }
}

/// Result of a plugin's code, or its panic as a sentence.
pub(super) fn guarded<T>(code: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(code)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it panicked".to_owned())
    })
}

fn no_session() -> HubError {
    HubError::Connector { code: "no_session", message: "The player's session is not open here.".to_owned() }
}

fn stale_session() -> HubError {
    HubError::Connector { code: "stale_session", message: "The player's session is over.".to_owned() }
}
