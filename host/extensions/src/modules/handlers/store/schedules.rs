//! Table `module_schedules`.

use std::time::Duration;

use hub_db::{Db, Error, Executor, Tx};

use crate::clock::{Cutoff, Millis};
use crate::component::{Term, renew_term};
use crate::modules::handlers::schedules::ScheduleRow;
use crate::values::NetworkId;

/// Pauses of ticks under way, which end when the clock is set back, and deferrals of others, which end at the next tick.
pub(in crate::modules::handlers) const PAUSES: Term = Term::new(
    renew_term!(
        "module_schedules",
        "network_id, module, name",
        "due_at",
        "(run_seq IS NOT NULL OR due_at > next_at)",
        " + CASE WHEN run_seq IS NULL AND next_at > $1 THEN next_at - $1 ELSE 0 END"
    ),
    |_| Duration::ZERO,
);

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT module, name, cron, catch_up, next_at, free_at, missed, run_seq, run, last_run
             FROM module_schedules WHERE network_id = $1 ",
            $rest
        )
    };
}

// Leaps from network to network: those with many due rows cost no more than others.
const DUE_NETWORKS: &str = "WITH RECURSIVE n (network_id) AS (
         SELECT (SELECT network_id FROM module_schedules WHERE due_at IS NOT NULL ORDER BY network_id LIMIT 1)
         UNION ALL
         SELECT (SELECT s.network_id FROM module_schedules s
                 WHERE s.due_at IS NOT NULL AND s.network_id > n.network_id ORDER BY s.network_id LIMIT 1)
         FROM n WHERE n.network_id IS NOT NULL)
     SELECT network_id FROM n WHERE network_id IS NOT NULL AND EXISTS (
         SELECT 1 FROM module_schedules s WHERE s.network_id = n.network_id AND s.due_at <= $1)";

/// Networks with due schedules. Crosses networks: each is then served by itself.
pub(in crate::modules::handlers) async fn due_networks(db: &Db, due: Cutoff) -> Result<Vec<NetworkId>, Error> {
    let rows: Vec<(NetworkId,)> = db.query(DUE_NETWORKS).bind(due.at()).readable().await?;
    Ok(rows.into_iter().map(|(network,)| network).collect())
}

/// Due schedules of a network, the longest due first.
pub(in crate::modules::handlers) async fn due(
    db: &Db,
    network: NetworkId,
    due: Cutoff,
) -> Result<Vec<ScheduleRow>, Error> {
    db.query(select!("AND due_at <= $2 ORDER BY due_at LIMIT 64")).bind(network).bind(due.at()).all().await
}

/// Schedules of a module.
pub(in crate::modules::handlers) async fn list(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    module: &str,
) -> Result<Vec<ScheduleRow>, Error> {
    on.into().query(select!("AND module = $2 ORDER BY name")).bind(network).bind(module).all().await
}

pub(in crate::modules::handlers) async fn find(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    module: &str,
    name: &str,
) -> Result<Option<ScheduleRow>, Error> {
    on.into().query(select!("AND module = $2 AND name = $3")).bind(network).bind(module).bind(name).optional().await
}

/// Adds a schedule whose first tick is at `next_at`, or changes it. One with the same times keeps its place in them.
pub(in crate::modules::handlers) async fn put(
    tx: &mut Tx,
    network: NetworkId,
    module: &str,
    (name, cron, catch_up): (&str, &str, &str),
    (next_at, now): (Option<Millis>, Millis),
) -> Result<(), Error> {
    tx.query(
        "INSERT INTO module_schedules (network_id, module, name, cron, catch_up, next_at, due_at, free_at)
         VALUES ($1, $2, $3, $4, $5, $6, $6, $7)
         ON CONFLICT (network_id, module, name) DO UPDATE SET
             due_at = CASE WHEN module_schedules.cron = excluded.cron OR module_schedules.run_seq IS NOT NULL
                 THEN module_schedules.due_at ELSE excluded.next_at END,
             next_at = CASE WHEN module_schedules.cron = excluded.cron
                 THEN module_schedules.next_at ELSE excluded.next_at END,
             cron = excluded.cron, catch_up = excluded.catch_up",
    )
    .bind(network)
    .bind(module)
    .bind(name)
    .bind(cron)
    .bind(catch_up)
    .bind(next_at)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

pub(in crate::modules::handlers) async fn delete(
    tx: &mut Tx,
    network: NetworkId,
    module: &str,
    name: &str,
) -> Result<(), Error> {
    tx.query("DELETE FROM module_schedules WHERE network_id = $1 AND module = $2 AND name = $3")
        .bind(network)
        .bind(module)
        .bind(name)
        .execute()
        .await?;
    Ok(())
}

/// Begins a tick, unless one is under way or the schedule has changed since it was read.
pub(in crate::modules::handlers) async fn begin(
    tx: &mut Tx,
    network: NetworkId,
    read: &ScheduleRow,
    (seq, run): (i64, &str),
    (next_at, now): (Option<Millis>, Millis),
) -> Result<bool, Error> {
    let rows = tx
        .query(
            "UPDATE module_schedules SET run_seq = $5, run = $6, next_at = $7, due_at = $8
             WHERE network_id = $1 AND module = $2 AND name = $3 AND run_seq IS NULL AND cron = $4 AND next_at = $9",
        )
        .bind(network)
        .bind(&read.module)
        .bind(&read.name)
        .bind(&read.cron)
        .bind(seq)
        .bind(run)
        .bind(next_at)
        .bind(now)
        .bind(read.next_at)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Begins a tick that a person asked for, unless one is under way. It is due whatever the time is.
pub(in crate::modules::handlers) async fn begin_now(
    tx: &mut Tx,
    network: NetworkId,
    (module, name, seq): (&str, &str, i64),
    run: &str,
) -> Result<bool, Error> {
    let rows = tx
        .query(
            "UPDATE module_schedules SET run_seq = $4, run = $5, due_at = 0
             WHERE network_id = $1 AND module = $2 AND name = $3 AND run_seq IS NULL",
        )
        .bind(network)
        .bind(module)
        .bind(name)
        .bind(seq)
        .bind(run)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Leaves out what was missed until the next tick, unless one is under way or the schedule has changed since it was read.
pub(in crate::modules::handlers) async fn skip(
    tx: &mut Tx,
    network: NetworkId,
    read: &ScheduleRow,
    (missed, last_run): (i64, Option<&str>),
    next_at: Option<Millis>,
) -> Result<bool, Error> {
    let rows = tx
        .query(
            "UPDATE module_schedules SET missed = $5, last_run = COALESCE($6, last_run), next_at = $7, due_at = $7
         WHERE network_id = $1 AND module = $2 AND name = $3 AND run_seq IS NULL AND cron = $4 AND next_at = $8",
        )
        .bind(network)
        .bind(&read.module)
        .bind(&read.name)
        .bind(&read.cron)
        .bind(missed)
        .bind(last_run)
        .bind(next_at)
        .bind(read.next_at)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Ends a failed attempt at a tick: the next one is due at a time.
pub(in crate::modules::handlers) async fn fail(
    tx: &mut Tx,
    network: NetworkId,
    (module, name, seq): (&str, &str, i64),
    (run, due_at): (&str, Millis),
) -> Result<bool, Error> {
    let rows = tx
        .query(
            "UPDATE module_schedules SET run = $5, due_at = $6
             WHERE network_id = $1 AND module = $2 AND name = $3 AND run_seq = $4",
        )
        .bind(network)
        .bind(module)
        .bind(name)
        .bind(seq)
        .bind(run)
        .bind(due_at)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Ends a tick; false if it is not under way.
pub(in crate::modules::handlers) async fn end(
    tx: &mut Tx,
    network: NetworkId,
    (module, name, seq): (&str, &str, i64),
    (last_run, is_manual, now): (&str, bool, Millis),
) -> Result<bool, Error> {
    let rows = tx
        .query(
            "UPDATE module_schedules SET run_seq = NULL, run = NULL, last_run = $5, free_at = $6, due_at = next_at,
                 missed = CASE WHEN $7 THEN missed ELSE 0 END
             WHERE network_id = $1 AND module = $2 AND name = $3 AND run_seq = $4",
        )
        .bind(network)
        .bind(module)
        .bind(name)
        .bind(seq)
        .bind(last_run)
        .bind(now)
        .bind(is_manual)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Defers what is due of a module.
pub(in crate::modules::handlers) async fn defer(
    db: &Db,
    network: NetworkId,
    module: &str,
    until: Millis,
) -> Result<(), Error> {
    db.write("UPDATE module_schedules SET due_at = $3 WHERE network_id = $1 AND module = $2 AND due_at < $3")
        .bind(network)
        .bind(module)
        .bind(until)
        .execute()
        .await?;
    Ok(())
}
