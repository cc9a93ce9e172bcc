//! Rules of secrets.

use std::net::IpAddr;
use std::sync::Arc;

use hub_core::secrets;
use hub_sandbox::contract::Point;
use hub_sandbox::manifest::Grants;

use super::TABLE;
use super::store::{self, ROWS, SecretRow};
use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Origin;
use crate::clock::Millis;
use crate::limits;
use crate::modules::Modules;
use crate::modules::endpoints::serve::short;
use crate::modules::endpoints::state::EndpointState;
use crate::modules::service::ModulesError;
use crate::values::NetworkId;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// Good values of a secret, newest first; none if it is not set, or the key that sealed it is lost.
pub(in crate::modules::endpoints) async fn values(
    app: &App,
    network: NetworkId,
    name: &str,
) -> Result<Vec<String>, hub_db::Error> {
    let known = app.state::<EndpointState>().secret(network, name);
    let row = match known {
        Ok(row) => row,
        Err(changes) => {
            let row = Arc::new(store::find(&app.db, network, name).await?);
            app.state::<EndpointState>().remember_secret(network, name, Arc::clone(&row), changes);
            row
        }
    };
    let Some(row) = &*row else { return Ok(vec![]) };
    let now = app.clock.now();
    let previous = row.previous.iter().filter(|_| row.previous_until.is_some_and(|until| now < until));
    let sealed = std::iter::once(&row.value).chain(previous);
    Ok(sealed.filter_map(|sealed| secrets::unseal_text(app, TABLE.name, sealed)).collect())
}

/// True if the network has a secret of this name.
pub(in crate::modules::endpoints) async fn is_set(
    app: &App,
    network: NetworkId,
    name: &str,
) -> Result<bool, hub_db::Error> {
    Ok(store::find(&app.db, network, name).await?.is_some())
}

/// Text that tells addresses apart within a network and a day, without telling them.
pub fn address_hash(app: &App, network: NetworkId, address: IpAddr) -> String {
    let day = app.clock.now().div_euclid(DAY_MS);
    let macs = secrets::macs(app, "endpoint addresses", &format!("{network} {day} {address}"));
    macs.first().map_or_else(String::new, |mac| short(mac))
}

/// All secrets of a network.
pub(super) async fn list(app: &App, network: NetworkId) -> Result<Vec<SecretRow>, ModulesError> {
    Ok(store::list(&app.db, network).await?)
}

/// Sets a secret's value. The one before is good for `overlap_ms` more.
pub(super) async fn put(
    app: &App,
    network: NetworkId,
    name: &str,
    value: &str,
    overlap_ms: Millis,
    origin: &Origin,
) -> Result<(), ModulesError> {
    let is_there = store::find(&app.db, network, name).await?.is_some();
    if !is_there {
        limits::check_rows::<ModulesError>(app, network, ROWS, 1, std::future::ready(Ok(false))).await?;
    }
    let sealed = secrets::seal_text(app, TABLE.name, value)?;
    let now = app.clock.now();
    let previous_until = (overlap_ms > 0).then(|| now.saturating_add(overlap_ms));
    app.db
        .transaction(async |mut tx| {
            origin.still_may(&mut tx).await?;
            store::put(&mut tx, network, (name, &sealed), previous_until, now).await?;
            Ok::<_, ModulesError>(audit::record(&mut tx, network, origin, Change::new(Action::SecretPut, name)).await?)
        })
        .await?;
    app.state::<EndpointState>().forget_secrets(network);
    Ok(())
}

/// Deletes a secret that no active module names.
pub(super) async fn delete(app: &App, network: NetworkId, name: &str, origin: &Origin) -> Result<(), ModulesError> {
    let chains = app.state::<Modules>().load_chains(app, network).await?;
    // No chain changes meanwhile.
    let _changing = chains.changing.lock().await;
    let specs = [Point::Events, Point::Endpoints, Point::Schedules].into_iter().filter_map(|point| chains.get(point));
    let grants = |grants: &Grants| grants.secrets.iter().any(|secret| secret == name);
    for chain in specs {
        if let Some(spec) = chain.specs.iter().find(|spec| spec.grants.as_ref().is_some_and(grants)) {
            return Err(ModulesError::SecretInUse(name.to_owned(), spec.name.clone()));
        }
    }
    app.db
        .transaction(async |mut tx| {
            origin.still_may(&mut tx).await?;
            if !store::delete(&mut tx, network, name).await? {
                return Err(ModulesError::UnknownSecret(name.to_owned()));
            }
            Ok(audit::record(&mut tx, network, origin, Change::new(Action::SecretDeleted, name)).await?)
        })
        .await?;
    app.state::<EndpointState>().forget_secrets(network);
    Ok(())
}
