//! All SQL of networks and their keys. Some of it crosses networks: look-ups by name, and the list of all of them.

use hub_db::{Db, Error, Sql, Tx};

use crate::auth::{KeyId, KeyRow, OPERATOR_NETWORK, select_key};
use crate::clock::{Cutoff, Millis};
use crate::networks::service::MintedKey;
use crate::networks::settings::NetworkSettings;
use crate::values::NetworkId;

/// Days that a new network keeps chat lines.
const CHAT_HISTORY_DAYS: i64 = 7;

/// Adds a network, whose signing secret is made when it is first needed.
pub(super) async fn insert_network(
    tx: &mut Tx,
    network: NetworkId,
    name: &str,
    created_at: Millis,
) -> Result<(), Error> {
    tx.query(
        "INSERT INTO networks (network_id, name, plan, suspended, signing_secret, created_at, chat_history_days)
         VALUES ($1, $2, 'default', $3, '', $4, $5)",
    )
    .bind(network)
    .bind(name)
    .bind(false)
    .bind(created_at)
    .bind(CHAT_HISTORY_DAYS)
    .execute()
    .await?;
    Ok(())
}

pub(super) async fn network_exists(tx: &mut Tx, network: NetworkId) -> Result<bool, Error> {
    let row: Option<(String,)> =
        tx.query("SELECT name FROM networks WHERE network_id = $1").bind(network).optional().await?;
    Ok(row.is_some())
}

macro_rules! select_settings {
    ($lock:literal) => {
        concat!(
            "SELECT network_id, name, stage, sessions_required, chat_history_days, require_second_factor FROM networks
             WHERE network_id = $1",
            $lock
        )
    };
}

pub(super) async fn settings(db: &Db, network: NetworkId) -> Result<Option<NetworkSettings>, Error> {
    db.query(select_settings!("")).bind(network).optional().await
}

/// The settings, locked until the transaction ends.
pub(super) async fn lock_settings(tx: &mut Tx, network: NetworkId) -> Result<Option<NetworkSettings>, Error> {
    let sql = Sql { sqlite: select_settings!(""), postgres: select_settings!(" FOR UPDATE") };
    tx.query(sql).bind(network).optional().await
}

pub(super) async fn put_settings(tx: &mut Tx, settings: &NetworkSettings) -> Result<(), Error> {
    tx.query(
        "UPDATE networks SET stage = $2, sessions_required = $3, require_second_factor = $4, chat_history_days = $5,
             name = $6
         WHERE network_id = $1",
    )
    .bind(settings.network_id)
    .bind(<&str>::from(settings.stage))
    .bind(settings.sessions_required)
    .bind(settings.require_second_factor)
    .bind(settings.chat_history_days)
    .bind(&settings.name)
    .execute()
    .await?;
    Ok(())
}

/// True if writes of players' data must name the fence of an open session.
pub(super) async fn requires_sessions(tx: &mut Tx, network: NetworkId) -> Result<bool, Error> {
    let row: Option<(bool,)> =
        tx.query("SELECT sessions_required FROM networks WHERE network_id = $1").bind(network).optional().await?;
    Ok(row.is_some_and(|(required,)| required))
}

/// True if the network is suspended; none if there is no such network.
pub(super) async fn is_suspended(db: &Db, network: NetworkId) -> Result<Option<bool>, Error> {
    let row: Option<(bool,)> =
        db.query("SELECT suspended FROM networks WHERE network_id = $1").bind(network).optional().await?;
    Ok(row.map(|(suspended,)| suspended))
}

pub(super) async fn find_network(db: &Db, name: &str) -> Result<Option<NetworkId>, Error> {
    let row: Option<(NetworkId,)> =
        db.query("SELECT network_id FROM networks WHERE name = $1").bind(name).optional().await?;
    Ok(row.map(|(network,)| network))
}

/// Crosses networks: each one's live state is restored at the start.
pub(super) async fn network_ids(db: &Db) -> Result<Vec<NetworkId>, Error> {
    let rows: Vec<(NetworkId,)> = db.query("SELECT network_id FROM networks").readable().await?;
    Ok(rows.into_iter().map(|(network,)| network).collect())
}

pub(super) async fn insert_key(
    tx: &mut Tx,
    network: NetworkId,
    key: &MintedKey,
    sha256: &[u8],
    (created_at, created_by): (Millis, &str),
) -> Result<(), Error> {
    tx.query(
        "INSERT INTO api_keys (network_id, key_id, name, scopes, sha256, created_at, expires_at, servers, addresses,
             created_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    )
    .bind(network)
    .bind(&key.id)
    .bind(&key.name)
    .bind(key.scopes.to_text())
    .bind(sha256)
    .bind(created_at)
    .bind(key.expires_at)
    .bind(key.bindings.servers_text())
    .bind(key.bindings.addresses_text())
    .bind(created_by)
    .execute()
    .await?;
    Ok(())
}

/// A page of the network's keys that are not revoked, oldest first, and their number.
pub(super) async fn list_keys(
    db: &Db,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<KeyRow>, i64), Error> {
    db.page(
        "SELECT COUNT(*) FROM api_keys WHERE network_id = $1 AND revoked_at IS NULL",
        select_key!(
            "WHERE k.network_id = $1 AND k.revoked_at IS NULL ORDER BY k.created_at, k.key_id LIMIT $2 OFFSET $3"
        ),
        |statement| statement.bind(network),
        limit,
        offset,
    )
    .await
}

/// Number of the network's keys that are neither revoked nor expired.
pub(super) async fn count_keys(db: &Db, network: NetworkId, now: Millis) -> Result<i64, Error> {
    let (count,): (i64,) = db
        .query(
            "SELECT COUNT(*) FROM api_keys
             WHERE network_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)",
        )
        .bind(network)
        .bind(now)
        .one()
        .await?;
    Ok(count)
}

/// The network's revoked and expired keys, except for the `kept` that ended last.
pub(super) async fn ended_keys(
    tx: &mut Tx,
    network: NetworkId,
    ended: Cutoff,
    kept: i64,
) -> Result<Vec<String>, Error> {
    let rows: Vec<(String,)> = tx
        .query(
            "SELECT key_id FROM api_keys
             WHERE network_id = $1 AND (revoked_at IS NOT NULL OR expires_at <= $2)
             ORDER BY COALESCE(revoked_at, expires_at) DESC, key_id LIMIT 1000 OFFSET $3",
        )
        .bind(network)
        .bind(ended.at())
        .bind(kept)
        .all()
        .await?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}

/// Creator of a key, revoked or not.
pub(super) async fn creator_of(tx: &mut Tx, network: NetworkId, id: &str) -> Result<Option<String>, Error> {
    let row: Option<(Option<String>,)> = tx
        .query("SELECT created_by FROM api_keys WHERE network_id = $1 AND key_id = $2")
        .bind(network)
        .bind(id)
        .optional()
        .await?;
    Ok(row.and_then(|(creator,)| creator))
}

/// Deletes a key. Keys that it created or rotated count as its creator's.
pub(super) async fn forget_key(tx: &mut Tx, network: NetworkId, id: &str, creator: Option<&str>) -> Result<(), Error> {
    for pass in [
        "UPDATE api_keys SET created_by = $3 WHERE network_id = $1 AND created_by = $2",
        "UPDATE api_keys SET rolled_by = $3 WHERE network_id = $1 AND rolled_by = $2",
        "UPDATE api_keys SET previous_by = $3 WHERE network_id = $1 AND previous_by = $2",
    ] {
        tx.query(pass).bind(network).bind(id).bind(creator).execute().await?;
    }
    tx.query("DELETE FROM api_keys WHERE network_id = $1 AND key_id = $2").bind(network).bind(id).execute().await?;
    Ok(())
}

pub(super) async fn live_key(tx: &mut Tx, network: NetworkId, id: &KeyId) -> Result<Option<KeyRow>, Error> {
    tx.query(select_key!("WHERE k.network_id = $1 AND k.key_id = $2 AND k.revoked_at IS NULL"))
        .bind(network)
        .bind(id)
        .optional()
        .await
}

/// Keys that a key or person created, or whose secret they replaced last, revoked ones among them.
pub(super) async fn keys_of(tx: &mut Tx, network: NetworkId, creator: &str) -> Result<Vec<KeyRow>, Error> {
    tx.query(select_key!(
        "WHERE k.network_id = $1 AND (k.created_by = $2 OR k.rolled_by = $2) ORDER BY k.created_at, k.key_id"
    ))
    .bind(network)
    .bind(creator)
    .all()
    .await
}

/// Keys of networks that an operator, or an operator's key, created or rolled last, with their networks.
///
/// Crosses networks: an operator creates keys in any.
pub(super) async fn keys_elsewhere_of(tx: &mut Tx, creator: &str) -> Result<Vec<(NetworkId, KeyRow)>, Error> {
    let rows: Vec<KeyRow> = tx
        .query(select_key!(
            "WHERE (k.created_by = $1 OR k.rolled_by = $1) AND k.network_id <> $2 AND k.revoked_at IS NULL
             ORDER BY k.created_at, k.key_id"
        ))
        .bind(creator)
        .bind(OPERATOR_NETWORK)
        .all()
        .await?;
    Ok(rows.into_iter().map(|row| (row.network_id, row)).collect())
}

/// Replaces a key's secret; the old one stays valid until `overlap_until`.
pub(super) async fn roll_key(
    tx: &mut Tx,
    network: NetworkId,
    id: &KeyId,
    sha256: &[u8],
    (overlap_until, by): (Millis, &KeyId),
) -> Result<(), Error> {
    tx.query(
        "UPDATE api_keys SET previous_sha256 = sha256, previous_until = $3, previous_by = COALESCE(rolled_by, created_by),
             sha256 = $4, rolled_by = $5
         WHERE network_id = $1 AND key_id = $2",
    )
    .bind(network)
    .bind(id)
    .bind(overlap_until)
    .bind(sha256)
    .bind(by)
    .execute()
    .await?;
    Ok(())
}

/// Keys whose secret before is still good, and known to a key or person.
pub(super) async fn overlaps_of(
    tx: &mut Tx,
    network: NetworkId,
    holder: &str,
    now: Millis,
) -> Result<Vec<KeyRow>, Error> {
    tx.query(select_key!(
        "WHERE k.network_id = $1 AND k.previous_by = $2 AND k.previous_until > $3 AND k.revoked_at IS NULL"
    ))
    .bind(network)
    .bind(holder)
    .bind(now)
    .all()
    .await
}

/// Ends the secret before of a key.
pub(super) async fn end_overlap(tx: &mut Tx, network: NetworkId, id: &KeyId, now: Millis) -> Result<(), Error> {
    tx.query("UPDATE api_keys SET previous_until = $3 WHERE network_id = $1 AND key_id = $2")
        .bind(network)
        .bind(id)
        .bind(now)
        .execute()
        .await?;
    Ok(())
}

pub(super) async fn revoke_key(tx: &mut Tx, network: NetworkId, id: &KeyId, at: Millis) -> Result<(), Error> {
    tx.query("UPDATE api_keys SET revoked_at = $3 WHERE network_id = $1 AND key_id = $2 AND revoked_at IS NULL")
        .bind(network)
        .bind(id)
        .bind(at)
        .execute()
        .await?;
    Ok(())
}
