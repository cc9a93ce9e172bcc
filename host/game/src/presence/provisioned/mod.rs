//! Servers whose machine is being provisioned: in the registry before they have registered.
//!
//! The owner's provisioner adds a row, or the machine itself while it waits for its sign-in; the row stays after the
//! server has registered, which makes that one `provisioned`.

mod model;
mod store;

use serde::de;
use serde_json::{Value, json};

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Origin;
use crate::limits::{Limit, Usage, check_rows};
use crate::presence::error::ServersError;
use crate::presence::store as registry;
use crate::values::{Identifier, NetworkId};

pub use model::{DesiredState, MachineSpec, Phase, ProvisionedServer};
pub(super) use store::{exists, find_all};

/// An http or https address, shown to people as a link.
#[derive(Clone, Debug)]
pub struct WebAddress(String);

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

/// Saves the address and code of a machine's sign-in; the latest count. No effect once the server has registered.
/// Returns its phase.
pub async fn await_auth(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    address: WebAddress,
    code: String,
) -> Result<Phase, ServersError> {
    let is_there = async {
        Ok(registry::exists(&app.db, network, server).await? || store::exists(&app.db, network, server).await?)
    };
    let _adding = check_rows::<ServersError>(app, network, store::PROVISIONED_SERVERS, 1, is_there).await?;
    let saved = store::await_auth(&app.db, network, server, &address.0, &code, app.clock.now()).await?;
    Ok(if saved { Phase::AwaitingAuth } else { Phase::Registered })
}

/// A machine's form in the audit log. Its sign-in code is a secret.
fn shown(server: &ProvisionedServer) -> Value {
    let spec = &server.spec;
    json!({
        "serverType": spec.server_type, "displayName": spec.display_name, "provider": spec.provider,
        "desiredState": spec.desired_state, "region": spec.region, "serverVmType": spec.server_vm_type,
        "ipv4": spec.ipv4,
    })
}

/// Saves a provisioner's machine.
pub async fn put(
    app: &App,
    network: NetworkId,
    server: Identifier,
    spec: MachineSpec,
    origin: &Origin,
) -> Result<ProvisionedServer, ServersError> {
    let is_there = store::exists(&app.db, network, &server);
    let _adding = check_rows::<ServersError>(app, network, store::PROVISIONED_SERVERS, 1, is_there).await?;
    let stored = app.db.transaction(async |mut tx| {
        store::lock(&mut tx, network, &server).await?;
        let before = store::find(&mut tx, network, &server).await?;
        store::put(&mut tx, network, &server, &spec, app.clock.now()).await?;
        let after = store::find(&mut tx, network, &server).await?;
        let change = Change::new(Action::ProvisionedServerPut, &server).before(before.as_ref().map(shown));
        audit::record(&mut tx, network, origin, change.after(after.as_ref().map(shown))).await?;
        Ok::<_, hub_db::Error>(after)
    });
    stored.await?.ok_or(ServersError::Unknown(server))
}

/// All servers that are, or were, provisioned, by id, and their number.
pub async fn list(
    app: &App,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<ProvisionedServer>, i64), ServersError> {
    Ok(store::list(&app.db, network, limit, offset).await?)
}

/// Deletes a machine. A registered server stays in the registry.
pub async fn delete(app: &App, network: NetworkId, server: Identifier, origin: &Origin) -> Result<(), ServersError> {
    let deleted = app.db.transaction(async |mut tx| {
        store::lock(&mut tx, network, &server).await?;
        let before = store::find(&mut tx, network, &server).await?;
        let deleted = store::delete(&mut tx, network, &server).await?;
        if deleted {
            let change = Change::new(Action::ProvisionedServerDeleted, &server).before(before.as_ref().map(shown));
            audit::record(&mut tx, network, origin, change).await?;
        }
        Ok::<_, hub_db::Error>(deleted)
    });
    if !deleted.await? {
        return Err(ServersError::Unknown(server));
    }
    app.state::<Usage>().removed(network, Limit::ProvisionedServers, 1);
    Ok(())
}
