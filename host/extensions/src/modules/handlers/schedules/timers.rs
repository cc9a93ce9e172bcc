//! Timers: set and cancelled by effects, listed and deleted by people.

use hub_db::Tx;
use hub_sandbox::contract::effects::{CancelTimer, SetTimer};
use hub_sandbox::manifest::Manifest;
use serde_json::json;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Origin;
use crate::clock::Millis;
use crate::http::error::ApiError;
use crate::limits::check_rows;
use crate::modules::handlers::effects::ModuleActor;
use crate::modules::handlers::registry::Handlers;
use crate::modules::handlers::schedules::links;
use crate::modules::handlers::schedules::model::TimerRow;
use crate::modules::handlers::schedules::ticks::new_seq;
use crate::modules::handlers::store::timers as store;
use crate::modules::service::ModulesError;
use crate::modules::store::versions;
use crate::values::NetworkId;

/// Shortest time until a timer.
const MIN_TIME: Millis = 1_000;
/// Longest time until a timer: 400 days.
const MAX_TIME: Millis = 400 * 24 * 60 * 60 * 1_000;
/// Keys of timers that are deleted with their player.
const PLAYER: &str = "player:";

/// True if the module's version in the chain has timers.
async fn has_timers(app: &App, network: NetworkId, module: &str) -> Result<bool, ModulesError> {
    let Some(version) = links::version(app, network, module).await? else { return Ok(false) };
    let handlers = app.state::<Handlers>().network(network);
    let known = (module.to_owned(), version);
    if let Some(has_timers) = handlers.timers.lock().get(&known) {
        return Ok(*has_timers);
    }
    let row = versions::find(&app.db, network, module, version).await?;
    let manifest = row.and_then(|row| Manifest::parse(row.manifest?.as_bytes()).ok());
    let has_timers = manifest.is_some_and(|manifest| manifest.timers);
    // A version never changes.
    handlers.timers.lock().insert(known, has_timers);
    Ok(has_timers)
}

/// Sets a timer in the caller's transaction.
pub(in crate::modules) async fn set_timer(
    app: &App,
    network: NetworkId,
    actor: &ModuleActor,
    timer: &SetTimer,
) -> Result<(), ApiError> {
    if !has_timers(app, network, &actor.name).await? {
        return Err(ModulesError::NoTimers(actor.name.clone()).into());
    }
    let (now, at) = (app.clock.now(), i64::try_from(timer.at_ms).unwrap_or(i64::MAX));
    if at > now + MAX_TIME {
        return Err(ApiError::invalid("`at`: must be at most 400 days from now."));
    }
    let is_there = store::exists(&app.db, network, &actor.name, &timer.key);
    let _adding = check_rows::<ModulesError>(app, network, store::NETWORK_TIMERS, 1, is_there).await?;
    let row = TimerRow {
        module: actor.name.clone(),
        timer: timer.key.clone(),
        seq: new_seq(app),
        fires_at: at.max(now + MIN_TIME),
        payload: timer.payload.clone(),
        player_uuid: timer.key.strip_prefix(PLAYER).and_then(|player| player.parse().ok()),
        set_at: now,
        attempts: 0,
    };
    Ok(app.db.transaction(async |mut tx| store::put(&mut tx, network, &row).await).await?)
}

/// Cancels a timer in the caller's transaction; none of its key is fine.
pub(in crate::modules) async fn cancel_timer(
    app: &App,
    network: NetworkId,
    actor: &ModuleActor,
    timer: &CancelTimer,
) -> Result<(), ApiError> {
    app.db.transaction(async |mut tx| store::delete(&mut tx, network, &actor.name, &timer.key).await).await?;
    Ok(())
}

/// A page of a module's timers by key, and their number.
pub(in crate::modules) async fn list(
    app: &App,
    network: NetworkId,
    module: &str,
    place: (i64, i64),
) -> Result<(Vec<TimerRow>, i64), ModulesError> {
    Ok(store::page(&app.db, network, module, place).await?)
}

/// Deletes a timer.
pub(in crate::modules) async fn delete(
    app: &App,
    network: NetworkId,
    module: &str,
    key: &str,
    origin: &Origin,
) -> Result<(), ModulesError> {
    app.db
        .transaction(async |mut tx| {
            if !store::delete(&mut tx, network, module, key).await? {
                return Err(ModulesError::UnknownTimer(module.to_owned(), key.to_owned()));
            }
            let change = Change::new(Action::TimerDeleted, module).before(json!({"key": key}));
            Ok(audit::record(&mut tx, network, origin, change).await?)
        })
        .await
}

/// Deletes the timers of a module without versions.
pub(in crate::modules::handlers) async fn end_of_module(
    tx: &mut Tx,
    network: NetworkId,
    module: &str,
) -> Result<(), hub_db::Error> {
    store::clear(tx, network, module).await
}
