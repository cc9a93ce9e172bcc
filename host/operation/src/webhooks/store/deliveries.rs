//! SQL for reading deliveries.

use hub_db::{Db, Error, Executor};

use crate::clock::Millis;
use crate::values::NetworkId;
use crate::webhooks::model::{Delivery, DeliveryState};
use crate::webhooks::store::unreadable;

macro_rules! columns {
    () => {
        "seq, subject, message_id, event, data, event_at, queued_at, state, attempts, attempted_at, status, error, duration_ms,
         finished_at"
    };
}
pub(super) use columns;

#[derive(sqlx::FromRow)]
pub(super) struct DeliveryRow {
    seq: i64,
    subject: i64,
    message_id: String,
    event: String,
    data: String,
    event_at: Millis,
    queued_at: Millis,
    state: String,
    attempts: i64,
    attempted_at: Option<Millis>,
    status: Option<i64>,
    error: Option<String>,
    duration_ms: Option<i64>,
    finished_at: Option<Millis>,
}

impl TryFrom<DeliveryRow> for Delivery {
    type Error = Error;

    fn try_from(row: DeliveryRow) -> Result<Self, Error> {
        Ok(Self {
            seq: row.seq,
            subject: row.subject,
            message_id: row.message_id,
            event: row.event,
            data: row.data,
            event_at: row.event_at,
            queued_at: row.queued_at,
            state: row.state.parse().map_err(unreadable)?,
            attempts: row.attempts,
            attempted_at: row.attempted_at,
            status: row.status,
            error: row.error,
            duration_ms: row.duration_ms,
            finished_at: row.finished_at,
        })
    }
}

/// One delivery.
pub(in crate::webhooks) async fn find(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    id: &str,
    seq: i64,
) -> Result<Option<Delivery>, Error> {
    let row: Option<DeliveryRow> = on
        .into()
        .query(concat!(
            "SELECT ",
            columns!(),
            " FROM webhook_deliveries WHERE network_id = $1 AND webhook_id = $2 AND seq = $3"
        ))
        .bind(network)
        .bind(id)
        .bind(seq)
        .optional()
        .await?;
    row.map(Delivery::try_from).transpose()
}

/// A webhook's deliveries, newest first, and their number; of one state, if given.
pub(in crate::webhooks) async fn list(
    db: &Db,
    network: NetworkId,
    (id, state): (&str, Option<DeliveryState>),
    limit: i64,
    offset: i64,
) -> Result<(Vec<Delivery>, i64), Error> {
    let state = state.map(<&str>::from);
    let (rows, total): (Vec<DeliveryRow>, i64) = db
        .page(
            "SELECT COUNT(*) FROM webhook_deliveries
             WHERE network_id = $1 AND webhook_id = $2 AND (CAST($3 AS TEXT) IS NULL OR state = $3)",
            concat!(
                "SELECT ",
                columns!(),
                " FROM webhook_deliveries
                  WHERE network_id = $1 AND webhook_id = $2 AND (CAST($3 AS TEXT) IS NULL OR state = $3)
                  ORDER BY seq DESC LIMIT $4 OFFSET $5"
            ),
            |statement| statement.bind(network).bind(id).bind(state),
            limit,
            offset,
        )
        .await?;
    Ok((rows.into_iter().map(Delivery::try_from).collect::<Result<_, _>>()?, total))
}
