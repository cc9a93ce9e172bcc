//! All SQL of the room.

use hub_db::{Db, Error, Tx};

use crate::clock::Millis;
use crate::punishments::model::{Filter, IpAddress, KnownAddress, Party, Punishment, Span, State, Subject, Terms};
use crate::punishments::values::FoldedName;
use crate::values::{NetworkId, PlayerId};

/// The ids of the punishments that match the player `$2`, the name `$3` or the address `$4`; what is null matches
/// nothing. A player is matched by UUID, and by name where the punishment has no UUID; a name by what was written
/// down, and by the player who bears it now; an address by what was written down, and by the players of ip-based
/// punishments who were seen with it since.
///
/// `CROSS JOIN` tells SQLite, which knows nothing of how much there is of what, to begin on the left: by itself it
/// begins with all of the network's punishments.
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
           AND p.network_id = $1 AND p.player_uuid = a.player_uuid AND p.ip_based AND a.last_seen >= p.issued_at
         UNION
         SELECT p.id FROM player_addresses a CROSS JOIN player_names n CROSS JOIN punishments p
         WHERE a.network_id = $1 AND a.ip_address = $4
           AND n.network_id = $1 AND n.player_uuid = a.player_uuid
           AND p.network_id = $1 AND p.name_folded = n.name_folded AND p.player_uuid IS NULL
           AND p.ip_based AND a.last_seen >= p.issued_at"
    };
}

/// What [`find`] runs.
const FIND: &str = concat!(
    "SELECT * FROM punishments WHERE network_id = $1 AND id IN (",
    matching!(),
    ") AND (NOT $5 OR (state = 'OPEN' AND (expires_at IS NULL OR expires_at > $6)))
       AND issued_at >= $7 AND ($8 IS NULL OR kind = $8)
     ORDER BY issued_at DESC, id DESC LIMIT $9 OFFSET $10"
);

/// What [`revoke_bans`] runs.
const REVOKE_BANS: &str = concat!(
    "UPDATE punishments SET state = 'REVOKED', revoked_at = $5, revoker_uuid = $6, revoker_name = $7, revoke_reason = $8
     WHERE network_id = $1 AND kind = 'BAN' AND state = 'OPEN' AND (expires_at IS NULL OR expires_at > $5)
       AND id IN (",
    matching!(),
    ") RETURNING *"
);

/// What [`last_address_of_name`] runs.
const LAST_ADDRESS_OF_NAME: &str = "SELECT a.ip_address FROM player_names n CROSS JOIN player_addresses a
     WHERE n.network_id = $1 AND n.name_folded = $2 AND a.network_id = $1 AND a.player_uuid = n.player_uuid
     ORDER BY n.last_seen DESC, a.last_seen DESC LIMIT 1";

/// A row to be.
pub(super) struct NewPunishment<'a> {
    pub(super) id: i64,
    pub(super) player: Option<PlayerId>,
    pub(super) name: Option<&'a str>,
    pub(super) terms: &'a Terms,
    pub(super) expires_at: Option<Millis>,
    pub(super) ip_based: bool,
    pub(super) address: Option<IpAddress>,
    pub(super) issuer: &'a Party,
    pub(super) issued_at: Millis,
    pub(super) state: State,
}

/// By whom and why something is taken back.
#[derive(Clone, Copy)]
pub(super) struct Revocation<'a> {
    pub(super) actor: &'a Party,
    pub(super) reason: Option<&'a str>,
    pub(super) at: Millis,
}

/// Takes the network's next `count` ids; the last of them. The counter's row is held until the transaction ends.
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

pub(super) async fn insert(tx: &mut Tx, network: NetworkId, new: NewPunishment<'_>) -> Result<Punishment, Error> {
    tx.query(
        "INSERT INTO punishments (network_id, id, player_uuid, player_name, name_folded, kind, reason, duration_ms,
             expires_at, ip_based, ip_address, issuer_uuid, issuer_name, issued_at, state)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
         RETURNING *",
    )
    .bind(network)
    .bind(new.id)
    .bind(new.player)
    .bind(new.name.map(str::to_owned))
    .bind(new.name.map(FoldedName::of))
    .bind(new.terms.kind.as_str().to_owned())
    .bind(new.terms.reason.clone())
    .bind(new.terms.span.map(Span::ms))
    .bind(new.expires_at)
    .bind(new.ip_based)
    .bind(new.address)
    .bind(new.issuer.player)
    .bind(new.issuer.name.clone())
    .bind(new.issued_at)
    .bind(new.state.as_str().to_owned())
    .one()
    .await
}

pub(super) async fn get(db: &Db, network: NetworkId, id: i64) -> Result<Option<Punishment>, Error> {
    db.query("SELECT * FROM punishments WHERE network_id = $1 AND id = $2").bind(network).bind(id).optional().await
}

/// Newest first.
pub(super) async fn find(
    db: &Db,
    network: NetworkId,
    subject: &Subject,
    filter: &Filter,
    now: Millis,
) -> Result<Vec<Punishment>, Error> {
    db.query(FIND)
        .bind(network)
        .bind(subject.player)
        .bind(subject.name.as_deref().map(FoldedName::of))
        .bind(subject.address.clone())
        .bind(filter.active_only)
        .bind(now)
        .bind(filter.since.unwrap_or(Millis::MIN))
        .bind(filter.kind.map(|kind| kind.as_str().to_owned()))
        .bind(filter.limit)
        .bind(filter.offset)
        .all()
        .await
}

/// Takes one back that is in force; none where it is not.
pub(super) async fn revoke(
    db: &Db,
    network: NetworkId,
    id: i64,
    by: Revocation<'_>,
) -> Result<Option<Punishment>, Error> {
    db.write(
        "UPDATE punishments SET state = 'REVOKED', revoked_at = $3, revoker_uuid = $4, revoker_name = $5,
             revoke_reason = $6
         WHERE network_id = $1 AND id = $2 AND state = 'OPEN' AND (expires_at IS NULL OR expires_at > $3)
         RETURNING *",
    )
    .bind(network)
    .bind(id)
    .bind(by.at)
    .bind(by.actor.player)
    .bind(by.actor.name.clone())
    .bind(by.reason.map(str::to_owned))
    .optional()
    .await
}

/// Takes back the bans in force that match; newest first.
pub(super) async fn revoke_bans(
    tx: &mut Tx,
    network: NetworkId,
    subject: &Subject,
    by: Revocation<'_>,
) -> Result<Vec<Punishment>, Error> {
    let mut revoked: Vec<Punishment> = tx
        .query(REVOKE_BANS)
        .bind(network)
        .bind(subject.player)
        .bind(subject.name.as_deref().map(FoldedName::of))
        .bind(subject.address.clone())
        .bind(by.at)
        .bind(by.actor.player)
        .bind(by.actor.name.clone())
        .bind(by.reason.map(str::to_owned))
        .all()
        .await?;
    revoked.sort_by_key(|punishment| std::cmp::Reverse((punishment.issued_at, punishment.id)));
    Ok(revoked)
}

/// What notes a name.
const NOTE_NAME: &str = "INSERT INTO player_names (network_id, player_uuid, name_folded, last_seen)
     VALUES ($1, $2, $3, $4)
     ON CONFLICT (network_id, player_uuid, name_folded) DO UPDATE SET last_seen = excluded.last_seen";

pub(super) async fn note_name(
    tx: &mut Tx,
    network: NetworkId,
    player: PlayerId,
    name: &FoldedName,
    at: Millis,
) -> Result<(), Error> {
    tx.query(NOTE_NAME).bind(network).bind(player).bind(name.clone()).bind(at).execute().await?;
    Ok(())
}

/// As [`note_name`], by itself.
pub(super) async fn note_name_alone(
    db: &Db,
    network: NetworkId,
    player: PlayerId,
    name: FoldedName,
    at: Millis,
) -> Result<(), Error> {
    db.write(NOTE_NAME).bind(network).bind(player).bind(name).bind(at).execute().await?;
    Ok(())
}

pub(super) async fn note_address(
    tx: &mut Tx,
    network: NetworkId,
    player: PlayerId,
    address: &IpAddress,
    at: Millis,
) -> Result<(), Error> {
    tx.query(
        "INSERT INTO player_addresses (network_id, player_uuid, ip_address, first_seen, last_seen)
         VALUES ($1, $2, $3, $4, $4)
         ON CONFLICT (network_id, player_uuid, ip_address) DO UPDATE SET last_seen = excluded.last_seen",
    )
    .bind(network)
    .bind(player)
    .bind(address.clone())
    .bind(at)
    .execute()
    .await?;
    Ok(())
}

/// The address the player was seen with last.
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

/// The addresses the player was seen with, the last first.
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

/// The address that a player of this name was seen with last.
pub(super) async fn last_address_of_name(
    tx: &mut Tx,
    network: NetworkId,
    name: &FoldedName,
) -> Result<Option<IpAddress>, Error> {
    let row: Option<(IpAddress,)> = tx.query(LAST_ADDRESS_OF_NAME).bind(network).bind(name.clone()).optional().await?;
    Ok(row.map(|(address,)| address))
}

/// Crosses networks: one watch notes the expiries of all, and nobody sees what it reads but the network of each row.
/// When the next one is due.
pub(super) async fn next_expiry(db: &Db) -> Result<Option<Millis>, Error> {
    let row: Option<(Millis,)> = db
        .query(
            "SELECT expires_at FROM punishments WHERE state = 'OPEN' AND expires_at IS NOT NULL
             ORDER BY expires_at LIMIT 1",
        )
        .optional()
        .await?;
    Ok(row.map(|(at,)| at))
}

/// Crosses networks: as [`next_expiry`] does. Notes up to `limit` that are due, and answers them with their networks.
pub(super) async fn expire(db: &Db, now: Millis, limit: i64) -> Result<Vec<Punishment>, Error> {
    db.write(
        "UPDATE punishments SET state = 'EXPIRED'
         WHERE state = 'OPEN' AND (network_id, id) IN (
             SELECT network_id, id FROM punishments WHERE state = 'OPEN' AND expires_at <= $1
             ORDER BY expires_at LIMIT $2)
         RETURNING *",
    )
    .bind(now)
    .bind(limit)
    .all()
    .await
}

#[cfg(test)]
mod tests {
    use hub_db::Config;

    use super::*;

    /// SQLite has no statistics to plan by: unless it is told where to begin and finds all it looks at in one index,
    /// each look-up reads all of its network's punishments.
    #[tokio::test]
    async fn a_look_up_reads_little_more_than_it_finds() {
        let folder = tempfile::TempDir::new().unwrap();
        let db = Db::connect(&Config::Sqlite { path: folder.path().join("hub.db") }).await.unwrap();
        db.migrate().await.unwrap();
        for (sql, searches) in [(FIND, 14), (REVOKE_BANS, 14), (LAST_ADDRESS_OF_NAME, 2)] {
            let explain: &'static str = format!("EXPLAIN QUERY PLAN {sql}").leak();
            let plan: Vec<(i64, i64, i64, String)> = db.query(explain).all().await.unwrap();
            let plan: Vec<_> = plan.into_iter().map(|(.., step)| step).collect();
            let narrow = |step: &&String| step.starts_with("SEARCH") && step.matches("=?").count() >= 2;
            assert_eq!(plan.iter().filter(narrow).count(), searches, "{plan:#?}");
            let wide = |step: &&String| step.starts_with("SCAN") || (step.starts_with("SEARCH") && !narrow(step));
            assert_eq!(plan.iter().find(wide), None, "{plan:#?}");
            let by_name_alone = |step: &&String| step.contains("name_folded=?") && step.contains("player_uuid=?");
            assert_eq!(plan.iter().filter(by_name_alone).count(), if searches > 2 { 2 } else { 0 }, "{plan:#?}");
        }
    }
}
