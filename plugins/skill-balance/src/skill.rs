//! The skill of the player, and of the players on each candidate.

use crate::config::Config;
use network_hub_module::matchmaking::Candidate;
use network_hub_module::{HostError, candidates, players};

/// One data call for each candidate; the same number is left for statistics.
pub(crate) const MAX_CANDIDATES: usize = 4;
/// Data calls for statistics, and the players of each.
const STATISTICS_CALLS: usize = 4;
const PLAYERS_PER_CALL: usize = 100;

/// The difference between the player and the mean of each candidate; none if either is unknown.
pub(crate) fn gaps(
    config: &Config,
    statistic: &str,
    player: &str,
    candidates: &[&Candidate],
) -> Result<Vec<Option<f64>>, HostError> {
    // The first players of each candidate, as many as the data calls allow.
    let share = (STATISTICS_CALLS * PLAYERS_PER_CALL - 1) / candidates.len().max(1);
    let mut everybody = vec![player.to_owned()];
    let mut counts = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let others = candidates::players(candidate.index)?.into_iter().filter(|other| other != player);
        let before = everybody.len();
        everybody.extend(others.take(share));
        counts.push(everybody.len() - before);
    }
    let mut values = Vec::with_capacity(everybody.len());
    for asked in everybody.chunks(PLAYERS_PER_CALL) {
        let period = config.period.into();
        values.extend(players::statistics(asked, statistic, config.game_mode.as_deref(), period)?);
    }
    let mut values = values.into_iter().map(|value| value.or(config.unranked));
    let own = values.next().flatten();
    let gap = |count| {
        let known: Vec<f64> = values.by_ref().take(count).flatten().collect();
        let mean = (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)?;
        Some((mean - own?).abs())
    };
    Ok(counts.into_iter().map(gap).collect())
}
