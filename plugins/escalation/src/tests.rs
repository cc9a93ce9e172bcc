#![allow(clippy::unwrap_used)]

use super::*;
use network_hub_module::punishment::Decision;
use network_hub_module::{HostError, PunishmentKind, testing};

const NOW: u64 = 100 * DAY_MS;

fn mute(days_ago: u64) -> players::Punishment {
    players::Punishment {
        id: 1,
        kind: PunishmentKind::Mute,
        reason: "spam".into(),
        issued_at_ms: NOW - days_ago * DAY_MS,
        duration_ms: Some(60_000),
        ip_based: false,
        issuer_name: None,
        active: false,
        revoked: false,
        expired: true,
    }
}

fn reviewed(config: &str, record: Vec<players::Punishment>, proposal: &Proposal) -> Verdict {
    testing::hub(|hub| hub.punishments.insert("p".into(), record));
    Escalation::review(&testing::context_at(NOW, config), proposal)
}

#[test]
fn the_third_mute_within_30_days_becomes_a_ban() {
    let verdict = reviewed("{}", vec![mute(1), mute(29)], &testing::proposal(PunishmentKind::Mute));
    let Decision::Amend(terms) = verdict.decision else { panic!("{verdict:?}") };
    assert_eq!(terms.kind, PunishmentKind::Ban);
    assert_eq!(terms.duration_ms, Some(7 * DAY_MS));
    assert_eq!(terms.reason, "3rd mute within 30 days: spam");
}

#[test]
fn second_mutes_old_mutes_and_warnings_do_not_escalate() {
    let mute_again = testing::proposal(PunishmentKind::Mute);
    assert_eq!(reviewed("{}", vec![mute(1)], &mute_again), Verdict::accept());
    assert_eq!(reviewed("{}", vec![mute(1), mute(31)], &mute_again), Verdict::accept());
    let warning = testing::proposal(PunishmentKind::Warn);
    assert_eq!(reviewed("{}", vec![mute(1), mute(2)], &warning), Verdict::accept());
}

#[test]
fn revoked_punishments_count_only_where_configured() {
    let revoked = players::Punishment { revoked: true, ..mute(1) };
    let record = || vec![revoked.clone(), mute(2)];
    let proposal = testing::proposal(PunishmentKind::Mute);
    assert_eq!(reviewed("{}", record(), &proposal), Verdict::accept());
    let verdict = reviewed(r#"{"countRevoked": true}"#, record(), &proposal);
    assert!(matches!(verdict.decision, Decision::Amend(_)));
}

#[test]
fn a_record_by_name_counts_and_an_address_has_none() {
    testing::hub(|hub| hub.punishments.insert("Steve".into(), vec![mute(1), mute(2)]));
    let by_name = Proposal { player_uuid: None, ..testing::proposal(PunishmentKind::Mute) };
    let context = testing::context_at(NOW, "{}");
    assert!(matches!(Escalation::review(&context, &by_name).decision, Decision::Amend(_)));
    let by_address = Proposal { player_name: None, ..by_name };
    assert_eq!(Escalation::review(&context, &by_address), Verdict::accept());
}

#[test]
fn an_unreadable_record_leaves_the_punishment_as_proposed() {
    testing::hub(|hub| hub.failing = Some(HostError::Unavailable));
    let context = testing::context_at(NOW, "{}");
    assert_eq!(Escalation::review(&context, &testing::proposal(PunishmentKind::Mute)), Verdict::accept());
}

#[test]
fn a_reason_stays_inside_the_hubs_bound() {
    let mut proposal = testing::proposal(PunishmentKind::Mute);
    proposal.terms.reason = "ä".repeat(256);
    let verdict = reviewed("{}", vec![mute(1), mute(2)], &proposal);
    let Decision::Amend(terms) = verdict.decision else { panic!("{verdict:?}") };
    assert_eq!(terms.reason.chars().count(), 256);
}

#[test]
fn the_example_configuration_is_valid() {
    let config: Config = config(&testing::context(include_str!("../config.example.json")));
    assert_eq!(config.rules.len(), 2);
    assert_eq!(config.rules[1].duration_ms, None);
}

#[test]
fn ordinals_have_english_endings() {
    let ordinals: Vec<_> = [1, 2, 3, 4, 11, 12, 13, 21, 22, 103, 111].map(ordinal).into();
    let expected = "1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 103rd 111th";
    assert_eq!(ordinals.join(" "), expected);
}
