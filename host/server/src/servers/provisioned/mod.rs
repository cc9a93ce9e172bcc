//! Servers whose machine is being made: in the registry before they have registered.
//!
//! The owner's provisioner adds a row, or the machine itself when it waits for its sign-in; the row stays after the server
//! has registered, which is what makes that one `provisioned`.

mod model;
mod store;

use serde::de;

use crate::app::App;
use crate::limits::{Limit, check_rows};
use crate::servers::error::ServersError;
use crate::servers::store as registry;
use crate::values::{Identifier, NetworkId};

pub(crate) use model::{DesiredState, MachineSpec, Phase, ProvisionedServer};
pub(super) use store::{exists, find_all};

/// An http or https address: it is shown to people as a link.
#[derive(Clone, Debug)]
pub(crate) struct WebAddress(String);

impl<'de> serde::Deserialize<'de> for WebAddress {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let web = text.parse::<axum::http::Uri>().is_ok_and(|uri| matches!(uri.scheme_str(), Some("http" | "https")));
        if web && text.len() <= 2048 {
            return Ok(Self(text));
        }
        Err(de::Error::custom("must be an http or https address of at most 2048 characters"))
    }
}

/// Saves where and with which code somebody signs a machine in; the latest count. Nothing changes once the server has
/// registered. Answers its phase.
pub(crate) async fn await_auth(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    address: WebAddress,
    code: String,
) -> Result<Phase, ServersError> {
    let is_there = async {
        Ok(registry::exists(&app.db, network, server).await? || store::exists(&app.db, network, server).await?)
    };
    check_rows::<ServersError>(app, network, store::PROVISIONED_SERVERS, 1, is_there).await?;
    let saved = store::await_auth(&app.db, network, server, &address.0, &code, app.clock.now()).await?;
    Ok(if saved { Phase::AwaitingAuth } else { Phase::Registered })
}

/// Saves the machine that a provisioner makes.
pub(crate) async fn put(
    app: &App,
    network: NetworkId,
    server: Identifier,
    spec: MachineSpec,
) -> Result<ProvisionedServer, ServersError> {
    let is_there = store::exists(&app.db, network, &server);
    check_rows::<ServersError>(app, network, store::PROVISIONED_SERVERS, 1, is_there).await?;
    store::put(&app.db, network, &server, &spec, app.clock.now()).await?;
    let rows = store::find_all(&app.db, network, std::slice::from_ref(&server)).await?;
    rows.into_iter().next().ok_or(ServersError::Unknown(server))
}

/// All that are, or were, provisioned, by id, and how many there are.
pub(crate) async fn list(
    app: &App,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<ProvisionedServer>, i64), ServersError> {
    Ok(store::list(&app.db, network, limit, offset).await?)
}

/// Deletes what is known of a machine. If its server has registered, that stays in the registry.
pub(crate) async fn delete(app: &App, network: NetworkId, server: Identifier) -> Result<(), ServersError> {
    if !store::delete(&app.db, network, &server).await? {
        return Err(ServersError::Unknown(server));
    }
    app.usage.removed(network, Limit::ProvisionedServers, 1);
    Ok(())
}
