//! All SQL of the room.

use hub_db::{Db, Error, Tx};
use sqlx::FromRow;

use crate::clock::Millis;
use crate::idempotency::answer::Answer;
use crate::values::NetworkId;

/// What was answered under a key.
#[derive(Debug, FromRow)]
pub(super) struct Kept {
    /// Of the request.
    pub(super) fingerprint: Vec<u8>,
    #[sqlx(flatten)]
    pub(super) answer: Answer,
}

/// A key, as one request used it.
#[derive(Clone, Debug)]
pub(super) struct Use {
    pub(super) network: NetworkId,
    pub(super) key: String,
    pub(super) fingerprint: Vec<u8>,
    pub(super) at: Millis,
    /// Uses before this are forgotten.
    pub(super) forgotten: Millis,
}

pub(super) async fn find(db: &Db, of: &Use) -> Result<Option<Kept>, Error> {
    db.query(
        "SELECT fingerprint, status, content_type, error_code, body FROM idempotency_keys
         WHERE network_id = $1 AND idempotency_key = $2 AND created_at > $3",
    )
    .bind(of.network)
    .bind(of.key.clone())
    .bind(of.forgotten)
    .optional()
    .await
}

/// What takes a key, unless it is taken.
const CLAIM: &str =
    "INSERT INTO idempotency_keys (network_id, idempotency_key, fingerprint, created_at, status, content_type, error_code, body)
     VALUES ($1, $2, $3, $4, $6, $7, $8, $9)
     ON CONFLICT (network_id, idempotency_key) DO UPDATE
     SET fingerprint = excluded.fingerprint, created_at = excluded.created_at, status = excluded.status,
         content_type = excluded.content_type, error_code = excluded.error_code, body = excluded.body
     WHERE idempotency_keys.created_at <= $5";

/// Takes the key for work that begins; false where it is taken. On PostgreSQL this waits for a transaction that is taking
/// it at the same time.
pub(super) async fn claim(tx: &mut Tx, of: &Use) -> Result<bool, Error> {
    let none = Answer::default();
    let taken = tx
        .query(CLAIM)
        .bind(of.network)
        .bind(of.key.clone())
        .bind(of.fingerprint.clone())
        .bind(of.at)
        .bind(of.forgotten)
        .bind(none.status)
        .bind(none.content_type)
        .bind(none.error_code)
        .bind(none.body)
        .execute()
        .await?;
    Ok(taken == 1)
}

/// Writes down what the work that began with [`claim`] answered.
pub(super) async fn answer(tx: &mut Tx, of: &Use, answer: &Answer) -> Result<(), Error> {
    tx.query(
        "UPDATE idempotency_keys SET status = $3, content_type = $4, error_code = $5, body = $6
         WHERE network_id = $1 AND idempotency_key = $2",
    )
    .bind(of.network)
    .bind(of.key.clone())
    .bind(answer.status)
    .bind(answer.content_type.clone())
    .bind(answer.error_code.clone())
    .bind(answer.body.clone())
    .execute()
    .await?;
    Ok(())
}

/// Takes the key and writes the answer in one; false where it is taken.
pub(super) async fn keep(db: &Db, of: &Use, answer: &Answer) -> Result<bool, Error> {
    let kept = db
        .write(CLAIM)
        .bind(of.network)
        .bind(of.key.clone())
        .bind(of.fingerprint.clone())
        .bind(of.at)
        .bind(of.forgotten)
        .bind(answer.status)
        .bind(answer.content_type.clone())
        .bind(answer.error_code.clone())
        .bind(answer.body.clone())
        .execute()
        .await?;
    Ok(kept == 1)
}

/// Deletes what is older. Crosses networks: time passes for all of them alike.
pub(super) async fn delete_before(db: &Db, before: Millis) -> Result<(), Error> {
    db.write("DELETE FROM idempotency_keys WHERE created_at <= $1").bind(before).execute().await?;
    Ok(())
}
