//! Tables of a component, and the rules for their rows. Columns and keys are read from the schema.

use crate::component::column::ColumnRule;
use crate::component::sealed::Sealed;
use crate::component::tables::RowReader;
use crate::limits::RetentionDays;

/// Table, and the rules for its rows.
#[derive(Clone, Copy, Debug)]
pub struct TableRule {
    pub name: &'static str,
    pub kind: TableKind,
    /// Reason for leaving it out of a backup.
    pub skipped_by_backup: Option<&'static str>,
    /// True for a table that SQLite stores in the file of the modules' stores.
    pub is_in_module_store: bool,
    pub players: Players,
    /// Columns with texts written by people or about their actions: names and addresses are removed from them, not only
    /// UUIDs.
    pub prose: &'static [&'static str],
    /// Columns with UUID and name of staff: such a row concerns another player.
    pub staff: &'static [(&'static str, &'static str)],
    pub aging: Option<Aging>,
    /// True for a table whose rows the hub acts upon as soon as they are there: in a file it comes after all others.
    pub is_last: bool,
    /// Readers of its columns, by the types that serve them: an imported row that they refuse is not imported.
    pub columns: &'static [ColumnRule],
    /// Reader of values that depend on each other.
    pub row: Option<RowReader>,
    /// Columns with secrets, which are sealed in the database.
    pub sealed: &'static [Sealed],
}

/// Relation of a table to networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// Rows belong to a network: they move with it and are deleted with it.
    Moved,
    /// Rows belong to a network and are deleted with it, but do not move with it.
    Left,
    /// Rows belong to the hub.
    Hub,
}

/// Players in a network's rows. Their UUID is searched for in every column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Players {
    /// Rows may concern players: they are exported and erased.
    Searched,
    /// Rows identify players: they are erased last, because an interrupted erasure needs them.
    Identified,
    /// No row concerns a player, for this reason.
    Absent(&'static str),
}

/// Rows that are deleted at the age that the network's plan says.
#[derive(Clone, Copy, Debug)]
pub struct Aging {
    /// Column with the time of a row.
    pub at: &'static str,
    /// Maximum age in days.
    pub days: fn(&RetentionDays) -> Option<i64>,
    /// Column and value of rows that never expire.
    pub except: Option<(&'static str, &'static str)>,
}

impl TableRule {
    const fn new(name: &'static str, kind: TableKind) -> Self {
        Self {
            name,
            kind,
            skipped_by_backup: None,
            is_in_module_store: false,
            players: Players::Searched,
            prose: &[],
            staff: &[],
            aging: None,
            is_last: false,
            columns: &[],
            row: None,
            sealed: &[],
        }
    }

    /// Table whose rows [move with their network](TableKind::Moved).
    pub const fn moved(name: &'static str) -> Self {
        Self::new(name, TableKind::Moved)
    }

    /// Table whose rows [belong to a network but do not move](TableKind::Left).
    pub const fn left(name: &'static str) -> Self {
        Self::new(name, TableKind::Left)
    }

    /// Table whose rows [belong to the hub](TableKind::Hub).
    pub const fn hub(name: &'static str) -> Self {
        Self::new(name, TableKind::Hub)
    }

    /// Left out of backups, for this reason.
    pub const fn not_backed_up(self, reason: &'static str) -> Self {
        Self { skipped_by_backup: Some(reason), ..self }
    }

    /// On SQLite in the file of the modules' stores.
    pub const fn in_module_store(self) -> Self {
        Self { is_in_module_store: true, ..self }
    }

    /// Without data of players, for this reason.
    pub const fn without_players(self, reason: &'static str) -> Self {
        Self { players: Players::Absent(reason), ..self }
    }

    /// With rows that [identify players](Players::Identified).
    pub const fn identifies_players(self) -> Self {
        Self { players: Players::Identified, ..self }
    }

    /// With [prose](TableRule::prose) in these columns.
    pub const fn prose(self, columns: &'static [&'static str]) -> Self {
        Self { prose: columns, ..self }
    }

    /// With [staff](TableRule::staff) in these pairs of columns.
    pub const fn staff(self, columns: &'static [(&'static str, &'static str)]) -> Self {
        Self { staff: columns, ..self }
    }

    /// [After all other tables](TableRule::is_last) in a file.
    pub const fn last(self) -> Self {
        Self { is_last: true, ..self }
    }

    /// With readers of its columns. One that is not named holds a count, a time, a finite number or bytes; texts are named.
    pub const fn columns(self, columns: &'static [ColumnRule]) -> Self {
        Self { columns, ..self }
    }

    /// With [sealed](TableRule::sealed) secrets in these columns.
    pub const fn sealed(self, columns: &'static [Sealed]) -> Self {
        Self { sealed: columns, ..self }
    }

    /// True for a column that is sealed as a whole, or a fingerprint of one.
    pub fn hides(&self, column: &str) -> bool {
        self.sealed.iter().any(|sealed| match sealed {
            Sealed::Text(hidden) => *hidden == column,
            Sealed::Found(hidden, mac) => [*hidden, *mac].contains(&column),
            Sealed::Fields(_) => false,
        })
    }

    /// With a reader of whole rows, after that of the columns.
    pub const fn row(self, read: RowReader) -> Self {
        Self { row: Some(read), ..self }
    }

    /// With rows that expire.
    pub const fn aging(self, aging: Aging) -> Self {
        Self { aging: Some(aging), ..self }
    }
}
