#![allow(clippy::unwrap_used)]

use super::*;
use network_hub_module::{HostError, testing};

/// Matches a player of a party.
fn rank_for(config: &str, now_ms: u64, player: &str, candidates: &[Candidate]) -> Vec<u32> {
    let request = MatchRequest {
        player_uuid: Some(player.into()),
        affinity_owner_scope: Some("party".into()),
        affinity_owner_id: Some("7".into()),
        ..testing::request()
    };
    PartyTogether::rank(&testing::context_at(now_ms, config), &request, candidates).unwrap()
}

/// Candidates with these free slots and players.
fn candidates(all: &[(u32, &[&str])]) -> Vec<Candidate> {
    let details = |(index, (_, players)): (usize, &(u32, &[&str]))| testing::CandidateDetails {
        server_id: format!("game-{index}"),
        players: players.iter().map(ToString::to_string).collect(),
        ..testing::CandidateDetails::default()
    };
    testing::hub(|hub| hub.candidates = all.iter().enumerate().map(details).collect());
    let candidate = |(index, (free_slots, players)): (u32, &(u32, &[&str]))| Candidate {
        free_slots: *free_slots,
        current_players: u32::try_from(players.len()).unwrap(),
        ..testing::candidate(index)
    };
    (0..).zip(all).map(candidate).collect()
}

#[test]
fn the_first_is_sent_where_there_is_room_for_all() {
    assert_eq!(rank_for("{}", 0, "a", &candidates(&[(1, &[]), (3, &[]), (4, &[]), (9, &[])])), [2, 3, 1, 0]);
    testing::hub(|hub| hub.store.clear());
    let large = r#"{"groups": {"PARTY": 8}}"#;
    assert_eq!(rank_for(large, 0, "a", &candidates(&[(1, &[]), (3, &[]), (4, &[]), (9, &[])])), [3, 2, 1, 0]);
}

#[test]
fn the_others_follow_for_a_while() {
    let all = candidates(&[(9, &[]), (9, &[]), (2, &[])]);
    let party = Candidate { affinity: true, ..all[1] };
    assert_eq!(rank_for("{}", 0, "a", &[all[0], party, all[2]]), [1, 0, 2]);
    assert_eq!(rank_for("{}", 59_999, "b", &all), [1, 0, 2]);
    // Each follower extends the time.
    assert_eq!(rank_for("{}", 119_998, "c", &all), [1, 0, 2]);
    assert_eq!(rank_for("{}", 179_998, "d", &all), [0, 1, 2]);
}

#[test]
fn a_candidate_that_is_gone_is_ignored() {
    rank_for("{}", 0, "a", &candidates(&[(9, &[])]));
    let mut others = candidates(&[(9, &[]), (9, &[])]);
    others[0].index = 1;
    assert_eq!(rank_for("{}", 1, "b", &others[..1]), [1]);
}

#[test]
fn later_the_most_members_come_first() {
    rank_for("{}", 0, "a", &candidates(&[(9, &[])]));
    rank_for("{}", 0, "b", &candidates(&[(9, &[])]));
    let all = candidates(&[(9, &["x"]), (9, &["w"]), (9, &["a", "y"]), (2, &["a", "b"])]);
    // The fourth candidate with players is not searched.
    assert_eq!(rank_for("{}", 100_000, "c", &all), [2, 0, 1, 3]);
    assert_eq!(testing::hub(|hub| hub.data_calls), 5);
    let more = r#"{"candidates": 100}"#;
    assert_eq!(rank_for(more, 200_000, "c", &all), [3, 2, 0, 1]);
    // After an hour the group is forgotten.
    assert_eq!(rank_for(more, 200_000 + 3_600_000, "c", &all), [0, 1, 2, 3]);
}

#[test]
fn a_party_larger_than_expected_needs_more_room() {
    for player in ["a", "b", "c", "d", "e"] {
        rank_for("{}", 0, player, &candidates(&[(9, &[])]));
    }
    let all = candidates(&[(4, &[]), (6, &[])]);
    assert_eq!(rank_for("{}", 100_000, "f", &all), [1, 0]);
}

#[test]
fn players_without_a_party_keep_the_order() {
    let all = candidates(&[(1, &[]), (9, &[])]);
    let rank = |request: MatchRequest| PartyTogether::rank(&testing::context("{}"), &request, &all).unwrap();
    assert_eq!(rank(testing::request()), [0, 1]);
    let guild = MatchRequest {
        affinity_owner_scope: Some("GUILD".into()),
        affinity_owner_id: Some("7".into()),
        ..testing::request()
    };
    assert_eq!(rank(guild), [0, 1]);
    assert_eq!(testing::hub(|hub| hub.data_calls), 0);
}

#[test]
fn without_data_the_room_for_all_counts() {
    testing::hub(|hub| hub.failing = Some(HostError::Unavailable));
    assert_eq!(rank_for("{}", 0, "a", &candidates(&[(1, &[]), (9, &["b"])])), [1, 0]);
}

#[test]
fn the_store_stays_small_for_a_large_group() {
    for player in 0..200 {
        rank_for("{}", 0, &format!("player-{player}"), &candidates(&[(9, &[])]));
    }
    assert!(testing::hub(|hub| hub.store["group:party:7"].0.len()) < 1000);
}

#[test]
fn the_example_configuration_is_valid() {
    let config: Config = config(&testing::context(include_str!("../config.example.json")));
    assert_eq!(config.groups["GUILD"], 10);
}
