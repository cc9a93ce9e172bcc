//! BanManager: a dump of its MySQL, MariaDB or H2 database.
//!
//! The classes of `common/data` in the repository `BanManagement/BanManager` define the tables: players and actors are
//! UUIDs of 16 bytes, addresses 4 or 16 bytes, times seconds, and `expires` is 0 for ever. `…_records` have what has
//! ended: `pastActor_id` and `pastCreated` are of the punishment, `actor_id` and `created` of its end.

use std::collections::HashSet;

use super::raw::{End, LONGEST_NAME, LONGEST_REASON, RawPunishment, Source, cut, name, required};
use crate::budget::Budget;
use crate::clock::Millis;
use crate::imports::database::{EARLIEST, LATEST, Read, Row, Skip, TableSpec, Wanted, read_tables, wrong};
use crate::imports::findings::Findings;
use crate::imports::reader::ReadRequest;
use crate::imports::record::{Category, ParseError, Record, Sink};
use crate::imports::source::SourceFile;
use crate::punishments::{Actor, ImportedRevocation, IpAddress, PunishmentKind, Target};
use crate::values::PlayerId;

const fn table(name: &'static str, required: &'static [&'static str]) -> TableSpec {
    TableSpec { name, required, optional: &["createdreason"], category: Category::Punishments }
}

const TABLES: [TableSpec; 13] = [
    TableSpec {
        name: "players",
        required: &["id", "name", "ip", "lastseen"],
        optional: &[],
        category: Category::Sightings,
    },
    table("player_bans", &["id", "player_id", "reason", "actor_id", "created", "expires"]),
    table(
        "player_ban_records",
        &["id", "player_id", "reason", "expired", "actor_id", "pastactor_id", "pastcreated", "created"],
    ),
    table("player_mutes", &["id", "player_id", "reason", "actor_id", "created", "expires"]),
    table(
        "player_mute_records",
        &["id", "player_id", "reason", "expired", "actor_id", "pastactor_id", "pastcreated", "created"],
    ),
    table("player_warnings", &["id", "player_id", "reason", "actor_id", "created"]),
    table("player_kicks", &["id", "player_id", "reason", "actor_id", "created"]),
    table("ip_bans", &["id", "ip", "reason", "actor_id", "created", "expires"]),
    table("ip_ban_records", &["id", "ip", "reason", "expired", "actor_id", "pastactor_id", "pastcreated", "created"]),
    table("ip_mutes", &["id", "ip", "reason", "actor_id", "created", "expires"]),
    table("ip_mute_records", &["id", "ip", "reason", "expired", "actor_id", "pastactor_id", "pastcreated", "created"]),
    table("name_bans", &["id", "name", "reason", "actor_id", "created", "expires"]),
    table("ip_range_bans", &["id", "fromip", "toip"]),
];

/// Memory of a key.
const KEY: usize = 200;

pub(super) fn read(
    file: &SourceFile,
    request: &ReadRequest,
    known: &Findings,
    findings: &mut Findings,
    sink: &mut Sink<'_>,
) -> Result<(), ParseError> {
    let (now, budget) = (request.created_at, sink.budget());
    let mut reading = Reading { now, known, open: &mut findings.open, budget };
    let wanted = Wanted { tool: "BanManager", prefix: &request.options.prefix, tables: &TABLES };
    read_tables(file, &wanted, sink, |spec, row| reading.row(spec.name, row))
}

struct Reading<'r> {
    now: Millis,
    known: &'r Findings,
    /// Keys of bans and mutes in force.
    open: &'r mut HashSet<String>,
    budget: &'r Budget,
}

impl Reading<'_> {
    fn row(&mut self, table: &str, row: &Row<'_>) -> Read {
        match table {
            "players" => return self.player(row),
            "ip_range_bans" => return Err(Skip::Unsupported("The hub cannot punish address ranges.".to_owned())),
            _ => {}
        }
        let kind = if table.contains("_ban") {
            PunishmentKind::Ban
        } else if table.contains("_mute") {
            PunishmentKind::Mute
        } else if table.contains("_warning") {
            PunishmentKind::Warn
        } else {
            PunishmentKind::Kick
        };
        let is_record = table.ends_with("_records");
        let target = if table.starts_with("ip_") {
            Target::Address(address(row)?)
        } else if table.starts_with("name_") {
            Target::Name { name: required("name", name(row, "name")?)?, ip_based: false }
        } else {
            let player = required("player_id", row.binary_uuid("player_id")?)?;
            Target::Player { id: player, name: self.known.name(player), ip_based: false }
        };
        let (created, actor, expires) =
            if is_record { ("pastcreated", "pastactor_id", "expired") } else { ("created", "actor_id", "expires") };
        let issued_at = required(created, seconds(row, created)?)?;
        let expires_at = seconds(row, expires)?;
        let end = if is_record {
            let at = required("created", seconds(row, "created")?)?;
            if expires_at.is_some_and(|end| end <= at) {
                End::Expired
            } else {
                let reason = row.text("createdreason")?.map(|reason| cut(&reason, LONGEST_REASON));
                End::Revoked(ImportedRevocation { actor: self.actor(row, "actor_id")?, reason, at })
            }
        } else {
            End::Open
        };
        let id = required("id", row.integer("id")?)?;
        // The tool moves bans and mutes into another table when they end. It knows one of a victim at a time.
        let victim = match (&target, kind) {
            (Target::Player { id, .. }, PunishmentKind::Ban | PunishmentKind::Mute) => Some(id.to_string()),
            (Target::Address(address), PunishmentKind::Ban | PunishmentKind::Mute) => Some(address.as_str().to_owned()),
            _ => None,
        };
        let mut source = Source::Row;
        if let Some(key) = victim.map(|victim| format!("{victim}:{issued_at}:{kind:?}")) {
            if !is_record {
                self.budget.memory(KEY)?;
                self.open.insert(key.clone());
            }
            // One that ended in the second in which the next one began keeps its own name.
            if !is_record || !self.known.open.contains(&key) {
                source = Source::Tool("banmanager", key);
            }
        }
        let punishment = RawPunishment {
            key: id.to_string(),
            source,
            target,
            kind,
            reason: row.text("reason")?,
            issuer: self.actor(row, actor)?,
            issued_at,
            expires_at,
            address: None,
            end,
        };
        Ok(punishment.finish(row, self.now))
    }

    fn player(&self, row: &Row<'_>) -> Read {
        let player = required("id", row.binary_uuid("id")?)?;
        let name = row.text("name")?.filter(|name| name.chars().count() <= LONGEST_NAME);
        if name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("console")) {
            return Err(Skip::Unsupported("The console is no player.".to_owned()));
        }
        let address = address(row)?;
        let at = seconds(row, "lastseen")?.unwrap_or(0).clamp(0, self.now);
        Ok((Record::Sighting { player, name, address: Some(address), at }, vec![]))
    }

    fn actor(&self, row: &Row<'_>, column: &str) -> Result<Actor, Skip> {
        let player = row.binary_uuid(column)?;
        // The console is the only actor whose name is not noted.
        let name = player.and_then(|player: PlayerId| self.known.name(player));
        Ok(Actor { player: player.filter(|_| name.is_some()), name })
    }
}

/// Address of 4 or 16 bytes, or in a text.
fn address(row: &Row<'_>) -> Result<IpAddress, Skip> {
    let bytes = required("ip", row.bytes("ip")?)?;
    if let Ok(bytes) = <[u8; 4]>::try_from(bytes.as_slice()) {
        return Ok(std::net::IpAddr::from(bytes).into());
    }
    match <[u8; 16]>::try_from(bytes.as_slice()) {
        // A text of 16 characters is none of an address in bytes, whose first byte is rarely a digit.
        Ok(bytes) if str::from_utf8(&bytes).is_ok_and(|text| text.parse::<IpAddress>().is_ok()) => {}
        Ok(bytes) => return Ok(std::net::IpAddr::from(bytes).into()),
        Err(_) => {}
    }
    required("ip", row.address("ip", &[])?)
}

/// Time in seconds; none if it is 0, for ever.
fn seconds(row: &Row<'_>, column: &str) -> Result<Option<Millis>, Skip> {
    let Some(seconds) = row.integer(column)?.filter(|seconds| *seconds != 0) else { return Ok(None) };
    match seconds.checked_mul(1_000) {
        Some(at) if (EARLIEST..LATEST).contains(&at) => Ok(Some(at)),
        _ => Err(Skip::Unreadable(wrong(column, &seconds.to_string(), "no time in seconds"))),
    }
}
