//! The configuration; the README explains it.

use network_hub_module::PunishmentKind;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config {
    /// Permission nodes of staff, the highest first.
    pub(crate) ranks: Vec<String>,
    /// The punishments that staff is protected from.
    pub(crate) types: Vec<Kind>,
    pub(crate) action: Action,
    /// True if staff of the same rank may punish each other.
    pub(crate) equals: bool,
    /// Names of automatic issuers that may punish any player.
    pub(crate) trusted_issuers: Vec<String>,
    /// Message for the issuer of a refused punishment.
    pub(crate) reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Kind {
    Ban,
    Mute,
    Warn,
    Kick,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Action {
    /// The punishment is refused.
    Refuse,
    /// The punishment is replaced by a warning.
    Warn,
}

impl Kind {
    pub(crate) fn is(self, kind: PunishmentKind) -> bool {
        let own = match self {
            Self::Ban => PunishmentKind::Ban,
            Self::Mute => PunishmentKind::Mute,
            Self::Warn => PunishmentKind::Warn,
            Self::Kick => PunishmentKind::Kick,
        };
        own == kind
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            ranks: Vec::new(),
            types: vec![Kind::Ban, Kind::Mute],
            action: Action::Refuse,
            equals: false,
            trusted_issuers: Vec::new(),
            reason: "This player is staff; only higher staff may do that.".into(),
        }
    }
}
