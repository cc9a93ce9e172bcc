//! SQL of staff's work on punishments.

use hub_db::{Db, Error, Executor, Sql, Tx};

use super::{Revocation, columns, json, matching};
use crate::clock::Millis;
use crate::punishments::managed::{Edit, ManagedPunishment, PunishmentOrigin};
use crate::punishments::model::{Identity, Punishment};
use crate::punishments::values::{FoldedName, PunishmentKind};
use crate::values::{NetworkId, PlayerId};

/// Issuer of punishments, as a filter.
#[derive(Clone, Debug)]
pub(in crate::punishments) enum Issuer {
    Player(PlayerId),
    Name(String),
}

impl Issuer {
    fn player(&self) -> Option<PlayerId> {
        match self {
            Self::Player(player) => Some(*player),
            Self::Name(_) => None,
        }
    }

    fn name(&self) -> Option<FoldedName> {
        match self {
            Self::Player(_) => None,
            Self::Name(name) => Some(FoldedName::new(name)),
        }
    }
}

/// Filters of a list of all punishments.
#[derive(Clone, Debug, Default)]
pub(in crate::punishments) struct ListFilter {
    pub(in crate::punishments) kind: Option<PunishmentKind>,
    pub(in crate::punishments) is_active: Option<bool>,
    pub(in crate::punishments) issuer: Option<Issuer>,
    pub(in crate::punishments) player: Option<Identity>,
    /// Both included.
    pub(in crate::punishments) issued: (Option<Millis>, Option<Millis>),
}

#[derive(sqlx::FromRow)]
struct Row {
    #[sqlx(flatten)]
    punishment: Punishment,
    evidence: String,
    edits: Option<String>,
    origin: Option<String>,
}

impl From<Row> for ManagedPunishment {
    fn from(row: Row) -> Self {
        Self {
            punishment: row.punishment,
            evidence: serde_json::from_str(&row.evidence).unwrap_or_default(),
            edits: row.edits.map(|edits| serde_json::from_str(&edits).unwrap_or_default()),
            origin: row.origin.and_then(|origin| serde_json::from_str(&origin).ok()),
        }
    }
}

/// Columns of a [`Row`] in a list. Long histories of changes are read with their punishment only.
macro_rules! listed {
    () => {
        concat!(
            "SELECT network_id, ",
            columns!(),
            ", evidence, CASE WHEN LENGTH(edits) <= 16384 THEN edits END AS edits, origin FROM punishments
             WHERE network_id = $1 AND "
        )
    };
}

/// Kind `$2`, in force `$3` at `$4`, from `$5` to `$6`, which is `+issued_at` where the issuer's index is to be used.
macro_rules! filtered {
    ($issued_at:literal) => {
        concat!(
            "($2 IS NULL OR kind = $2)
               AND ($3 IS NULL OR $3 = (state = 'OPEN' AND (expires_at IS NULL OR expires_at > $4))) AND ",
            $issued_at,
            " >= $5 AND ",
            $issued_at,
            " <= $6"
        )
    };
}

/// Those that match the player `$2` or the name `$3`, with the address `$4` null; kind `$5`, in force `$6` at `$7`, from `$8`
/// to `$9`, by the player `$10` or the name `$11`. `+issued_at` keeps SQLite from starting with all of a time.
macro_rules! of_player {
    () => {
        concat!(
            "id IN (",
            matching!(),
            ") AND ($5 IS NULL OR kind = $5)
               AND ($6 IS NULL OR $6 = (state = 'OPEN' AND (expires_at IS NULL OR expires_at > $7)))
               AND +issued_at >= $8 AND +issued_at <= $9
               AND ($10 IS NULL OR issuer_uuid = $10) AND ($11 IS NULL OR issuer_folded = $11)"
        )
    };
}

const COUNT_ALL: &str = concat!("SELECT COUNT(*) FROM punishments WHERE network_id = $1 AND ", filtered!("issued_at"));
const LIST_ALL: &str =
    concat!(listed!(), filtered!("issued_at"), " ORDER BY issued_at DESC, id DESC LIMIT $7 OFFSET $8");
const COUNT_BY_PLAYER: &str = concat!(
    "SELECT COUNT(*) FROM punishments WHERE network_id = $1 AND ",
    filtered!("+issued_at"),
    " AND issuer_uuid = $7"
);
const LIST_BY_PLAYER: &str = concat!(
    listed!(),
    filtered!("+issued_at"),
    " AND issuer_uuid = $7 ORDER BY issued_at DESC, id DESC LIMIT $8 OFFSET $9"
);
const COUNT_BY_NAME: &str = concat!(
    "SELECT COUNT(*) FROM punishments WHERE network_id = $1 AND ",
    filtered!("+issued_at"),
    " AND issuer_folded = $7"
);
const LIST_BY_NAME: &str = concat!(
    listed!(),
    filtered!("+issued_at"),
    " AND issuer_folded = $7 ORDER BY issued_at DESC, id DESC LIMIT $8 OFFSET $9"
);
const COUNT_OF_PLAYER: &str = concat!("SELECT COUNT(*) FROM punishments WHERE network_id = $1 AND ", of_player!());
const LIST_OF_PLAYER: &str =
    concat!(listed!(), of_player!(), " ORDER BY +issued_at DESC, id DESC LIMIT $12 OFFSET $13");

/// Newest first, and their number.
pub(in crate::punishments) async fn list(
    db: &Db,
    network: NetworkId,
    filter: &ListFilter,
    now: Millis,
    (limit, offset): (i64, i64),
) -> Result<(Vec<ManagedPunishment>, i64), Error> {
    let kind = filter.kind.map(PunishmentKind::as_str);
    let since = filter.issued.0.unwrap_or(Millis::MIN);
    let until = filter.issued.1.unwrap_or(Millis::MAX);
    let is_active = filter.is_active;
    let (rows, total): (Vec<Row>, i64) = match (&filter.player, &filter.issuer) {
        (Some(player), issuer) => {
            let name = player.name.as_deref().map(FoldedName::new);
            let issued_by = issuer.as_ref().and_then(Issuer::player);
            let issued_by_name = issuer.as_ref().and_then(Issuer::name);
            db.page(
                COUNT_OF_PLAYER,
                LIST_OF_PLAYER,
                |statement| {
                    let of_player = statement.bind(network).bind(player.player).bind(&name).bind(&player.address);
                    let filtered = of_player.bind(kind).bind(is_active).bind(now).bind(since).bind(until);
                    filtered.bind(issued_by).bind(&issued_by_name)
                },
                limit,
                offset,
            )
            .await?
        }
        (None, Some(Issuer::Player(issuer))) => {
            db.page(
                COUNT_BY_PLAYER,
                LIST_BY_PLAYER,
                |statement| {
                    let filtered = statement.bind(network).bind(kind).bind(is_active).bind(now).bind(since).bind(until);
                    filtered.bind(*issuer)
                },
                limit,
                offset,
            )
            .await?
        }
        (None, Some(Issuer::Name(issuer))) => {
            db.page(
                COUNT_BY_NAME,
                LIST_BY_NAME,
                |statement| {
                    let filtered = statement.bind(network).bind(kind).bind(is_active).bind(now).bind(since).bind(until);
                    filtered.bind(FoldedName::new(issuer))
                },
                limit,
                offset,
            )
            .await?
        }
        (None, None) => {
            db.page(
                COUNT_ALL,
                LIST_ALL,
                |statement| statement.bind(network).bind(kind).bind(is_active).bind(now).bind(since).bind(until),
                limit,
                offset,
            )
            .await?
        }
    };
    Ok((rows.into_iter().map(ManagedPunishment::from).collect(), total))
}

/// One punishment, with all its changes.
pub(in crate::punishments) async fn get(
    db: &Db,
    network: NetworkId,
    id: i64,
) -> Result<Option<ManagedPunishment>, Error> {
    let row: Option<Row> = db
        .query(concat!(
            "SELECT network_id, ",
            columns!(),
            ", evidence, edits, origin FROM punishments WHERE network_id = $1 AND id = $2"
        ))
        .bind(network)
        .bind(id)
        .optional()
        .await?;
    Ok(row.map(ManagedPunishment::from))
}

/// The same, locked until the transaction ends.
pub(in crate::punishments) async fn lock(
    tx: &mut Tx,
    network: NetworkId,
    id: i64,
) -> Result<Option<ManagedPunishment>, Error> {
    let row: Option<Row> = tx
        .query(concat!(
            "UPDATE punishments SET kind = kind WHERE network_id = $1 AND id = $2 RETURNING network_id, ",
            columns!(),
            ", evidence, edits, origin"
        ))
        .bind(network)
        .bind(id)
        .optional()
        .await?;
    Ok(row.map(ManagedPunishment::from))
}

/// Writes changed terms and details.
pub(in crate::punishments) async fn update(tx: &mut Tx, changed: &ManagedPunishment) -> Result<(), Error> {
    let punishment = &changed.punishment;
    let edits: &[Edit] = changed.edits.as_deref().unwrap_or_default();
    tx.query(
        "UPDATE punishments SET reason = $3, duration_ms = $4, expires_at = $5, state = $6, evidence = $7, edits = $8
         WHERE network_id = $1 AND id = $2",
    )
    .bind(punishment.network_id)
    .bind(punishment.id)
    .bind(&punishment.reason)
    .bind(punishment.duration_ms)
    .bind(punishment.expires_at)
    .bind(punishment.state.as_str())
    .bind(json(&changed.evidence)?)
    .bind(json(&edits)?)
    .execute()
    .await?;
    Ok(())
}

/// Records the origin of a new punishment.
pub(in crate::punishments) async fn set_origin(
    tx: &mut Tx,
    network: NetworkId,
    id: i64,
    origin: &PunishmentOrigin,
) -> Result<(), Error> {
    tx.query("UPDATE punishments SET origin = $3 WHERE network_id = $1 AND id = $2")
        .bind(network)
        .bind(id)
        .bind(json(origin)?)
        .execute()
        .await?;
    Ok(())
}

macro_rules! active_of {
    ($issuer:literal) => {
        concat!(
            "SELECT network_id, ",
            columns!(),
            " FROM punishments WHERE network_id = $1 AND ",
            $issuer,
            " = $2 AND +issued_at >= $3 AND +issued_at <= $4
               AND state = 'OPEN' AND (expires_at IS NULL OR expires_at > $5)
             ORDER BY issued_at DESC, id DESC LIMIT $6"
        )
    };
}
const ACTIVE_BY_PLAYER: &str = active_of!("issuer_uuid");
const ACTIVE_BY_NAME: &str = active_of!("issuer_folded");

/// Those in force that an issuer made from one time to another, newest first.
pub(in crate::punishments) async fn active_of(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    issuer: &Issuer,
    (since, until): (Millis, Millis),
    now: Millis,
    limit: i64,
) -> Result<Vec<Punishment>, Error> {
    let mut on = on.into();
    let statement = match issuer {
        Issuer::Player(player) => on.query(ACTIVE_BY_PLAYER).bind(network).bind(*player),
        Issuer::Name(name) => on.query(ACTIVE_BY_NAME).bind(network).bind(FoldedName::new(name)),
    };
    statement.bind(since).bind(until).bind(now).bind(limit).all().await
}

macro_rules! revoke_many {
    ($ids:literal) => {
        concat!(
            "UPDATE punishments SET state = 'REVOKED', revoked_at = $3, revoker_uuid = $4, revoker_name = $5,
                 revoke_reason = $6
             WHERE network_id = $1 AND state = 'OPEN' AND (expires_at IS NULL OR expires_at > $3) AND id IN (",
            $ids,
            ") RETURNING network_id, ",
            columns!()
        )
    };
}
// Crosses networks: the lists of ids are no tables.
const REVOKE_MANY: Sql = Sql {
    sqlite: revoke_many!("SELECT value FROM json_each($2)"),
    postgres: revoke_many!(
        "SELECT CAST(value AS BIGINT) FROM jsonb_array_elements_text(CAST($2 AS JSONB)) AS ids (value)"
    ),
};

/// Revokes those in force among these. Returns them, newest first.
pub(in crate::punishments) async fn revoke_many(
    tx: &mut Tx,
    network: NetworkId,
    ids: &[i64],
    revocation: Revocation<'_>,
) -> Result<Vec<Punishment>, Error> {
    let mut revoked: Vec<Punishment> = tx
        .query(REVOKE_MANY)
        .bind(network)
        .bind(json(&ids)?)
        .bind(revocation.at)
        .bind(revocation.actor.player)
        .bind(&revocation.actor.name)
        .bind(revocation.reason)
        .all()
        .await?;
    super::sort_newest_first(&mut revoked);
    Ok(revoked)
}

#[derive(sqlx::FromRow)]
struct AppealedRow {
    #[sqlx(flatten)]
    punishment: Punishment,
    revoked_at: Option<Millis>,
}

/// Punishment of an appeal code's fingerprint, and the time of its revocation. Crosses networks: the code tells the
/// network.
pub(in crate::punishments) async fn by_appeal_mac(
    db: &Db,
    mac: &[u8],
) -> Result<Option<(Punishment, Option<Millis>)>, Error> {
    let row: Option<AppealedRow> = db
        .query(concat!("SELECT network_id, ", columns!(), ", revoked_at FROM punishments WHERE appeal_mac = $1"))
        .bind(mac)
        .optional()
        .await?;
    Ok(row.map(|row| (row.punishment, row.revoked_at)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::query_plans;

    /// Lists start with their index, not with all punishments of the network.
    #[tokio::test]
    async fn lists_use_their_indexes() {
        let plans = query_plans(&[LIST_ALL, LIST_BY_PLAYER, LIST_BY_NAME, ACTIVE_BY_PLAYER, ACTIVE_BY_NAME]).await;
        let indexes = ["by_time", "by_issuer ", "by_issuer_name", "by_issuer ", "by_issuer_name"];
        for (plan, index) in plans.iter().zip(indexes) {
            assert_eq!(plan.len(), 1, "{plan:#?}");
            assert!(plan[0].starts_with("SEARCH") && plan[0].contains(index), "{plan:#?}");
        }
        let plans = query_plans(&[LIST_OF_PLAYER, REVOKE_MANY.sqlite]).await;
        for plan in plans {
            let own = plan.iter().find(|step| step.contains(" punishments ")).unwrap();
            assert!(own.contains("network_id=? AND id=?"), "{plan:#?}");
        }
    }
}
