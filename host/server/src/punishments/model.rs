//! Punishments that are to be made, were made, are looked for.

use crate::clock::Millis;
pub use crate::punishments::values::{IpAddress, Kind, Span};
use crate::values::{NetworkId, PlayerId};

/// Who issues or revokes.
#[derive(Clone, Debug, Default)]
pub struct Party {
    /// None where the console or the hub itself acts.
    pub player: Option<PlayerId>,
    /// A name for people.
    pub name: Option<String>,
}

/// Whom a punishment is for.
#[derive(Clone, Debug)]
pub enum Target {
    /// A player by UUID.
    Player {
        /// The UUID.
        id: PlayerId,
        /// The name, where it is known.
        name: Option<String>,
        /// Whether it covers the player's addresses too.
        ip_based: bool,
    },
    /// A player by name alone.
    Name {
        /// The name.
        name: String,
        /// Whether it covers the player's addresses too.
        ip_based: bool,
    },
    /// An address, whoever has it.
    Address(IpAddress),
}

/// What a punishment says.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Its kind.
    pub kind: Kind,
    /// Shown to the player.
    pub reason: Option<String>,
    /// None is permanent.
    pub span: Option<Span>,
}

/// A punishment that is to be made.
#[derive(Clone, Debug)]
pub struct Draft {
    /// For whom.
    pub target: Target,
    /// What it says.
    pub terms: Terms,
    /// By whom.
    pub issuer: Party,
}

/// What became of a punishment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// In force, unless its time has run out since.
    Open,
    /// Its time ran out, and that was told.
    Expired,
    /// Taken back before its time.
    Revoked,
    /// A kick: done as soon as made.
    Done,
}

impl State {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "OPEN",
            Self::Expired => "EXPIRED",
            Self::Revoked => "REVOKED",
            Self::Done => "DONE",
        }
    }
}

impl TryFrom<String> for State {
    type Error = NoState;

    fn try_from(text: String) -> Result<Self, NoState> {
        [Self::Open, Self::Expired, Self::Revoked, Self::Done]
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or(NoState)
    }
}

/// What is no state.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("not a punishment's state")]
pub struct NoState;

/// A punishment that was made.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Punishment {
    /// Whose it is.
    pub network_id: NetworkId,
    /// Counted from 1 in its network.
    pub id: i64,
    /// None for one by name alone, or of an address alone.
    pub player_uuid: Option<PlayerId>,
    /// The player's name when it was made.
    pub player_name: Option<String>,
    /// Its kind.
    #[sqlx(try_from = "String")]
    pub kind: Kind,
    /// Shown to the player.
    pub reason: Option<String>,
    /// None is permanent.
    pub duration_ms: Option<Millis>,
    /// When its time runs out.
    pub expires_at: Option<Millis>,
    /// Whether it covers addresses.
    pub ip_based: bool,
    /// The address it was made for, or the player's when it was made.
    pub ip_address: Option<IpAddress>,
    /// Who issued it.
    pub issuer_uuid: Option<PlayerId>,
    /// Who issued it, for people.
    pub issuer_name: Option<String>,
    /// When it was made.
    pub issued_at: Millis,
    /// What became of it, as far as it is noted.
    #[sqlx(try_from = "String")]
    pub state: State,
}

impl Punishment {
    /// In force at `now`.
    pub fn is_active(&self, now: Millis) -> bool {
        self.state == State::Open && self.expires_at.is_none_or(|at| now < at)
    }

    /// Taken back before its time.
    pub fn is_revoked(&self) -> bool {
        self.state == State::Revoked
    }

    /// Its time has run out at `now`.
    pub fn is_expired(&self, now: Millis) -> bool {
        self.state == State::Expired || (self.state == State::Open && !self.is_active(now))
    }
}

/// Whose punishments are wanted: those that match any of what is given.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    /// Those of this player, by UUID or by a name the player was seen with.
    pub player: Option<PlayerId>,
    /// Those made under this name, and those of the player who bears it.
    pub name: Option<String>,
    /// Those that cover this address.
    pub address: Option<IpAddress>,
}

/// Which of them, newest first.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Only those in force.
    pub active_only: bool,
    /// Only those made at this time or later.
    pub since: Option<Millis>,
    /// Only those of this kind.
    pub kind: Option<Kind>,
    /// At most this many.
    pub limit: i64,
    /// Leaving out this many before.
    pub offset: i64,
}

/// An address a player was seen with.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct KnownAddress {
    /// The address.
    pub ip_address: IpAddress,
    /// When the player first had it.
    pub first_seen: Millis,
    /// When the player last had it.
    pub last_seen: Millis,
}
