//! Balances: the user files of EssentialsX, or a table of comma-separated values.

mod essentials;
mod table;

pub(super) use essentials::read as read_essentials;
pub(super) use table::read as read_table;

use std::collections::HashSet;

use crate::economy::Amount;
use crate::imports::record::{Category, Item, ParseError, Record, Remark, Sink};
use crate::values::PlayerId;

/// Record of a player's balance.
fn item(line: u64, subject: String, player: PlayerId, amount: &str) -> Item {
    match Amount::parse_cut(amount.trim()) {
        Ok((amount, is_cut)) => {
            let notes = is_cut.then(|| Remark::new(subject, "Truncated after four decimal places."));
            Item { line: Some(line), record: Record::Balance { player, amount }, notes: notes.into_iter().collect() }
        }
        Err(reason) => skipped(line, subject, format!("The amount {reason}.")),
    }
}

/// Wraps a sink to skip repeated records of a player.
pub(super) fn first_of_each_player(sink: &mut Sink<'_>) -> impl FnMut(Item) -> Result<(), ParseError> {
    let mut seen = HashSet::new();
    move |mut item| {
        if let Record::Balance { player, .. } = item.record
            && !seen.insert(player)
        {
            item.record = Record::Skipped(Category::Balances);
            item.notes = vec![Remark::new(
                format_args!("player {player}"),
                "The file names the player twice; the first amount counts.",
            )];
        }
        sink(item)
    }
}

fn skipped(line: u64, subject: String, reason: impl Into<String>) -> Item {
    Item { line: Some(line), record: Record::Skipped(Category::Balances), notes: vec![Remark::new(subject, reason)] }
}

#[cfg(test)]
mod tests;
