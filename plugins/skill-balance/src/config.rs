//! The configuration; the README explains it.

use network_hub_module::players;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config {
    /// The statistic that measures skill; none: nothing is compared.
    pub(crate) statistic: Option<String>,
    /// Game mode of the statistic; none: `global`.
    pub(crate) game_mode: Option<String>,
    pub(crate) period: Period,
    /// Number of the first candidates with players that are compared.
    pub(crate) candidates: usize,
    /// The largest allowed difference between the mean and the player; none: any.
    pub(crate) max_gap: Option<f64>,
    /// True if candidates beyond that are left out rather than last.
    pub(crate) leave_out: bool,
    /// Value of a player without one; none: they are not compared.
    pub(crate) unranked: Option<f64>,
    /// Message for a player who cannot be matched.
    pub(crate) reason: String,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Period {
    Daily,
    Weekly,
    Monthly,
    Lifetime,
}

impl From<Period> for players::Period {
    fn from(period: Period) -> Self {
        match period {
            Period::Daily => Self::Daily,
            Period::Weekly => Self::Weekly,
            Period::Monthly => Self::Monthly,
            Period::Lifetime => Self::Lifetime,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            statistic: None,
            game_mode: None,
            period: Period::Lifetime,
            candidates: 3,
            max_gap: None,
            leave_out: false,
            unranked: None,
            reason: "There is no game at your level right now.".into(),
        }
    }
}
