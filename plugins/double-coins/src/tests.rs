#![allow(clippy::unwrap_used)]

use super::*;
use network_hub_module::economy::{ChangeKind, Operation};
use network_hub_module::testing;

fn reviewed(config: &str, change: &Change) -> Decision {
    DoubleCoins::review(&testing::context_at(1_000, config), change)
}

#[test]
fn earned_coins_are_doubled() {
    assert_eq!(reviewed("{}", &testing::change(25_000)), Decision::Amend(50_000));
    assert_eq!(reviewed("{}", &testing::change(-25_000)), Decision::Accept);
    assert_eq!(reviewed(r#"{"currencies": ["gems"]}"#, &testing::change(25_000)), Decision::Accept);
    assert_eq!(reviewed(r#"{"percent": 100}"#, &testing::change(25_000)), Decision::Accept);
}

#[test]
fn a_transaction_makes_no_money() {
    let change = Change { kind: ChangeKind::Transaction, ..testing::change(25_000) };
    assert_eq!(reviewed("{}", &change), Decision::Accept);
}

#[test]
fn other_owners_earn_what_they_earn() {
    let farm = Operation { owner_type: "farm".into(), ..testing::change(25_000).operations.remove(0) };
    assert_eq!(reviewed("{}", &Change { operations: vec![farm], ..testing::change(1) }), Decision::Accept);
}

#[test]
fn it_can_be_limited_to_reasons_servers_and_times() {
    let doubled = |config: &str| {
        let change = Change { reason: Some("quest".into()), ..testing::change(25_000) };
        reviewed(config, &change) == Decision::Amend(50_000)
    };
    assert!(doubled(r#"{"reasons": ["quest"]}"#) && !doubled(r#"{"reasons": ["vote"]}"#));
    assert!(doubled(r#"{"servers": ["lobby-1"]}"#) && !doubled(r#"{"servers": ["lobby-2"]}"#));
    assert!(doubled(r#"{"fromMs": 1000, "untilMs": 1001}"#));
    assert!(!doubled(r#"{"fromMs": 1001}"#) && !doubled(r#"{"untilMs": 1000}"#));
    let without = Change { reason: None, server_id: None, ..testing::change(25_000) };
    assert_eq!(reviewed(r#"{"reasons": ["quest"]}"#, &without), Decision::Accept);
    assert_eq!(reviewed(r#"{"servers": ["lobby-1"]}"#, &without), Decision::Accept);
}

#[test]
fn an_amount_stays_in_its_bounds() {
    assert_eq!(multiplied(1, 1), 1);
    assert_eq!(multiplied(i64::MAX / 2, 1_000), 9_000_000_000_000_000_000);
    assert_eq!(multiplied(25_000, 150), 37_500);
}

#[test]
fn the_example_configuration_is_valid() {
    let config: Config = config(&testing::context(include_str!("../config.example.json")));
    assert_eq!((config.percent, config.reasons.len()), (200, 2));
}
