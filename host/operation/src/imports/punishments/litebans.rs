//! LiteBans: a dump of its database, or its SQLite file.
//!
//! Its tables are interpreted like in its community's web interfaces, such as `inc/page.php` of the repository
//! `CyberFlameGO/litebans-php` (`active`, permanent if `until` is 0 or less, `removed_by_name` of `#expired`), and
//! like in dumps in public repositories: `litebans_bans`, `_mutes`, `_warnings` and `_kicks` with `uuid, ip, reason,
//! banned_by_uuid, banned_by_name, removed_by_…, time, until, server_scope, ipban, ipban_wildcard, active`, and
//! `litebans_history` with `date, name, uuid, ip`.

use super::raw::{End, LONGEST_NAME, LONGEST_REASON, RawPunishment, Source, cut, expiry, name, required};
use crate::clock::Millis;
use crate::imports::database::{EARLIEST, LATEST, Read, Row, Skip, TableSpec, Wanted, read_tables, wrong};
use crate::imports::findings::Findings;
use crate::imports::model::Scopes;
use crate::imports::reader::ReadRequest;
use crate::imports::record::{Category, ParseError, Record, Remark, Sink};
use crate::imports::source::SourceFile;
use crate::punishments::{Actor, ImportedRevocation, PunishmentKind, Target};
use crate::values::PlayerId;

const OPTIONAL: &[&str] = &[
    "ip",
    "reason",
    "banned_by_uuid",
    "banned_by_name",
    "removed_by_uuid",
    "removed_by_name",
    "removed_by_reason",
    "removed_by_date",
    "server_scope",
    "ipban",
    "ipban_wildcard",
    "active",
    "until",
];
const REQUIRED: &[&str] = &["id", "uuid", "time", "until", "active"];

const fn table(name: &'static str, required: &'static [&'static str]) -> TableSpec {
    TableSpec { name, required, optional: OPTIONAL, category: Category::Punishments }
}

const TABLES: [TableSpec; 5] = [
    table("bans", REQUIRED),
    table("mutes", REQUIRED),
    table("warnings", REQUIRED),
    table("kicks", &["id", "uuid", "time"]),
    TableSpec {
        name: "history",
        required: &["id", "uuid", "date"],
        optional: &["name", "ip"],
        category: Category::Sightings,
    },
];
/// Words for nobody and for no address.
const NOBODY: [&str; 3] = ["#", "#offline#", "#undefined#"];
const CONSOLE: [&str; 3] = ["CONSOLE", "#", "#expired"];

pub(super) fn read(
    file: &SourceFile,
    request: &ReadRequest,
    known: &Findings,
    sink: &mut Sink<'_>,
) -> Result<(), ParseError> {
    let widens_scopes = request.options.scopes == Scopes::Everywhere;
    let reading = Reading { widens_scopes, now: request.created_at, known };
    let wanted = Wanted { tool: "LiteBans", prefix: &request.options.prefix, tables: &TABLES };
    read_tables(file, &wanted, sink, |spec, row| reading.row(spec.name, row))
}

struct Reading<'r> {
    /// True if punishments of single servers apply to the whole network.
    widens_scopes: bool,
    now: Millis,
    known: &'r Findings,
}

impl Reading<'_> {
    fn row(&self, table: &str, row: &Row<'_>) -> Read {
        let id = required("id", row.integer("id")?)?;
        match table {
            "history" => self.sighting(row),
            "bans" => self.punishment(row, id, PunishmentKind::Ban),
            "mutes" => self.punishment(row, id, PunishmentKind::Mute),
            "warnings" => self.punishment(row, id, PunishmentKind::Warn),
            _ => self.punishment(row, id, PunishmentKind::Kick),
        }
    }

    fn sighting(&self, row: &Row<'_>) -> Read {
        let Some(player) = row.player("uuid", &[&CONSOLE[..], &NOBODY].concat())? else {
            return Err(Skip::Unsupported("There is no player UUID.".to_owned()));
        };
        let name = row.text("name")?.filter(|name| name.chars().count() <= LONGEST_NAME && !name.starts_with('#'));
        let address = row.address("ip", &NOBODY)?;
        if name.is_none() && address.is_none() {
            return Err(Skip::Unsupported("There is neither a name nor an address.".to_owned()));
        }
        let at = row.time("date")?.unwrap_or(0).clamp(0, self.now);
        Ok((Record::Sighting { player, name, address, at }, vec![]))
    }

    fn punishment(&self, row: &Row<'_>, id: i64, kind: PunishmentKind) -> Read {
        let mut notes = vec![];
        let subject = || format!("{} {id}", row.table);
        let issued_at = required("time", row.integer("time")?)?;
        if !(EARLIEST..LATEST).contains(&issued_at) {
            return Err(Skip::Unreadable(wrong("time", &issued_at.to_string(), "no time in milliseconds")));
        }
        let until = match row.integer("until")? {
            None if kind == PunishmentKind::Kick => 0,
            until => required("until", until)?,
        };
        let is_wildcard = row.flag("ipban_wildcard")?;
        let ip_based = row.flag("ipban")?;
        let player = row.player("uuid", &NOBODY)?;
        let scope = row.text("server_scope")?.unwrap_or_else(|| "*".to_owned());
        if !matches!(scope.as_str(), "*" | "global") {
            let scope = cut(&scope, 64);
            if !self.widens_scopes {
                return Err(Skip::Unsupported(format!(
                    "Limited to `{scope}`, but the hub's punishments apply to the whole network; import with \
                     `scopes=EVERYWHERE` to widen it."
                )));
            }
            notes.push(Remark::new(subject(), format!("Limited to `{scope}`; now applies to the whole network.")));
        }
        // The address of a punishment that does not cover it is not used.
        let address = || row.address("ip", &NOBODY);
        let (target, address) = match player {
            Some(player) if is_wildcard => {
                notes.push(Remark::new(subject(), "Only the player is imported, not the range of addresses."));
                (Target::Player { id: player, name: self.known.name(player), ip_based: false }, None)
            }
            Some(player) => {
                let address = if ip_based { address()? } else { None };
                (Target::Player { id: player, name: self.known.name(player), ip_based }, address)
            }
            None if is_wildcard => {
                return Err(Skip::Unsupported("The hub cannot punish address ranges.".to_owned()));
            }
            None => {
                let nobody = || Skip::Unsupported("There is neither a player UUID nor an address.".to_owned());
                let address = address()?.ok_or_else(nobody)?;
                if !ip_based {
                    let reason = "There is no player UUID, and `ipban` says that it does not cover the address.";
                    return Err(Skip::Unsupported(reason.to_owned()));
                }
                (Target::Address(address), None)
            }
        };
        let expires_at = if kind == PunishmentKind::Kick { None } else { expiry("until", until, until <= 0)? };
        let punishment = RawPunishment {
            key: id.to_string(),
            source: Source::Row,
            target,
            kind,
            reason: row.text("reason")?,
            issuer: actor(row, "banned_by")?,
            issued_at,
            expires_at,
            address,
            end: if kind == PunishmentKind::Kick { End::Open } else { self.end(row, issued_at, expires_at)? },
        };
        let (record, further) = punishment.finish(row, self.now);
        notes.extend(further);
        Ok((record, notes))
    }

    fn end(&self, row: &Row<'_>, issued_at: Millis, expires_at: Option<Millis>) -> Result<End, Skip> {
        if row.flag("active")? {
            return Ok(End::Open);
        }
        let has_expired = expires_at.is_some_and(|at| at <= self.now);
        let actor = actor(row, "removed_by")?;
        let is_removed = actor.player.is_some() || actor.name.as_deref().is_some_and(|name| name != "#expired");
        if !is_removed && (has_expired || actor.name.is_some()) {
            return Ok(End::Expired);
        }
        let reason = row.text("removed_by_reason")?.map(|reason| cut(&reason, LONGEST_REASON));
        let at = row.time("removed_by_date")?.unwrap_or(issued_at);
        Ok(End::Revoked(ImportedRevocation { actor, reason, at }))
    }
}

/// Person who acted: `…_uuid` is `CONSOLE` for the console.
fn actor(row: &Row<'_>, column: &str) -> Result<Actor, Skip> {
    // Some versions wrote names and other words there, which only say that it was nobody with a UUID.
    let player = row.text(&format!("{column}_uuid"))?.and_then(|text| text.parse::<PlayerId>().ok());
    let player = player.filter(|player| !player.0.is_nil());
    Ok(Actor { player, name: name(row, &format!("{column}_name"))? })
}

#[cfg(test)]
mod tests;
