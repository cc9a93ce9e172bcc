//! Owners of balances and statistics, named by a type and a key.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

use crate::values::{Identifier, PlayerId};

/// The owner type of players.
pub const PLAYER: &str = "player";

/// An owner of balances and statistics. Players are the owners of the type `player`, keyed by their UUIDs in lower case
/// with hyphens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    owner_type: String,
    key: String,
}

impl Owner {
    /// Owner for a player.
    pub fn player(id: PlayerId) -> Self {
        Self { owner_type: PLAYER.to_owned(), key: id.to_string() }
    }

    /// Owner of any type; the key of a player must be a UUID.
    pub fn new(owner_type: Identifier, key: Identifier) -> Result<Self, String> {
        if owner_type.as_str() == PLAYER {
            return key.as_str().parse().map(Self::player).map_err(|reason| format!("a player's key {reason}"));
        }
        Ok(Self { owner_type: owner_type.into_string(), key: key.into_string() })
    }

    /// Type of the owner.
    pub fn owner_type(&self) -> &str {
        &self.owner_type
    }

    /// The player, if it is one.
    pub fn player_id(&self) -> Option<PlayerId> {
        if self.owner_type == PLAYER { self.key.parse().ok() } else { None }
    }

    /// Key, unique among the owners of the type.
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner_type, self.key)
    }
}

/// Read from the two segments of a path.
impl<'de> Deserialize<'de> for Owner {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (owner_type, key) = Deserialize::deserialize(deserializer)?;
        Self::new(owner_type, key).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(owner_type: &str, key: &str) -> Result<Owner, String> {
        Owner::new(owner_type.parse()?, key.parse()?)
    }

    #[test]
    fn a_player_has_one_key() {
        let steve = owner("player", "069A79F444E94726A5BEFCA90E38AAF5").unwrap();
        assert_eq!(steve.key(), "069a79f4-44e9-4726-a5be-fca90e38aaf5");
        assert_eq!(steve, Owner::player(steve.key().parse().unwrap()));
        assert!(owner("player", "Steve").unwrap_err().contains("UUID"));
        assert_eq!(owner("farm", "Steve").unwrap().to_string(), "farm/Steve");
    }
}
