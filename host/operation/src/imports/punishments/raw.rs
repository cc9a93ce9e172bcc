//! Punishments between a row and the hub's record.

use crate::clock::Millis;
use crate::imports::database::{EARLIEST, LATEST, Row, Skip, wrong};
use crate::imports::record::{Record, Remark, SourceKey};
use crate::punishments::{
    Actor, ImportedPunishment, ImportedRevocation, IpAddress, PunishmentKind, PunishmentState, Target,
};

/// Maximum lengths of reasons and names, in characters.
pub(super) const LONGEST_REASON: usize = 1_024;
pub(super) const LONGEST_NAME: usize = 255;

/// A punishment before its fields are those of the hub.
pub(super) struct RawPunishment {
    /// Name of the row in its table, for notes.
    pub(super) key: String,
    pub(super) source: Source,
    pub(super) target: Target,
    pub(super) kind: PunishmentKind,
    pub(super) reason: Option<String>,
    pub(super) issuer: Actor,
    pub(super) issued_at: Millis,
    /// None is permanent.
    pub(super) expires_at: Option<Millis>,
    pub(super) address: Option<IpAddress>,
    pub(super) end: End,
}

/// Identity of a punishment in its source, by which a later import recognises it.
pub(super) enum Source {
    /// Its row, and when it was issued: another database has the same numbers for other punishments.
    Row,
    /// The key in all tables of a tool, which moves it from one to another.
    Tool(&'static str, String),
}

/// End of a punishment in its source.
pub(super) enum End {
    /// In force, unless its time is over.
    Open,
    /// Ended by itself.
    Expired,
    Revoked(ImportedRevocation),
}

impl RawPunishment {
    /// The hub's record, with notes.
    pub(super) fn finish(self, row: &Row<'_>, now: Millis) -> (Record, Vec<Remark>) {
        let mut notes = vec![];
        let reason = self.reason.map(|reason| {
            if reason.chars().count() > LONGEST_REASON {
                let subject = format_args!("{} {}", row.table, self.key);
                notes.push(Remark::new(subject, format!("The reason is truncated to {LONGEST_REASON} characters.")));
            }
            cut(&reason, LONGEST_REASON)
        });
        let expires_at = self.expires_at.filter(|_| self.kind != PunishmentKind::Kick);
        let expires_at = expires_at.map(|at| at.max(self.issued_at + 1));
        let has_expired = expires_at.is_some_and(|at| at <= now);
        let (state, revocation) = match self.end {
            _ if self.kind == PunishmentKind::Kick => (PunishmentState::Done, None),
            End::Open if !has_expired => (PunishmentState::Open, None),
            End::Open | End::Expired => (PunishmentState::Expired, None),
            End::Revoked(mut revocation) => {
                revocation.at = revocation.at.max(self.issued_at);
                (PunishmentState::Revoked, Some(revocation))
            }
        };
        let punishment = ImportedPunishment {
            target: self.target,
            kind: self.kind,
            reason,
            issuer: self.issuer,
            issued_at: self.issued_at,
            expires_at,
            address: self.address,
            state,
            revocation,
        };
        let key = match self.source {
            Source::Row => SourceKey { source: row.table.to_owned(), key: format!("{}:{}", self.key, self.issued_at) },
            Source::Tool(tool, key) => SourceKey { source: tool.to_owned(), key },
        };
        (Record::Punishment { key, punishment: Box::new(punishment) }, notes)
    }
}

/// End of a punishment in milliseconds; none for ever, which is a word of its tool or the greatest number. One in
/// another unit, or a duration, would have ended long ago or never end.
pub(super) fn expiry(column: &str, end: i64, is_forever: bool) -> Result<Option<Millis>, Skip> {
    if is_forever || end == i64::MAX {
        return Ok(None);
    }
    match end {
        EARLIEST..LATEST => Ok(Some(end)),
        _ => Err(Skip::Unreadable(wrong(column, &end.to_string(), "no time in milliseconds"))),
    }
}

pub(super) fn cut(text: &str, longest: usize) -> String {
    text.chars().take(longest).collect()
}

/// Name of a person in a column.
pub(super) fn name(row: &Row<'_>, column: &str) -> Result<Option<String>, String> {
    Ok(row.text(column)?.map(|name| cut(&name, LONGEST_NAME)))
}

/// Required value of a column.
pub(super) fn required<T>(column: &str, value: Option<T>) -> Result<T, Skip> {
    value.ok_or_else(|| Skip::Unreadable(format!("`{column}` is empty.")))
}
