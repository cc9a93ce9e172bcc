//! SQL of key lookups, which cross networks: the key determines the network.

use std::collections::HashSet;

use hub_db::{Db, Error, Executor, Sql, Tx};

use crate::auth::model::{KeyId, KeyRow};
use crate::clock::Millis;
use crate::values::NetworkId;

/// Query of a [`KeyRow`], up to the condition.
#[macro_export]
macro_rules! select_key {
    ($condition:literal) => {
        concat!(
            "SELECT k.network_id, k.key_id, k.name, k.scopes, k.sha256, k.previous_sha256, k.previous_until, k.created_at,
                 k.created_by, k.expires_at, k.revoked_at, k.last_used_at, k.servers, k.addresses, n.suspended,
                 v.state AS move_state, v.url AS moved_to
             FROM api_keys k JOIN networks n ON n.network_id = k.network_id
                 LEFT JOIN network_moves v ON v.network_id = k.network_id ",
            $condition
        )
    };
}
pub use select_key;

/// The row of a key, which no one revokes or rotates before the transaction ends.
pub(super) async fn hold_key(tx: &mut Tx, id: &KeyId) -> Result<Option<KeyRow>, Error> {
    tx.query(Sql {
        sqlite: select_key!("WHERE k.key_id = $1"),
        postgres: select_key!("WHERE k.key_id = $1 FOR SHARE OF k"),
    })
    .bind(id)
    .optional()
    .await
}

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

/// A session with its person.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct SessionRow {
    pub(super) session_id: String,
    pub(super) person_id: String,
    pub(super) email: String,
    pub(super) is_operator: bool,
    /// True without one, unless the person only signs in at an OpenID provider, which has its own.
    pub(super) lacks_second_factor: bool,
    pub(super) sha256: Vec<u8>,
    pub(super) created_at: Millis,
    pub(super) expires_at: Millis,
}

macro_rules! select_session {
    ($condition:literal) => {
        concat!(
            "SELECT s.session_id, s.person_id, p.email, p.is_operator, s.sha256, s.created_at, s.expires_at,
                 (p.password_hash IS NOT NULL AND NOT p.totp_confirmed) AS lacks_second_factor
             FROM person_sessions s JOIN persons p ON p.person_id = s.person_id ",
            $condition
        )
    };
}

pub(super) async fn find_session(db: &Db, id: &str) -> Result<Option<SessionRow>, Error> {
    db.query(select_session!("WHERE s.session_id = $1")).bind(id).optional().await
}

/// A session whose person no one deletes before the transaction ends.
pub(super) async fn hold_session(tx: &mut Tx, id: &str) -> Result<Option<SessionRow>, Error> {
    // By an update, since SELECT … FOR SHARE is PostgreSQL's alone.
    let hold = "UPDATE persons SET name = name
                WHERE person_id = (SELECT person_id FROM person_sessions WHERE session_id = $1)";
    tx.query(hold).bind(id).execute().await?;
    tx.query(select_session!("WHERE s.session_id = $1")).bind(id).optional().await
}

pub(super) async fn find_sessions(db: &Db, ids: &HashSet<&str>) -> Result<Vec<SessionRow>, Error> {
    db.query(Sql {
        sqlite: select_session!("WHERE s.session_id IN (SELECT value FROM json_each($1))"),
        postgres: select_session!("WHERE s.session_id IN (SELECT jsonb_array_elements_text(CAST($1 AS JSONB)))"),
    })
    .bind(serde_json::json!(ids).to_string())
    .all()
    .await
}

/// Membership of a person in a network.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct MemberRow {
    pub(super) person_id: String,
    pub(super) network_id: NetworkId,
    pub(super) role: String,
    /// Scopes of the role, if it is one of the network's own.
    pub(super) own_scopes: Option<String>,
    pub(super) suspended: bool,
    pub(super) move_state: Option<String>,
    pub(super) require_second_factor: bool,
}

macro_rules! select_member {
    ($condition:literal) => {
        concat!(
            "SELECT m.person_id, m.network_id, m.role, r.scopes AS own_scopes, n.suspended, n.require_second_factor,
                 v.state AS move_state
             FROM network_members m JOIN networks n ON n.network_id = m.network_id
                 LEFT JOIN network_moves v ON v.network_id = m.network_id
                 LEFT JOIN network_roles r ON r.network_id = m.network_id AND r.name = m.role ",
            $condition
        )
    };
}

/// Membership of the person in one network, or two of all memberships.
pub(super) async fn memberships(
    on: impl Into<Executor<'_>>,
    person: &str,
    network: Option<NetworkId>,
) -> Result<Vec<MemberRow>, Error> {
    let mut on = on.into();
    let Some(network) = network else {
        return on.query(select_member!("WHERE m.person_id = $1 LIMIT 2")).bind(person).all().await;
    };
    let one = select_member!("WHERE m.network_id = $1 AND m.person_id = $2");
    on.query(one).bind(network).bind(person).all().await
}

/// Variant of [`memberships`] that no one ends or changes before the transaction does.
pub(super) async fn hold_memberships(
    tx: &mut Tx,
    person: &str,
    network: Option<NetworkId>,
) -> Result<Vec<MemberRow>, Error> {
    // In turn: at most two rows, in one transaction.
    for MemberRow { network_id, .. } in memberships(&mut *tx, person, network).await? {
        let member = "UPDATE network_members SET role = role WHERE network_id = $1 AND person_id = $2 RETURNING role";
        let role: Option<(String,)> = tx.query(member).bind(network_id).bind(person).optional().await?;
        let hold = "UPDATE network_roles SET name = name WHERE network_id = $1 AND name = $2";
        tx.query(hold).bind(network_id).bind(role.map(|(role,)| role)).execute().await?;
    }
    memberships(tx, person, network).await
}

/// All memberships of these persons.
pub(super) async fn memberships_of(db: &Db, persons: &HashSet<&str>) -> Result<Vec<MemberRow>, Error> {
    db.query(Sql {
        sqlite: select_member!("WHERE m.person_id IN (SELECT value FROM json_each($1))"),
        postgres: select_member!("WHERE m.person_id IN (SELECT jsonb_array_elements_text(CAST($1 AS JSONB)))"),
    })
    .bind(serde_json::json!(persons).to_string())
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
