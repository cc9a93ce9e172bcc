//! Table `handler_dead_letters`.

use hub_db::{Db, Error, Executor, Tx};

use crate::clock::Cutoff;
use crate::modules::handlers::model::DeadLetterRow;
use crate::values::NetworkId;

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT module, id, version, kind, event_key, first_at, at AS failed_at, attempts, code, message, effect,
                 reason, call_id, seq, name, data, event_at, player_uuid, player_name, server_id, depth, root_id, cause,
                 first_id, last_id, lost
             FROM handler_dead_letters WHERE network_id = $1 AND module = $2 ",
            $rest
        )
    };
}

/// A page of a module's dead letters, newest first, and their number.
pub(in crate::modules::handlers) async fn page(
    db: &Db,
    network: NetworkId,
    module: &str,
    (limit, offset): (i64, i64),
) -> Result<(Vec<DeadLetterRow>, i64), Error> {
    db.page(
        "SELECT COUNT(*) FROM handler_dead_letters WHERE network_id = $1 AND module = $2",
        select!("ORDER BY id DESC LIMIT $3 OFFSET $4"),
        |statement| statement.bind(network).bind(module),
        limit,
        offset,
    )
    .await
}

pub(in crate::modules::handlers) async fn find(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    module: &str,
    id: i64,
) -> Result<Option<DeadLetterRow>, Error> {
    on.into().query(select!("AND id = $3")).bind(network).bind(module).bind(id).optional().await
}

/// Oldest dead letters with a code.
pub(in crate::modules::handlers) async fn with_code(
    db: &Db,
    network: NetworkId,
    module: &str,
    code: &str,
) -> Result<Vec<DeadLetterRow>, Error> {
    db.query(select!("AND code = $3 AND kind <> 'OVERFLOW' ORDER BY id LIMIT 1000"))
        .bind(network)
        .bind(module)
        .bind(code)
        .all()
        .await
}

/// Number of a module's dead letters.
pub(in crate::modules::handlers) async fn count(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    module: &str,
) -> Result<i64, Error> {
    let (count,) = on
        .into()
        .query("SELECT COUNT(*) FROM handler_dead_letters WHERE network_id = $1 AND module = $2")
        .bind(network)
        .bind(module)
        .one()
        .await?;
    Ok(count)
}

/// Number of a module's dead letters, counted up to `most`, and the time of the last of these.
pub(in crate::modules::handlers) async fn pile(
    db: &Db,
    network: NetworkId,
    module: &str,
    most: i64,
) -> Result<(i64, Option<i64>), Error> {
    db.query(
        "SELECT COUNT(*), MAX(at) FROM (
             SELECT at FROM handler_dead_letters WHERE network_id = $1 AND module = $2 ORDER BY id DESC LIMIT $3
         ) AS counted",
    )
    .bind(network)
    .bind(module)
    .bind(most)
    .one()
    .await
}

/// Adds a dead letter. Its id is that of its event.
pub(in crate::modules::handlers) async fn insert(
    tx: &mut Tx,
    network: NetworkId,
    letter: &DeadLetterRow,
) -> Result<(), Error> {
    tx.query(
        "INSERT INTO handler_dead_letters (network_id, module, id, version, kind, event_key, first_at, at, attempts, code,
             message, effect, reason, call_id, seq, name, data, event_at, player_uuid, player_name, server_id, depth,
             root_id, cause, first_id, last_id, lost)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
             $24, $25, $26, $27)
         ON CONFLICT (network_id, module, id) DO UPDATE SET
             version = excluded.version, at = excluded.at, attempts = excluded.attempts, code = excluded.code,
             message = excluded.message, effect = excluded.effect, reason = excluded.reason,
             call_id = excluded.call_id",
    )
    .bind(network)
    .bind(&letter.module)
    .bind(letter.id)
    .bind(letter.version)
    .bind(&letter.kind)
    .bind(&letter.event_key)
    .bind(letter.first_at)
    .bind(letter.at)
    .bind(letter.attempts)
    .bind(&letter.code)
    .bind(&letter.message)
    .bind(letter.effect)
    .bind(&letter.reason)
    .bind(&letter.call_id)
    .bind(letter.seq)
    .bind(&letter.name)
    .bind(&letter.data)
    .bind(letter.event_at)
    .bind(letter.player_uuid)
    .bind(&letter.player_name)
    .bind(&letter.server_id)
    .bind(letter.depth)
    .bind(&letter.root_id)
    .bind(&letter.cause)
    .bind(&letter.first_id)
    .bind(&letter.last_id)
    .bind(letter.lost)
    .execute()
    .await?;
    Ok(())
}

/// Adds events to an OVERFLOW; false if it is not there.
pub(in crate::modules::handlers) async fn extend_overflow(
    tx: &mut Tx,
    network: NetworkId,
    (module, id): (&str, i64),
    (last_id, lost): (&str, i64),
    now: i64,
) -> Result<bool, Error> {
    let rows = tx
        .query(
            "UPDATE handler_dead_letters SET last_id = $4, lost = lost + $5, at = $6
             WHERE network_id = $1 AND module = $2 AND id = $3 AND kind = 'OVERFLOW'",
        )
        .bind(network)
        .bind(module)
        .bind(id)
        .bind(last_id)
        .bind(lost)
        .bind(now)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Deletes a dead letter; false if there is none.
pub(in crate::modules::handlers) async fn delete(
    tx: &mut Tx,
    network: NetworkId,
    module: &str,
    id: i64,
) -> Result<bool, Error> {
    let rows = tx
        .query("DELETE FROM handler_dead_letters WHERE network_id = $1 AND module = $2 AND id = $3")
        .bind(network)
        .bind(module)
        .bind(id)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Deletes the oldest dead letters of a module but for `most`. Returns their number.
pub(in crate::modules::handlers) async fn drop_oldest(
    tx: &mut Tx,
    network: NetworkId,
    module: &str,
    most: i64,
) -> Result<u64, Error> {
    tx.query(
        "DELETE FROM handler_dead_letters WHERE network_id = $1 AND module = $2 AND id <= (
             SELECT id FROM handler_dead_letters WHERE network_id = $1 AND module = $2
             ORDER BY id DESC LIMIT 1 OFFSET $3)",
    )
    .bind(network)
    .bind(module)
    .bind(most)
    .execute()
    .await
}

/// Deletes those that failed long ago. Crosses networks: their age alone decides, by a `Cutoff`.
pub(in crate::modules::handlers) async fn delete_old(db: &Db, before: Cutoff) -> Result<(), Error> {
    db.write("DELETE FROM handler_dead_letters WHERE at < $1").bind(before.at()).execute().await?;
    Ok(())
}
