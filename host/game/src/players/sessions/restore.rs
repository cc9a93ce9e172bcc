//! Restoring a snapshot of a player's data.

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Origin;
use crate::limits::{check_rows, check_storage, row_bytes};
use crate::player_sessions::service::{end_in, lock_open, note_end, tell_end_in};
use crate::player_sessions::{SessionError, SessionState};
use crate::players::model::DataKey;
use crate::players::service::{PlayersError, put_in};
use crate::players::sessions::snapshots;
use crate::players::store::data as store;
use crate::values::NetworkId;

/// Writes a snapshot's data as a new version. An open session is ended if `force`, or else refuses it. Returns the data
/// and its version.
pub(in crate::players) async fn restore(
    app: &App,
    network: NetworkId,
    key: &DataKey,
    id: i64,
    force: bool,
    origin: &Origin,
) -> Result<(String, i64), PlayersError> {
    let data = snapshots::get(app, network, key, id).await?.data;
    let is_there = async { Ok(store::get(&app.db, network, key).await?.is_some()) };
    let _adding = check_rows::<PlayersError>(app, network, store::DATA_ENTRIES, 1, is_there).await?;
    let bytes = row_bytes(&[key.game_mode.as_str(), key.namespace.as_str(), &data]);
    check_storage::<PlayersError>(app, network, bytes, store::stored_bytes(&app.db, network, key)).await?;
    let (version, ended) = app
        .db
        .transaction(async |mut tx| {
            let open = lock_open(app, &mut tx, network, key.player).await?;
            if let Some((session, is_lost)) = &open {
                if !is_lost && !force {
                    return Err(SessionError::Open(session.server_id.clone()).into());
                }
                let state = if *is_lost { SessionState::Lost } else { SessionState::TakenOver };
                end_in(app, &mut tx, network, session, state, app.clock.now()).await?;
                tell_end_in(app, &mut tx, network, session).await?;
            }
            let version = put_in(app, &mut tx, network, key, &data).await?;
            let after = serde_json::json!({
                "gameMode": key.game_mode, "namespace": key.namespace, "snapshotId": id, "version": version,
                "endedFence": open.as_ref().map(|(session, _)| session.fence),
            });
            let change = Change::new(Action::PlayerDataRestored, key.player).after(after);
            audit::record(&mut tx, network, origin, change).await?;
            Ok::<_, PlayersError>((version, open))
        })
        .await?;
    if let Some((session, _)) = ended {
        note_end(app, network, &session);
    }
    Ok((data, version))
}
