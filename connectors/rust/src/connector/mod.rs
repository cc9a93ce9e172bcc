//! The connector: keeps one server connected with its hub. What it does while the hub is away is in `docs/connectors/outages.md`.

mod clock;
mod config;
mod data;
mod deliveries;
mod events;
mod game;
mod join;
mod lines;
mod localization;
mod options;
mod outbox;
mod permissions;
mod persist;
mod punishments;
mod refresh;
mod session;
mod transfers;
mod verifier;

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::{broadcast, mpsc};
use tokio::time::{Instant, interval};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};
use uuid::Uuid;

use crate::model::{
    ChatMessageInput, OpenedWorld, Punishment, ServerRegistration, Ticket, TicketRequest, TransferOutcome, WorldRequest,
};
use crate::{HubClient, HubError, HubEvent};

use self::clock::HubClock;
pub use self::config::CachedConfig;
use self::config::ConfigSource;
use self::data::DataUpdate;
pub use self::data::{EndReason, PlayerDataHandler, PlayerDataStore};
use self::deliveries::Deliveries;
pub use self::deliveries::DeliveryFailure;
pub use self::game::GameServer;
use self::game::GameTask;
pub use self::join::JoinDecision;
pub use self::lines::Place;
use self::lines::WaitingLines;
pub use self::localization::LocalizationCache;
pub use self::options::{ConnectorOptions, ServerState};
use self::outbox::ChangeKind;
pub use self::permissions::PermissionCache;
use self::persist::persist;
pub use self::punishments::PunishmentCache;
use self::refresh::RefreshQueue;
use self::session::Session;
pub use self::verifier::{CommandRefusal, TransferVerifier};

const TICK: Duration = Duration::from_secs(5);
const STOP_PATIENCE: Duration = Duration::from_secs(3);
/// Time for the last saves of players, and for deliveries.
const SAVE_PATIENCE: Duration = Duration::from_secs(5);
/// Events that a listener may lag behind.
const EVENT_CAPACITY: usize = 1_024;

/// Connects a game server or proxy with its hub: registers it, keeps it online, reports its players, follows the event stream, and keeps
/// in memory what the game asks for all the time. One for each server, for as long as it runs; a clone is the same one. It works
/// until [`HubConnector::stop`].
///
/// - **Threads**: methods that are not `async` return at once and may be called from any thread, also outside of the runtime. None that the
///   game's main loop needs waits for the network.
/// - **Outages**: while the hub is away the connector keeps trying, with growing and random delays. Joins, leaves and changes of worlds
///   wait in memory, in order, until the hub has confirmed them. The event stream resumes where it ended; where that is not possible everything
///   that is kept is read again. Bans and mutes stay in force ([`PunishmentCache`]); permissions, messages and config stay as they were.
#[derive(Clone)]
pub struct HubConnector {
    shared: Arc<Shared>,
}

impl fmt::Debug for HubConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HubConnector").field("server_id", &self.shared.info.server_id).finish_non_exhaustive()
    }
}

/// State of a connector.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectorStatus {
    /// True if the server is registered and its requests succeed.
    pub registered: bool,
    /// True if the event stream is open.
    pub stream_open: bool,
    /// Joins, leaves and changes of worlds that the hub has not confirmed.
    pub pending_changes: usize,
    /// Last error as a sentence; none while there is none.
    pub last_error: Option<String>,
}

impl ConnectorStatus {
    /// True if the server is registered and its event stream is open.
    pub fn is_connected(&self) -> bool {
        self.registered && self.stream_open && self.last_error.is_none()
    }
}

/// Shared state of a connector's tasks.
struct Shared {
    client: HubClient,
    info: ServerRegistration,
    options: JoinOptions,
    clock: Arc<HubClock>,
    verifier: TransferVerifier,
    online: Mutex<HashSet<Uuid>>,
    session: Session,
    stream: Mutex<StreamHealth>,
    punishments: PunishmentCache,
    permissions: PermissionCache,
    localization: LocalizationCache,
    configs: Mutex<Vec<Arc<ConfigSource>>>,
    player_data: PlayerDataStore,
    deliveries: Deliveries,
    lines: WaitingLines,
    punishment_refresh: RefreshQueue,
    permission_refresh: RefreshQueue,
    language_refresh: RefreshQueue,
    events: broadcast::Sender<HubEvent>,
    game: mpsc::UnboundedSender<GameTask>,
    runtime: Handle,
    /// The server is going offline: no more events, and no more deliveries.
    stopping: CancellationToken,
    /// The server is offline: nothing more at all.
    stopped: CancellationToken,
}

struct JoinOptions {
    include: Vec<String>,
    game_mode: Option<String>,
    game_type: Option<String>,
    allow_unverified: bool,
    trust_clean: Duration,
    join_timeout: Duration,
}

struct StreamHealth {
    is_open: bool,
    lost_at: Instant,
    error: Option<String>,
}

impl StreamHealth {
    fn opened(&mut self) {
        (self.is_open, self.error) = (true, None);
    }

    fn lost(&mut self, error: String) {
        if self.is_open {
            self.lost_at = Instant::now();
        }
        (self.is_open, self.error) = (false, Some(error));
    }

    fn was_open_within(&self, duration: Duration) -> bool {
        self.is_open || self.lost_at.elapsed() < duration
    }
}

impl Shared {
    /// Runs this until the connector has stopped.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(self.stopped.clone().run_until_cancelled_owned(task));
    }

    fn is_online(&self, player: Uuid) -> bool {
        self.online.lock().contains(&player)
    }

    fn online(&self) -> Vec<Uuid> {
        self.online.lock().iter().copied().collect()
    }

    fn ask_game(&self, task: GameTask) {
        // Sending fails if the connector has stopped: the task is dropped.
        let _ = self.game.send(task);
    }

    fn kick(&self, player: Uuid, reason: Punishment) {
        if self.is_online(player) {
            self.ask_game(GameTask::Kick(player, reason));
        }
    }

    /// Refreshes expired permissions, which no event announces. Forgets what is no longer needed.
    async fn tidy(&self) {
        let mut ticks = interval(TICK);
        loop {
            ticks.tick().await;
            let now = self.clock.now();
            for player in self.online() {
                if self.permissions.has_expired(player, now) {
                    self.permission_refresh.add(player);
                }
            }
            let online = self.online.lock().clone();
            let is_online = |player: &Uuid| online.contains(player);
            self.permissions.prune(is_online);
            self.punishments.prune(is_online);
            self.localization.prune(is_online);
        }
    }
}

impl HubConnector {
    fn start(options: ConnectorOptions, game: impl GameServer) -> Self {
        let ConnectorOptions { client, info, include, game_mode, game_type, .. } = options;
        let ConnectorOptions { allow_unverified, trust_clean, join_timeout, .. } = options;
        let clock = Arc::new(HubClock::default());
        let (sender, tasks) = mpsc::unbounded_channel();
        let (updates, data_updates) = mpsc::unbounded_channel();
        let stopped = CancellationToken::new();
        let mode = (game_mode.clone(), game_type.clone());
        let player_data = PlayerDataStore::new(&client, &info.server_id, options.data, mode, updates, stopped.clone());
        let has_messages = !options.messages.is_empty();
        let (namespaces, messages) = (options.namespaces, options.messages);
        let shared = Arc::new(Shared {
            options: JoinOptions { include, game_mode, game_type, allow_unverified, trust_clean, join_timeout },
            clock: Arc::clone(&clock),
            verifier: TransferVerifier::default(),
            online: Mutex::default(),
            session: Session::new(&client, info.clone(), options.state),
            stream: Mutex::new(StreamHealth { is_open: false, lost_at: Instant::now(), error: None }),
            punishments: PunishmentCache::new(clock),
            permissions: PermissionCache::new(client.clone(), options.permission_context),
            localization: LocalizationCache::new(client.clone(), namespaces, messages, options.default_locale),
            configs: Mutex::default(),
            player_data,
            deliveries: Deliveries::new(options.deliveries),
            lines: WaitingLines::default(),
            punishment_refresh: RefreshQueue::default(),
            permission_refresh: RefreshQueue::default(),
            language_refresh: RefreshQueue::default(),
            events: broadcast::Sender::new(EVENT_CAPACITY),
            game: sender,
            runtime: Handle::current(),
            stopping: CancellationToken::new(),
            stopped,
            client,
            info,
        });
        shared.start(Arc::new(game), tasks, data_updates, &options.events, has_messages);
        Self { shared }
    }

    /// Saves players and ends deliveries, for up to five seconds, tells the hub what is still waiting, for up to three, takes the server
    /// offline and ends the connector. Takes up to thirteen seconds while the hub is away. Hold no lock meanwhile that the
    /// [`PlayerDataHandler`] takes.
    pub async fn stop(&self) {
        self.shared.stopping.cancel();
        // A server that is offline has no sessions.
        let until = Instant::now() + SAVE_PATIENCE;
        self.shared.player_data.leave_all();
        self.shared.player_data.finish(until).await;
        self.shared.finish_deliveries(until).await;
        self.shared.session.stop(STOP_PATIENCE);
        self.shared.stopped.cancelled().await;
    }

    /// Returns the connector's state.
    pub fn status(&self) -> ConnectorStatus {
        let session = self.shared.session.status();
        let stream = self.shared.stream.lock();
        ConnectorStatus {
            registered: session.is_registered,
            stream_open: stream.is_open,
            pending_changes: session.pending_changes,
            last_error: session.last_error.or_else(|| stream.error.clone()),
        }
    }

    /// The client, for calls that the connector does not make itself.
    pub fn client(&self) -> &HubClient {
        &self.shared.client
    }

    /// Asks whether a player may join, and loads them; call it before they do. With their address bans of addresses match. Answers within
    /// [`ConnectorOptions::join_timeout`], also while the hub is away: then from what is known, and a player of whom nothing current is known is
    /// refused, unless [`ConnectorOptions::allow_unverified`] was set.
    pub async fn check_join(&self, player: Uuid, name: &str, ip: Option<&str>) -> JoinDecision {
        self.shared.check_join(player, name, ip).await
    }

    /// A player is on this server now. Tell of everybody who is online already when the connector starts, too.
    pub fn player_joined(&self, player: Uuid, name: &str) {
        self.shared.online.lock().insert(player);
        self.shared.player_data.joined(player, name);
        self.shared.session.add(player, ChangeKind::join(name));
        self.shared.joined(player);
    }

    /// A player went to another world of this server.
    pub fn player_changed_world(&self, player: Uuid, world_id: &str, previous_world_id: Option<&str>) {
        let (world, previous) = (world_id.to_owned(), previous_world_id.map(str::to_owned));
        self.shared.session.add(player, ChangeKind::World { world, previous });
    }

    /// A player is no longer on this server. Their data is captured at once, so call it while the game still has them. Hold no lock that
    /// the [`PlayerDataHandler`] takes, nor call it where that waits for this thread: a call that is under way is waited for.
    pub fn player_left(&self, player: Uuid) {
        self.shared.player_data.left(player);
        self.shared.lines.left(player);
        self.shared.online.lock().remove(&player);
        self.shared.session.add(player, ChangeKind::Leave);
    }

    /// The game's state or the worlds have changed; the hub learns it at once.
    pub fn set_state(&self, state: ServerState) {
        self.shared.session.set_state(state);
    }

    /// Sends a player to another server, wherever they are, and into a world there or not. While the hub is away, or the player's server is
    /// reconnecting, it is tried for 30 seconds. The outcome says whether the command is on its way; a reason why it cannot be is an
    /// outcome, too.
    ///
    /// # Errors
    /// See [`HubError`].
    pub async fn transfer(
        &self,
        player: Uuid,
        server_id: &str,
        world_id: Option<&str>,
    ) -> Result<TransferOutcome, HubError> {
        self.shared.transfer(player, server_id, world_id).await
    }

    /// Opens a world and waits until it is up, for up to a minute; then it fails with `world_timeout`. Whether it can be had is in the answer.
    ///
    /// # Errors
    /// See [`HubError`].
    pub async fn open_world(&self, request: &WorldRequest) -> Result<OpenedWorld, HubError> {
        self.shared.open_world(request).await
    }

    /// Sends a line to the whole network; it comes back to [`GameServer::show_chat`]. Fails with `muted` for a player who may not chat, and
    /// with `chat_rejected` where a filter refuses it. Chat is not kept for later.
    ///
    /// # Errors
    /// See [`HubError`].
    pub async fn send_chat(&self, player: Uuid, name: &str, message: &str) -> Result<(), HubError> {
        if self.shared.punishments.is_muted(player) {
            return Err(HubError::Connector { code: "muted", message: "The player is muted.".to_owned() });
        }
        let ServerRegistration { server_id, server_type, .. } = &self.shared.info;
        let line = ChatMessageInput {
            player_uuid: player,
            player_name: name.to_owned(),
            message: message.to_owned(),
            server_id: server_id.clone(),
            server_type: Some(server_type.clone()),
            ..ChatMessageInput::default()
        };
        self.shared.client.send_chat_message(&line).await
    }

    /// Data of players that moves with them.
    pub fn player_data(&self) -> &PlayerDataStore {
        &self.shared.player_data
    }

    /// Takes a ticket for a server or world that may be full, and sends the player there when their turn has come. The same request again
    /// keeps ticket and place. A ticket that cannot be had is EXPIRED, with the reason in its match.
    ///
    /// # Errors
    /// See [`HubError`].
    pub async fn wait_in_line(&self, request: &TicketRequest) -> Result<Ticket, HubError> {
        self.shared.wait_in_line(request).await
    }

    /// Ends a player's ticket; returns whether they had one.
    ///
    /// # Errors
    /// See [`HubError`].
    pub async fn leave_line(&self, player: Uuid) -> Result<bool, HubError> {
        self.shared.leave_line(player).await
    }

    /// A player's place in their line; none if they do not wait.
    pub fn place(&self, player: Uuid) -> Option<Place> {
        self.shared.lines.place(player)
    }

    /// Each new place of a player of this server from now on: tell the player.
    pub fn places(&self) -> broadcast::Receiver<Place> {
        self.shared.lines.subscribe()
    }

    /// The punishments that are known.
    pub fn punishments(&self) -> &PunishmentCache {
        &self.shared.punishments
    }

    /// Permissions of players.
    pub fn permissions(&self) -> &PermissionCache {
        &self.shared.permissions
    }

    /// Messages and languages.
    pub fn localization(&self) -> &LocalizationCache {
        &self.shared.localization
    }

    /// Verifies commands that another server has handed to this one.
    pub fn transfer_verifier(&self) -> &TransferVerifier {
        &self.shared.verifier
    }

    /// The time by the hub's clock, in milliseconds since the epoch, as its pings show.
    pub fn hub_time(&self) -> i64 {
        self.shared.clock.now()
    }

    /// A config document that is kept current; the default is stored where the network has none.
    pub fn config(&self, group: &str, namespace: &str, default: Value) -> CachedConfig {
        let (source, config) = ConfigSource::new(group, namespace, default);
        let source = Arc::new(source);
        self.shared.configs.lock().push(Arc::clone(&source));
        self.shared.read_configs(|each| std::ptr::eq(each, source.as_ref()));
        config
    }

    /// All events from now on; `RESYNC` says that some may have been missed, and so does `RecvError::Lagged` to a listener that is too slow. Types
    /// beyond those that the connector needs are to be named in [`ConnectorOptions::events`].
    pub fn events(&self) -> broadcast::Receiver<HubEvent> {
        self.shared.events.subscribe()
    }
}

impl Shared {
    /// Starts the tasks of the connector.
    fn start<G: GameServer>(
        self: &Arc<Self>,
        game: Arc<G>,
        tasks: mpsc::UnboundedReceiver<GameTask>,
        data_updates: mpsc::UnboundedReceiver<DataUpdate>,
        events: &[String],
        has_messages: bool,
    ) {
        self.spawn(game::run(game, Arc::clone(self), tasks));

        let shared = Arc::clone(self);
        self.runtime.spawn(async move {
            let registered = |answer: crate::model::ServerSession| {
                shared.verifier.set_secret(&answer.signing_secret, shared.clock.now());
                info!("registered with the hub as {}", answer.server_id);
            };
            shared.session.run(|| shared.verifier.registering(), registered).await;
            shared.stopped.cancel();
        });

        let types: Vec<_> = events.iter().map(String::as_str).collect();
        let stream = self.client.events(Some(&self.info.server_id), &types);
        let shared = Arc::clone(self);
        self.spawn(async move {
            shared.stopping.run_until_cancelled(shared.follow(stream)).await;
        });

        let shared = Arc::clone(self);
        self.spawn(async move { shared.punishment_refresh.run(|player| shared.refresh_punishments(player)).await });
        let shared = Arc::clone(self);
        self.spawn(async move { shared.permission_refresh.run(|player| shared.permissions.refresh(player)).await });
        let shared = Arc::clone(self);
        self.spawn(
            async move { shared.language_refresh.run(|player| shared.localization.refresh_language(player)).await },
        );
        let shared = Arc::clone(self);
        self.spawn(async move { shared.tidy().await });
        let shared = Arc::clone(self);
        self.spawn(async move { shared.player_data.save_all().await });
        let shared = Arc::clone(self);
        self.spawn(async move { shared.follow_data(data_updates).await });
        let shared = Arc::clone(self);
        self.spawn(async move { shared.poll_deliveries().await });
        if has_messages {
            let shared = Arc::clone(self);
            self.spawn(async move {
                if let Err(error) = persist(None, || shared.localization.register_defaults()).await {
                    warn!("the messages cannot be registered: {}", error.message());
                }
            });
        }
    }
}
