//! The settings of a connector.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;

use super::data::{DataOptions, PlayerDataHandler};
use super::deliveries::{DeliveryFailure, DeliveryHandler};
use super::localization::Messages;
use super::{GameServer, HubConnector};
use crate::HubClient;
use crate::model::{Delivery, ServerRegistration, WorldReport};

/// The events that the connector itself needs, and those that nodes of worlds do.
const EVENTS: [&str; 14] = [
    "CHAT",
    "PUNISHMENT",
    "TRANSFER",
    "EXECUTE_COMMAND",
    "LOCALIZATION_UPDATED",
    "WORLD_READY",
    "WORLD_OPEN",
    "WORLD_SNAPSHOT",
    "WORLD_UNLOAD",
    "CONFIG_UPDATED",
    "SIGNING_SECRET_ROTATED",
    "PERMISSIONS_UPDATED",
    "TICKET_MATCHED",
    "TICKET_UPDATED",
];
const SESSION_EVENTS: [&str; 2] = ["SESSION_REQUESTED", "SESSION_ENDED"];
const AUTOSAVE: Duration = Duration::from_mins(1);

/// A server's changing state. None leaves the hub's knowledge unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerState {
    /// State of its game, such as `WAITING` or `PLAYING`.
    pub game_state: Option<String>,
    /// Players that its game needs; 0 if it is no minigame.
    pub players_to_start: Option<u32>,
    /// All its worlds.
    pub worlds: Option<Vec<WorldReport>>,
}

/// The settings of a connector. All have defaults that fit most servers.
#[must_use = "the connector is not started yet"]
pub struct ConnectorOptions {
    pub(super) client: HubClient,
    pub(super) info: ServerRegistration,
    pub(super) state: ServerState,
    pub(super) events: Vec<String>,
    pub(super) namespaces: Vec<String>,
    pub(super) messages: HashMap<String, Messages>,
    pub(super) default_locale: String,
    pub(super) permission_context: Option<String>,
    pub(super) include: Vec<String>,
    pub(super) game_mode: Option<String>,
    pub(super) game_type: Option<String>,
    pub(super) allow_unverified: bool,
    pub(super) trust_clean: Duration,
    pub(super) join_timeout: Duration,
    pub(super) data: DataOptions,
    pub(super) deliveries: HashMap<String, DeliveryHandler>,
}

impl fmt::Debug for ConnectorOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectorOptions").field("server_id", &self.info.server_id).finish_non_exhaustive()
    }
}

impl ConnectorOptions {
    /// The usual settings for a server.
    pub fn new(client: HubClient, info: ServerRegistration) -> Self {
        Self {
            client,
            info,
            state: ServerState::default(),
            events: EVENTS.map(str::to_owned).into(),
            namespaces: Vec::new(),
            messages: HashMap::new(),
            default_locale: "en".to_owned(),
            permission_context: None,
            include: ["permissions", "punishments", "language"].map(str::to_owned).into(),
            game_mode: None,
            game_type: None,
            allow_unverified: false,
            trust_clean: Duration::from_mins(10),
            join_timeout: Duration::from_secs(4),
            data: DataOptions { handler: None, namespaces: Vec::new(), autosave: AUTOSAVE },
            deliveries: HashMap::new(),
        }
    }

    /// The state at the start.
    pub fn state(mut self, state: ServerState) -> Self {
        self.state = state;
        self
    }

    /// More events to listen to, such as `PLAYER_JOINED`; see [`HubConnector::events`].
    pub fn events(mut self, types: &[&str]) -> Self {
        self.events.extend(types.iter().map(|&name| name.to_owned()));
        self
    }

    /// The plugin's own messages of a language, which are registered under the namespace and used until the network has others.
    pub fn messages(mut self, namespace: &str, locale: &str, messages: &[(&str, &str)]) -> Self {
        self.namespaces.retain(|known| known != namespace);
        self.namespaces.insert(0, namespace.to_owned());
        let messages = messages.iter().map(|&(key, text)| (key.to_owned(), text.to_owned()));
        self.messages.entry(locale.to_owned()).or_default().extend(messages);
        self
    }

    /// More namespaces to read messages from.
    pub fn namespaces(mut self, namespaces: &[&str]) -> Self {
        self.namespaces.extend(namespaces.iter().map(|&name| name.to_owned()));
        self
    }

    /// The language of last resort, `en` unless set.
    pub fn default_locale(mut self, locale: &str) -> Self {
        locale.clone_into(&mut self.default_locale);
        self
    }

    /// Context of this server's permissions, such as `server=lobby`; by default only permissions without a context apply.
    pub fn permission_context(mut self, context: &str) -> Self {
        self.permission_context = Some(context.to_owned());
        self
    }

    /// Game mode whose data a join loads; `global` by default.
    pub fn game_mode(mut self, game_mode: &str) -> Self {
        self.game_mode = Some(game_mode.to_owned());
        self
    }

    /// The engine of players who join: `MINECRAFT` or `HYTALE`.
    pub fn game_type(mut self, game_type: &str) -> Self {
        self.game_type = Some(game_type.to_owned());
        self
    }

    /// More that a join loads besides permissions, punishments and language: `balances`, `statistics`, `data:NAMESPACE`.
    pub fn load(mut self, include: &[&str]) -> Self {
        self.include.extend(include.iter().map(|&name| name.to_owned()));
        self
    }

    /// Reads and writes players in the game, so that their data in these namespaces, such as `inventory`, moves with them.
    pub fn player_data(mut self, handler: impl PlayerDataHandler, namespaces: &[&str]) -> Self {
        self.data.handler = Some(Arc::new(handler));
        self.data.namespaces = namespaces.iter().map(|&name| name.to_owned()).collect();
        self.events.extend(SESSION_EVENTS.map(str::to_owned));
        self
    }

    /// Time between saves of a player, a minute unless set; zero: only when they leave.
    pub fn autosave(mut self, interval: Duration) -> Self {
        self.data.autosave = interval;
        self
    }

    /// Carries out deliveries of a kind: claims each, runs the handler, and completes it. Where it fails the hub is told, and offers it
    /// again if the failure says so. Where the server ends between the claim and its completion, the hub holds the delivery or offers
    /// it again, as its `onLost` says.
    pub fn on_delivery<F>(mut self, kind: &str, handler: impl Fn(Delivery) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), DeliveryFailure>> + Send + 'static,
    {
        let handler = DeliveryHandler::Any(Box::new(move |delivery| handler(delivery).boxed()));
        self.deliveries.insert(kind.to_owned(), handler);
        self.events.push("DELIVERY_READY".to_owned());
        self
    }

    /// The same for deliveries whose effect is part of the player's data, such as items. Run while the player's session is open; the player
    /// is captured right after, and that save completes the delivery: both happen or neither.
    pub fn on_data_delivery(
        mut self,
        kind: &str,
        handler: impl Fn(&Delivery) -> Result<(), DeliveryFailure> + Send + Sync + 'static,
    ) -> Self {
        self.deliveries.insert(kind.to_owned(), DeliveryHandler::Data(Box::new(handler)));
        self.events.push("DELIVERY_READY".to_owned());
        self
    }

    /// While the hub is away, lets players join of whom nothing current is known: bans fail open. Unset, they fail closed.
    pub fn allow_unverified(mut self) -> Self {
        self.allow_unverified = true;
        self
    }

    /// For how long into an outage players may come back who were checked before it and had no ban; 10 minutes unless set.
    pub fn trust_clean(mut self, duration: Duration) -> Self {
        self.trust_clean = duration;
        self
    }

    /// Maximum wait of a join for the hub; 4 s by default.
    pub fn join_timeout(mut self, timeout: Duration) -> Self {
        self.join_timeout = timeout;
        self
    }

    /// Starts to connect, for a game that does what the hub asks for. The connector works on the runtime that this is called on until it
    /// is stopped.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn start(self, game: impl GameServer) -> HubConnector {
        HubConnector::start(self, game)
    }
}
