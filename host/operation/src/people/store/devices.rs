//! SQL of sign-ins of devices.

use hub_db::{Db, Error, Tx};

use crate::clock::Millis;
use crate::people::model::{DeviceRow, Verdict};

/// Stores a sign-in that waits for a person's decision.
pub(in crate::people) async fn insert(db: &Db, row: &DeviceRow, user_sha256: &[u8]) -> Result<(), Error> {
    db.write(
        "INSERT INTO device_sign_ins (sha256, user_sha256, client, address, expires_at) VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(&row.sha256)
    .bind(user_sha256)
    .bind(&row.client)
    .bind(&row.address)
    .bind(row.expires_at)
    .execute()
    .await?;
    Ok(())
}

/// The undecided sign-in of a code that a person typed.
pub(in crate::people) async fn undecided(db: &Db, user_sha256: &[u8], now: Millis) -> Result<Option<DeviceRow>, Error> {
    db.query(
        "SELECT sha256, client, address, expires_at FROM device_sign_ins
         WHERE user_sha256 = $1 AND expires_at > $2 AND verdict IS NULL",
    )
    .bind(user_sha256)
    .bind(now)
    .optional()
    .await
}

/// Notes a person's decision, made in a session; false if it was made before, or came too late.
pub(in crate::people) async fn decide(
    tx: &mut Tx,
    user_sha256: &[u8],
    (verdict, person, session): (Verdict, &str, &str),
    now: Millis,
) -> Result<bool, Error> {
    let decided = tx
        .query(
            "UPDATE device_sign_ins SET verdict = $3, person_id = $4, session_id = $5
             WHERE user_sha256 = $1 AND expires_at > $2 AND verdict IS NULL",
        )
        .bind(user_sha256)
        .bind(now)
        .bind(<&str>::from(verdict))
        .bind(person)
        .bind(session)
        .execute()
        .await?;
    Ok(decided == 1)
}

/// Verdict, person and session of a sign-in, all null until it is decided. Its row stays as it is until the transaction ends.
type Decided = (Option<String>, Option<String>, Option<String>);

/// The decision about a sign-in, by the hash of the device's code; none if there is no such sign-in, or it has expired.
pub(in crate::people) async fn decision(tx: &mut Tx, sha256: &[u8], now: Millis) -> Result<Option<Decided>, Error> {
    tx.query(
        "UPDATE device_sign_ins SET client = client WHERE sha256 = $1 AND expires_at > $2
         RETURNING verdict, person_id, session_id",
    )
    .bind(sha256)
    .bind(now)
    .optional()
    .await
}

/// Ends a sign-in.
pub(in crate::people) async fn delete(tx: &mut Tx, sha256: &[u8]) -> Result<(), Error> {
    tx.query("DELETE FROM device_sign_ins WHERE sha256 = $1").bind(sha256).execute().await?;
    Ok(())
}
