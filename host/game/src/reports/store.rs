//! All SQL of reports.

use hub_db::{Db, Error, Executor, Tx};

use crate::clock::{Cutoff, Millis};
use crate::limits::Rows;
use crate::reports::ALL_REPORTS;
use crate::reports::model::{Report, ReportState, ReportWithChat};
use crate::values::{NetworkId, PlayerId};

/// All reports of a network.
pub(super) const ROWS: Rows = Rows::many(
    ALL_REPORTS,
    "SELECT COUNT(*) FROM (SELECT report_id FROM reports WHERE network_id = $1 LIMIT $2) AS counted",
);

macro_rules! columns {
    () => {
        "report_id, reporter_uuid, player_uuid, reason, server_id, state, resolution, taken_by, at, chat"
    };
}

#[derive(sqlx::FromRow)]
struct Row {
    report_id: i64,
    reporter_uuid: Option<PlayerId>,
    player_uuid: PlayerId,
    reason: String,
    server_id: Option<String>,
    #[sqlx(try_from = "String")]
    state: ReportState,
    resolution: Option<String>,
    taken_by: Option<String>,
    at: Millis,
    chat: Option<String>,
}

impl From<Row> for ReportWithChat {
    fn from(row: Row) -> Self {
        let report = Report {
            report_id: row.report_id,
            reporter_uuid: row.reporter_uuid,
            player_uuid: row.player_uuid,
            reason: row.reason,
            server_id: row.server_id,
            state: row.state,
            resolution: row.resolution,
            taken_by: row.taken_by.and_then(|actor| serde_json::from_str(&actor).ok()),
            at: row.at,
        };
        Self { report, chat: row.chat }
    }
}

/// Takes the network's next id. The counter's row is locked until the transaction ends, so that reports are counted one after
/// the other.
pub(super) async fn take_id(tx: &mut Tx, network: NetworkId) -> Result<i64, Error> {
    let (id,): (i64,) = tx
        .query(
            "INSERT INTO report_counters (network_id, last_id) VALUES ($1, 1)
             ON CONFLICT (network_id) DO UPDATE SET last_id = report_counters.last_id + 1 RETURNING last_id",
        )
        .bind(network)
        .one()
        .await?;
    Ok(id)
}

/// Number of OPEN reports by a player.
pub(super) async fn count_open_by(tx: &mut Tx, network: NetworkId, reporter: PlayerId) -> Result<i64, Error> {
    let (count,): (i64,) = tx
        .query("SELECT COUNT(*) FROM reports WHERE network_id = $1 AND reporter_uuid = $2 AND state = 'OPEN'")
        .bind(network)
        .bind(reporter)
        .one()
        .await?;
    Ok(count)
}

/// Number of reports that are not closed.
pub(super) async fn count_not_closed(on: impl Into<Executor<'_>>, network: NetworkId) -> Result<i64, Error> {
    let (count,): (i64,) = on
        .into()
        .query("SELECT COUNT(*) FROM reports WHERE network_id = $1 AND state IN ('OPEN', 'TAKEN')")
        .bind(network)
        .one()
        .await?;
    Ok(count)
}

/// Number of OPEN reports, counted up to `most`, and the time of the oldest.
pub(super) async fn open(db: &Db, network: NetworkId, most: i64) -> Result<(i64, Option<Millis>), Error> {
    db.query(
        "SELECT COUNT(*), MIN(at) FROM (
             SELECT at FROM reports WHERE network_id = $1 AND state = 'OPEN' ORDER BY report_id LIMIT $2) AS counted",
    )
    .bind(network)
    .bind(most)
    .one()
    .await
}

pub(super) async fn insert(tx: &mut Tx, network: NetworkId, report: &Report, chat: Option<&str>) -> Result<(), Error> {
    tx.query(
        "INSERT INTO reports (network_id, report_id, reporter_uuid, player_uuid, reason, server_id, state, at, chat)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(network)
    .bind(report.report_id)
    .bind(report.reporter_uuid)
    .bind(report.player_uuid)
    .bind(&report.reason)
    .bind(&report.server_id)
    .bind(report.state.as_str())
    .bind(report.at)
    .bind(chat)
    .execute()
    .await?;
    Ok(())
}

/// Newest first, and their number.
pub(super) async fn list(
    db: &Db,
    network: NetworkId,
    state: Option<ReportState>,
    (limit, offset): (i64, i64),
) -> Result<(Vec<ReportWithChat>, i64), Error> {
    let (rows, total): (Vec<Row>, i64) = match state {
        Some(state) => {
            db.page(
                "SELECT COUNT(*) FROM reports WHERE network_id = $1 AND state = $2",
                concat!(
                    "SELECT ",
                    columns!(),
                    " FROM reports WHERE network_id = $1 AND state = $2 ORDER BY report_id DESC LIMIT $3 OFFSET $4"
                ),
                |statement| statement.bind(network).bind(state.as_str()),
                limit,
                offset,
            )
            .await?
        }
        None => {
            db.page(
                "SELECT COUNT(*) FROM reports WHERE network_id = $1",
                concat!(
                    "SELECT ",
                    columns!(),
                    " FROM reports WHERE network_id = $1 ORDER BY report_id DESC LIMIT $2 OFFSET $3"
                ),
                |statement| statement.bind(network),
                limit,
                offset,
            )
            .await?
        }
    };
    Ok((rows.into_iter().map(ReportWithChat::from).collect(), total))
}

pub(super) async fn get(db: &Db, network: NetworkId, id: i64) -> Result<Option<ReportWithChat>, Error> {
    let row: Option<Row> = db
        .query(concat!("SELECT ", columns!(), " FROM reports WHERE network_id = $1 AND report_id = $2"))
        .bind(network)
        .bind(id)
        .optional()
        .await?;
    Ok(row.map(ReportWithChat::from))
}

/// A report, locked until the transaction ends.
pub(super) async fn lock(tx: &mut Tx, network: NetworkId, id: i64) -> Result<Option<ReportWithChat>, Error> {
    let row: Option<Row> = tx
        .query(concat!("UPDATE reports SET at = at WHERE network_id = $1 AND report_id = $2 RETURNING ", columns!()))
        .bind(network)
        .bind(id)
        .optional()
        .await?;
    Ok(row.map(ReportWithChat::from))
}

/// Writes what staff changed.
pub(super) async fn update(
    tx: &mut Tx,
    network: NetworkId,
    report: &Report,
    taken_by: Option<&str>,
    closed_at: Option<Millis>,
) -> Result<(), Error> {
    tx.query(
        // Its chat lines are kept from the time when it was closed first.
        "UPDATE reports SET state = $3, resolution = $4, taken_by = $5,
             closed_at = CASE WHEN $6 IS NULL THEN NULL ELSE COALESCE(closed_at, $6) END
         WHERE network_id = $1 AND report_id = $2",
    )
    .bind(network)
    .bind(report.report_id)
    .bind(report.state.as_str())
    .bind(&report.resolution)
    .bind(taken_by)
    .bind(closed_at)
    .execute()
    .await?;
    Ok(())
}

/// Deletes the lines of reports closed before a time, at most so many. Returns their number.
pub(super) async fn delete_chat(db: &Db, network: NetworkId, before: Cutoff, most: i64) -> Result<u64, Error> {
    db.write(
        "UPDATE reports SET chat = NULL WHERE network_id = $1 AND report_id IN (
             SELECT report_id FROM reports
             WHERE network_id = $1 AND closed_at < $2 AND chat IS NOT NULL LIMIT $3)",
    )
    .bind(network)
    .bind(before.at())
    .bind(most)
    .execute()
    .await
}
