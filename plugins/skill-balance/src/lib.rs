//! Sends players to players of similar skill.

mod config;
mod skill;

use config::Config;
use network_hub_module::matchmaking::{Candidate, MatchRequest, Matchmaking, Ranking, Refusal};
use network_hub_module::{CallContext, config, debug, warn};
use skill::{MAX_CANDIDATES, gaps};

struct SkillBalance;

#[network_hub_module::export]
impl Matchmaking for SkillBalance {
    fn rank(context: &CallContext, request: &MatchRequest, candidates: &[Candidate]) -> Ranking {
        let config: Config = config(context);
        let mut ranked: Vec<(Level, u32)> =
            candidates.iter().map(|candidate| (Level::of(candidate), candidate.index)).collect();
        if let (Some(statistic), Some(player)) = (&config.statistic, &request.player_uuid) {
            let with_players =
                candidates.iter().filter(|candidate| candidate.current_players > 0 && !candidate.affinity);
            let compared: Vec<&Candidate> = with_players.take(config.candidates.min(MAX_CANDIDATES)).collect();
            match gaps(&config, statistic, player, &compared) {
                Ok(gaps) => {
                    for (candidate, gap) in compared.iter().zip(gaps) {
                        debug!("candidate {}: {} from the player", candidate.index, describe(gap));
                        let level = gap.map_or(Level::Unknown, |gap| Level::of_gap(&config, gap));
                        ranked
                            .iter_mut()
                            .filter(|(_, index)| *index == candidate.index)
                            .for_each(|entry| entry.0 = level);
                    }
                }
                Err(_) => warn!("the players could not be compared; the order stays as it was"),
            }
        }
        if config.leave_out {
            ranked.retain(|(level, _)| !matches!(level, Level::Far(_)));
        }
        if ranked.is_empty() {
            return Err(Refusal { reason: config.reason });
        }
        // A stable sort: equals keep their order.
        ranked.sort_by(|(one, _), (other, _)| {
            one.key().0.cmp(&other.key().0).then(one.key().1.total_cmp(&other.key().1))
        });
        Ok(ranked.into_iter().map(|(_, index)| index).collect())
    }
}

/// Fit of a candidate for the player, the best first.
#[derive(Clone, Copy, Debug)]
enum Level {
    /// The preferred owner is live there.
    Preferred,
    /// The gap to its players is allowed.
    Near(f64),
    /// It cannot be compared.
    Unknown,
    /// The gap to its players is too large.
    Far(f64),
}

impl Level {
    fn of(candidate: &Candidate) -> Self {
        if candidate.affinity { Self::Preferred } else { Self::Unknown }
    }

    fn of_gap(config: &Config, gap: f64) -> Self {
        if config.max_gap.is_some_and(|most| gap > most) { Self::Far(gap) } else { Self::Near(gap) }
    }

    fn key(self) -> (u8, f64) {
        match self {
            Self::Preferred => (0, 0.0),
            Self::Near(gap) => (1, gap),
            Self::Unknown => (2, 0.0),
            Self::Far(gap) => (3, gap),
        }
    }
}

fn describe(gap: Option<f64>) -> String {
    gap.map_or_else(|| "nobody to compare".into(), |gap| gap.to_string())
}

#[cfg(test)]
mod tests;
