//! The configuration; the README explains it.

use network_hub_module::PunishmentKind;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) rules: Vec<Rule>,
    /// True if revoked punishments count too.
    pub(crate) count_revoked: bool,
}

/// Replaces the `count`th punishment of a kind within some days by another.
#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Rule {
    #[serde(rename = "type")]
    pub(crate) kind: Kind,
    pub(crate) count: u32,
    pub(crate) within_days: u64,
    pub(crate) becomes: Kind,
    /// Duration of the replacement; none: permanent.
    pub(crate) duration_ms: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Kind {
    Ban,
    Mute,
    Warn,
    Kick,
}

impl Kind {
    pub(crate) fn is(self, kind: PunishmentKind) -> bool {
        PunishmentKind::from(self) == kind
    }

    pub(crate) const fn noun(self) -> &'static str {
        match self {
            Self::Ban => "ban",
            Self::Mute => "mute",
            Self::Warn => "warning",
            Self::Kick => "kick",
        }
    }
}

impl From<Kind> for PunishmentKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Ban => Self::Ban,
            Kind::Mute => Self::Mute,
            Kind::Warn => Self::Warn,
            Kind::Kick => Self::Kick,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self { rules: vec![Rule::default()], count_revoked: false }
    }
}

impl Default for Rule {
    fn default() -> Self {
        Self {
            kind: Kind::Mute,
            count: 3,
            within_days: 30,
            becomes: Kind::Ban,
            duration_ms: Some(7 * 24 * 60 * 60 * 1000),
        }
    }
}
