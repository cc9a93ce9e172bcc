//! Table `module_timers`.

use std::time::Duration;

use hub_db::{Db, Error, Executor, Tx};

use crate::clock::{Cutoff, Millis};
use crate::component::{Term, renew_term};
use crate::limits::Rows;
use crate::modules::TIMERS;
use crate::modules::handlers::schedules::TimerRow;
use crate::values::NetworkId;

/// Pauses after failed attempts, which end when the clock is set back, and deferrals, which end at the timer's time.
pub(in crate::modules::handlers) const PAUSES: Term = Term::new(
    renew_term!(
        "module_timers",
        "network_id, module, timer",
        "due_at",
        "due_at > fires_at",
        " + CASE WHEN attempts = 0 AND fires_at > $1 THEN fires_at - $1 ELSE 0 END"
    ),
    |_| Duration::ZERO,
);

/// All timers of a network.
pub(in crate::modules::handlers) const NETWORK_TIMERS: Rows =
    Rows::few(TIMERS, "SELECT COUNT(*) FROM module_timers WHERE network_id = $1");

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT module, timer, seq, fires_at, payload, player_uuid, set_at, attempts
             FROM module_timers WHERE network_id = $1 ",
            $rest
        )
    };
}

// Leaps from network to network: those with many due rows cost no more than others.
const DUE_NETWORKS: &str = "WITH RECURSIVE n (network_id) AS (
         SELECT (SELECT network_id FROM module_timers WHERE due_at IS NOT NULL ORDER BY network_id LIMIT 1)
         UNION ALL
         SELECT (SELECT t.network_id FROM module_timers t
                 WHERE t.due_at IS NOT NULL AND t.network_id > n.network_id ORDER BY t.network_id LIMIT 1)
         FROM n WHERE n.network_id IS NOT NULL)
     SELECT network_id FROM n WHERE network_id IS NOT NULL AND EXISTS (
         SELECT 1 FROM module_timers t WHERE t.network_id = n.network_id AND t.due_at <= $1)";

/// Networks with due timers. Crosses networks: each is then served by itself.
pub(in crate::modules::handlers) async fn due_networks(db: &Db, due: Cutoff) -> Result<Vec<NetworkId>, Error> {
    let rows: Vec<(NetworkId,)> = db.query(DUE_NETWORKS).bind(due.at()).readable().await?;
    Ok(rows.into_iter().map(|(network,)| network).collect())
}

/// Due timers of a network, the longest due first.
pub(in crate::modules::handlers) async fn due(
    db: &Db,
    network: NetworkId,
    due: Cutoff,
) -> Result<Vec<TimerRow>, Error> {
    db.query(select!("AND due_at <= $2 ORDER BY due_at LIMIT 64")).bind(network).bind(due.at()).all().await
}

/// A page of a module's timers by key, and their number.
pub(in crate::modules::handlers) async fn page(
    db: &Db,
    network: NetworkId,
    module: &str,
    (limit, offset): (i64, i64),
) -> Result<(Vec<TimerRow>, i64), Error> {
    db.page(
        "SELECT COUNT(*) FROM module_timers WHERE network_id = $1 AND module = $2",
        select!("AND module = $2 ORDER BY timer LIMIT $3 OFFSET $4"),
        |statement| statement.bind(network).bind(module),
        limit,
        offset,
    )
    .await
}

pub(in crate::modules::handlers) async fn exists(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    module: &str,
    timer: &str,
) -> Result<bool, Error> {
    let found: Option<(i64,)> = on
        .into()
        .query("SELECT seq FROM module_timers WHERE network_id = $1 AND module = $2 AND timer = $3")
        .bind(network)
        .bind(module)
        .bind(timer)
        .optional()
        .await?;
    Ok(found.is_some())
}

/// Sets a timer, in place of one of the same key.
pub(in crate::modules::handlers) async fn put(tx: &mut Tx, network: NetworkId, timer: &TimerRow) -> Result<(), Error> {
    tx.query(
        "INSERT INTO module_timers (network_id, module, timer, seq, fires_at, payload, player_uuid, set_at, due_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $5)
         ON CONFLICT (network_id, module, timer) DO UPDATE SET
             seq = excluded.seq, fires_at = excluded.fires_at, payload = excluded.payload, attempts = 0,
             set_at = excluded.set_at, due_at = excluded.due_at",
    )
    .bind(network)
    .bind(&timer.module)
    .bind(&timer.timer)
    .bind(timer.seq)
    .bind(timer.fires_at)
    .bind(&timer.payload)
    .bind(timer.player_uuid)
    .bind(timer.set_at)
    .execute()
    .await?;
    Ok(())
}

/// Deletes the timer of a key; false if there is none.
pub(in crate::modules::handlers) async fn delete(
    tx: &mut Tx,
    network: NetworkId,
    module: &str,
    timer: &str,
) -> Result<bool, Error> {
    let rows = tx
        .query("DELETE FROM module_timers WHERE network_id = $1 AND module = $2 AND timer = $3")
        .bind(network)
        .bind(module)
        .bind(timer)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Ends a timer; false if it was cancelled or set again.
pub(in crate::modules::handlers) async fn end(
    tx: &mut Tx,
    network: NetworkId,
    (module, timer, seq): (&str, &str, i64),
) -> Result<bool, Error> {
    let rows = tx
        .query("DELETE FROM module_timers WHERE network_id = $1 AND module = $2 AND timer = $3 AND seq = $4")
        .bind(network)
        .bind(module)
        .bind(timer)
        .bind(seq)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Ends a failed attempt: the next one is due at a time.
pub(in crate::modules::handlers) async fn fail(
    tx: &mut Tx,
    network: NetworkId,
    (module, timer, seq): (&str, &str, i64),
    (attempts, due_at): (i64, Millis),
) -> Result<bool, Error> {
    let rows = tx
        .query(
            "UPDATE module_timers SET attempts = $5, due_at = $6
             WHERE network_id = $1 AND module = $2 AND timer = $3 AND seq = $4 AND due_at IS NOT NULL",
        )
        .bind(network)
        .bind(module)
        .bind(timer)
        .bind(seq)
        .bind(attempts)
        .bind(due_at)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Parks the timers of a module that is not at the extension point.
pub(in crate::modules::handlers) async fn park(tx: &mut Tx, network: NetworkId, module: &str) -> Result<(), Error> {
    tx.query("UPDATE module_timers SET due_at = NULL WHERE network_id = $1 AND module = $2")
        .bind(network)
        .bind(module)
        .execute()
        .await?;
    Ok(())
}

/// Makes the parked timers of a module due at their times.
pub(in crate::modules::handlers) async fn unpark(tx: &mut Tx, network: NetworkId, module: &str) -> Result<(), Error> {
    tx.query("UPDATE module_timers SET due_at = fires_at WHERE network_id = $1 AND module = $2 AND due_at IS NULL")
        .bind(network)
        .bind(module)
        .execute()
        .await?;
    Ok(())
}

/// Deletes all timers of a module.
pub(in crate::modules::handlers) async fn clear(tx: &mut Tx, network: NetworkId, module: &str) -> Result<(), Error> {
    tx.query("DELETE FROM module_timers WHERE network_id = $1 AND module = $2")
        .bind(network)
        .bind(module)
        .execute()
        .await?;
    Ok(())
}

/// Defers what is due of a module.
pub(in crate::modules::handlers) async fn defer(
    db: &Db,
    network: NetworkId,
    module: &str,
    until: Millis,
) -> Result<(), Error> {
    db.write("UPDATE module_timers SET due_at = $3 WHERE network_id = $1 AND module = $2 AND due_at < $3")
        .bind(network)
        .bind(module)
        .bind(until)
        .execute()
        .await?;
    Ok(())
}
