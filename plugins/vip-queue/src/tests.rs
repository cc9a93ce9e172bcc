#![allow(clippy::unwrap_used)]

use super::*;
use network_hub_module::{HostError, PlayerRef, testing};

fn grant(player: &str, node: &str) {
    testing::hub(|hub| hub.permissions.insert((player.into(), node.into()), PermissionState::Granted));
}

fn placed(config: &str, ticket: &Ticket) -> Decision {
    VipQueue::place(&testing::context(config), ticket)
}

fn party(member: &str) -> Ticket {
    let members = vec![PlayerRef { uuid: member.into(), name: "Member".into() }];
    Ticket { members, ..testing::ticket() }
}

#[test]
fn the_best_rank_counts() {
    let ticket = testing::ticket();
    assert_eq!(placed("{}", &ticket), Decision::Admit(0));
    grant(&ticket.player.uuid, "queue.vip");
    assert_eq!(placed("{}", &ticket), Decision::Admit(300));
    grant(&ticket.player.uuid, "queue.staff");
    assert_eq!(placed("{}", &ticket), Decision::Admit(1000));
}

#[test]
fn the_order_of_the_list_does_not_count() {
    let ticket = testing::ticket();
    let ranks = r#"{"ranks": [{"permission": "a", "priority": -5}, {"permission": "b", "priority": 7}]}"#;
    grant(&ticket.player.uuid, "a");
    assert_eq!(placed(ranks, &ticket), Decision::Admit(-5));
    grant(&ticket.player.uuid, "b");
    assert_eq!(placed(ranks, &ticket), Decision::Admit(7));
}

#[test]
fn a_party_can_count_as_its_best_member() {
    grant("m", "queue.vip");
    assert_eq!(placed("{}", &party("m")), Decision::Admit(0));
    assert_eq!(placed(r#"{"partyCounts": true}"#, &party("m")), Decision::Admit(300));
}

#[test]
fn a_large_party_needs_no_more_data_calls_than_there_are() {
    let members = (0..15).map(|at| PlayerRef { uuid: at.to_string(), name: String::new() }).collect();
    let ticket = Ticket { members, ..testing::ticket() };
    assert_eq!(placed(r#"{"partyCounts": true}"#, &ticket), Decision::Admit(0));
}

#[test]
fn it_can_be_limited_to_types_of_servers() {
    let ticket = testing::ticket();
    grant(&ticket.player.uuid, "queue.vip");
    assert_eq!(placed(r#"{"serverTypes": ["lobby"]}"#, &ticket), Decision::Admit(300));
    assert_eq!(placed(r#"{"serverTypes": ["bedwars"]}"#, &ticket), Decision::Admit(0));
}

#[test]
fn without_permissions_nobody_has_a_rank() {
    testing::hub(|hub| hub.failing = Some(HostError::Unavailable));
    assert_eq!(placed("{}", &testing::ticket()), Decision::Admit(0));
}

#[test]
fn the_example_configuration_is_valid() {
    let config: Config = config(&testing::context(include_str!("../config.example.json")));
    assert_eq!((config.ranks.len(), config.party_counts), (3, true));
}
