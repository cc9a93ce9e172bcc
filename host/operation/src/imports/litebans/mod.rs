//! LiteBans database: a dump of its MySQL or H2 database, or its SQLite database file.
//!
//! Its tables are interpreted like in its community's web interfaces, such as `inc/page.php` of the repository
//! `CyberFlameGO/litebans-php` (`active`, permanent if `until` is 0 or less, `removed_by_name` of `#expired`), and
//! like in dumps in public repositories: `litebans_bans`, `_mutes`, `_warnings` and `_kicks` with `uuid, ip, reason,
//! banned_by_uuid, banned_by_name, removed_by_…, time, until, server_scope, ipban, ipban_wildcard, active`, and
//! `litebans_history` with `date, name, uuid, ip`.

mod store;

use std::collections::HashMap;
use std::io::BufRead;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::clock::Millis;
use crate::imports::record::{Category, Item, ParseError, Record, Remark, Sink, SourceKey};
use crate::imports::sql::{Row, read_dump};
use crate::punishments::{
    Actor, ImportedPunishment, ImportedRevocation, IpAddress, PunishmentKind, PunishmentState, Target,
};
use crate::values::PlayerId;

pub(super) use store::read_database;

/// Maximum lengths of reasons and names, in characters.
const LONGEST_REASON: usize = 1_024;
const LONGEST_NAME: usize = 255;
/// 9999-12-31: later times mean forever.
const LATEST: Millis = 253_402_214_400_000;
/// Maximum number of players whose names are kept in memory while punishments are read, and maximum bytes of a name.
const MOST_NAMES: usize = 500_000;
const LONGEST_NOTED: usize = 64;
/// Tables, without the prefix of their names.
const TABLES: [&str; 5] = ["bans", "mutes", "warnings", "kicks", "history"];

/// Options for reading LiteBans' tables.
#[derive(Clone, Debug)]
pub(super) struct Reading<'r> {
    /// Prefix of the table names.
    pub(super) prefix: &'r str,
    /// True if punishments of single servers apply to the whole network.
    pub(super) widens_scopes: bool,
    pub(super) now: Millis,
    /// Last names of players.
    pub(super) names: &'r Names,
}

/// Last names of players, which are missing in the punishments themselves.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(HashMap<PlayerId, (Millis, String)>);

impl Names {
    /// Records the name in a sighting.
    pub(super) fn note(&mut self, record: &Record) {
        let Record::Sighting { player, name: Some(name), at, .. } = record else { return };
        if name.len() > LONGEST_NOTED {
            return;
        }
        if self.0.len() >= MOST_NAMES && !self.0.contains_key(player) {
            return;
        }
        let last = self.0.entry(*player).or_insert_with(|| (*at, name.clone()));
        if last.0 < *at {
            *last = (*at, name.clone());
        }
    }

    fn last(&self, player: PlayerId) -> Option<String> {
        self.0.get(&player).map(|(_, name)| name.clone())
    }
}

/// Reads a dump.
pub(super) fn read(source: impl BufRead, reading: &Reading<'_>, sink: &mut Sink<'_>) -> Result<(), ParseError> {
    let prefix = reading.prefix.to_lowercase();
    let wanted = |table: &str| table.strip_prefix(&prefix).is_some_and(|kind| TABLES.contains(&kind));
    let mut take = |row: &Row<'_>| reading.take(row, sink);
    let tables = read_dump(source, &wanted, &mut take)?;
    if tables.is_empty() { Err(no_tables(reading.prefix)) } else { Ok(()) }
}

fn no_tables(prefix: &str) -> ParseError {
    ParseError::whole(format!(
        "There are none of LiteBans' tables `{prefix}bans`, `{prefix}mutes`, `{prefix}warnings`, `{prefix}kicks` and \
         `{prefix}history`. If their names differ, set `prefix`."
    ))
}

/// Result for a row.
type Read = Result<Record, (Category, String)>;

impl Reading<'_> {
    fn take(&self, row: &Row<'_>, sink: &mut Sink<'_>) -> Result<(), ParseError> {
        let kind = row.table.get(self.prefix.len()..).unwrap_or_default();
        let Some(id) = row.integer("id") else {
            let message = format!("A row of `{}` has no `id`.", row.table);
            return Err(ParseError::Wrong { line: row.line, message });
        };
        let subject = format!("{} {id}", row.table);
        let mut notes = vec![];
        let read = match kind {
            "history" => self.sighting(row),
            "bans" => self.punishment(row, id, PunishmentKind::Ban, &subject, &mut notes),
            "mutes" => self.punishment(row, id, PunishmentKind::Mute, &subject, &mut notes),
            "warnings" => self.punishment(row, id, PunishmentKind::Warn, &subject, &mut notes),
            _ => self.punishment(row, id, PunishmentKind::Kick, &subject, &mut notes),
        };
        let record = read.unwrap_or_else(|(category, reason)| {
            notes = vec![Remark::new(&subject, reason)];
            Record::Skipped(category)
        });
        sink(Item { line: row.line, record, notes })
    }

    fn sighting(&self, row: &Row<'_>) -> Read {
        let skip = |reason: &str| Err((Category::Sightings, reason.to_owned()));
        let Some(player) = player(row, "uuid") else { return skip("There is no player UUID.") };
        let name = row.text("name").filter(|name| name.chars().count() <= LONGEST_NAME && !name.starts_with('#'));
        let address = address(row);
        if name.is_none() && address.is_none() {
            return skip("There is neither a name nor an address.");
        }
        let at = row.text("date").and_then(|date| time(&date)).unwrap_or(0).clamp(0, self.now);
        Ok(Record::Sighting { player, name, address, at })
    }

    fn punishment(&self, row: &Row<'_>, id: i64, kind: PunishmentKind, subject: &str, notes: &mut Vec<Remark>) -> Read {
        let skip = |reason: String| Err((Category::Punishments, reason));
        let Some(issued_at) = row.integer("time").filter(|at| (1..LATEST).contains(at)) else {
            return skip("`time` is invalid.".to_owned());
        };
        let Some(until) = row.integer("until") else { return skip("`until` is invalid.".to_owned()) };
        let scope = row.text("server_scope").unwrap_or_else(|| "*".to_owned());
        if !matches!(scope.as_str(), "*" | "global") {
            if !self.widens_scopes {
                return skip(format!(
                    "Limited to `{scope}`, but the hub's punishments apply to the whole network; import with \
                     `scopes=EVERYWHERE` to widen it."
                ));
            }
            notes.push(Remark::new(subject, format!("Limited to `{scope}`; now applies to the whole network.")));
        }
        let is_wildcard = row.flag("ipban_wildcard");
        let ip_based = row.flag("ipban");
        let address = address(row);
        let target = match (player(row, "uuid"), &address) {
            (Some(player), _) => {
                if is_wildcard {
                    notes.push(Remark::new(subject, "Only the player is imported, not the range of addresses."));
                }
                Target::Player { id: player, name: self.names.last(player), ip_based: ip_based && !is_wildcard }
            }
            (None, _) if is_wildcard => return skip("The hub cannot punish address ranges.".to_owned()),
            (None, Some(address)) => Target::Address(address.clone()),
            (None, None) => return skip("There is neither a player UUID nor an address.".to_owned()),
        };
        let expires_at =
            (until > 0 && until < LATEST && kind != PunishmentKind::Kick).then_some(until.max(issued_at + 1));
        let (state, revocation) = self.end(row, kind, issued_at, expires_at);
        let punishment = ImportedPunishment {
            target,
            kind,
            reason: row.text("reason").map(|reason| cut(&reason, LONGEST_REASON, subject, notes)),
            issuer: actor(row, "banned_by"),
            issued_at,
            expires_at,
            address: address.filter(|_| ip_based && !is_wildcard),
            state,
            revocation,
        };
        let key = SourceKey { source: row.table.to_owned(), key: id.to_string() };
        Ok(Record::Punishment { key, punishment: Box::new(punishment) })
    }

    fn end(
        &self,
        row: &Row<'_>,
        kind: PunishmentKind,
        issued_at: Millis,
        expires_at: Option<Millis>,
    ) -> (PunishmentState, Option<ImportedRevocation>) {
        if kind == PunishmentKind::Kick {
            return (PunishmentState::Done, None);
        }
        let has_expired = expires_at.is_some_and(|at| at <= self.now);
        let actor = actor(row, "removed_by");
        let is_removed = actor.player.is_some() || actor.name.as_deref().is_some_and(|name| name != "#expired");
        if row.flag("active") && !has_expired {
            return (PunishmentState::Open, None);
        }
        if row.flag("active") || (!is_removed && (has_expired || row.text("removed_by_name").is_some())) {
            return (PunishmentState::Expired, None);
        }
        let at = row.text("removed_by_date").and_then(|date| time(&date)).unwrap_or(issued_at);
        let reason = row.text("removed_by_reason").map(|reason| reason.chars().take(LONGEST_REASON).collect());
        (PunishmentState::Revoked, Some(ImportedRevocation { actor, reason, at: at.max(issued_at) }))
    }
}

/// Player by UUID; none for the console and for players unknown to LiteBans.
fn player(row: &Row<'_>, column: &str) -> Option<PlayerId> {
    row.text(column)?.parse().ok()
}

/// None if LiteBans knew none, written as `#`, `#offline#` and so on.
fn address(row: &Row<'_>) -> Option<IpAddress> {
    row.text("ip")?.parse().ok()
}

/// Person who acted: `…_uuid` is `CONSOLE` for the console.
fn actor(row: &Row<'_>, column: &str) -> Actor {
    let name = row.text(&format!("{column}_name"));
    Actor {
        player: player(row, &format!("{column}_uuid")),
        name: name.map(|name| name.chars().take(LONGEST_NAME).collect()),
    }
}

fn cut(text: &str, longest: usize, subject: &str, notes: &mut Vec<Remark>) -> String {
    let cut: String = text.chars().take(longest).filter(|character| *character != '\0').collect();
    if text.chars().count() > longest {
        notes.push(Remark::new(subject, format!("The reason is truncated to {longest} characters.")));
    }
    cut
}

/// Time in a database's format, in UTC, or in milliseconds.
fn time(text: &str) -> Option<Millis> {
    if let Ok(ms) = text.parse::<i64>() {
        return (0..LATEST).contains(&ms).then_some(ms);
    }
    let date: DateTime = text.parse().ok()?;
    Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests;
