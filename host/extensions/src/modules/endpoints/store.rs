//! Table `endpoint_answers`: answers by the keys of their requests.

use hub_db::{Db, Error, Executor, Tx};

use crate::clock::{Cutoff, Millis};
use crate::component::column::{any_json, number, read, text};
use crate::component::{TableRule, column::bytes};
use crate::limits::{Limit, LimitRow, Rows};
use crate::modules::model::ModuleName;
use crate::values::NetworkId;

/// Answers that a network keeps.
pub(in crate::modules) const ANSWERS: Limit = Limit::new(&LimitRow {
    name: "endpointAnswers",
    bound: 1_000_000,
    counted: "Answers of endpoints that are kept for repeats.",
    effect: None,
});
/// The same as rows.
pub(super) const ROWS: Rows = Rows::many(
    ANSWERS,
    "SELECT COUNT(*) FROM (SELECT module FROM endpoint_answers WHERE network_id = $1 LIMIT $2) AS counted",
);

/// Declaration of the table.
pub(in crate::modules) const TABLE: TableRule = TableRule::moved("endpoint_answers").columns(&[
    read::<ModuleName>("module"),
    text::<64>("endpoint"),
    bytes("request_sha256", 32, 32),
    number("status", 200, 422),
    any_json("headers"),
]);

/// Request whose answer is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyOf<'a> {
    pub(super) network: NetworkId,
    pub(super) module: &'a str,
    pub(super) endpoint: &'a str,
    /// SHA-256.
    pub(super) key: &'a [u8],
}

/// A kept answer.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct KeptAnswer {
    /// SHA-256 of the request; empty if its key alone decides.
    pub(super) fingerprint: Vec<u8>,
    pub(super) status: i64,
    /// JSON: pairs of name and value.
    pub(super) headers: String,
    pub(super) body: Vec<u8>,
}

pub(super) async fn find(
    on: impl Into<Executor<'_>>,
    of: KeyOf<'_>,
    ended: Cutoff,
) -> Result<Option<KeptAnswer>, Error> {
    on.into()
        .query(
            "SELECT fingerprint, status, headers, body FROM endpoint_answers
             WHERE network_id = $1 AND module = $2 AND endpoint = $3 AND request_sha256 = $4 AND expires_at > $5",
        )
        .bind(of.network)
        .bind(of.module)
        .bind(of.endpoint)
        .bind(of.key)
        .bind(ended.at())
        .optional()
        .await
}

/// Keeps an answer; false if there is one already. On PostgreSQL this waits for a concurrent transaction with the same
/// key.
pub(super) async fn insert(
    tx: &mut Tx,
    of: KeyOf<'_>,
    answer: &KeptAnswer,
    expires_at: Millis,
    ended: Cutoff,
) -> Result<bool, Error> {
    let rows = tx
        .query(
            "INSERT INTO endpoint_answers (network_id, module, endpoint, request_sha256, fingerprint, status, headers, body,
                 expires_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
             ON CONFLICT (network_id, module, endpoint, request_sha256) DO UPDATE
             SET fingerprint = excluded.fingerprint, status = excluded.status, headers = excluded.headers,
                 body = excluded.body, expires_at = excluded.expires_at
             WHERE endpoint_answers.expires_at <= $10",
        )
        .bind(of.network)
        .bind(of.module)
        .bind(of.endpoint)
        .bind(of.key)
        .bind(&answer.fingerprint)
        .bind(answer.status)
        .bind(&answer.headers)
        .bind(&answer.body)
        .bind(expires_at)
        .bind(ended.at())
        .execute()
        .await?;
    Ok(rows == 1)
}

/// Rows deleted per statement.
const BATCH: i64 = 500;

/// Deletes the answers whose time has ended, in batches.
pub(super) async fn delete_expired(db: &Db, ended: Cutoff) -> Result<(), Error> {
    while delete_batch(db, ended).await? == BATCH as u64 {}
    Ok(())
}

/// Crosses networks: answers end in all of them alike.
async fn delete_batch(db: &Db, ended: Cutoff) -> Result<u64, Error> {
    db.write(
        "DELETE FROM endpoint_answers WHERE (network_id, module, endpoint, request_sha256) IN (
             SELECT network_id, module, endpoint, request_sha256 FROM endpoint_answers WHERE expires_at <= $1 LIMIT $2)",
    )
    .bind(ended.at())
    .bind(BATCH)
    .execute()
    .await
}
