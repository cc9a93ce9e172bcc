#![allow(clippy::unwrap_used)]

use super::*;
use network_hub_module::{HostError, testing};

/// Ranks candidates with players of these skills, for a player of this skill.
fn ranked(config: &str, own: Option<f64>, skills: &[&[f64]]) -> Ranking {
    testing::hub(|hub| {
        hub.statistics.clear();
        hub.candidates.clear();
        hub.statistics.extend(own.map(|own| (("p".into(), "elo".into()), own)));
        for (candidate, skills) in skills.iter().enumerate() {
            let players: Vec<_> = (0..skills.len()).map(|number| format!("{candidate}-{number}")).collect();
            let known = players.iter().zip(*skills).filter(|(_, skill)| **skill >= 0.0);
            hub.statistics.extend(known.map(|(player, skill)| ((player.clone(), "elo".into()), *skill)));
            hub.candidates.push(testing::CandidateDetails { players, ..testing::CandidateDetails::default() });
        }
    });
    let candidates: Vec<_> =
        (0..).zip(skills).map(|(index, skills)| candidate_with_players(index, skills.len())).collect();
    SkillBalance::rank(&testing::context(config), &testing::request(), &candidates)
}

fn candidate_with_players(index: u32, players: usize) -> Candidate {
    Candidate { current_players: u32::try_from(players).unwrap(), ..testing::candidate(index) }
}

const ELO: &str = r#"{"statistic": "elo"}"#;
const ABSENT: f64 = -1.0;

#[test]
fn the_closest_mean_comes_first_and_unknown_ones_last() {
    let skills = [&[1800.0, 2000.0][..], &[], &[900.0, 1300.0], &[1000.0, 1000.0, ABSENT]];
    assert_eq!(ranked(ELO, Some(1050.0), &skills).unwrap(), [2, 3, 0, 1]);
    // One for each of the three candidates with players, and one for the statistic.
    assert_eq!(testing::hub(|hub| hub.data_calls), 4);
}

#[test]
fn candidates_beyond_the_gap_come_last_or_are_left_out() {
    let skills = [&[2000.0][..], &[], &[1100.0]];
    let config = r#"{"statistic": "elo", "maxGap": 200}"#;
    assert_eq!(ranked(config, Some(1000.0), &skills).unwrap(), [2, 1, 0]);
    let strict = r#"{"statistic": "elo", "maxGap": 200, "leaveOut": true, "reason": "Later."}"#;
    assert_eq!(ranked(strict, Some(1000.0), &skills).unwrap(), [2, 1]);
    assert_eq!(ranked(strict, Some(1000.0), &skills[..1]).unwrap_err().reason, "Later.");
}

#[test]
fn only_the_first_candidates_with_players_are_compared() {
    let skills = [&[2000.0][..], &[], &[1500.0], &[1000.0]];
    let config = r#"{"statistic": "elo", "candidates": 2}"#;
    assert_eq!(ranked(config, Some(1000.0), &skills).unwrap(), [2, 0, 1, 3]);
    // Limited by the data calls.
    let config = r#"{"statistic": "elo", "candidates": 100}"#;
    let many: Vec<&[f64]> = vec![&[1.0; 150]; 6];
    assert_eq!(ranked(config, Some(1000.0), &many).unwrap(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(testing::hub(|hub| hub.data_calls), 8);
}

#[test]
fn players_without_a_value_are_compared_only_where_configured() {
    let skills = [&[2000.0][..], &[600.0, ABSENT]];
    assert_eq!(ranked(ELO, None, &skills).unwrap(), [0, 1]);
    let config = r#"{"statistic": "elo", "unranked": 500}"#;
    assert_eq!(ranked(config, None, &skills).unwrap(), [1, 0]);
}

#[test]
fn without_statistic_player_or_data_the_order_stays() {
    let skills = [&[2000.0][..], &[1000.0]];
    assert_eq!(ranked("{}", Some(1000.0), &skills).unwrap(), [0, 1]);
    assert_eq!(testing::hub(|hub| hub.data_calls), 0);
    let candidates = [candidate_with_players(0, 1), candidate_with_players(1, 1)];
    let nobody = MatchRequest { player_uuid: None, ..testing::request() };
    assert_eq!(SkillBalance::rank(&testing::context(ELO), &nobody, &candidates).unwrap(), [0, 1]);
    testing::hub(|hub| hub.failing = Some(HostError::Unavailable));
    assert_eq!(SkillBalance::rank(&testing::context(ELO), &testing::request(), &candidates).unwrap(), [0, 1]);
    assert!(testing::hub(|hub| hub.log[hub.log.len() - 1].contains("could not be compared")));
}

#[test]
fn the_own_party_comes_before_everything() {
    ranked(ELO, Some(1000.0), &[&[1000.0], &[3000.0]]).unwrap();
    let party = Candidate { affinity: true, ..candidate_with_players(1, 1) };
    let context = testing::context(ELO);
    let order = SkillBalance::rank(&context, &testing::request(), &[candidate_with_players(0, 1), party]);
    assert_eq!(order.unwrap(), [1, 0]);
}

#[test]
fn the_example_configuration_is_valid() {
    let config: Config = config(&testing::context(include_str!("../config.example.json")));
    assert_eq!(config.max_gap, Some(300.0));
}
