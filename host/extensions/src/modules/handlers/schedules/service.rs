//! Schedules as their owner sees them.

use serde_json::json;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Origin;
use crate::modules::handlers::call_id::call_of;
use crate::modules::handlers::schedules::model::{Run, ScheduleRow};
use crate::modules::handlers::schedules::ticks::new_seq;
use crate::modules::handlers::schedules::{links, serve};
use crate::modules::handlers::store::schedules as store;
use crate::modules::service::ModulesError;
use crate::values::NetworkId;

/// Schedules of a module, and its version in the chain.
pub(in crate::modules) async fn list(
    app: &App,
    network: NetworkId,
    module: &str,
) -> Result<(Vec<ScheduleRow>, i64), ModulesError> {
    let version = links::version(app, network, module).await?.unwrap_or(0);
    Ok((store::list(&app.db, network, module).await?, version))
}

/// Runs a schedule once, beside its times. Returns the id of the call.
pub(in crate::modules) async fn run_now(
    app: &App,
    network: NetworkId,
    module: &str,
    name: &str,
    origin: &Origin,
) -> Result<String, ModulesError> {
    let (seq, now) = (new_seq(app), app.clock.now());
    let run = Run::begin(now, 0, true, call_of(network, module, seq).0, now);
    let text = run.to_json();
    app.db
        .transaction(async |mut tx| {
            let unknown = || ModulesError::UnknownSchedule(module.to_owned(), name.to_owned());
            store::find(&mut tx, network, module, name).await?.ok_or_else(unknown)?;
            if !store::begin_now(&mut tx, network, (module, name, seq), &text).await? {
                return Err(ModulesError::TickRunning(name.to_owned()));
            }
            let change =
                Change::new(Action::ScheduleRun, format!("{module}/{name}")).after(json!({"callId": run.call_id}));
            Ok(audit::record(&mut tx, network, origin, change).await?)
        })
        .await?;
    serve::wake(app, network);
    Ok(run.call_id.unwrap_or_default())
}
