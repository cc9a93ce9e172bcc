//! SQL of the signing secret.

use hub_db::{Db, Error, Tx};

use crate::clock::Millis;
use crate::secret_text::SecretText;
use crate::values::NetworkId;

#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct SigningSecretRow {
    pub(super) signing_secret: SecretText,
    pub(super) previous_signing_secret: Option<SecretText>,
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
    signing_secret: &SecretText,
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
