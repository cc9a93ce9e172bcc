//! Balances: the user files of EssentialsX, a table of separated values, or the database of PlayerPoints or XConomy.

mod essentials;
mod number;
mod players;
mod rows;
mod table;
mod tables;

pub(super) use essentials::read as read_essentials;
pub(super) use table::read as read_table;
pub(super) use tables::{read_player_points, read_xconomy};

use crate::economy::Amount;
use crate::imports::record::{Category, Item, ParseError, Record, Remark};
use crate::values::PlayerId;
pub(super) use players::PlayerSet;

/// Record of a player's balance.
fn balance(line: Option<u64>, subject: String, player: PlayerId, amount: Amount, is_cut: bool) -> Item {
    let notes = is_cut.then(|| Remark::new(subject, "Truncated after four decimal places."));
    Item { line, record: Record::Balance { player, amount }, notes: notes.into_iter().collect() }
}

fn skipped(line: u64, subject: String, reason: impl Into<String>) -> Item {
    Item { line: Some(line), record: Record::Skipped(Category::Balances), notes: vec![Remark::new(subject, reason)] }
}

/// Counts of rows, to fail where none can be read.
#[derive(Debug, Default)]
struct Tally {
    read: u64,
    unreadable: u64,
    first: Option<(u64, String)>,
}

impl Tally {
    fn read(&mut self) {
        self.read += 1;
    }

    fn unreadable(&mut self, line: u64, reason: &str) {
        self.unreadable += 1;
        self.first.get_or_insert_with(|| (line, reason.to_owned()));
    }

    fn is_empty(&self) -> bool {
        self.read + self.unreadable == 0
    }

    fn end(self) -> Result<(), ParseError> {
        match self.first {
            Some((line, reason)) if self.read == 0 => Err(ParseError::at(
                line,
                format!("None of its {} rows can be read. The first: {reason}", self.unreadable),
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
