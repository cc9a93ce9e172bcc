//! Snapshots of a player's data at the ends of sessions.

use futures_util::future::{BoxFuture, FutureExt as _};
use hub_db::{Error, Tx};

use crate::app::App;
use crate::clock::Millis;
use crate::player_sessions::{Session, SessionEnds};
use crate::players::model::DataKey;
use crate::players::service::PlayersError;
use crate::players::store::snapshots::{self as store, Snapshot, SnapshotEntry};
use crate::values::NetworkId;

/// Number of snapshots of one namespace.
const KEPT: i64 = 16;

/// Keeps what a session leaves behind.
pub(in crate::players) struct SnapshotKeeper;

impl SessionEnds for SnapshotKeeper {
    fn ended<'a>(
        &'a self,
        _app: &'a App,
        tx: &'a mut Tx,
        network: NetworkId,
        session: &'a Session,
        at: Millis,
    ) -> BoxFuture<'a, Result<(), Error>> {
        async move {
            if store::take(tx, network, session, at).await? > 0 {
                store::trim(tx, network, session.player_uuid, KEPT).await?;
            }
            Ok(())
        }
        .boxed()
    }
}

/// A page of a namespace's snapshots, newest first, and their number.
pub(in crate::players) async fn list(
    app: &App,
    network: NetworkId,
    key: &DataKey,
    limit: i64,
    offset: i64,
) -> Result<(Vec<SnapshotEntry>, i64), PlayersError> {
    Ok(store::list(&app.db, network, key, limit, offset).await?)
}

/// A snapshot with its data.
pub(in crate::players) async fn get(
    app: &App,
    network: NetworkId,
    key: &DataKey,
    id: i64,
) -> Result<Snapshot, PlayersError> {
    store::get(&app.db, network, key, id).await?.ok_or(PlayersError::NoSnapshot(id))
}
