//! Sends players to the games with the fewest missing players, so that matches start sooner.

mod config;

use config::Config;
use network_hub_module::matchmaking::{Candidate, GameState, MatchRequest, Matchmaking, Ranking, Refusal};
use network_hub_module::{CallContext, config};
use std::cmp::Reverse;

struct FillWaiting;

#[network_hub_module::export]
impl Matchmaking for FillWaiting {
    fn rank(context: &CallContext, request: &MatchRequest, candidates: &[Candidate]) -> Ranking {
        let config: Config = config(context);
        let wanted = |candidate: &&Candidate| {
            config.join_playing || is_preferred(&config, candidate) || !has_begun(&config, candidate)
        };
        let mut ranked: Vec<&Candidate> = candidates.iter().filter(wanted).collect();
        if ranked.is_empty() {
            return Err(Refusal { reason: config.reason });
        }
        // A stable sort: equals keep their order.
        ranked.sort_by_key(|candidate| {
            let away = config.own_region_first && candidate.region != request.region;
            (
                !is_preferred(&config, candidate),
                has_begun(&config, candidate),
                away,
                !is_gathering(candidate),
                missing(candidate),
            )
        });
        Ok(ranked.into_iter().map(|candidate| candidate.index).collect())
    }
}

fn is_preferred(config: &Config, candidate: &Candidate) -> bool {
    config.affinity_first && candidate.affinity
}

/// True if it is too late to join the match.
fn has_begun(config: &Config, candidate: &Candidate) -> bool {
    candidate.state == GameState::Playing || (candidate.state == GameState::Starting && !config.join_starting)
}

/// True if players are waiting in it.
fn is_gathering(candidate: &Candidate) -> bool {
    matches!(candidate.state, GameState::Waiting | GameState::Starting)
}

/// Fewest missing first, then fullest. Lobbies are not filled up.
fn missing(candidate: &Candidate) -> (u32, Reverse<u32>) {
    let minigame = candidate.players_to_start > 0;
    (candidate.players_needed, Reverse(if minigame { candidate.current_players } else { 0 }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use network_hub_module::testing;

    /// A game for 8 that starts with 4.
    fn game(index: u32, state: GameState, players: u32) -> Candidate {
        Candidate {
            state,
            current_players: players,
            free_slots: 8 - players,
            players_to_start: 4,
            players_needed: 4_u32.saturating_sub(players),
            ..testing::candidate(index)
        }
    }

    fn ranked(config: &str, candidates: &[Candidate]) -> Ranking {
        FillWaiting::rank(&testing::context(config), &testing::request(), candidates)
    }

    #[test]
    fn games_that_need_the_fewest_come_first_and_running_ones_last() {
        let candidates = [
            game(0, GameState::Playing, 7),
            game(1, GameState::Idle, 0),
            game(2, GameState::Waiting, 1),
            game(3, GameState::Waiting, 3),
            game(4, GameState::Waiting, 2),
        ];
        assert_eq!(ranked("{}", &candidates).unwrap(), [3, 4, 2, 1, 0]);
    }

    #[test]
    fn of_complete_games_the_fullest_comes_first() {
        let candidates =
            [game(0, GameState::Starting, 4), game(1, GameState::Waiting, 6), game(2, GameState::Starting, 5)];
        assert_eq!(ranked("{}", &candidates).unwrap(), [1, 2, 0]);
    }

    #[test]
    fn lobbies_are_not_filled_up() {
        let lobby = |index, players| Candidate { current_players: players, ..testing::candidate(index) };
        assert_eq!(ranked("{}", &[lobby(0, 1), lobby(1, 9), lobby(2, 4)]).unwrap(), [0, 1, 2]);
    }

    #[test]
    fn running_games_can_be_left_out() {
        let config = r#"{"joinPlaying": false, "reason": "Wait."}"#;
        let candidates = [game(0, GameState::Playing, 7), game(1, GameState::Idle, 0)];
        assert_eq!(ranked(config, &candidates).unwrap(), [1]);
        assert_eq!(ranked(config, &candidates[..1]).unwrap_err().reason, "Wait.");
        // The player's own party is joined even so.
        let party = Candidate { affinity: true, ..candidates[0] };
        assert_eq!(ranked(config, &[party, candidates[1]]).unwrap(), [0, 1]);
    }

    #[test]
    fn a_starting_game_can_count_as_running() {
        let candidates = [game(0, GameState::Starting, 6), game(1, GameState::Idle, 0)];
        assert_eq!(ranked("{}", &candidates).unwrap(), [0, 1]);
        assert_eq!(ranked(r#"{"joinStarting": false}"#, &candidates).unwrap(), [1, 0]);
        assert_eq!(ranked(r#"{"joinStarting": false, "joinPlaying": false}"#, &candidates).unwrap(), [1]);
    }

    #[test]
    fn the_own_region_comes_first_except_for_running_games() {
        let away = Candidate { region: 1, ..game(0, GameState::Waiting, 3) };
        let running = game(2, GameState::Playing, 5);
        let candidates = [away, game(1, GameState::Idle, 0), running];
        assert_eq!(ranked("{}", &candidates).unwrap(), [0, 1, 2]);
        assert_eq!(ranked(r#"{"ownRegionFirst": true}"#, &candidates).unwrap(), [1, 0, 2]);
    }

    #[test]
    fn the_example_configuration_is_valid() {
        let config: Config = config(&testing::context(include_str!("../config.example.json")));
        assert!(config.own_region_first);
    }
}
