//! What its owner can configure; the README explains it.

use network_hub_module::players;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config {
    /// The statistic that tells how good somebody is; none: nobody is compared.
    pub(crate) statistic: Option<String>,
    /// The game mode it is counted in; none: `global`.
    pub(crate) game_mode: Option<String>,
    pub(crate) period: Period,
    /// How many of the best candidates with players are looked at.
    pub(crate) candidates: usize,
    /// The most a mean may differ from the player; none: any difference.
    pub(crate) max_gap: Option<f64>,
    /// Whether candidates beyond that are left out rather than last.
    pub(crate) leave_out: bool,
    /// What counts for a player who has no such value; none: they are not compared.
    pub(crate) unranked: Option<f64>,
    /// What a player is told for whom nothing is left.
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
