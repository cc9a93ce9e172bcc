//! Changes of players' data by modules. That of a player with an open session is the session's.

use hub_db::Tx;
use hub_sandbox::contract::effects::{DeletePlayerData, PutPlayerData};

use crate::app::App;
use crate::http::error::ApiError;
use crate::limits::{Limit, Usage, check_rows, check_storage, row_bytes};
use crate::modules::read_field;
use crate::player_sessions::{self, SessionError};
use crate::players::model::{DataKey, JsonText};
use crate::players::service::{self, PlayersError};
use crate::players::store;
use crate::values::NetworkId;

fn key(player: &str, game_mode: &str, namespace: &str) -> Result<DataKey, ApiError> {
    Ok(DataKey {
        player: read_field("playerUuid", player)?,
        game_mode: read_field("gameMode", game_mode)?,
        namespace: read_field("namespace", namespace)?,
    })
}

async fn refuse_open(app: &App, tx: &mut Tx, network: NetworkId, key: &DataKey) -> Result<(), PlayersError> {
    match player_sessions::service::lock_open(app, tx, network, key.player).await? {
        Some((session, false)) => Err(SessionError::Open(session.server_id).into()),
        _ => Ok(()),
    }
}

/// Version as stored.
fn version(version: Option<u64>) -> Option<i64> {
    version.map(|version| i64::try_from(version).unwrap_or(i64::MAX))
}

/// Writes a namespace's data.
pub async fn put(app: &App, network: NetworkId, effect: &PutPlayerData) -> Result<(), ApiError> {
    let key = key(&effect.player_uuid, &effect.game_mode, &effect.namespace)?;
    let data: JsonText = serde_json::to_string(&effect.data)
        .and_then(|text| serde_json::from_str(&text))
        .map_err(|error| ApiError::invalid(format!("`data`: {error}.")))?;
    Ok(put_data(app, network, &key, &data, version(effect.version)).await?)
}

async fn put_data(
    app: &App,
    network: NetworkId,
    key: &DataKey,
    data: &JsonText,
    expected: Option<i64>,
) -> Result<(), PlayersError> {
    if data.as_str().len() > JsonText::LIMIT {
        return Err(PlayersError::TooLarge);
    }
    let is_there = async { Ok(store::data::get(&app.db, network, key).await?.is_some()) };
    let _adding = check_rows::<PlayersError>(app, network, store::data::DATA_ENTRIES, 1, is_there).await?;
    let bytes = row_bytes(&[key.game_mode.as_str(), key.namespace.as_str(), data.as_str()]);
    let replaced = store::data::stored_bytes(&app.db, network, key);
    check_storage::<PlayersError>(app, network, bytes, replaced).await?;
    let (most, now) = (service::data_limits(app), app.clock.now());
    let version = app
        .db
        .transaction(async |mut tx| {
            refuse_open(app, &mut tx, network, key).await?;
            Ok::<_, PlayersError>(store::data::put(&mut tx, network, key, data.as_str(), expected, most, now).await?)
        })
        .await?;
    match version {
        Some(_) => Ok(()),
        None => Err(service::why_not_put(app, network, key, data, expected).await?),
    }
}

/// Deletes a namespace's data. None is no error, unless a version is named.
pub async fn delete(app: &App, network: NetworkId, effect: &DeletePlayerData) -> Result<(), ApiError> {
    let key = key(&effect.player_uuid, &effect.game_mode, &effect.namespace)?;
    let expected = version(effect.version);
    let deleted = app
        .db
        .transaction(async |mut tx| {
            refuse_open(app, &mut tx, network, &key).await?;
            if let Some(expected) = expected
                && store::data::get(&mut tx, network, &key).await?.is_none_or(|stored| stored.version != expected)
            {
                return Err(PlayersError::VersionConflict(expected));
            }
            Ok::<_, PlayersError>(store::data::delete(&mut tx, network, &key).await?)
        })
        .await?;
    if deleted {
        app.state::<Usage>().removed(network, Limit::DataEntries, 1);
    }
    Ok(())
}
