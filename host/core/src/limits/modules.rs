//! Computing time of a network's modules.

use std::time::Duration;

use crate::app::App;
use crate::limits::Limits;
use crate::limits::plan::ModuleTime;
use crate::values::NetworkId;

/// True if the network's modules may compute now: not while its plan's time is used up.
pub async fn has_module_time(app: &App, network: NetworkId) -> bool {
    let Ok(state) = app.state::<Limits>().current(app, network).await else { return true };
    match state.plan().module_time {
        None => true,
        Some(ModuleTime::None) => false,
        Some(ModuleTime::PerSecond(rate)) => state.module_time.has_token(rate, app.clock.now()),
    }
}

/// Counts computing time of the network's modules.
pub async fn charge_module_time(app: &App, network: NetworkId, computed: Duration) {
    let Ok(state) = app.state::<Limits>().current(app, network).await else { return };
    if let Some(ModuleTime::PerSecond(rate)) = state.plan().module_time {
        let micros = i64::try_from(computed.as_micros()).unwrap_or(i64::MAX);
        state.module_time.charge(rate, app.clock.now(), micros);
    }
}
