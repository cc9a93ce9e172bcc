//! Facts that the first reading of a file finds for the second, which makes the records.

use std::collections::{HashMap, HashSet};

use crate::budget::Budget;
use crate::clock::Millis;
use crate::imports::record::Record;
use crate::punishments::IpAddress;
use crate::values::PlayerId;

/// Maximum bytes of a name that is kept.
const LONGEST_NAME: usize = 64;
/// Memory of an entry beside its texts.
const ENTRY: usize = 100;

/// Decimal separator of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum NumberFormat {
    #[default]
    Unknown,
    Point,
    Comma,
}

/// Victims of LibertyBans' punishments, which other tables name.
#[derive(Clone, Debug, Default)]
pub(super) struct Victims {
    pub(super) by_id: HashMap<i64, Victim>,
    pub(super) of_punishment: HashMap<i64, i64>,
    pub(super) open: HashSet<i64>,
}

/// Victim of a punishment, of a kind by its number.
#[derive(Clone, Debug)]
pub(super) struct Victim {
    pub(super) kind: i64,
    pub(super) player: Option<PlayerId>,
    pub(super) address: Option<IpAddress>,
}

/// Findings of the first reading.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    /// Last names of players, which tables of punishments lack.
    names: HashMap<PlayerId, (Millis, Box<str>)>,
    /// Weights of LuckPerms' groups by name.
    weights: HashMap<String, i64>,
    /// Decimal separator of a table's amounts.
    pub(super) numbers: NumberFormat,
    /// Keys of AdvancedBan's punishments that are in force.
    pub(super) open: HashSet<String>,
    /// Victims of LibertyBans' punishments.
    pub(super) victims: Victims,
    /// True once the file was read completely.
    pub(super) is_complete: bool,
}

impl Findings {
    /// Notes what a record says about others, as far as there is memory for it.
    pub(super) fn note(&mut self, record: &Record, budget: &Budget) {
        match record {
            Record::Sighting { player, name: Some(name), at, .. } => self.note_name(*player, name, *at, budget),
            Record::Group(group) => {
                let name = group.id.as_str().to_lowercase();
                if budget.memory(ENTRY + name.len()).is_ok() {
                    self.weights.insert(name, group.priority);
                }
            }
            _ => {}
        }
    }

    fn note_name(&mut self, player: PlayerId, name: &str, at: Millis, budget: &Budget) {
        if name.len() > LONGEST_NAME {
            return;
        }
        if let Some(last) = self.names.get_mut(&player) {
            if last.0 < at {
                *last = (at, name.into());
            }
        } else if budget.memory(ENTRY + name.len()).is_ok() {
            self.names.insert(player, (at, name.into()));
        }
    }

    /// Adds what the records say, once all are read.
    pub(super) fn complete(&mut self, noted: Self) {
        (self.names, self.weights, self.is_complete) = (noted.names, noted.weights, true);
    }

    pub(super) fn name(&self, player: PlayerId) -> Option<String> {
        self.names.get(&player).map(|(_, name)| name.to_string())
    }

    pub(super) fn weight(&self, group: &str) -> i64 {
        self.weights.get(group).copied().unwrap_or(0)
    }
}
