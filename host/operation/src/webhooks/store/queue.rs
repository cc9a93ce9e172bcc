//! SQL of waiting deliveries. Each change updates the counts in the webhook's row in the same transaction.

use hub_db::{Db, Error, Sql, Tx};
use serde_json::json as object;

use crate::clock::{Cutoff, Millis};
use crate::values::NetworkId;
use crate::webhooks::model::{Delivery, DeliveryState, NewDelivery};
use crate::webhooks::outcome::{Attempt, Verdict};
use crate::webhooks::store::deliveries::{DeliveryRow, columns};
use crate::webhooks::store::json;

/// Number of a webhook's waiting deliveries.
#[derive(Clone, Copy, Debug, sqlx::FromRow)]
pub(in crate::webhooks) struct Backlog {
    pub(in crate::webhooks) last_seq: i64,
    pub(in crate::webhooks) waiting: i64,
    pub(in crate::webhooks) waiting_bytes: i64,
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
         RETURNING last_seq, waiting, waiting_bytes",
    )
    .bind(network)
    .bind(id)
    .bind(rows)
    .bind(bytes)
    .optional()
    .await
}

const INSERT: Sql = Sql {
    sqlite: "INSERT INTO webhook_deliveries (network_id, webhook_id, seq, message_id, event, data, event_at, queued_at, state,
                 attempts)
             SELECT $1, $2, $4 + key, json_extract(value, '$.message_id'), json_extract(value, '$.event'),
                 json_extract(value, '$.data'), json_extract(value, '$.event_at'), $5, 'WAITING', 0
             FROM json_each($3)",
    postgres: "INSERT INTO webhook_deliveries (network_id, webhook_id, seq, message_id, event, data, event_at, queued_at,
                   state, attempts)
               SELECT $1, $2, $4 + nth - 1, d.value ->> 'message_id', d.value ->> 'event', d.value ->> 'data',
                   CAST(d.value ->> 'event_at' AS BIGINT), $5, 'WAITING', 0
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
        .map(|it| object!({"message_id": it.message_id, "event": it.event, "data": it.data, "event_at": it.event_at}))
        .collect();
    tx.query(INSERT).bind(network).bind(id).bind(json(&rows)?).bind(first).bind(now).execute().await?;
    Ok(())
}

const DROP_OLDEST: &str = "DELETE FROM webhook_deliveries
     WHERE network_id = $1 AND webhook_id = $2 AND seq IN (
         SELECT seq FROM webhook_deliveries WHERE network_id = $1 AND webhook_id = $2 AND state = 'WAITING'
         ORDER BY seq LIMIT $3)
     RETURNING CAST(octet_length(data) AS BIGINT)";

/// Deletes the oldest waiting deliveries. Returns the rest.
pub(in crate::webhooks) async fn drop_oldest(
    tx: &mut Tx,
    network: NetworkId,
    id: &str,
    rows: i64,
) -> Result<Option<Backlog>, Error> {
    let dropped: Vec<(i64,)> = tx.query(DROP_OLDEST).bind(network).bind(id).bind(rows).all().await?;
    let bytes: i64 = dropped.iter().map(|(bytes,)| bytes).sum();
    tx.query(
        "UPDATE webhooks SET waiting = waiting - $3, waiting_bytes = waiting_bytes - $4, dropped = dropped + $3
         WHERE network_id = $1 AND webhook_id = $2
         RETURNING last_seq, waiting, waiting_bytes",
    )
    .bind(network)
    .bind(id)
    .bind(i64::try_from(dropped.len()).unwrap_or(i64::MAX))
    .bind(bytes)
    .optional()
    .await
}

const WAITING: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM webhook_deliveries WHERE network_id = $1 AND webhook_id = $2 AND state = 'WAITING' ORDER BY seq LIMIT $3"
);

/// The next waiting deliveries, in order.
pub(in crate::webhooks) async fn waiting(
    db: &Db,
    network: NetworkId,
    id: &str,
    limit: i64,
) -> Result<Vec<Delivery>, Error> {
    let rows: Vec<DeliveryRow> = db.query(WAITING).bind(network).bind(id).bind(limit).all().await?;
    rows.into_iter().map(Delivery::try_from).collect()
}

/// Stores an attempt and the delivery's new state. False if it no longer waits.
pub(in crate::webhooks) async fn note_attempt(
    tx: &mut Tx,
    network: NetworkId,
    (id, seq): (&str, i64),
    (state, attempt): (DeliveryState, &Attempt),
    now: Millis,
) -> Result<bool, Error> {
    let rows = tx
        .query(
            "UPDATE webhook_deliveries SET state = $4, attempts = attempts + 1, attempted_at = $5, status = $6, error = $7,
                 duration_ms = $8, finished_at = CASE WHEN $4 = 'WAITING' THEN NULL ELSE CAST($5 AS BIGINT) END
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
        .execute()
        .await?;
    Ok(rows > 0)
}

/// State of a webhook after an attempt: the time of its last change, and the time since which it fails.
pub(in crate::webhooks) type AfterAttempt = (Millis, Option<Millis>);

/// Records an attempt in the webhook's row; none if it is no longer enabled. All transactions lock this row first, and
/// only then change deliveries.
pub(in crate::webhooks) async fn note_in_webhook(
    tx: &mut Tx,
    network: NetworkId,
    id: &str,
    (verdict, next_attempt_at): (Verdict, Millis),
    now: Millis,
) -> Result<Option<AfterAttempt>, Error> {
    const SUCCESS: &str =
        "UPDATE webhooks SET next_attempt_at = $3, failures = 0, failing_since = NULL, last_success_at = $4
         WHERE network_id = $1 AND webhook_id = $2 AND state = 'ENABLED'
         RETURNING updated_at, failing_since";
    const FAILURE: &str = "UPDATE webhooks SET next_attempt_at = $3, failures = failures + 1,
             failing_since = COALESCE(failing_since, $4), last_failure_at = $4
         WHERE network_id = $1 AND webhook_id = $2 AND state = 'ENABLED'
         RETURNING updated_at, failing_since";
    // A refusal predicts nothing about the next message, so the webhook continues, but nothing has arrived.
    const REFUSAL: &str = "UPDATE webhooks SET next_attempt_at = $3, failures = 0,
             failing_since = COALESCE(failing_since, $4), last_failure_at = $4
         WHERE network_id = $1 AND webhook_id = $2 AND state = 'ENABLED'
         RETURNING updated_at, failing_since";
    let change = match verdict {
        Verdict::Delivered => SUCCESS,
        Verdict::Refused => REFUSAL,
        Verdict::Retry(_) | Verdict::Gone => FAILURE,
    };
    tx.query(change).bind(network).bind(id).bind(next_attempt_at).bind(now).optional().await
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
     RETURNING CAST(octet_length(data) AS BIGINT)";

/// Gives up deliveries queued before `queued_by`; those never tried fail with `error`.
pub(in crate::webhooks) async fn give_up(
    tx: &mut Tx,
    network: NetworkId,
    id: &str,
    (queued_by, error): (Millis, &str),
    now: Millis,
) -> Result<(), Error> {
    let given_up: Vec<(i64,)> =
        tx.query(GIVE_UP).bind(network).bind(id).bind(queued_by).bind(error).bind(now).all().await?;
    if given_up.is_empty() {
        return Ok(());
    }
    let rows = i64::try_from(given_up.len()).unwrap_or(i64::MAX);
    count_finished(tx, network, id, (rows, given_up.iter().map(|(bytes,)| bytes).sum())).await
}

const FORGET: &str = "DELETE FROM webhook_deliveries
     WHERE network_id = $1 AND webhook_id = $2 AND state <> 'WAITING' AND seq < COALESCE(
         (SELECT MIN(d.seq) FROM webhook_deliveries d
          WHERE d.network_id = $1 AND d.webhook_id = $2 AND d.state = 'WAITING'),
         (SELECT last_seq + 1 FROM webhooks WHERE network_id = $1 AND webhook_id = $2)) - $3";

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
        for plan in query_plans(&[WAITING, DROP_OLDEST, GIVE_UP, FORGET, FORGET_BEFORE.sqlite]).await {
            assert!(plan.iter().all(|step| !step.contains("SCAN")), "{plan:#?}");
            assert!(plan.iter().all(|step| !step.contains("TEMP B-TREE")), "{plan:#?}");
        }
    }
}
