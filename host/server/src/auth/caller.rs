//! Who calls, and what they may do: the extractor's type is the permission a route needs.

use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;

use crate::app::App;
use crate::auth::model::{Credential, KeyId, Scope, Scopes};
use crate::auth::service::authenticate;
use crate::http::error::ApiError;
use crate::limits;
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
        let header = parts.headers.get("x-service-api-key").map(axum::http::HeaderValue::as_bytes);
        let remote = limits::remote_address(&parts.extensions);
        let key = authenticate(app, header, remote).await?;
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

/// Counts a key that is not valid for its address, which may be refused then. A request without a key costs nothing.
fn count_wrong_key(parts: &Parts, app: &App, error: ApiError) -> ApiError {
    if error.status() != StatusCode::UNAUTHORIZED || !parts.headers.contains_key("x-service-api-key") {
        return error;
    }
    let remote = limits::remote_address(&parts.extensions);
    app.limits.addresses.count_wrong_key(remote, app.clock.now()).err().unwrap_or(error)
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
                let caller = match Caller::identify(parts, app).await {
                    Err(error) => return Err(count_wrong_key(parts, app, error)),
                    Ok(caller) => caller,
                };
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
