//! All SQL of appeals.

use hub_db::{Db, Error, Executor, Tx};

use crate::appeals::model::{Appeal, AppealDecision, AppealState};
use crate::clock::Millis;
use crate::values::{NetworkId, PlayerId};

macro_rules! columns {
    () => {
        "appeal_id, punishment_id, text, contact, state, decision, answer, at, decided_by, decided_at"
    };
}

#[derive(sqlx::FromRow)]
struct Row {
    appeal_id: String,
    punishment_id: i64,
    text: String,
    contact: Option<String>,
    #[sqlx(try_from = "String")]
    state: AppealState,
    decision: Option<String>,
    answer: Option<String>,
    at: Millis,
    decided_by: Option<String>,
    decided_at: Option<Millis>,
}

impl From<Row> for Appeal {
    fn from(row: Row) -> Self {
        Self {
            appeal_id: row.appeal_id,
            punishment_id: row.punishment_id,
            text: row.text,
            contact: row.contact,
            state: row.state,
            decision: row.decision.and_then(|decision| decision.parse::<AppealDecision>().ok()),
            answer: row.answer,
            at: row.at,
            decided_by: row.decided_by.and_then(|actor| serde_json::from_str(&actor).ok()),
            decided_at: row.decided_at,
        }
    }
}

/// Appeals of a punishment, earliest first: at most three.
pub(super) async fn of_punishment(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    punishment: i64,
) -> Result<Vec<Appeal>, Error> {
    let rows: Vec<Row> = on
        .into()
        .query(concat!(
            "SELECT ",
            columns!(),
            " FROM appeals WHERE network_id = $1 AND punishment_id = $2 ORDER BY at, appeal_id LIMIT 10"
        ))
        .bind(network)
        .bind(punishment)
        .all()
        .await?;
    Ok(rows.into_iter().map(Appeal::from).collect())
}

/// Stores an appeal of the player with this UUID or name.
pub(super) async fn insert(
    tx: &mut Tx,
    network: NetworkId,
    appeal: &Appeal,
    (player, name_folded): (Option<PlayerId>, Option<&str>),
) -> Result<(), Error> {
    tx.query(
        "INSERT INTO appeals (network_id, appeal_id, punishment_id, player_uuid, name_folded, text, contact, state, at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(network)
    .bind(&appeal.appeal_id)
    .bind(appeal.punishment_id)
    .bind(player)
    .bind(name_folded)
    .bind(&appeal.text)
    .bind(&appeal.contact)
    .bind(appeal.state.as_str())
    .bind(appeal.at)
    .execute()
    .await?;
    Ok(())
}

/// Newest first, and their number.
pub(super) async fn list(
    db: &Db,
    network: NetworkId,
    state: Option<AppealState>,
    (limit, offset): (i64, i64),
) -> Result<(Vec<Appeal>, i64), Error> {
    let (rows, total): (Vec<Row>, i64) = match state {
        Some(state) => {
            db.page(
                "SELECT COUNT(*) FROM appeals WHERE network_id = $1 AND state = $2",
                concat!(
                    "SELECT ",
                    columns!(),
                    " FROM appeals WHERE network_id = $1 AND state = $2
                     ORDER BY at DESC, appeal_id DESC LIMIT $3 OFFSET $4"
                ),
                |statement| statement.bind(network).bind(state.as_str()),
                limit,
                offset,
            )
            .await?
        }
        None => {
            db.page(
                "SELECT COUNT(*) FROM appeals WHERE network_id = $1",
                concat!(
                    "SELECT ",
                    columns!(),
                    " FROM appeals WHERE network_id = $1 ORDER BY at DESC, appeal_id DESC LIMIT $2 OFFSET $3"
                ),
                |statement| statement.bind(network),
                limit,
                offset,
            )
            .await?
        }
    };
    Ok((rows.into_iter().map(Appeal::from).collect(), total))
}

pub(super) async fn get(tx: &mut Tx, network: NetworkId, id: &str) -> Result<Option<Appeal>, Error> {
    let row: Option<Row> = tx
        .query(concat!("SELECT ", columns!(), " FROM appeals WHERE network_id = $1 AND appeal_id = $2"))
        .bind(network)
        .bind(id)
        .optional()
        .await?;
    Ok(row.map(Appeal::from))
}

/// Number of OPEN appeals, counted up to `most`, and the time of the oldest.
pub(super) async fn open(db: &Db, network: NetworkId, most: i64) -> Result<(i64, Option<Millis>), Error> {
    db.query(
        "SELECT COUNT(*), MIN(at) FROM (
             SELECT at FROM appeals WHERE network_id = $1 AND state = 'OPEN' ORDER BY at, appeal_id LIMIT $2) AS counted",
    )
    .bind(network)
    .bind(most)
    .one()
    .await
}

/// Decision of an appeal, with its author.
pub(super) struct Decided<'a> {
    pub(super) decision: AppealDecision,
    pub(super) answer: Option<&'a str>,
    pub(super) by: &'a str,
    pub(super) at: Millis,
}

/// Decides an open appeal and returns it; none if it was decided before.
pub(super) async fn decide(
    tx: &mut Tx,
    network: NetworkId,
    id: &str,
    decided: &Decided<'_>,
) -> Result<Option<Appeal>, Error> {
    let row: Option<Row> = tx
        .query(concat!(
            "UPDATE appeals SET state = $3, decision = $4, answer = $5, decided_by = $6, decided_at = $7
             WHERE network_id = $1 AND appeal_id = $2 AND state = 'OPEN' RETURNING ",
            columns!()
        ))
        .bind(network)
        .bind(id)
        .bind(decided.decision.state().as_str())
        .bind(decided.decision.as_str())
        .bind(decided.answer)
        .bind(decided.by)
        .bind(decided.at)
        .optional()
        .await?;
    Ok(row.map(Appeal::from))
}
