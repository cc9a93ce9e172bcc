//! SQL of the hub's own secrets.

use hub_db::{Db, Error};

/// Secret for a purpose; `fresh` if there is none yet.
pub(super) async fn get_or_insert(db: &Db, purpose: &str, fresh: &str) -> Result<String, Error> {
    // Crosses networks: it belongs to the hub.
    db.write("INSERT INTO hub_secrets (purpose, secret) VALUES ($1, $2) ON CONFLICT (purpose) DO NOTHING")
        .bind(purpose)
        .bind(fresh)
        .execute()
        .await?;
    // Crosses networks: it belongs to the hub.
    let (secret,): (String,) =
        db.query("SELECT secret FROM hub_secrets WHERE purpose = $1").bind(purpose).one().await?;
    Ok(secret)
}
