//! Callers and their permissions: the extractor's type is the permission that a route requires.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;

use crate::app::App;
use crate::auth::bindings::Bindings;
use crate::auth::layer;
use crate::auth::model::{Credential, KeyId, Scope, Scopes};
use crate::auth::origin::{Actor, ActorType, Origin};
use crate::auth::still::Holder;
use crate::auth::{AuditOrder, OPERATOR_NETWORK};
use crate::clock::Millis;
use crate::http::error::ApiError;
use crate::http::request_id::RequestId;
use crate::limits;
use crate::values::{Identifier, NetworkId};

/// Caller with a valid key.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Network of the key: the tenant of everything this request touches.
    pub network: NetworkId,
    /// Key, as recorded in the ledger.
    pub key: KeyId,
    /// Name of the key.
    pub name: String,
    /// Credential from the request, for streams that outlive the request and are checked again.
    pub credential: Credential,
    /// Scopes of the key.
    pub scopes: Scopes,
    /// Restrictions of the key.
    pub bindings: Bindings,
    /// Expiry of the key.
    pub expires_at: Option<Millis>,
    /// Client address of the request.
    pub remote: IpAddr,
    /// True for a person, whose id is in `key`.
    pub(crate) is_person: bool,
    /// Request id.
    request_id: Option<RequestId>,
}

impl Caller {
    /// Identifies the caller: 401 without a valid key, 403 from an address that the key does not allow.
    pub async fn identify(parts: &Parts, app: &App) -> Result<Self, ApiError> {
        let key = layer::identify(app, &parts.method, &parts.headers, &parts.extensions).await?;
        let remote = limits::remote_address(&parts.extensions);
        if !key.bindings.allow_address(remote) {
            return Err(forbidden_origin(format!("This key is not valid from {remote}.")));
        }
        Ok(Self {
            network: key.network,
            key: key.id,
            name: key.name,
            credential: key.credential,
            scopes: key.scopes,
            bindings: key.bindings,
            expires_at: key.expires_at,
            remote,
            is_person: key.is_person,
            request_id: parts.extensions.get::<RequestId>().cloned(),
        })
    }

    /// Caller identified by a layer, otherwise by this request's headers.
    async fn of(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        match parts.extensions.remove::<Self>() {
            Some(caller) => Ok(caller),
            None => Self::identify(parts, app).await,
        }
    }

    /// Actor of changes by this request, for the audit log.
    pub fn origin(&self, app: &App) -> Origin {
        let kind = match self.network {
            OPERATOR_NETWORK => ActorType::Operator,
            _ if self.is_person => ActorType::Person,
            _ => ActorType::Key,
        };
        Origin {
            actor: Actor { kind, id: self.key.0.clone(), name: self.name.clone() },
            request_id: self.request_id.as_ref().map(|id| id.as_str().to_owned()),
            address: Some(self.remote),
            clock: app.clock.clone(),
            ids: app.ids.clone(),
            order: Some(app.state::<AuditOrder>().handle()),
            holder: Some(Holder { credential: self.credential.clone(), scopes: self.scopes }),
        }
    }

    /// Refuses a caller whose key is not valid for this server.
    pub fn require_server(&self, id: &str) -> Result<(), ApiError> {
        if self.bindings.allow_server(id) {
            return Ok(());
        }
        Err(forbidden_origin("This key is not valid for this server."))
    }

    /// Refuses an event stream that the key may not open, and returns the scope that the stream needs until its end. A
    /// stream of a server has its commands and ends the server's other one: it needs `plugin`, or a key bound to that
    /// server. A key bound to servers listens only as one of them.
    pub fn require_listener(&self, server: Option<&Identifier>) -> Result<Scope, ApiError> {
        match (server, &self.bindings.servers) {
            (Some(server), Some(_)) => self.require_server(server.as_str()).map(|()| Scope::EventsRead),
            (Some(_), None) => self.require(&[Scope::Plugin]).map(|()| Scope::Plugin),
            (None, None) => Ok(Scope::EventsRead),
            (None, Some(_)) => Err(forbidden_origin("This key is bound to servers: specify the server to listen as.")),
        }
    }

    /// True if the caller's rights have no bounds that a created thing would lack: neither an end nor bindings.
    pub fn is_unbound(&self) -> bool {
        self.expires_at.is_none() && self.bindings == Bindings::default()
    }

    /// True if the key may act on this server, also in a request that names none.
    pub fn acts_on(&self, server: Option<&Identifier>) -> bool {
        self.bindings.servers.is_none() || server.is_some_and(|server| self.speaks_for(server.as_str()))
    }

    /// True if the caller's key is bound to no servers, or to this one.
    pub fn speaks_for(&self, server: &str) -> bool {
        self.bindings.servers.is_none() || self.bindings.allow_server(server)
    }

    /// True if the caller reads deliveries: who manages them, and people who read players, such as moderators.
    pub fn reads_deliveries(&self) -> bool {
        let is_theirs = self.is_person && self.scopes.allow(Scope::PlayersWrite);
        is_theirs || DeliveriesManage::SCOPES.iter().any(|scope| self.scopes.allow(*scope))
    }

    /// Refuses a caller whose key has none of these scopes.
    pub fn require(&self, any: &[Scope]) -> Result<(), ApiError> {
        if any.iter().any(|scope| self.scopes.allow(*scope)) {
            return Ok(());
        }
        let names: Vec<_> = any.iter().map(|scope| format!("`{scope}`")).collect();
        Err(ApiError::new(
            StatusCode::FORBIDDEN,
            "forbidden_scope",
            format!(
                "{} lacks the scope {}.",
                if self.is_person { "Your role" } else { "This key" },
                names.join(" or ")
            ),
        ))
    }
}

fn forbidden_origin(message: impl Into<Cow<'static, str>>) -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, "forbidden_origin", message)
}

/// Extractor that only admits callers with a certain permission. [`crate::endpoints`] accepts only handlers whose
/// first argument is one.
pub trait Permission: FromRequestParts<App, Rejection = ApiError> + Send + 'static {
    /// Scopes, one of which is required.
    const SCOPES: &'static [Scope];

    /// The admitted caller.
    fn into_caller(self) -> Caller;
}

/// [`Permission`] of routes that create what outlives the request and has no bounds of its own, such as webhooks and
/// modules: refuses keys that expire or are bound to servers or addresses.
#[derive(Clone, Debug)]
pub struct Unbound<P>(pub Caller, pub PhantomData<P>);

impl<P: Permission> Permission for Unbound<P> {
    const SCOPES: &'static [Scope] = P::SCOPES;

    fn into_caller(self) -> Caller {
        self.0
    }
}

impl<P: Permission> FromRequestParts<App> for Unbound<P> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let caller = P::from_request_parts(parts, app).await?.into_caller();
        if !caller.is_unbound() {
            return Err(forbidden_origin(
                "This key expires, or is bound to servers or addresses: what it would create here has no such bounds.",
            ));
        }
        Ok(Self(caller, PhantomData))
    }
}

macro_rules! permissions {
    ($($(#[$doc:meta])* $name:ident: $($scope:ident)|+;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name(pub Caller);

        impl Permission for $name {
            const SCOPES: &'static [Scope] = &[$(Scope::$scope),+];

            fn into_caller(self) -> Caller {
                self.0
            }
        }

        impl FromRequestParts<App> for $name {
            type Rejection = ApiError;

            async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
                let caller = Caller::of(parts, app).await?;
                caller.require(Self::SCOPES)?;
                limits::count_request(app, parts, caller.network, &caller.key.0).await?;
                Ok(Self(caller))
            }
        }
    )+};
}

permissions! {
    /// Connectors: all of `/api/plugin`.
    Plugin: Plugin;
    /// Node agents and provisioned machines, and connectors acting as agents.
    Agent: Agent | Plugin;
    /// Open the event stream.
    EventsRead: EventsRead | Plugin;
    /// Read and change players.
    PlayersWrite: PlayersWrite | Plugin;
    /// Read and change currencies and owners' statistics.
    EconomyWrite: EconomyWrite | Plugin;
    /// Read and change permissions.
    PermissionsWrite: PermissionsWrite | Plugin;
    /// Read, create and revoke punishments.
    PunishmentsWrite: PunishmentsWrite | Plugin;
    /// Record players' addresses, which belong to players and to punishments.
    AddressesWrite: PunishmentsWrite | PlayersWrite | Plugin;
    /// Create, claim and settle deliveries.
    DeliveriesWrite: DeliveriesWrite | Plugin;
    /// Find servers and worlds for players, and transfer players.
    Matchmaking: Matchmaking | Plugin;
    /// Read and change waiting lines.
    LinesManage: LinesManage | NetworkManage;
    /// List servers and read their logs.
    ServersRead: ServersRead;
    /// Send commands to servers.
    ServersControl: ServersControl;
    /// Read modules.
    ModulesRead: ModulesRead;
    /// Upload, activate, test and remove modules.
    ModulesWrite: ModulesWrite;
    /// Read players: profiles, data, addresses, statistics.
    PlayersRead: PlayersRead | PlayersWrite | Plugin;
    /// List the players who are online.
    OnlinePlayersRead: PlayersRead | Plugin;
    /// Read a player's punishments.
    PlayerPunishmentsRead: PlayersRead | PunishmentsWrite | Plugin;
    /// Read the network's records about a player, such as notes.
    PlayerRecordsRead: PlayersRead | NetworkManage;
    /// Edit, list and revoke punishments, write notes, and decide appeals.
    PunishmentsManage: PunishmentsManage | NetworkManage;
    /// Read and close reports.
    ReportsManage: ReportsManage | NetworkManage;
    /// Read the chat history.
    ChatRead: ChatRead | NetworkManage;
    /// Read, retry, cancel and confirm deliveries.
    DeliveriesManage: DeliveriesManage | NetworkManage;
    /// Read servers' logs.
    ConsoleRead: ConsoleRead | ServersRead | NetworkManage;
    /// Read the audit log.
    AuditRead: AuditRead | NetworkManage;
    /// See what waits for a person: each caller their part of it.
    OverviewRead: ServersRead | ModulesRead | PunishmentsManage | ReportsManage | DeliveriesManage | NetworkManage;
    /// Find things of the network by their names: each caller those that they may list.
    SearchRead: ServersRead | ModulesRead | PlayersRead | NetworkManage;
    /// Owner of the network: keys, settings and ledgers.
    NetworkManage: NetworkManage;
    /// Operator of the whole hub.
    Operator: Operator;
}

/// Read play time and how many come back: who reads players, and people who see the servers, such as viewers.
#[derive(Clone, Debug)]
pub struct PlayTimeRead(pub Caller);

impl Permission for PlayTimeRead {
    const SCOPES: &'static [Scope] = PlayerRecordsRead::SCOPES;

    fn into_caller(self) -> Caller {
        self.0
    }
}

impl FromRequestParts<App> for PlayTimeRead {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let caller = Caller::of(parts, app).await?;
        if !(caller.is_person && caller.scopes.allow(Scope::ServersRead)) {
            caller.require(Self::SCOPES)?;
        }
        limits::count_request(app, parts, caller.network, &caller.key.0).await?;
        Ok(Self(caller))
    }
}

/// Read deliveries: who manages them, and people who read players, such as moderators.
#[derive(Clone, Debug)]
pub struct DeliveriesRead(pub Caller);

impl Permission for DeliveriesRead {
    const SCOPES: &'static [Scope] = DeliveriesManage::SCOPES;

    fn into_caller(self) -> Caller {
        self.0
    }
}

impl FromRequestParts<App> for DeliveriesRead {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let caller = Caller::of(parts, app).await?;
        if !caller.reads_deliveries() {
            caller.require(Self::SCOPES)?;
        }
        limits::count_request(app, parts, caller.network, &caller.key.0).await?;
        Ok(Self(caller))
    }
}
