//! All SQL of the component.

pub(super) mod managed;
mod sightings;

use hub_db::{Db, Error, Executor, Sql, Tx};

use crate::clock::{Cutoff, Millis};
use crate::limits::{Limit, Rows};
use crate::punishments::model::{Actor, Identity, KnownAddress, Punishment, PunishmentFilter};
use crate::punishments::values::{FoldedName, IpAddress, PunishmentKind};
use crate::values::{NetworkId, PlayerId};
use sightings::json;
pub(super) use sightings::{addresses_of, names_of, see_addresses, see_names};

/// Columns of a [`Punishment`] after `network_id`.
macro_rules! columns {
    () => {
        "id, player_uuid, player_name, kind, reason, duration_ms, expires_at, ip_based, ip_address, issuer_uuid,
         issuer_name, issued_at, state, appeal_code"
    };
}
use columns;

/// Ids of the punishments that match the player `$2`, the name `$3` or the address `$4`; null matches nothing. A player
/// is matched by UUID, and by name if the punishment has no UUID; a name by the stored one, and by the player who has
/// it now; an address by the stored one, and by the players of ip-based punishments who were seen with it since.
///
/// `CROSS JOIN` makes SQLite, which has no statistics, start on the left: otherwise it starts with all punishments of
/// the network.
macro_rules! matching {
    () => {
        "SELECT p.id FROM punishments p WHERE p.network_id = $1 AND p.player_uuid = $2
         UNION
         SELECT p.id FROM player_names n CROSS JOIN punishments p
         WHERE n.network_id = $1 AND n.player_uuid = $2
           AND p.network_id = $1 AND p.name_folded = n.name_folded AND p.player_uuid IS NULL
         UNION
         SELECT p.id FROM punishments p WHERE p.network_id = $1 AND p.name_folded = $3
         UNION
         SELECT p.id FROM player_names n CROSS JOIN punishments p
         WHERE n.network_id = $1 AND n.name_folded = $3
           AND p.network_id = $1 AND p.player_uuid = n.player_uuid
           AND NOT EXISTS (
             SELECT l.name_folded FROM player_names l
             WHERE l.network_id = $1 AND l.player_uuid = n.player_uuid AND l.last_seen > n.last_seen)
         UNION
         SELECT p.id FROM punishments p WHERE p.network_id = $1 AND p.ip_address = $4
         UNION
         SELECT p.id FROM player_addresses a CROSS JOIN punishments p
         WHERE a.network_id = $1 AND a.ip_address = $4
           AND p.network_id = $1 AND p.player_uuid = a.player_uuid AND p.ip_based AND a.last_seen >= +p.issued_at
         UNION
         SELECT p.id FROM player_addresses a CROSS JOIN player_names n CROSS JOIN punishments p
         WHERE a.network_id = $1 AND a.ip_address = $4
           AND n.network_id = $1 AND n.player_uuid = a.player_uuid
           AND p.network_id = $1 AND p.name_folded = n.name_folded AND p.player_uuid IS NULL
           AND p.ip_based AND a.last_seen >= +p.issued_at"
    };
}
use matching;

/// `+issued_at` keeps SQLite from starting with all punishments since a time.
const FIND: &str = concat!(
    "SELECT network_id, ",
    columns!(),
    " FROM punishments WHERE network_id = $1 AND id IN (",
    matching!(),
    ") AND (NOT $5 OR (state = 'OPEN' AND (expires_at IS NULL OR expires_at > $6)))
       AND +issued_at >= $7 AND ($8 IS NULL OR kind = $8)
     ORDER BY CASE WHEN $11 AND kind = 'BAN' THEN 0 ELSE 1 END, issued_at DESC, id DESC LIMIT $9 OFFSET $10"
);

const REVOKE_BANS: &str = concat!(
    "UPDATE punishments SET state = 'REVOKED', revoked_at = $5, revoker_uuid = $6, revoker_name = $7, revoke_reason = $8
     WHERE network_id = $1 AND kind = 'BAN' AND state = 'OPEN' AND (expires_at IS NULL OR expires_at > $5)
       AND id IN (",
    matching!(),
    ") RETURNING network_id, ",
    columns!()
);

const LAST_ADDRESS_OF_NAME: &str = "SELECT a.ip_address FROM player_names n CROSS JOIN player_addresses a
     WHERE n.network_id = $1 AND n.name_folded = $2 AND a.network_id = $1 AND a.player_uuid = n.player_uuid
     ORDER BY n.last_seen DESC, a.last_seen DESC LIMIT 1";

/// Actor, reason and time of a revocation.
#[derive(Clone, Copy)]
pub(super) struct Revocation<'a> {
    pub(super) actor: &'a Actor,
    pub(super) reason: Option<&'a str>,
    pub(super) at: Millis,
}

/// All punishments of a network.
pub(super) const PUNISHMENTS: Rows = Rows::many(
    Limit::Punishments,
    "SELECT COUNT(*) FROM (SELECT id FROM punishments WHERE network_id = $1 LIMIT $2) AS counted",
);

/// Number of punishments of the player, or else of the name, or else of the address.
pub(super) async fn count_of(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    player: Option<PlayerId>,
    name: Option<&FoldedName>,
    address: Option<&IpAddress>,
) -> Result<i64, Error> {
    let mut on = on.into();
    let statement = match (player, name) {
        (Some(player), _) => on
            .query("SELECT COUNT(*) FROM punishments WHERE network_id = $1 AND player_uuid = $2")
            .bind(network)
            .bind(player),
        (None, Some(name)) => on
            .query(
                "SELECT COUNT(*) FROM punishments WHERE network_id = $1 AND name_folded = $2 AND player_uuid IS NULL",
            )
            .bind(network)
            .bind(name),
        (None, None) => on
            .query("SELECT COUNT(*) FROM punishments WHERE network_id = $1 AND ip_address = $2")
            .bind(network)
            .bind(address),
    };
    let (count,): (i64,) = statement.one().await?;
    Ok(count)
}

/// Takes the network's next `count` ids and returns the last of them. The counter's row is locked until the transaction
/// ends.
pub(super) async fn take_ids(tx: &mut Tx, network: NetworkId, count: i64) -> Result<i64, Error> {
    let (last,): (i64,) = tx
        .query(
            "INSERT INTO punishment_counters (network_id, last_id) VALUES ($1, $2)
             ON CONFLICT (network_id) DO UPDATE SET last_id = punishment_counters.last_id + excluded.last_id
             RETURNING last_id",
        )
        .bind(network)
        .bind(count)
        .one()
        .await?;
    Ok(last)
}

/// Adds a punishment; `appeal_mac` is the fingerprint of its code.
pub(super) async fn insert(tx: &mut Tx, new: &Punishment, appeal_mac: Option<Vec<u8>>) -> Result<(), Error> {
    tx.query(
        "INSERT INTO punishments (network_id, id, player_uuid, player_name, name_folded, kind, reason, duration_ms,
             expires_at, ip_based, ip_address, issuer_uuid, issuer_name, issued_at, state, issuer_folded, appeal_code,
             appeal_mac)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)",
    )
    .bind(new.network_id)
    .bind(new.id)
    .bind(new.player_uuid)
    .bind(&new.player_name)
    .bind(new.player_name.as_deref().map(FoldedName::new))
    .bind(new.kind.as_str())
    .bind(&new.reason)
    .bind(new.duration_ms)
    .bind(new.expires_at)
    .bind(new.ip_based)
    .bind(&new.ip_address)
    .bind(new.issuer_uuid)
    .bind(&new.issuer_name)
    .bind(new.issued_at)
    .bind(new.state.as_str())
    .bind(new.issuer_name.as_deref().map(FoldedName::new))
    .bind(&new.appeal_code)
    .bind(appeal_mac)
    .execute()
    .await?;
    Ok(())
}

/// Writes the revoker of a punishment that was revoked elsewhere.
pub(super) async fn insert_revocation(
    tx: &mut Tx,
    network: NetworkId,
    id: i64,
    revocation: Revocation<'_>,
) -> Result<(), Error> {
    tx.query(
        "UPDATE punishments SET revoked_at = $3, revoker_uuid = $4, revoker_name = $5, revoke_reason = $6
         WHERE network_id = $1 AND id = $2",
    )
    .bind(network)
    .bind(id)
    .bind(revocation.at)
    .bind(revocation.actor.player)
    .bind(&revocation.actor.name)
    .bind(revocation.reason)
    .execute()
    .await?;
    Ok(())
}

const OPEN_OF: Sql = Sql {
    sqlite: "SELECT id FROM punishments
             WHERE network_id = $1 AND state = 'OPEN' AND id IN (SELECT value FROM json_each($2))",
    postgres: "SELECT id FROM punishments
               WHERE network_id = $1 AND state = 'OPEN' AND id IN (
                   SELECT CAST(value AS BIGINT) FROM jsonb_array_elements_text(CAST($2 AS JSONB)) AS ids (value))",
};

/// Filters the open ones among these.
pub(super) async fn open_of(db: &Db, network: NetworkId, ids: &[i64]) -> Result<Vec<(i64,)>, Error> {
    db.query(OPEN_OF).bind(network).bind(json(&ids)?).all().await
}

pub(super) async fn get(db: &Db, network: NetworkId, id: i64) -> Result<Option<Punishment>, Error> {
    db.query(concat!("SELECT network_id, ", columns!(), " FROM punishments WHERE network_id = $1 AND id = $2"))
        .bind(network)
        .bind(id)
        .optional()
        .await
}

/// Newest first.
pub(super) async fn find(
    db: &Db,
    network: NetworkId,
    identity: &Identity,
    filter: &PunishmentFilter,
    now: Millis,
) -> Result<Vec<Punishment>, Error> {
    let mut found: Vec<Punishment> = db
        .query(FIND)
        .bind(network)
        .bind(identity.player)
        .bind(identity.name.as_deref().map(FoldedName::new))
        .bind(&identity.address)
        .bind(filter.active_only)
        .bind(now)
        .bind(filter.since.unwrap_or(Millis::MIN))
        .bind(filter.kind.map(PunishmentKind::as_str))
        .bind(filter.limit)
        .bind(filter.offset)
        .bind(filter.prefers_bans)
        .all()
        .await?;
    sort_newest_first(&mut found);
    Ok(found)
}

fn sort_newest_first(punishments: &mut [Punishment]) {
    punishments.sort_by_key(|punishment| std::cmp::Reverse((punishment.issued_at, punishment.id)));
}

/// Revokes an active punishment; none if it is not active.
pub(super) async fn revoke(
    tx: &mut Tx,
    network: NetworkId,
    id: i64,
    revocation: Revocation<'_>,
) -> Result<Option<Punishment>, Error> {
    tx.query(concat!(
        "UPDATE punishments SET state = 'REVOKED', revoked_at = $3, revoker_uuid = $4, revoker_name = $5,
             revoke_reason = $6
         WHERE network_id = $1 AND id = $2 AND state = 'OPEN' AND (expires_at IS NULL OR expires_at > $3)
         RETURNING network_id, ",
        columns!()
    ))
    .bind(network)
    .bind(id)
    .bind(revocation.at)
    .bind(revocation.actor.player)
    .bind(&revocation.actor.name)
    .bind(revocation.reason)
    .optional()
    .await
}

/// Revokes the active bans of an identity. Returns them, newest first.
pub(super) async fn revoke_bans(
    tx: &mut Tx,
    network: NetworkId,
    identity: &Identity,
    revocation: Revocation<'_>,
) -> Result<Vec<Punishment>, Error> {
    let mut revoked: Vec<Punishment> = tx
        .query(REVOKE_BANS)
        .bind(network)
        .bind(identity.player)
        .bind(identity.name.as_deref().map(FoldedName::new))
        .bind(&identity.address)
        .bind(revocation.at)
        .bind(revocation.actor.player)
        .bind(&revocation.actor.name)
        .bind(revocation.reason)
        .all()
        .await?;
    sort_newest_first(&mut revoked);
    Ok(revoked)
}

/// Records that a player was seen with a name; false if it is new and the player has `most` of them.
pub(super) async fn record_name(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    player: PlayerId,
    name: &FoldedName,
    at: Millis,
    most: i64,
) -> Result<bool, Error> {
    let rows = on
        .into()
        .write(
            "INSERT INTO player_names (network_id, player_uuid, name_folded, last_seen)
             SELECT $1, $2, $3, $4
             WHERE EXISTS (SELECT n.last_seen FROM player_names n
                     WHERE n.network_id = $1 AND n.player_uuid = $2 AND n.name_folded = $3)
                OR (SELECT COUNT(*) FROM player_names n WHERE n.network_id = $1 AND n.player_uuid = $2) < $5
             ON CONFLICT (network_id, player_uuid, name_folded) DO UPDATE SET last_seen = excluded.last_seen",
        )
        .bind(network)
        .bind(player)
        .bind(name)
        .bind(at)
        .bind(most)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Deletes all names of a player except the `kept` seen last.
pub(super) async fn forget_names(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    player: PlayerId,
    kept: i64,
) -> Result<(), Error> {
    on.into()
        .write(
            "DELETE FROM player_names WHERE network_id = $1 AND player_uuid = $2 AND name_folded NOT IN (
                 SELECT n.name_folded FROM player_names n WHERE n.network_id = $1 AND n.player_uuid = $2
                 ORDER BY n.last_seen DESC, n.name_folded LIMIT $3)",
        )
        .bind(network)
        .bind(player)
        .bind(kept)
        .execute()
        .await?;
    Ok(())
}

/// Records that a player was seen with an address. Beyond `most`, those not seen for longest are deleted.
pub(super) async fn record_address(
    tx: &mut Tx,
    network: NetworkId,
    player: PlayerId,
    address: &IpAddress,
    at: Millis,
    most: i64,
) -> Result<(), Error> {
    let known = tx
        .query(
            "UPDATE player_addresses SET last_seen = $4
             WHERE network_id = $1 AND player_uuid = $2 AND ip_address = $3",
        )
        .bind(network)
        .bind(player)
        .bind(address)
        .bind(at)
        .execute()
        .await?;
    if known > 0 {
        return Ok(());
    }
    tx.query(
        "DELETE FROM player_addresses WHERE network_id = $1 AND player_uuid = $2 AND ip_address NOT IN (
             SELECT a.ip_address FROM player_addresses a WHERE a.network_id = $1 AND a.player_uuid = $2
             ORDER BY a.last_seen DESC, a.ip_address LIMIT $3)",
    )
    .bind(network)
    .bind(player)
    .bind(most.saturating_sub(1))
    .execute()
    .await?;
    tx.query(
        "INSERT INTO player_addresses (network_id, player_uuid, ip_address, first_seen, last_seen)
         VALUES ($1, $2, $3, $4, $4)
         ON CONFLICT (network_id, player_uuid, ip_address) DO UPDATE SET last_seen = excluded.last_seen",
    )
    .bind(network)
    .bind(player)
    .bind(address)
    .bind(at)
    .execute()
    .await?;
    Ok(())
}

/// The player's latest address.
pub(super) async fn last_address(
    tx: &mut Tx,
    network: NetworkId,
    player: PlayerId,
) -> Result<Option<IpAddress>, Error> {
    let row: Option<(IpAddress,)> = tx
        .query(
            "SELECT ip_address FROM player_addresses WHERE network_id = $1 AND player_uuid = $2
             ORDER BY last_seen DESC LIMIT 1",
        )
        .bind(network)
        .bind(player)
        .optional()
        .await?;
    Ok(row.map(|(address,)| address))
}

/// The player's addresses, latest first.
pub(super) async fn addresses(db: &Db, network: NetworkId, player: PlayerId) -> Result<Vec<KnownAddress>, Error> {
    db.query(
        "SELECT ip_address, first_seen, last_seen FROM player_addresses WHERE network_id = $1 AND player_uuid = $2
         ORDER BY last_seen DESC, first_seen DESC, ip_address LIMIT 1000",
    )
    .bind(network)
    .bind(player)
    .all()
    .await
}

const PLAYER_NAMED: &str = "SELECT player_uuid FROM player_names WHERE network_id = $1 AND name_folded = $2
     ORDER BY last_seen DESC LIMIT 1";

/// The player who was seen last with a name.
pub(super) async fn player_named(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    name: &FoldedName,
) -> Result<Option<PlayerId>, Error> {
    let row: Option<(PlayerId,)> = on.into().query(PLAYER_NAMED).bind(network).bind(name).optional().await?;
    Ok(row.map(|(player,)| player))
}

/// Latest address of a player with this name.
pub(super) async fn last_address_of_name(
    tx: &mut Tx,
    network: NetworkId,
    name: &FoldedName,
) -> Result<Option<IpAddress>, Error> {
    let row: Option<(IpAddress,)> = tx.query(LAST_ADDRESS_OF_NAME).bind(network).bind(name).optional().await?;
    Ok(row.map(|(address,)| address))
}

// Crosses networks: one task looks for all.
const NEXT_EXPIRY: &str = "SELECT expires_at FROM punishments
     WHERE state = 'OPEN' AND expires_at IS NOT NULL AND expires_at > $1 ORDER BY expires_at LIMIT 1";

/// Time of the first expiry after another. Crosses networks: one task looks for all, and each network's own are then
/// recorded.
pub(super) async fn next_expiry(db: &Db, after: Millis) -> Result<Option<Millis>, Error> {
    let row: Option<(Millis,)> = db.query(NEXT_EXPIRY).bind(after).optional().await?;
    Ok(row.map(|(at,)| at))
}

// Leaps from network to network: those with many punishments cost no more than others.
const EXPIRING_NETWORKS: &str = "WITH RECURSIVE n (network_id) AS (
         SELECT (SELECT network_id FROM punishments WHERE state = 'OPEN' AND expires_at IS NOT NULL
                 ORDER BY network_id LIMIT 1)
         UNION ALL
         SELECT (SELECT p.network_id FROM punishments p
                 WHERE p.state = 'OPEN' AND p.expires_at IS NOT NULL AND p.network_id > n.network_id
                 ORDER BY p.network_id LIMIT 1)
         FROM n WHERE n.network_id IS NOT NULL)
     SELECT network_id FROM n WHERE network_id IS NOT NULL AND EXISTS (
         SELECT 1 FROM punishments p
         WHERE p.network_id = n.network_id AND p.state = 'OPEN' AND p.expires_at <= $1)";

/// Networks with punishments that have expired. Crosses networks: see [`next_expiry`].
pub(super) async fn expiring_networks(db: &Db, due: Cutoff) -> Result<Vec<NetworkId>, Error> {
    let rows: Vec<(NetworkId,)> = db.query(EXPIRING_NETWORKS).bind(due.at()).readable().await?;
    Ok(rows.into_iter().map(|(network,)| network).collect())
}

// The time is that of a `Cutoff`: see [`expire`].
macro_rules! expire {
    ($lock:literal) => {
        concat!(
            "UPDATE punishments SET state = 'EXPIRED'
             WHERE network_id = $1 AND id IN (
                 SELECT id FROM punishments WHERE network_id = $1 AND state = 'OPEN' AND expires_at <= $2
                 ORDER BY expires_at LIMIT $3",
            $lock,
            ") RETURNING network_id, ",
            columns!()
        )
    };
}
const EXPIRE: Sql = Sql { sqlite: expire!(""), postgres: expire!(" FOR UPDATE SKIP LOCKED") };

/// Records and returns up to `limit` expired punishments of a network. One that another transaction changes, maybe
/// prolongs, is left for the next time: it holds up no other.
pub(super) async fn expire(tx: &mut Tx, network: NetworkId, due: Cutoff, limit: i64) -> Result<Vec<Punishment>, Error> {
    tx.query(EXPIRE).bind(network).bind(due.at()).bind(limit).readable().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::query_plans;

    /// A look-up reads all punishments of its network unless SQLite is given its start, and one index covers each
    /// search.
    #[tokio::test]
    async fn look_ups_use_their_indexes() {
        let plans = query_plans(&[FIND, REVOKE_BANS, LAST_ADDRESS_OF_NAME]).await;
        for (plan, searches) in plans.iter().zip([14, 14, 2]) {
            let narrow = |step: &&String| step.starts_with("SEARCH") && step.matches("=?").count() >= 2;
            assert_eq!(plan.iter().filter(narrow).count(), searches, "{plan:#?}");
            let wide = |step: &&String| step.starts_with("SCAN") || (step.starts_with("SEARCH") && !narrow(step));
            assert_eq!(plan.iter().find(wide), None, "{plan:#?}");
            let by_name_alone = |step: &&String| step.contains("name_folded=?") && step.contains("player_uuid=?");
            assert_eq!(plan.iter().filter(by_name_alone).count(), if searches > 2 { 2 } else { 0 }, "{plan:#?}");
        }
    }

    /// Those of other networks cost nothing.
    #[tokio::test]
    async fn expiries_are_found_by_their_indexes() {
        for (at, plan) in query_plans(&[NEXT_EXPIRY, EXPIRING_NETWORKS, EXPIRE.sqlite]).await.iter().enumerate() {
            let index = if at == 0 { "punishments_due (" } else { "punishments_due_of_network (" };
            assert!(plan.iter().any(|step| step.contains(index)), "{plan:#?}");
            assert!(plan.iter().all(|step| !step.contains("TEMP B-TREE FOR ORDER")), "{plan:#?}");
        }
    }
}
