//! Rules of secrets.

use std::net::IpAddr;
use std::sync::Arc;

use hub_core::secrets;
use hub_sandbox::contract::Point;
use hub_sandbox::manifest::Grants;
use serde::{Deserialize, Serialize};

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
use crate::side_by_side::for_each_network;
use crate::values::NetworkId;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// Replaced values that are good at the same time.
const MAX_REPLACED: usize = 8;

/// A value that was replaced and is good until a time.
#[derive(Debug, Serialize, Deserialize)]
struct Replaced {
    value: String,
    until: Millis,
}

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
    let newest = secrets::unseal_text(app, TABLE.name, &row.value);
    let before = replaced(app, row).into_iter().filter(|before| now < before.until).map(|before| before.value);
    Ok(newest.into_iter().chain(before).collect())
}

/// Replaced values of a secret, newest first.
fn replaced(app: &App, row: &SecretRow) -> Vec<Replaced> {
    let text = row.previous.as_ref().and_then(|sealed| secrets::unseal_text(app, TABLE.name, sealed));
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Notes that a request was signed with a secret.
pub(in crate::modules::endpoints) fn note_use(app: &App, network: NetworkId, name: &str) {
    app.state::<EndpointState>().note_use(network, name, app.clock.now());
}

/// Stores when secrets were used last.
pub(in crate::modules::endpoints) async fn keep_uses(app: App) -> Result<(), hub_db::Error> {
    let uses = app.state::<EndpointState>().take_uses();
    for_each_network(uses, "store the last use of a secret", |network, (name, at)| {
        let app = app.clone();
        async move { store::used(&app.db, network, &name, at).await }
    })
    .await;
    Ok(())
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
    let mut rows = store::list(&app.db, network).await?;
    for row in &mut rows {
        row.last_used_at = row.last_used_at.max(app.state::<EndpointState>().last_use(network, &row.name));
    }
    Ok(rows)
}

/// Sets a secret's value. The one before is good for `overlap_ms` more, and those before it for their own overlaps; without
/// an overlap all of them end.
pub(super) async fn put(
    app: &App,
    network: NetworkId,
    name: &str,
    value: &str,
    overlap_ms: Millis,
    origin: &Origin,
) -> Result<(), ModulesError> {
    let is_there = store::find(&app.db, network, name).await?.is_some();
    let _adding = if is_there {
        None
    } else {
        Some(limits::check_rows::<ModulesError>(app, network, ROWS, 1, std::future::ready(Ok(false))).await?)
    };
    let sealed = secrets::seal_text(app, TABLE.name, value)?;
    let now = app.clock.now();
    app.db
        .transaction(async |mut tx| {
            origin.still_may(&mut tx).await?;
            let row = store::lock(&mut tx, network, name).await?.filter(|_| overlap_ms > 0);
            let kept = row.map_or_else(Vec::new, |row| roll(app, &row, now.saturating_add(overlap_ms), now));
            let until = kept.iter().map(|before| before.until).max();
            let before = match until {
                Some(_) => Some(secrets::seal_text(app, TABLE.name, &serde_json::to_string(&kept)?)?),
                None => None,
            };
            store::put(&mut tx, network, (name, &sealed), (before.as_deref(), until), now).await?;
            Ok::<_, ModulesError>(audit::record(&mut tx, network, origin, Change::new(Action::SecretPut, name)).await?)
        })
        .await?;
    app.state::<EndpointState>().forget_secrets(network);
    Ok(())
}

/// Values that stay good when a secret gets a new one: its own until a time, and those that are good still.
fn roll(app: &App, row: &SecretRow, until: Millis, now: Millis) -> Vec<Replaced> {
    let own = secrets::unseal_text(app, TABLE.name, &row.value).map(|value| Replaced { value, until });
    let good = replaced(app, row).into_iter().filter(|before| now < before.until);
    own.into_iter().chain(good).take(MAX_REPLACED).collect()
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
