//! All SQL of the component.

use hub_db::{Db, Error, Executor, Tx};
use sqlx::FromRow;

use crate::clock::{Cutoff, Millis};
use crate::idempotency::stored_response::StoredResponse;
use crate::limits::{Limit, Rows};
use crate::values::NetworkId;

/// All stored keys of a network.
pub(super) const KEYS: Rows = Rows::many(
    Limit::IdempotencyKeys,
    "SELECT COUNT(*) FROM (SELECT idempotency_key FROM idempotency_keys WHERE network_id = $1 LIMIT $2) AS counted",
);

/// Earlier use of a key.
#[derive(Debug, FromRow)]
pub(super) struct EarlierUse {
    pub(super) rights: String,
    pub(super) fingerprint: Vec<u8>,
    #[sqlx(flatten)]
    pub(super) response: StoredResponse,
}

/// Use of a key by one request.
#[derive(Clone, Debug)]
pub(super) struct KeyUse {
    pub(super) network: NetworkId,
    pub(super) key: String,
    /// Fingerprint of the caller's rights.
    pub(super) rights: String,
    /// Hash of the request.
    pub(super) fingerprint: Vec<u8>,
    pub(super) at: Millis,
    /// Uses at this time or before are expired.
    pub(super) expired_at: Cutoff,
}

/// Earlier use of the key for the same request, or else by a caller with the same rights.
pub(super) async fn find(db: &Db, key_use: &KeyUse) -> Result<Option<EarlierUse>, Error> {
    db.query(
        "SELECT rights, fingerprint, status, content_type, error_code, body FROM idempotency_keys
         WHERE network_id = $1 AND idempotency_key = $2 AND created_at > $3 AND (rights = $4 OR fingerprint = $5)
         ORDER BY CASE WHEN fingerprint = $5 THEN 0 ELSE 1 END LIMIT 1",
    )
    .bind(key_use.network)
    .bind(&key_use.key)
    .bind(key_use.expired_at.at())
    .bind(&key_use.rights)
    .bind(&key_use.fingerprint)
    .optional()
    .await
}

/// Claims the key and stores the response; false if the key is taken. On PostgreSQL this waits for a concurrent
/// transaction that claims it.
pub(super) async fn claim(
    on: impl Into<Executor<'_>>,
    key_use: &KeyUse,
    response: &StoredResponse,
) -> Result<bool, Error> {
    let rows = on
        .into()
        .write(
            "INSERT INTO idempotency_keys (network_id, idempotency_key, fingerprint, created_at, status, content_type,
                 error_code, body, rights)
             VALUES ($1, $2, $3, $4, $6, $7, $8, $9, $10)
             ON CONFLICT (network_id, idempotency_key, rights) DO UPDATE
             SET fingerprint = excluded.fingerprint, created_at = excluded.created_at, status = excluded.status,
                 content_type = excluded.content_type, error_code = excluded.error_code, body = excluded.body
             WHERE idempotency_keys.created_at <= $5",
        )
        .bind(key_use.network)
        .bind(&key_use.key)
        .bind(&key_use.fingerprint)
        .bind(key_use.at)
        .bind(key_use.expired_at.at())
        .bind(response.status)
        .bind(&response.content_type)
        .bind(&response.error_code)
        .bind(&response.body)
        .bind(&key_use.rights)
        .execute()
        .await?;
    Ok(rows == 1)
}

/// Stores the response of a request that [claimed](claim) its key before.
pub(super) async fn set_response(tx: &mut Tx, key_use: &KeyUse, response: &StoredResponse) -> Result<(), Error> {
    tx.query(
        "UPDATE idempotency_keys SET status = $3, content_type = $4, error_code = $5, body = $6
         WHERE network_id = $1 AND idempotency_key = $2 AND rights = $7",
    )
    .bind(key_use.network)
    .bind(&key_use.key)
    .bind(response.status)
    .bind(&response.content_type)
    .bind(&response.error_code)
    .bind(&response.body)
    .bind(&key_use.rights)
    .execute()
    .await?;
    Ok(())
}

/// Rows deleted per statement.
const BATCH: i64 = 500;

/// Deletes expired keys and their responses, in batches.
pub(super) async fn delete_expired(db: &Db, expired_at: Cutoff) -> Result<(), Error> {
    while delete_batch(db, expired_at).await? == BATCH as u64 {}
    Ok(())
}

/// Crosses networks: keys expire in all of them alike.
async fn delete_batch(db: &Db, expired_at: Cutoff) -> Result<u64, Error> {
    db.write(
        "DELETE FROM idempotency_keys WHERE (network_id, idempotency_key, rights) IN (
             SELECT network_id, idempotency_key, rights FROM idempotency_keys WHERE created_at <= $1 LIMIT $2)",
    )
    .bind(expired_at.at())
    .bind(BATCH)
    .execute()
    .await
}
