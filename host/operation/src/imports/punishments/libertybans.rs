//! LibertyBans: a dump of its MySQL, MariaDB or PostgreSQL database.
//!
//! `database-migrations/V2`, `V4` and `V36` in the repository `A248/LibertyBans` define the tables: `punishments` with
//! `type` 0 to 3 (ban, mute, warning, kick) and times in seconds, of which 0 is for ever; `victims` with `type` 0 to 2
//! (player, address, both); `history` with the victim of each punishment; and `bans`, `mutes` and `warns` with those
//! in force. Tables come in the alphabetical order, so that the first reading notes victims for the second.

use super::raw::{End, LONGEST_NAME, RawPunishment, Source, required};
use crate::clock::Millis;
use crate::imports::database::{EARLIEST, LATEST, Read, Row, Skip, TableSpec, Wanted, read_tables, wrong};
use crate::imports::findings::{Findings, Victim};
use crate::imports::model::Scopes;
use crate::imports::reader::ReadRequest;
use crate::imports::record::{Category, ParseError, Record, Remark, Sink};
use crate::imports::source::SourceFile;
use crate::punishments::{Actor, ImportedRevocation, IpAddress, PunishmentKind, Target};
use crate::values::PlayerId;

const fn table(name: &'static str, required: &'static [&'static str], category: Category) -> TableSpec {
    TableSpec { name, required, optional: &["scope", "scope_id"], category }
}

const TABLES: [TableSpec; 8] = [
    table("punishments", &["id", "type", "operator", "reason", "start", "end"], Category::Punishments),
    table("victims", &["id", "type", "uuid", "address"], Category::Punishments),
    table("history", &["id", "victim"], Category::Punishments),
    table("bans", &["id", "victim"], Category::Punishments),
    table("mutes", &["id", "victim"], Category::Punishments),
    table("warns", &["id", "victim"], Category::Punishments),
    table("names", &["uuid", "name", "updated"], Category::Sightings),
    table("addresses", &["uuid", "address", "updated"], Category::Sightings),
];
/// Memory of an entry of the notes.
const ENTRY: usize = 64;

pub(super) fn read(
    file: &SourceFile,
    request: &ReadRequest,
    known: &Findings,
    findings: &mut Findings,
    sink: &mut Sink<'_>,
) -> Result<(), ParseError> {
    let budget = sink.budget();
    let widens_scopes = request.options.scopes == Scopes::Everywhere;
    let wanted = Wanted { tool: "LibertyBans", prefix: &request.options.prefix, tables: &TABLES };
    read_tables(file, &wanted, sink, |spec, row| {
        if !matches!(spec.name, "punishments" | "names" | "addresses") {
            budget.memory(ENTRY)?;
        }
        let victims = &mut findings.victims;
        match spec.name {
            "punishments" => punishment(row, known, widens_scopes, request.created_at),
            "names" | "addresses" => sighting(row, request.created_at),
            "victims" => {
                let victim = Victim {
                    kind: required("type", row.integer("type")?)?,
                    player: row.binary_uuid("uuid")?,
                    address: address(row)?,
                };
                victims.by_id.insert(required("id", row.integer("id")?)?, victim);
                Err(Skip::Silent)
            }
            table => {
                let id = required("id", row.integer("id")?)?;
                victims.of_punishment.insert(id, required("victim", row.integer("victim")?)?);
                if table != "history" {
                    victims.open.insert(id);
                }
                Err(Skip::Silent)
            }
        }
    })
}

fn punishment(row: &Row<'_>, known: &Findings, widens_scopes: bool, now: Millis) -> Read {
    let id = required("id", row.integer("id")?)?;
    let kind = match required("type", row.integer("type")?)? {
        0 => PunishmentKind::Ban,
        1 => PunishmentKind::Mute,
        2 => PunishmentKind::Warn,
        3 => PunishmentKind::Kick,
        kind => return Err(Skip::Unreadable(wrong("type", &kind.to_string(), "no known type"))),
    };
    let issued_at = required("start", seconds(row, "start")?)?;
    let expires_at = seconds(row, "end")?;
    let mut notes = vec![];
    let scope = row.text("scope")?.unwrap_or_default();
    if !scope.is_empty() || row.integer("scope_id")?.is_some() {
        if !widens_scopes {
            return Err(Skip::Unsupported(
                "Limited to a scope, but the hub's punishments apply to the whole network; import with \
                 `scopes=EVERYWHERE` to widen it."
                    .to_owned(),
            ));
        }
        notes.push(Remark::new(
            format_args!("{} {id}", row.table),
            "Limited to a scope; now applies to the whole network.",
        ));
    }
    let victims = &known.victims;
    // The first reading has not seen them all.
    let victim = victims.of_punishment.get(&id).and_then(|victim| victims.by_id.get(victim));
    let name = |player: PlayerId| known.name(player);
    let (target, address) = match victim {
        Some(Victim { kind: 0, player: Some(player), .. }) => {
            (Target::Player { id: *player, name: name(*player), ip_based: false }, None)
        }
        Some(Victim { kind: 2, player: Some(player), address, .. }) => {
            (Target::Player { id: *player, name: name(*player), ip_based: true }, address.clone())
        }
        Some(Victim { kind: 1 | 2, address: Some(address), .. }) => (Target::Address(address.clone()), None),
        Some(_) => return Err(Skip::Unreadable("Its victim has neither a UUID nor an address.".to_owned())),
        None if !known.is_complete => return Ok((Record::Skipped(Category::Punishments), notes)),
        None => return Err(Skip::Unreadable("Its victim is not in the file.".to_owned())),
    };
    let operator = row.binary_uuid("operator")?;
    let end = if victims.open.contains(&id) || kind == PunishmentKind::Kick {
        End::Open
    } else if expires_at.is_some_and(|at| at <= now) {
        End::Expired
    } else {
        End::Revoked(ImportedRevocation { actor: Actor { player: None, name: None }, reason: None, at: issued_at })
    };
    let punishment = RawPunishment {
        key: id.to_string(),
        source: Source::Row,
        target,
        kind,
        reason: row.text("reason")?,
        issuer: Actor { player: operator, name: operator.and_then(name) },
        issued_at,
        expires_at,
        address,
        end,
    };
    let (record, further) = punishment.finish(row, now);
    notes.extend(further);
    Ok((record, notes))
}

fn sighting(row: &Row<'_>, now: Millis) -> Read {
    let player = required("uuid", row.binary_uuid("uuid")?)?;
    let name = row.text("name")?.filter(|name| name.chars().count() <= LONGEST_NAME);
    let address = address(row)?;
    let at = required("updated", seconds(row, "updated")?)?.min(now);
    Ok((Record::Sighting { player, name, address, at }, vec![]))
}

/// Address in bytes or, in PostgreSQL, as text; the empty one of four or sixteen zeros is none.
fn address(row: &Row<'_>) -> Result<Option<IpAddress>, Skip> {
    let Some(bytes) = row.bytes("address")? else { return Ok(None) };
    let address = match (<[u8; 4]>::try_from(bytes.as_slice()), <[u8; 16]>::try_from(bytes.as_slice())) {
        (Ok(bytes), _) => std::net::IpAddr::from(bytes),
        (_, Ok(bytes)) if !bytes.is_ascii() || bytes.contains(&0) => std::net::IpAddr::from(bytes),
        _ => {
            let text = row.text("address")?.unwrap_or_default();
            let text = text.split('/').next().unwrap_or_default();
            text.parse().map_err(|_| Skip::Unreadable(wrong("address", text, "no address")))?
        }
    };
    Ok((!address.is_unspecified()).then(|| address.into()))
}

/// Time in seconds; none if it is 0, for ever.
fn seconds(row: &Row<'_>, column: &str) -> Result<Option<Millis>, Skip> {
    let Some(seconds) = row.integer(column)?.filter(|seconds| *seconds != 0) else { return Ok(None) };
    match seconds.checked_mul(1_000) {
        Some(at) if (EARLIEST..LATEST).contains(&at) => Ok(Some(at)),
        _ => Err(Skip::Unreadable(wrong(column, &seconds.to_string(), "no time in seconds"))),
    }
}
