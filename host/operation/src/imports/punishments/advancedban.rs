//! AdvancedBan: a dump of its MySQL database, or the script of its HSQLDB.
//!
//! `utils/SQLQuery.java` and `utils/PunishmentType.java` of the repository `DevLeoko/AdvancedBan` define the tables:
//! `Punishments` has those in force, `PunishmentHistory` all, each once more; `uuid` is without hyphens, or for a
//! punishment of an address that address; `end` is -1 for ever.

use std::collections::HashSet;

use super::raw::{End, RawPunishment, Source, expiry, name, required};
use crate::clock::Millis;
use crate::imports::database::{EARLIEST, LATEST, Row, Skip, TableSpec, Wanted, read_tables, wrong};
use crate::imports::findings::Findings;
use crate::imports::reader::ReadRequest;
use crate::imports::record::{Category, ParseError, Record, Remark, Sink};
use crate::imports::source::SourceFile;
use crate::punishments::{Actor, ImportedRevocation, PunishmentKind, Target};

const REQUIRED: &[&str] = &["id", "name", "uuid", "punishmenttype", "start", "end"];
const OPTIONAL: &[&str] = &["reason", "operator"];
const TABLES: [TableSpec; 2] = [
    TableSpec { name: "punishments", required: REQUIRED, optional: OPTIONAL, category: Category::Punishments },
    TableSpec { name: "punishmenthistory", required: REQUIRED, optional: OPTIONAL, category: Category::Punishments },
];
/// End of a punishment for ever.
const FOREVER: i64 = -1;
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
    let mut written = HashSet::new();
    let wanted = Wanted { tool: "AdvancedBan", prefix: &request.options.prefix, tables: &TABLES };
    read_tables(file, &wanted, sink, |spec, row| {
        let raw = punishment(row)?;
        let is_open = spec.name == "punishments";
        budget.memory(KEY)?;
        if is_open {
            findings.open.insert(raw.key.clone());
        }
        // The history has those in force once more.
        let is_open = is_open || known.open.contains(&raw.key);
        if !written.insert(raw.key.clone()) {
            return Err(Skip::Silent);
        }
        Ok(finish(raw, row, is_open, now))
    })
}

fn finish(mut raw: RawPunishment, row: &Row<'_>, is_open: bool, now: Millis) -> (Record, Vec<Remark>) {
    if !is_open {
        raw.end = if raw.expires_at.is_some_and(|at| at <= now) {
            End::Expired
        } else {
            let nobody = Actor { player: None, name: None };
            End::Revoked(ImportedRevocation { actor: nobody, reason: None, at: raw.issued_at })
        };
    }
    raw.finish(row, now)
}

fn punishment(row: &Row<'_>) -> Result<RawPunishment, Skip> {
    let (kind, is_address) = match required("punishmentType", row.text("punishmenttype")?)?.to_uppercase().as_str() {
        "BAN" | "TEMP_BAN" => (PunishmentKind::Ban, false),
        "IP_BAN" | "TEMP_IP_BAN" => (PunishmentKind::Ban, true),
        "MUTE" | "TEMP_MUTE" => (PunishmentKind::Mute, false),
        "WARNING" | "TEMP_WARNING" => (PunishmentKind::Warn, false),
        "KICK" => (PunishmentKind::Kick, false),
        "NOTE" => return Err(Skip::Unsupported("The hub has no notes on players.".to_owned())),
        kind => return Err(Skip::Unreadable(wrong("punishmentType", kind, "no known type"))),
    };
    let issued_at = required("start", row.integer("start")?)?;
    if !(EARLIEST..LATEST).contains(&issued_at) {
        return Err(Skip::Unreadable(wrong("start", &issued_at.to_string(), "no time in milliseconds")));
    }
    let end = required("end", row.integer("end")?)?;
    let expires_at = if kind == PunishmentKind::Kick { None } else { expiry("end", end, end == FOREVER)? };
    let id = required("uuid", row.text("uuid")?)?;
    let target = if is_address {
        Target::Address(required("uuid", row.address("uuid", &[])?)?)
    } else {
        let player = required("uuid", row.player("uuid", &[])?)?;
        Target::Player { id: player, name: name(row, "name")?, ip_based: false }
    };
    let key = format!("{id}:{issued_at}:{kind:?}");
    Ok(RawPunishment {
        // One punishment, whichever table names it.
        source: Source::Tool("advancedban", key.clone()),
        key,
        target,
        kind,
        reason: row.text("reason")?,
        issuer: Actor { player: None, name: name(row, "operator")? },
        issued_at,
        expires_at,
        address: None,
        end: End::Open,
    })
}
