//! SQL of the signing secret.

use hub_db::{Db, Error, Tx};

use crate::clock::Millis;
use crate::values::NetworkId;

#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct SigningSecretRow {
    /// Sealed; empty if none was needed yet.
    pub(super) signing_secret: String,
    pub(super) previous_signing_secret: Option<String>,
    pub(super) previous_signing_until: Option<Millis>,
}

pub(super) async fn get(db: &Db, network: NetworkId) -> Result<Option<SigningSecretRow>, Error> {
    db.query(
        "SELECT signing_secret, previous_signing_secret, previous_signing_until FROM networks WHERE network_id = $1",
    )
    .bind(network)
    .optional()
    .await
}

/// Replaces the secret; false if there is no such network.
pub(super) async fn rotate(
    tx: &mut Tx,
    network: NetworkId,
    signing_secret: &str,
    overlap_until: Millis,
) -> Result<bool, Error> {
    let rows = tx
        .query(
            "UPDATE networks SET previous_signing_secret = signing_secret, previous_signing_until = $3,
                 signing_secret = $2
             WHERE network_id = $1",
        )
        .bind(network)
        .bind(signing_secret)
        .bind(overlap_until)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Replaces a secret that is missing or lost, unless another request was first. Returns false then.
pub(super) async fn renew(tx: &mut Tx, network: NetworkId, signing_secret: &str, lost: &str) -> Result<bool, Error> {
    let renew = "UPDATE networks SET signing_secret = $2, previous_signing_secret = NULL, previous_signing_until = NULL
         WHERE network_id = $1 AND signing_secret = $3";
    Ok(tx.query(renew).bind(network).bind(signing_secret).bind(lost).execute().await? > 0)
}
