//! SQL of the checks.

use hub_db::{Db, Error};

/// Number of the last applied migration.
pub(super) async fn schema_version(db: &Db) -> Result<i64, Error> {
    // Crosses networks: the schema is the same for all.
    let (version,) = db.query("SELECT COALESCE(MAX(version), 0) FROM _sqlx_migrations").one().await?;
    Ok(version)
}
