//! SQL of the hub's own secrets.

use hub_db::{Db, Error, Executor, Sql, Tx};

use crate::values::NetworkId;

/// Sealed secret for a purpose; `fresh` if there is none yet.
pub(super) async fn get_or_insert(db: &Db, purpose: &str, fresh: &str) -> Result<String, Error> {
    insert(db, purpose, fresh).await?;
    // Crosses networks: it belongs to the hub.
    let (secret,): (String,) =
        db.query("SELECT secret FROM hub_secrets WHERE purpose = $1").bind(purpose).one().await?;
    Ok(secret)
}

/// Sealed secret for a purpose, if there is one.
pub(super) async fn find(db: &Db, purpose: &str) -> Result<Option<String>, Error> {
    // Crosses networks: it belongs to the hub.
    let row: Option<(String,)> =
        db.query("SELECT secret FROM hub_secrets WHERE purpose = $1").bind(purpose).optional().await?;
    Ok(row.map(|(secret,)| secret))
}

/// The same, after a replacement that has begun.
pub(super) async fn find_settled(db: &Db, purpose: &str) -> Result<Option<String>, Error> {
    // Crosses networks: it belongs to the hub.
    let sql = Sql {
        sqlite: "SELECT secret FROM hub_secrets WHERE purpose = $1",
        postgres: "SELECT secret FROM hub_secrets WHERE purpose = $1 FOR SHARE",
    };
    let row: Option<(String,)> = db.query(sql).bind(purpose).optional().await?;
    Ok(row.map(|(secret,)| secret))
}

/// The same, which nobody replaces until the transaction ends.
pub(super) async fn lock(tx: &mut Tx, purpose: &str) -> Result<Option<String>, Error> {
    // Crosses networks: it belongs to the hub.
    let sql = Sql {
        sqlite: "SELECT secret FROM hub_secrets WHERE purpose = $1",
        postgres: "SELECT secret FROM hub_secrets WHERE purpose = $1 FOR UPDATE",
    };
    let row: Option<(String,)> = tx.query(sql).bind(purpose).optional().await?;
    Ok(row.map(|(secret,)| secret))
}

async fn insert(db: &Db, purpose: &str, sealed: &str) -> Result<(), Error> {
    // Crosses networks: it belongs to the hub.
    db.write("INSERT INTO hub_secrets (purpose, secret) VALUES ($1, $2) ON CONFLICT (purpose) DO NOTHING")
        .bind(purpose)
        .bind(sealed)
        .execute()
        .await?;
    Ok(())
}

/// All purposes with their sealed secrets.
pub(super) async fn all(on: impl Into<Executor<'_>>) -> Result<Vec<(String, String)>, Error> {
    // Crosses networks: they belong to the hub.
    on.into().query("SELECT purpose, secret FROM hub_secrets ORDER BY purpose").all().await
}

/// True if a lost key would cost anything: a secret of the hub, a network or a webhook, a second factor, or an appeal's code.
pub(super) async fn seals_anything(db: &Db) -> Result<bool, Error> {
    // Crosses networks: they belong to the hub.
    let sql = "SELECT EXISTS (SELECT 1 FROM hub_secrets WHERE purpose <> $1)
                   OR EXISTS (SELECT 1 FROM persons WHERE totp_secret IS NOT NULL)
                   OR EXISTS (SELECT 1 FROM networks WHERE signing_secret <> '') OR EXISTS (SELECT 1 FROM webhooks)
                   OR EXISTS (SELECT 1 FROM punishments WHERE appeal_mac IS NOT NULL)";
    let (seals_anything,): (bool,) = db.query(sql).bind(super::CHECK).one().await?;
    Ok(seals_anything)
}

/// All networks.
pub async fn networks(db: &Db) -> Result<Vec<NetworkId>, Error> {
    // Crosses networks: each is then served by itself.
    let rows: Vec<(NetworkId,)> = db.query("SELECT network_id FROM networks ORDER BY network_id").all().await?;
    Ok(rows.into_iter().map(|(network,)| network).collect())
}

/// Replaces a sealed secret.
pub(super) async fn replace(tx: &mut Tx, purpose: &str, sealed: &str) -> Result<(), Error> {
    // Crosses networks: it belongs to the hub.
    tx.query("UPDATE hub_secrets SET secret = $2 WHERE purpose = $1").bind(purpose).bind(sealed).execute().await?;
    Ok(())
}

/// Deletes all secrets, which are created again when they are needed.
pub(super) async fn delete_all(db: &Db) -> Result<(), Error> {
    // Crosses networks: they belong to the hub.
    db.write("DELETE FROM hub_secrets").execute().await?;
    Ok(())
}
