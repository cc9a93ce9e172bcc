//! Changes of statistics by modules.

use hub_sandbox::contract::effects::IncrementStatistic;

use crate::app::App;
use crate::http::error::ApiError;
use crate::modules::read_field;
use crate::owner::Owner;
use crate::statistics::model::{FiniteNumber, StatisticKey};
use crate::statistics::service;
use crate::values::{Label, NetworkId};

/// Adds to a statistic.
pub async fn increment(app: &App, network: NetworkId, effect: &IncrementStatistic) -> Result<(), ApiError> {
    let (owner_type, owner_key) =
        (read_field("ownerType", &effect.owner_type)?, read_field("ownerKey", &effect.owner_key)?);
    let owner =
        Owner::new(owner_type, owner_key).map_err(|reason| ApiError::invalid(format!("`ownerKey`: {reason}.")))?;
    let game_mode = effect.game_mode.as_deref().unwrap_or("global");
    let game_mode: Label = read_field("gameMode", game_mode)?;
    let amount = FiniteNumber::try_from(effect.amount);
    let amount = amount.map_err(|reason| ApiError::invalid(format!("`amount`: {reason}.")))?;
    let key = StatisticKey { game_mode, name: read_field("name", &effect.name)? };
    service::increment(app, network, &owner, &key, amount).await?;
    Ok(())
}
