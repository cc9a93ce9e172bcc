//! Servers whose machine is being made: in the registry before they have registered.
//!
//! A row begins when the owner's provisioner says what it makes, or when the machine itself asks to be let in; it stays
//! after the server has registered, which is what makes that one `provisioned`.

mod model;
mod store;

use serde::de;

use crate::app::App;
use crate::servers::service::ServersError;
use crate::values::{Identifier, NetworkId};

pub(crate) use model::{DesiredState, Phase, ProvisionedServer, Wish};
pub(super) use store::{among, exists};

/// A web address for a person to open. Nothing else: it is shown as a link.
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

/// Notes that a machine waits to be let in; the latest address and code count. Nothing changes once the server has
/// registered. Answers how far it is.
pub(crate) async fn await_auth(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    address: WebAddress,
    code: String,
) -> Result<Phase, ServersError> {
    let noted = store::await_auth(&app.db, network, server, address.0, code, app.clock.now()).await?;
    Ok(if noted { Phase::AwaitingAuth } else { Phase::Registered })
}

/// Writes down what a provisioner makes.
pub(crate) async fn put(
    app: &App,
    network: NetworkId,
    server: Identifier,
    wish: Wish,
) -> Result<ProvisionedServer, ServersError> {
    store::put(&app.db, network, &server, &wish, app.clock.now()).await?;
    let rows = store::among(&app.db, network, std::slice::from_ref(&server)).await?;
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

/// Forgets that a server is, or was, provisioned. If it has registered, it stays in the registry.
pub(crate) async fn forget(app: &App, network: NetworkId, server: Identifier) -> Result<(), ServersError> {
    if store::delete(&app.db, network, &server).await? { Ok(()) } else { Err(ServersError::Unknown(server)) }
}
