//! Punishments, their targets and their filters.

use hub_sandbox::contract::players;
use serde::{Deserialize, Serialize};

use crate::clock::Millis;
use crate::punishments::values::{IpAddress, PunishmentDuration, PunishmentKind};
use crate::values::{NetworkId, PlayerId};

/// Issuer or revoker.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Actor {
    /// None for the console or the hub itself.
    pub player: Option<PlayerId>,
    /// Human-readable name.
    pub name: Option<String>,
}

/// Target of a punishment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Target {
    /// A player by UUID.
    Player {
        id: PlayerId,
        name: Option<String>,
        /// True if it also covers the player's addresses.
        ip_based: bool,
    },
    /// A player by name alone.
    Name {
        name: String,
        /// True if it also covers the player's addresses.
        ip_based: bool,
    },
    /// An address, for every player with it.
    Address(IpAddress),
}

impl Target {
    /// Its player and name, and true if it covers addresses.
    pub fn parts(&self) -> (Option<PlayerId>, Option<&str>, bool) {
        match self {
            Self::Player { id, name, ip_based } => (Some(*id), name.as_deref(), *ip_based),
            Self::Name { name, ip_based } => (None, Some(name), *ip_based),
            Self::Address(_) => (None, None, true),
        }
    }
}

/// Content of a punishment, independent of its target.
#[derive(Clone, Debug)]
pub struct PunishmentTerms {
    pub kind: PunishmentKind,
    /// Shown to the player.
    pub reason: Option<String>,
    /// None is permanent.
    pub duration: Option<PunishmentDuration>,
}

/// A punishment to create.
#[derive(Clone, Debug)]
pub struct NewPunishment {
    pub target: Target,
    pub terms: PunishmentTerms,
    pub issuer: Actor,
}

/// Stored state of a punishment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "UPPERCASE")]
pub enum PunishmentState {
    /// Active, unless it has expired since.
    Open,
    /// Expired, and the expiry was published.
    Expired,
    /// Revoked before it expired.
    Revoked,
    /// A kick: done as soon as created.
    Done,
}

impl PunishmentState {
    pub(super) fn as_str(self) -> &'static str {
        self.into()
    }
}

impl TryFrom<String> for PunishmentState {
    type Error = strum::ParseError;

    fn try_from(text: String) -> Result<Self, strum::ParseError> {
        text.parse()
    }
}

/// A punishment.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Punishment {
    pub network_id: NetworkId,
    /// Counted from 1 in its network.
    pub id: i64,
    /// None for one by name alone, or of an address alone.
    pub player_uuid: Option<PlayerId>,
    /// The player's name when it was created.
    pub player_name: Option<String>,
    #[sqlx(try_from = "String")]
    pub kind: PunishmentKind,
    /// Shown to the player.
    pub reason: Option<String>,
    /// None is permanent.
    pub duration_ms: Option<Millis>,
    pub expires_at: Option<Millis>,
    /// True if it covers addresses.
    pub ip_based: bool,
    /// The punished address, or the player's address at its creation.
    pub ip_address: Option<IpAddress>,
    pub issuer_uuid: Option<PlayerId>,
    /// The issuer's human-readable name.
    pub issuer_name: Option<String>,
    pub issued_at: Millis,
    #[sqlx(try_from = "String")]
    pub state: PunishmentState,
    /// Code to appeal with, of a ban or mute; sealed.
    pub appeal_code: Option<String>,
}

impl Punishment {
    /// True if in force at `now`.
    pub(crate) fn is_active(&self, now: Millis) -> bool {
        self.state == PunishmentState::Open && self.expires_at.is_none_or(|at| now < at)
    }

    /// Form for modules at `now`.
    pub fn for_module(&self, now: Millis) -> players::Punishment {
        let active = self.is_active(now);
        players::Punishment {
            id: self.id.unsigned_abs(),
            kind: self.kind.into(),
            reason: self.reason.clone().unwrap_or_default(),
            issued_at_ms: u64::try_from(self.issued_at).unwrap_or(0),
            duration_ms: self.duration_ms.map(Millis::unsigned_abs),
            ip_based: self.ip_based,
            issuer_name: self.issuer_name.clone(),
            active,
            revoked: self.state == PunishmentState::Revoked,
            expired: match self.state {
                PunishmentState::Open => !active,
                state => state == PunishmentState::Expired,
            },
        }
    }
}

/// Search keys: punishments that match any of these.
#[derive(Clone, Debug, Default)]
pub struct Identity {
    /// Matches those of this player, by UUID or by a name the player was seen with.
    pub player: Option<PlayerId>,
    /// Matches those of this name, and those of the player who has it now.
    pub name: Option<String>,
    /// Matches those that cover this address.
    pub address: Option<IpAddress>,
}

/// Filter of an identity's punishments, newest first.
#[derive(Clone, Debug)]
pub struct PunishmentFilter {
    /// Only active ones.
    pub active_only: bool,
    /// Only those issued at this time or later.
    pub since: Option<Millis>,
    /// Only those of this kind.
    pub kind: Option<PunishmentKind>,
    pub limit: i64,
    pub offset: i64,
    /// True if bans displace others beyond `limit`.
    pub prefers_bans: bool,
}

/// An address a player was seen with.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct KnownAddress {
    pub ip_address: IpAddress,
    pub(crate) first_seen: Millis,
    pub last_seen: Millis,
}
