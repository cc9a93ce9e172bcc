//! SQL of key look-ups, which cross networks: a key names its network.

use hub_db::{Db, Error, Sql, Tx};

use crate::auth::model::{KeyId, KeyRow};
use crate::clock::Millis;
use crate::values::NetworkId;

/// The query of a [`KeyRow`], up to the condition.
macro_rules! select_key {
    ($condition:literal) => {
        concat!(
            "SELECT k.network_id, k.key_id, k.name, k.scopes, k.sha256, k.previous_sha256, k.previous_until, k.created_at,
                 k.expires_at, k.revoked_at, k.last_used_at, k.servers, k.addresses, n.suspended
             FROM api_keys k JOIN networks n ON n.network_id = k.network_id ",
            $condition
        )
    };
}
pub(crate) use select_key;

pub(super) async fn find_key(db: &Db, id: &KeyId) -> Result<Option<KeyRow>, Error> {
    db.query(select_key!("WHERE k.key_id = $1")).bind(id).optional().await
}

pub(super) async fn find_keys(db: &Db, ids: &[&KeyId]) -> Result<Vec<KeyRow>, Error> {
    db.query(Sql {
        sqlite: select_key!("WHERE k.key_id IN (SELECT value FROM json_each($1))"),
        postgres: select_key!("WHERE k.key_id IN (SELECT jsonb_array_elements_text(CAST($1 AS JSONB)))"),
    })
    .bind(serde_json::json!(ids).to_string())
    .all()
    .await
}

pub(super) async fn set_last_used(tx: &mut Tx, network: NetworkId, id: &KeyId, at: Millis) -> Result<(), Error> {
    tx.query(
        "UPDATE api_keys SET last_used_at = $3
         WHERE network_id = $1 AND key_id = $2 AND (last_used_at IS NULL OR last_used_at < $3)",
    )
    .bind(network)
    .bind(id)
    .bind(at)
    .execute()
    .await?;
    Ok(())
}
