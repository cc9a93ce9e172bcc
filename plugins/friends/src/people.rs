//! Players with their friends and requests, as they are kept.

use crate::Failure;
use crate::config::Config;
use network_hub_module::{effects, state};
use serde::{Deserialize, Serialize};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Another player, and the time since when.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Other {
    pub(crate) uuid: String,
    pub(crate) since: u64,
}

/// Friends and open requests of one player.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Person {
    pub(crate) friends: Vec<Other>,
    pub(crate) sent: Vec<Other>,
    pub(crate) received: Vec<Other>,
}

impl Person {
    /// Reads a player, without requests that are too old.
    pub(crate) fn read(stored: Option<String>, config: &Config, now: u64) -> Result<Self, Failure> {
        let Some(stored) = stored else { return Ok(Self::default()) };
        let mut person: Self = serde_json::from_str(&stored).map_err(|error| Failure::Reject(error.to_string()))?;
        let oldest = now.saturating_sub(config.request_days.max(1) * DAY_MS);
        person.sent.retain(|other| other.since > oldest);
        person.received.retain(|other| other.since > oldest);
        Ok(person)
    }

    fn is_empty(&self) -> bool {
        self.friends.is_empty() && self.sent.is_empty() && self.received.is_empty()
    }
}

/// True if a list has this player.
pub(crate) fn has(list: &[Other], uuid: &str) -> bool {
    list.iter().any(|other| other.uuid == uuid)
}

/// Takes a player out of a list: true if it had them.
pub(crate) fn take(list: &mut Vec<Other>, uuid: &str) -> bool {
    let before = list.len();
    list.retain(|other| other.uuid != uuid);
    list.len() < before
}

/// The entry of a player.
pub(crate) fn key(player: &str) -> String {
    format!("player:{player}")
}

/// Keeps a player.
pub(crate) fn save(player: &str, person: &Person) -> Result<(), Failure> {
    if person.is_empty() {
        state::delete(&key(player))?;
    } else {
        state::set(&key(player), &effects::json(person), None)?;
    }
    Ok(())
}
