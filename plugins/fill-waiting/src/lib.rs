//! Sends players to the games with the fewest missing players, so that matches start sooner.

mod config;

use config::Config;
use network_hub_module::matchmaking::{GameState, MatchRequest, Matchmaking, Place, Ranking, Refusal};
use network_hub_module::{CallContext, config};
use std::cmp::Reverse;

struct FillWaiting;

#[network_hub_module::export]
impl Matchmaking for FillWaiting {
    fn rank(context: &CallContext, request: &MatchRequest, places: &[Place]) -> Ranking {
        let config: Config = config(context);
        let wanted = |place: &&Place| config.join_playing || is_preferred(&config, place) || !has_begun(&config, place);
        let mut ranked: Vec<&Place> = places.iter().filter(wanted).collect();
        if ranked.is_empty() {
            return Err(Refusal { reason: config.reason });
        }
        // A stable sort: equals keep their order.
        ranked.sort_by_key(|place| {
            let away = config.own_region_first && place.region != request.region;
            (!is_preferred(&config, place), has_begun(&config, place), away, !is_gathering(place), missing(place))
        });
        Ok(ranked.into_iter().map(|place| place.index).collect())
    }
}

fn is_preferred(config: &Config, place: &Place) -> bool {
    config.affinity_first && place.affinity
}

/// True if it is too late to join the match.
fn has_begun(config: &Config, place: &Place) -> bool {
    place.state == GameState::Playing || (place.state == GameState::Starting && !config.join_starting)
}

/// True if players are waiting in it.
fn is_gathering(place: &Place) -> bool {
    matches!(place.state, GameState::Waiting | GameState::Starting)
}

/// Fewest missing first, then fullest. Lobbies are not filled up.
fn missing(place: &Place) -> (u32, Reverse<u32>) {
    let minigame = place.players_to_start > 0;
    (place.players_needed, Reverse(if minigame { place.current_players } else { 0 }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use network_hub_module::testing;

    /// A game for 8 that starts with 4.
    fn game(index: u32, state: GameState, players: u32) -> Place {
        Place {
            state,
            current_players: players,
            free_slots: 8 - players,
            players_to_start: 4,
            players_needed: 4_u32.saturating_sub(players),
            ..testing::place(index)
        }
    }

    fn ranked(config: &str, places: &[Place]) -> Ranking {
        FillWaiting::rank(&testing::context(config), &testing::request(), places)
    }

    #[test]
    fn games_that_need_the_fewest_come_first_and_running_ones_last() {
        let places = [
            game(0, GameState::Playing, 7),
            game(1, GameState::Idle, 0),
            game(2, GameState::Waiting, 1),
            game(3, GameState::Waiting, 3),
            game(4, GameState::Waiting, 2),
        ];
        assert_eq!(ranked("{}", &places).unwrap(), [3, 4, 2, 1, 0]);
    }

    #[test]
    fn of_complete_games_the_fullest_comes_first() {
        let places = [game(0, GameState::Starting, 4), game(1, GameState::Waiting, 6), game(2, GameState::Starting, 5)];
        assert_eq!(ranked("{}", &places).unwrap(), [1, 2, 0]);
    }

    #[test]
    fn lobbies_are_not_filled_up() {
        let lobby = |index, players| Place { current_players: players, ..testing::place(index) };
        assert_eq!(ranked("{}", &[lobby(0, 1), lobby(1, 9), lobby(2, 4)]).unwrap(), [0, 1, 2]);
    }

    #[test]
    fn running_games_can_be_left_out() {
        let config = r#"{"joinPlaying": false, "reason": "Wait."}"#;
        let places = [game(0, GameState::Playing, 7), game(1, GameState::Idle, 0)];
        assert_eq!(ranked(config, &places).unwrap(), [1]);
        assert_eq!(ranked(config, &places[..1]).unwrap_err().reason, "Wait.");
        // The player's own party is joined even so.
        let party = Place { affinity: true, ..places[0] };
        assert_eq!(ranked(config, &[party, places[1]]).unwrap(), [0, 1]);
    }

    #[test]
    fn a_starting_game_can_count_as_running() {
        let places = [game(0, GameState::Starting, 6), game(1, GameState::Idle, 0)];
        assert_eq!(ranked("{}", &places).unwrap(), [0, 1]);
        assert_eq!(ranked(r#"{"joinStarting": false}"#, &places).unwrap(), [1, 0]);
        assert_eq!(ranked(r#"{"joinStarting": false, "joinPlaying": false}"#, &places).unwrap(), [1]);
    }

    #[test]
    fn the_own_region_comes_first_except_for_running_games() {
        let away = Place { region: 1, ..game(0, GameState::Waiting, 3) };
        let running = game(2, GameState::Playing, 5);
        let places = [away, game(1, GameState::Idle, 0), running];
        assert_eq!(ranked("{}", &places).unwrap(), [0, 1, 2]);
        assert_eq!(ranked(r#"{"ownRegionFirst": true}"#, &places).unwrap(), [1, 0, 2]);
    }

    #[test]
    fn the_example_configuration_is_valid() {
        let config: Config = config(&testing::context(include_str!("../config.example.json")));
        assert!(config.own_region_first);
    }
}
