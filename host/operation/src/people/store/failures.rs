//! SQL of failed sign-ins, which belong to e-mail addresses and to no network.

use hub_db::{Db, Error, Tx};

use crate::clock::Millis;

/// Number of failed sign-ins for an address, and time of the last. Locked until the transaction ends, so that
/// concurrent attempts are counted one after the other.
pub(in crate::people) async fn lock(tx: &mut Tx, email_sha256: &[u8]) -> Result<(i64, Millis), Error> {
    tx.query(
        "INSERT INTO sign_in_failures (email_sha256, failures, last_at) VALUES ($1, 0, 0)
         ON CONFLICT (email_sha256) DO UPDATE SET failures = sign_in_failures.failures RETURNING failures, last_at",
    )
    .bind(email_sha256)
    .one()
    .await
}

pub(in crate::people) async fn add(tx: &mut Tx, email_sha256: &[u8], now: Millis) -> Result<(), Error> {
    tx.query("UPDATE sign_in_failures SET failures = failures + 1, last_at = $2 WHERE email_sha256 = $1")
        .bind(email_sha256)
        .bind(now)
        .execute()
        .await?;
    Ok(())
}

/// Removes a failure that was counted beforehand.
pub(in crate::people) async fn remove(db: &Db, email_sha256: &[u8]) -> Result<(), Error> {
    db.write("UPDATE sign_in_failures SET failures = failures - 1 WHERE email_sha256 = $1 AND failures > 0")
        .bind(email_sha256)
        .execute()
        .await?;
    Ok(())
}

pub(in crate::people) async fn clear(tx: &mut Tx, email_sha256: &[u8]) -> Result<(), Error> {
    tx.query("DELETE FROM sign_in_failures WHERE email_sha256 = $1").bind(email_sha256).execute().await?;
    Ok(())
}
