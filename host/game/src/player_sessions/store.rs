//! All SQL of the component.

use hub_db::{Db, Error, Sql, Tx, next_number};

use crate::clock::Millis;
use crate::player_sessions::model::{SavedSession, Session, SessionState};
use crate::values::{Identifier, NetworkId, PlayerId};

/// Selects sessions; fences below the epoch's floor are of an earlier epoch of the database.
macro_rules! select_session {
    ($more:literal, $rest:literal) => {
        select_session!("", $more, $rest)
    };
    ($index:literal, $more:literal, $rest:literal) => {
        concat!(
            "SELECT s.player_uuid, s.fence, s.server_id, s.state, s.opened_at, s.ended_at, s.fence >= e.floor AS is_current",
            $more,
            " FROM player_sessions s ",
            $index,
            " CROSS JOIN database_epoch e WHERE e.one = 1 AND s.network_id = $1 AND ",
            $rest
        )
    };
}

pub(super) async fn get(db: &Db, network: NetworkId, player: PlayerId) -> Result<Option<Session>, Error> {
    db.query(select_session!("", "s.player_uuid = $2")).bind(network).bind(player).optional().await
}

/// SQLite would read all sessions of the network, by their key.
const OPEN: Sql = Sql {
    sqlite: select_session!("INDEXED BY player_sessions_open", "", "s.state = 'OPEN'"),
    postgres: select_session!("", "s.state = 'OPEN'"),
};

/// All open sessions of a network.
pub(super) async fn open(db: &Db, network: NetworkId) -> Result<Vec<Session>, Error> {
    db.query(OPEN).bind(network).all().await
}

const LOCK: Sql = Sql {
    sqlite: select_session!(", s.saved_digest, s.saved_number, s.saved_answer", "s.player_uuid = $2"),
    postgres: select_session!(", s.saved_digest, s.saved_number, s.saved_answer", "s.player_uuid = $2 FOR UPDATE OF s"),
};

/// The player's newest session, locked until the transaction ends.
pub(super) async fn lock(tx: &mut Tx, network: NetworkId, player: PlayerId) -> Result<Option<SavedSession>, Error> {
    tx.query(LOCK).bind(network).bind(player).optional().await
}

const SHARE: Sql = Sql {
    sqlite: select_session!("", "s.player_uuid = $2"),
    postgres: select_session!("", "s.player_uuid = $2 FOR SHARE OF s"),
};

/// The player's newest session, which does not change until the transaction ends.
pub(super) async fn share(tx: &mut Tx, network: NetworkId, player: PlayerId) -> Result<Option<Session>, Error> {
    tx.query(SHARE).bind(network).bind(player).optional().await
}

macro_rules! next_fence {
    () => {
        concat!(
            "INSERT INTO player_session_counters (network_id, last_fence) VALUES ($1, ",
            next_number!("0"),
            ") ON CONFLICT (network_id) DO UPDATE SET last_fence = ",
            next_number!("player_session_counters.last_fence")
        )
    };
}

macro_rules! put_session {
    ($counter:literal) => {
        concat!(
            "INSERT INTO player_sessions (network_id, player_uuid, fence, server_id, state, opened_at)
             SELECT $1, $2, c.last_fence, $3, 'OPEN', $4 FROM ",
            $counter,
            " ON CONFLICT (network_id, player_uuid) DO UPDATE SET
                 fence = excluded.fence, server_id = excluded.server_id, state = excluded.state,
                 opened_at = excluded.opened_at, ended_at = NULL, saved_digest = NULL, saved_number = NULL,
                 saved_answer = NULL
             RETURNING fence"
        )
    };
}

const PUT: Sql = Sql {
    sqlite: concat!(next_fence!(), "; ", put_session!("player_session_counters c WHERE c.network_id = $1")),
    postgres: concat!(
        "WITH c AS (",
        next_fence!(),
        " RETURNING network_id, last_fence) ",
        put_session!("c WHERE c.network_id = $1")
    ),
};

/// Stores a new open session in the place of the player's last one. Returns its fence, the network's next: the counter is
/// held until the transaction ends, so do it late.
pub(super) async fn put(
    tx: &mut Tx,
    network: NetworkId,
    player: PlayerId,
    server: &Identifier,
    now: Millis,
) -> Result<i64, Error> {
    let (fence,): (i64,) = tx.script(PUT).bind(network).bind(player).bind(server).bind(now).one().await?;
    Ok(fence)
}

/// Ends a locked session.
pub(super) async fn end(
    tx: &mut Tx,
    network: NetworkId,
    player: PlayerId,
    state: SessionState,
    now: Millis,
) -> Result<(), Error> {
    tx.query("UPDATE player_sessions SET state = $3, ended_at = $4 WHERE network_id = $1 AND player_uuid = $2")
        .bind(network)
        .bind(player)
        .bind(state.as_str())
        .bind(now)
        .execute()
        .await?;
    Ok(())
}

/// Records the last save of a locked session, which may close it. One without a number keeps that of the save before.
pub(super) async fn record_save(
    tx: &mut Tx,
    network: NetworkId,
    player: PlayerId,
    (digest, number, answer): (&[u8], Option<i64>, &str),
    closed_at: Option<Millis>,
) -> Result<(), Error> {
    tx.query(
        "UPDATE player_sessions SET saved_digest = $3, saved_number = COALESCE($4, saved_number), saved_answer = $5,
             state = COALESCE($6, state), ended_at = COALESCE($7, ended_at)
         WHERE network_id = $1 AND player_uuid = $2",
    )
    .bind(network)
    .bind(player)
    .bind(digest)
    .bind(number)
    .bind(answer)
    .bind(closed_at.map(|_| SessionState::Closed.as_str()))
    .bind(closed_at)
    .execute()
    .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::query_plans;

    #[tokio::test]
    async fn open_sessions_are_found_by_their_index() {
        let plans = query_plans(&[OPEN.sqlite, LOCK.sqlite]).await;
        assert!(plans[0].iter().any(|step| step.contains("player_sessions_open")), "{plans:#?}");
        assert!(plans[1].iter().any(|step| step.contains("player_uuid=?")), "{plans:#?}");
    }
}
