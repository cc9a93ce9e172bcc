//! Who calls, and what they may do: the extractor's type is the permission a route needs.

use std::borrow::Cow;
use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;

use crate::app::App;
use crate::auth::bindings::Bindings;
use crate::auth::layer;
use crate::auth::model::{Credential, KeyId, Scope, Scopes};
use crate::auth::origin::{Actor, ActorType, Origin};
use crate::auth::{AuditOrder, OPERATOR_NETWORK};
use crate::clock::Millis;
use crate::http::error::ApiError;
use crate::http::request_id::RequestId;
use crate::limits;
use crate::values::{Identifier, NetworkId};

/// The caller behind a valid key.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The network the key belongs to: the tenant of everything this request touches.
    pub(crate) network: NetworkId,
    /// The key, which the ledger records.
    pub(crate) key: KeyId,
    /// What the key is called.
    pub(crate) name: String,
    /// What the caller sent of the key, for a stream that outlives the request and is checked again.
    pub(crate) credential: Credential,
    /// What the key may do.
    pub(crate) scopes: Scopes,
    /// Where the key may be used.
    pub(crate) bindings: Bindings,
    /// When the key ends by itself.
    pub(crate) expires_at: Option<Millis>,
    /// The address the request came from.
    pub(crate) remote: IpAddr,
    /// Whether this is a person, whose id stands for the key's.
    pub(crate) is_person: bool,
    /// The request's id.
    request_id: Option<RequestId>,
}

impl Caller {
    /// The caller of a request: 401 without a valid key, 403 from an address that the key is not for.
    pub(crate) async fn identify(parts: &Parts, app: &App) -> Result<Self, ApiError> {
        let key = layer::identify(app, &parts.method, &parts.headers, &parts.extensions).await?;
        let remote = limits::remote_address(&parts.extensions);
        if !key.bindings.allow_address(remote) {
            return Err(forbidden_origin(format!("This key must not be used from {remote}.")));
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

    /// The caller that a layer identified, else the one that this request names now.
    async fn of(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        match parts.extensions.remove::<Self>() {
            Some(caller) => Ok(caller),
            None => Self::identify(parts, app).await,
        }
    }

    /// Who changes something by this request, for the audit log.
    pub(crate) fn origin(&self, app: &App) -> Origin {
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
        }
    }

    /// Refuses a caller whose key does not speak for this server.
    pub(crate) fn require_server(&self, id: &str) -> Result<(), ApiError> {
        if self.bindings.allow_server(id) {
            return Ok(());
        }
        Err(forbidden_origin("This key is bound to other servers than the one that the request names."))
    }

    /// Refuses to listen as nobody where the key is bound to servers.
    pub(crate) fn require_listener(&self, server: Option<&Identifier>) -> Result<(), ApiError> {
        match server {
            Some(server) => self.require_server(server.as_str()),
            None if self.bindings.servers.is_none() => Ok(()),
            None => Err(forbidden_origin("This key is bound to servers and listens as one of them only: name it.")),
        }
    }

    /// Refuses a caller whose key has none of `any`.
    pub(crate) fn require(&self, any: &[Scope]) -> Result<(), ApiError> {
        if any.iter().any(|scope| self.scopes.allow(*scope)) {
            return Ok(());
        }
        let names: Vec<_> = any.iter().map(|scope| format!("`{scope}`")).collect();
        Err(ApiError::new(
            StatusCode::FORBIDDEN,
            "forbidden_scope",
            format!("This key lacks the scope {}.", names.join(" or ")),
        ))
    }
}

fn forbidden_origin(message: impl Into<Cow<'static, str>>) -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, "forbidden_origin", message)
}

/// An extractor that lets only callers with a certain permission through.
/// [`crate::endpoints`] takes no handler whose first argument is not one.
pub(crate) trait Permission: FromRequestParts<App, Rejection = ApiError> + Send + 'static {
    /// A key with any one of these may call.
    const SCOPES: &'static [Scope];

    /// Who was let through.
    fn into_caller(self) -> Caller;
}

macro_rules! permissions {
    ($($(#[$doc:meta])* $name:ident: $($scope:ident)|+;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub(crate) struct $name(pub(crate) Caller);

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
    /// Node agents and provisioned machines, and connectors that do an agent's work.
    Agent: Agent | Plugin;
    /// May open the event stream.
    EventsRead: EventsRead | Plugin;
    /// May read and change players.
    PlayersWrite: PlayersWrite | Plugin;
    /// May read and change currencies and owners' statistics.
    EconomyWrite: EconomyWrite | Plugin;
    /// May read and change permissions.
    PermissionsWrite: PermissionsWrite | Plugin;
    /// May read, create and revoke punishments.
    PunishmentsWrite: PunishmentsWrite | Plugin;
    /// May note players' addresses, which belong to players and to punishments.
    AddressesWrite: PunishmentsWrite | PlayersWrite | Plugin;
    /// May find servers and worlds for players, and transfer players.
    Matchmaking: Matchmaking | Plugin;
    /// May list servers and read their logs.
    ServersRead: ServersRead;
    /// May command servers.
    ServersControl: ServersControl;
    /// May read modules.
    ModulesRead: ModulesRead;
    /// May upload, activate, try and remove modules.
    ModulesWrite: ModulesWrite;
    /// The network's owner: keys, settings and ledgers.
    NetworkManage: NetworkManage;
    /// The operator of the whole hub.
    Operator: Operator;
}
