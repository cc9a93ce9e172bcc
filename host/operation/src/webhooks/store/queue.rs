//! SQL of waiting deliveries. Each change updates the counts in the webhook's row in the same transaction.

use std::collections::HashSet;
use std::time::Duration;

use hub_db::{Db, Error, Executor, Sql, Tx};
use serde_json::json as object;

use crate::clock::{Cutoff, Millis};
use crate::component::{Term, renew_term};
use crate::values::NetworkId;
use crate::webhooks::model::{Delivery, DeliveryState, NewDelivery};
use crate::webhooks::outcome::{Attempt, Verdict};
use crate::webhooks::store::deliveries::{DeliveryRow, columns};
use crate::webhooks::store::json;
use crate::webhooks::subject_queues::Part;

/// Pauses, which end when the clock is set back: how long they would last by the new time is not known.
pub(in crate::webhooks) const PAUSES: &[Term] = &[
    Term::new(
        renew_term!("webhook_deliveries", "network_id, webhook_id, seq", "held_until", "state = 'WAITING'"),
        |_| Duration::ZERO,
    ),
    Term::new(
        renew_term!("webhooks", "network_id, webhook_id", "next_attempt_at", "state = 'ENABLED' AND waiting > 0"),
        |_| Duration::ZERO,
    ),
];

/// Waiting deliveries of a webhook.
#[derive(Clone, Copy, Debug, sqlx::FromRow)]
pub(in crate::webhooks) struct Backlog {
    pub(in crate::webhooks) last_seq: i64,
    pub(in crate::webhooks) waiting: i64,
    pub(in crate::webhooks) waiting_bytes: i64,
    next_attempt_at: Millis,
    held_until: Option<Millis>,
}

impl Backlog {
    /// True if only subjects that back off have deliveries.
    pub(in crate::webhooks) fn is_held(&self) -> bool {
        self.held_until == Some(self.next_attempt_at)
    }
}

/// Counts new deliveries in the webhook's row; none if it is not enabled. Transactions for one webhook wait for each
/// other here, so that its deliveries become visible in the order of their numbers.
pub(in crate::webhooks) async fn reserve(
    tx: &mut Tx,
    network: NetworkId,
    id: &str,
    (rows, bytes): (i64, i64),
) -> Result<Option<Backlog>, Error> {
    tx.query(
        "UPDATE webhooks SET last_seq = last_seq + $3, waiting = waiting + $3, waiting_bytes = waiting_bytes + $4
         WHERE network_id = $1 AND webhook_id = $2 AND state = 'ENABLED'
         RETURNING last_seq, waiting, waiting_bytes, next_attempt_at, held_until",
    )
    .bind(network)
    .bind(id)
    .bind(rows)
    .bind(bytes)
    .optional()
    .await
}

const INSERT: Sql = Sql {
    sqlite: "INSERT INTO webhook_deliveries (network_id, webhook_id, seq, subject, message_id, event, data, event_at, queued_at,
                 state, attempts)
             SELECT $1, $2, $4 + key, json_extract(value, '$.subject'), json_extract(value, '$.message_id'),
                 json_extract(value, '$.event'), json_extract(value, '$.data'), json_extract(value, '$.event_at'), $5,
                 'WAITING', 0
             FROM json_each($3)",
    postgres: "INSERT INTO webhook_deliveries (network_id, webhook_id, seq, subject, message_id, event, data, event_at,
                   queued_at, state, attempts)
               SELECT $1, $2, $4 + nth - 1, CAST(d.value ->> 'subject' AS BIGINT), d.value ->> 'message_id',
                   d.value ->> 'event', d.value ->> 'data', CAST(d.value ->> 'event_at' AS BIGINT), $5, 'WAITING', 0
               FROM json_array_elements(CAST($3 AS JSON)) WITH ORDINALITY AS d (value, nth)",
};

/// Adds deliveries, the first with the number `first`.
pub(in crate::webhooks) async fn insert(
    tx: &mut Tx,
    network: NetworkId,
    id: &str,
    (first, deliveries): (i64, &[NewDelivery]),
    now: Millis,
) -> Result<(), Error> {
    let rows: Vec<_> = deliveries
        .iter()
        .map(|it| {
            object!({"subject": it.subject, "message_id": it.message_id, "event": it.event, "data": it.data,
                "event_at": it.event_at})
        })
        .collect();
    tx.query(INSERT).bind(network).bind(id).bind(json(&rows)?).bind(first).bind(now).execute().await?;
    Ok(())
}

/// Makes a webhook due of which all waiting deliveries were held, if one from `first` on is not.
pub(in crate::webhooks) async fn end_hold(
    tx: &mut Tx,
    network: NetworkId,
    id: &str,
    (first, now): (i64, Millis),
) -> Result<(), Error> {
    tx.query(
        "UPDATE webhooks SET next_attempt_at = $4, held_until = NULL
         WHERE network_id = $1 AND webhook_id = $2 AND next_attempt_at = held_until AND EXISTS (
             SELECT 1 FROM webhook_deliveries d
             WHERE d.network_id = $1 AND d.webhook_id = $2 AND d.seq >= $3 AND d.state = 'WAITING' AND NOT EXISTS (
                 SELECT 1 FROM webhook_deliveries h
                 WHERE h.network_id = $1 AND h.webhook_id = $2 AND h.state = 'WAITING' AND h.subject = d.subject
                     AND h.held_until > $4))",
    )
    .bind(network)
    .bind(id)
    .bind(first)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

const DROP_OLDEST: &str = "DELETE FROM webhook_deliveries
     WHERE network_id = $1 AND webhook_id = $2 AND seq IN (
         SELECT seq FROM webhook_deliveries WHERE network_id = $1 AND webhook_id = $2 AND state = 'WAITING'
         ORDER BY seq LIMIT $3)
     RETURNING CAST(octet_length(data) AS BIGINT), subject, held_until";

/// Deletes the oldest waiting deliveries. Returns the rest.
pub(in crate::webhooks) async fn drop_oldest(
    tx: &mut Tx,
    network: NetworkId,
    id: &str,
    rows: i64,
) -> Result<Option<Backlog>, Error> {
    let dropped: Vec<(i64, i64, Option<Millis>)> =
        tx.query(DROP_OLDEST).bind(network).bind(id).bind(rows).all().await?;
    let bytes: i64 = dropped.iter().map(|(bytes, ..)| bytes).sum();
    for (_, subject, held_until) in &dropped {
        if held_until.is_some() {
            hold_next(tx, network, id, (*subject, *held_until)).await?;
        }
    }
    tx.query(
        "UPDATE webhooks SET waiting = waiting - $3, waiting_bytes = waiting_bytes - $4, dropped = dropped + $3
         WHERE network_id = $1 AND webhook_id = $2
         RETURNING last_seq, waiting, waiting_bytes, next_attempt_at, held_until",
    )
    .bind(network)
    .bind(id)
    .bind(i64::try_from(dropped.len()).unwrap_or(i64::MAX))
    .bind(bytes)
    .optional()
    .await
}

/// Lets the next delivery of a subject wait until the one before it would have been tried again.
async fn hold_next(
    tx: &mut Tx,
    network: NetworkId,
    id: &str,
    (subject, held_until): (i64, Option<Millis>),
) -> Result<(), Error> {
    tx.query(
        "UPDATE webhook_deliveries SET held_until = $4
         WHERE network_id = $1 AND webhook_id = $2 AND seq = (
             SELECT MIN(seq) FROM webhook_deliveries
             WHERE network_id = $1 AND webhook_id = $2 AND state = 'WAITING' AND subject = $3)",
    )
    .bind(network)
    .bind(id)
    .bind(subject)
    .bind(held_until)
    .execute()
    .await?;
    Ok(())
}

/// Number of a webhook's newest delivery. All up to it are visible to later statements.
pub(in crate::webhooks) async fn newest(db: &Db, network: NetworkId, id: &str) -> Result<i64, Error> {
    let newest = db.query("SELECT last_seq FROM webhooks WHERE network_id = $1 AND webhook_id = $2");
    Ok(newest.bind(network).bind(id).optional::<(i64,)>().await?.map_or(0, |(newest,)| newest))
}

const HELD: &str = "SELECT subject FROM webhook_deliveries
     WHERE network_id = $1 AND webhook_id = $2 AND state = 'WAITING' AND held_until > $3";

/// Subjects that back off at `now`.
pub(in crate::webhooks) async fn held(
    db: &Db,
    network: NetworkId,
    id: &str,
    now: Millis,
) -> Result<HashSet<i64>, Error> {
    let rows: Vec<(i64,)> = db.query(HELD).bind(network).bind(id).bind(now).all().await?;
    Ok(rows.into_iter().map(|(subject,)| subject).collect())
}

macro_rules! waiting {
    ($subject:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM webhook_deliveries d
              WHERE network_id = $1 AND webhook_id = $2 AND state = 'WAITING' AND seq >= $3 AND seq <= $4",
            $subject,
            " AND NOT EXISTS (
                  SELECT 1 FROM webhook_deliveries h
                  WHERE h.network_id = $1 AND h.webhook_id = $2 AND h.state = 'WAITING' AND h.subject = d.subject
                      AND h.held_until > $5)
              ORDER BY seq LIMIT $6"
        )
    };
}
const WAITING: &str = waiting!("");
const WAITING_OF_SUBJECT: &str = waiting!(" AND subject = $7");

/// Waiting deliveries in order, without those of subjects that back off at `now`.
pub(in crate::webhooks) async fn waiting(
    db: &Db,
    network: NetworkId,
    (id, now): (&str, Millis),
    part: &Part,
) -> Result<Vec<Delivery>, Error> {
    let (first, last) = (*part.numbers.start(), *part.numbers.end());
    let sql = if part.subject.is_some() { WAITING_OF_SUBJECT } else { WAITING };
    let mut query = db.query(sql).bind(network).bind(id).bind(first).bind(last).bind(now);
    query = query.bind(i64::try_from(part.room).unwrap_or(i64::MAX));
    if let Some(subject) = part.subject {
        query = query.bind(subject);
    }
    let rows: Vec<DeliveryRow> = query.all().await?;
    rows.into_iter().map(Delivery::try_from).collect()
}

/// Stores an attempt and the delivery's new state, and the end of its subject's pause. False if it no longer waits.
pub(in crate::webhooks) async fn note_attempt(
    tx: &mut Tx,
    network: NetworkId,
    (id, seq): (&str, i64),
    (state, held_until, attempt): (DeliveryState, Option<Millis>, &Attempt),
    now: Millis,
) -> Result<bool, Error> {
    let rows = tx
        .query(
            "UPDATE webhook_deliveries SET state = $4, attempts = attempts + 1, attempted_at = $5, status = $6, error = $7,
                 duration_ms = $8, finished_at = CASE WHEN $4 = 'WAITING' THEN NULL ELSE CAST($5 AS BIGINT) END,
                 held_until = $9
             WHERE network_id = $1 AND webhook_id = $2 AND seq = $3 AND state = 'WAITING'",
        )
        .bind(network)
        .bind(id)
        .bind(seq)
        .bind(<&str>::from(state))
        .bind(now)
        .bind(attempt.status.map(i64::from))
        .bind(&attempt.error)
        .bind(i64::try_from(attempt.duration.as_millis()).unwrap_or(i64::MAX))
        .bind(held_until)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Results of attempts, in the order in which they ended.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::webhooks) struct Tally {
    delivered: i64,
    not_delivered: i64,
    /// True if one arrived or was refused, which ends a series of failures.
    ends_failures: bool,
    /// Failures behind that.
    failures: i64,
    /// True if the last one did not arrive.
    is_failing: bool,
}

impl Tally {
    pub(in crate::webhooks) fn of<'a>(attempts: impl Iterator<Item = &'a Attempt>) -> Self {
        let mut tally = Self::default();
        for attempt in attempts {
            let is_delivered = attempt.verdict == Verdict::Delivered;
            // A refusal predicts nothing about the next message, but nothing has arrived.
            if is_delivered || attempt.verdict == Verdict::Refused {
                (tally.ends_failures, tally.failures) = (true, 0);
            } else {
                tally.failures += 1;
            }
            *(if is_delivered { &mut tally.delivered } else { &mut tally.not_delivered }) += 1;
            tally.is_failing = !is_delivered;
        }
        tally
    }
}

/// A webhook after attempts.
#[derive(Clone, Copy, Debug, sqlx::FromRow)]
pub(in crate::webhooks) struct AfterAttempts {
    pub(in crate::webhooks) updated_at: Millis,
    /// Time since which it fails.
    pub(in crate::webhooks) failing_since: Option<Millis>,
    pub(in crate::webhooks) failures: i64,
    pub(in crate::webhooks) pauses: i64,
    pub(in crate::webhooks) last_seq: i64,
}

/// Records attempts in the webhook's row; none if it is no longer enabled. All transactions lock this row first, and
/// only then change deliveries.
pub(in crate::webhooks) async fn note_in_webhook(
    tx: &mut Tx,
    network: NetworkId,
    id: &str,
    tally: Tally,
    now: Millis,
) -> Result<Option<AfterAttempts>, Error> {
    tx.query(
        "UPDATE webhooks SET failures = CASE WHEN $3 THEN 0 ELSE failures END + $4,
             pauses = CASE WHEN $3 THEN 0 ELSE pauses END,
             failing_since = COALESCE(CASE WHEN $5 THEN NULL ELSE failing_since END, $6),
             last_success_at = COALESCE($7, last_success_at), last_failure_at = COALESCE($8, last_failure_at)
         WHERE network_id = $1 AND webhook_id = $2 AND state = 'ENABLED'
         RETURNING updated_at, failing_since, failures, pauses, last_seq",
    )
    .bind(network)
    .bind(id)
    .bind(tally.ends_failures)
    .bind(tally.failures)
    .bind(tally.delivered > 0)
    .bind(tally.is_failing.then_some(now))
    .bind((tally.delivered > 0).then_some(now))
    .bind((tally.not_delivered > 0).then_some(now))
    .optional()
    .await
}

/// Changes of a webhook's row after attempts were recorded.
#[derive(Clone, Copy, Debug)]
pub(in crate::webhooks) struct Settlement {
    /// Deliveries that no longer wait, and their bytes.
    pub(in crate::webhooks) finished: (i64, i64),
    /// Further pauses of the whole webhook.
    pub(in crate::webhooks) pauses: i64,
    pub(in crate::webhooks) next_attempt_at: Millis,
}

pub(in crate::webhooks) async fn settle(
    tx: &mut Tx,
    network: NetworkId,
    id: &str,
    settlement: Settlement,
) -> Result<(), Error> {
    let Settlement { finished: (rows, bytes), pauses, next_attempt_at } = settlement;
    tx.query(
        "UPDATE webhooks SET waiting = waiting - $3, waiting_bytes = waiting_bytes - $4, pauses = pauses + $5,
             next_attempt_at = $6
         WHERE network_id = $1 AND webhook_id = $2",
    )
    .bind(network)
    .bind(id)
    .bind(rows)
    .bind(bytes)
    .bind(pauses)
    .bind(next_attempt_at)
    .execute()
    .await?;
    Ok(())
}

const REST: &str = "UPDATE webhooks SET held_until = (
         SELECT MIN(held_until) FROM webhook_deliveries
         WHERE network_id = $1 AND webhook_id = $2 AND state = 'WAITING' AND held_until > $6),
     next_attempt_at = COALESCE((
         SELECT MIN(held_until) FROM webhook_deliveries
         WHERE network_id = $1 AND webhook_id = $2 AND state = 'WAITING' AND held_until > $6), $5)
     WHERE network_id = $1 AND webhook_id = $2 AND next_attempt_at = $3 AND last_seq = $4";

/// Ends the claim that was made until `until`, if no delivery is newer than `newest`: all that wait were held when the
/// turn began, and the next attempt is at the first end of a pause, perhaps at once. False if there are newer ones.
pub(in crate::webhooks) async fn rest(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    id: &str,
    (until, newest): (Millis, i64),
    (began_at, now): (Millis, Millis),
) -> Result<bool, Error> {
    let mut on = on.into();
    let statement = on.write(REST).bind(network).bind(id).bind(until).bind(newest).bind(now).bind(began_at);
    Ok(statement.execute().await? > 0)
}

/// Subtracts deliveries that no longer wait.
pub(in crate::webhooks) async fn count_finished(
    tx: &mut Tx,
    network: NetworkId,
    id: &str,
    (rows, bytes): (i64, i64),
) -> Result<(), Error> {
    tx.query(
        "UPDATE webhooks SET waiting = waiting - $3, waiting_bytes = waiting_bytes - $4
         WHERE network_id = $1 AND webhook_id = $2",
    )
    .bind(network)
    .bind(id)
    .bind(rows)
    .bind(bytes)
    .execute()
    .await?;
    Ok(())
}

const GIVE_UP: &str = "UPDATE webhook_deliveries SET state = 'FAILED', error = COALESCE(error, $4), finished_at = $5
     WHERE network_id = $1 AND webhook_id = $2 AND state = 'WAITING' AND queued_at <= $3
         AND (CAST($6 AS BIGINT) IS NULL OR subject = $6)
     RETURNING CAST(octet_length(data) AS BIGINT)";

/// Gives up deliveries queued before `queued_by`, of one subject if it is given; those never tried fail with `error`.
pub(in crate::webhooks) async fn give_up(
    tx: &mut Tx,
    network: NetworkId,
    (id, subject): (&str, Option<i64>),
    (queued_by, error): (Millis, &str),
    now: Millis,
) -> Result<(), Error> {
    let statement = tx.query(GIVE_UP).bind(network).bind(id).bind(queued_by).bind(error).bind(now).bind(subject);
    let given_up: Vec<(i64,)> = statement.all().await?;
    if given_up.is_empty() {
        return Ok(());
    }
    let rows = i64::try_from(given_up.len()).unwrap_or(i64::MAX);
    count_finished(tx, network, id, (rows, given_up.iter().map(|(bytes,)| bytes).sum())).await
}

const FORGET: &str = "DELETE FROM webhook_deliveries
     WHERE network_id = $1 AND webhook_id = $2 AND state <> 'WAITING'
         AND seq <= (SELECT last_seq - waiting FROM webhooks WHERE network_id = $1 AND webhook_id = $2) - $3";

/// Deletes finished deliveries except for the newest.
pub(in crate::webhooks) async fn forget(tx: &mut Tx, network: NetworkId, id: &str, kept: i64) -> Result<(), Error> {
    tx.query(FORGET).bind(network).bind(id).bind(kept).execute().await?;
    Ok(())
}

// Crosses networks: the age of a delivery alone decides.
/// Takes a [`Cutoff`].
const FORGET_BEFORE: Sql = Sql {
    sqlite: "DELETE FROM webhook_deliveries WHERE rowid IN (
                 SELECT rowid FROM webhook_deliveries WHERE finished_at < $1 AND finished_at IS NOT NULL
                 ORDER BY finished_at LIMIT $2)",
    postgres: "DELETE FROM webhook_deliveries WHERE ctid = ANY (ARRAY(
                   SELECT ctid FROM webhook_deliveries WHERE finished_at < $1 AND finished_at IS NOT NULL
                   ORDER BY finished_at LIMIT $2))",
};

/// Deletes deliveries that ended before. Returns their number.
pub(in crate::webhooks) async fn forget_before(db: &Db, before: Cutoff, limit: i64) -> Result<u64, Error> {
    db.write(FORGET_BEFORE).bind(before.at()).bind(limit).execute().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::query_plans;

    #[tokio::test]
    async fn statements_read_only_one_webhooks_deliveries() {
        for plan in
            query_plans(&[WAITING, WAITING_OF_SUBJECT, HELD, REST, DROP_OLDEST, GIVE_UP, FORGET, FORGET_BEFORE.sqlite])
                .await
        {
            assert!(plan.iter().all(|step| !step.contains("SCAN")), "{plan:#?}");
            assert!(plan.iter().all(|step| !step.contains("TEMP B-TREE")), "{plan:#?}");
        }
    }
}
