//! Who calls, and what they may do: the extractor's type is the permission a route needs.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;

use crate::app::App;
use crate::auth::layer;
use crate::auth::model::{Credential, KeyId, Scope, Scopes};
use crate::http::error::ApiError;
use crate::values::NetworkId;

/// The caller behind a valid key.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The network the key belongs to: the tenant of everything this request touches.
    pub(crate) network: NetworkId,
    /// The key, which the ledger records.
    pub(crate) key: KeyId,
    /// What the caller sent of the key, for a stream that outlives the request and is checked again.
    pub(crate) credential: Credential,
    /// What the key may do.
    pub(crate) scopes: Scopes,
    /// The address the request came from.
    pub(crate) remote: IpAddr,
}

impl Caller {
    pub(crate) async fn identify(parts: &Parts, app: &App) -> Result<Self, ApiError> {
        let key = layer::identify(app, &parts.headers, &parts.extensions).await?;
        let remote = parts
            .extensions
            .get::<ConnectInfo<SocketAddr>>()
            .map_or(IpAddr::from([127, 0, 0, 1]), |ConnectInfo(address)| address.ip().to_canonical());
        Ok(Self { network: key.network, key: key.id, credential: key.credential, scopes: key.scopes, remote })
    }

    /// Refuses a caller whose key has none of `any`.
    pub(crate) fn require(&self, any: &[Scope]) -> Result<(), ApiError> {
        if any.iter().any(|scope| self.scopes.allow(*scope)) {
            return Ok(());
        }
        let names: Vec<_> = any.iter().map(|scope| format!("`{scope}`")).collect();
        Err(ApiError::new(
            axum::http::StatusCode::FORBIDDEN,
            "forbidden_scope",
            format!("This key lacks the scope {}.", names.join(" or ")),
        ))
    }
}

/// An extractor that lets only callers with a certain permission through.
/// [`crate::endpoints`] takes no handler whose first argument is not one.
pub(crate) trait Permission {
    /// A key with any one of these may call.
    const SCOPES: &'static [Scope];
}

macro_rules! permissions {
    ($($(#[$doc:meta])* $name:ident: $($scope:ident)|+;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub(crate) struct $name(pub(crate) Caller);

        impl Permission for $name {
            const SCOPES: &'static [Scope] = &[$(Scope::$scope),+];
        }

        impl FromRequestParts<App> for $name {
            type Rejection = ApiError;

            async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
                let caller = Caller::identify(parts, app).await?;
                caller.require(Self::SCOPES)?;
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
