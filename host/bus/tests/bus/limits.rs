//! What is kept, for how long, and what happens to those who are too late.

use crate::common::{NETWORK, bus, chat, id, now, publish, read, subscribe};
use hub_bus::{Bus, End};
use std::time::Duration;

const MINUTE: i64 = 60_000;

fn resume(bus: &Bus, last: u64, now_ms: i64) -> Vec<String> {
    let last = id(last);
    read(&mut subscribe(bus, NETWORK, Some("a"), Some(&last), now_ms))
}

#[test]
fn two_minutes_can_be_resumed_and_no_more() {
    let bus = bus(|_| ());
    publish(&bus, None, 0);
    publish(&bus, None, MINUTE);
    assert_eq!(resume(&bus, 0, 2 * MINUTE - 1), ["1", "2"]);
    assert_eq!(resume(&bus, 0, 2 * MINUTE), ["resync 2"]);
    assert_eq!(resume(&bus, 1, 2 * MINUTE), ["2"]);
}

#[test]
fn ten_events_can_be_resumed_and_no_more() {
    let bus = bus(|config| config.retention_events = 10);
    publish(&bus, Some("a"), 0);
    for _ in 0..9 {
        publish(&bus, Some("b"), 0);
    }
    assert_eq!(resume(&bus, 0, 0), ["1"]);
    publish(&bus, Some("b"), 0);
    assert_eq!(resume(&bus, 0, 0), ["resync 11"]);
    assert_eq!(resume(&bus, 1, 0), [""; 0], "what is lost was not for this stream");
}

#[test]
fn huge_events_go_early() {
    let bus = bus(|config| config.retention_bytes = 100);
    for _ in 0..3 {
        publish(&bus, None, 0);
    }
    assert!(bus.stats().kept_bytes <= 100);
    assert_eq!(resume(&bus, 0, 0), ["resync 3"]);
    assert_eq!(resume(&bus, 1, 0), ["2", "3"]);
}

#[test]
fn who_lags_too_many_events_is_cut_off() {
    let bus = bus(|config| config.max_lag_events = 3);
    let mut slow = subscribe(&bus, NETWORK, Some("a"), None, 0);
    let mut fast = subscribe(&bus, NETWORK, Some("b"), None, 0);
    for sequence in 1..=3 {
        publish(&bus, None, 0);
        assert_eq!(read(&mut fast), [sequence.to_string()]);
    }
    for _ in 0..100 {
        publish(&bus, Some("b"), 0);
        assert_eq!(read(&mut fast).len(), 1);
    }
    bus.sweep(0);
    assert!(bus.is_connected(NETWORK, "a"), "the events of others are not its lag");
    publish(&bus, Some("a"), 0);
    assert_eq!(read(&mut slow), ["TooSlow"]);
    assert_eq!(read(&mut fast), [""; 0]);
    assert!(!bus.is_connected(NETWORK, "a"));
    assert_eq!(bus.stats().too_slow, 1);
    assert_eq!(resume(&bus, 0, 0), ["1", "2", "3", "104"], "it resumes without a loss");
}

#[test]
fn who_lags_too_many_bytes_is_cut_off() {
    let bus = bus(|config| config.max_lag_bytes = 100);
    let mut slow = subscribe(&bus, NETWORK, Some("a"), None, 0);
    publish(&bus, None, 0);
    publish(&bus, None, 0);
    bus.sweep(0);
    assert!(bus.is_connected(NETWORK, "a"));
    publish(&bus, None, 0);
    assert_eq!(read(&mut slow), ["TooSlow"]);
}

#[test]
fn who_never_asks_again_is_cut_off_by_the_sweep() {
    let bus = bus(|config| config.max_lag_events = 3);
    let mut stuck = subscribe(&bus, NETWORK, Some("a"), None, 0);
    let mut ended = std::pin::pin!(stuck.ended().wait());
    assert_eq!(now(ended.as_mut()), None);
    for _ in 0..4 {
        publish(&bus, None, 0);
    }
    bus.sweep(0);
    assert!(!bus.is_connected(NETWORK, "a"));
    assert_eq!(now(ended), Some(Some(End::TooSlow)));
    assert_eq!(read(&mut stuck), ["TooSlow"]);
    assert_eq!(bus.stats().too_slow, 1);
}

#[test]
fn what_was_missed_before_the_stream_began_is_no_lag() {
    let bus = bus(|config| config.max_lag_events = 3);
    for _ in 0..50 {
        publish(&bus, None, 0);
    }
    let last = id(0);
    let mut late = subscribe(&bus, NETWORK, Some("a"), Some(&last), 0);
    for _ in 0..3 {
        publish(&bus, None, 0);
    }
    bus.sweep(0);
    assert_eq!(read(&mut late).len(), 53);
    for _ in 0..4 {
        publish(&bus, None, 0);
    }
    assert_eq!(read(&mut late), ["TooSlow"]);
}

#[test]
fn what_expires_unread_cuts_off_instead_of_leaving_a_gap() {
    let bus = bus(|config| config.retention = Duration::from_secs(1));
    let mut slow = subscribe(&bus, NETWORK, Some("a"), None, 0);
    publish(&bus, None, 0);
    publish(&bus, None, 1_000);
    assert_eq!(read(&mut slow), ["TooSlow"]);
}

#[test]
fn a_quiet_network_can_be_resumed_whatever_its_age() {
    let bus = bus(|_| ());
    publish(&bus, None, 0);
    let stream = subscribe(&bus, NETWORK, Some("a"), None, 0);
    for minute in 0..60 {
        publish(&bus, Some("b"), minute * MINUTE);
        bus.sweep(minute * MINUTE);
    }
    drop(stream);
    bus.sweep(60 * MINUTE);
    bus.sweep(61 * MINUTE);
    assert_eq!(resume(&bus, 1, 61 * MINUTE), [""; 0]);
}

#[test]
fn nothing_is_kept_of_what_nobody_uses() {
    let bus = bus(|_| ());
    for network in 0..20 {
        let stream = subscribe(&bus, network, Some("a"), None, 0);
        let event = chat(Some(&format!("server {network}")));
        let published = now(bus.publish(network, event, 0));
        assert!(matches!(published, Some(Ok(_))));
        drop(stream);
    }
    let reader = subscribe(&bus, NETWORK, None, None, 0);
    assert_eq!(bus.stats().networks, 20);
    for minute in 1..=6 {
        bus.sweep(minute * MINUTE);
    }
    let stats = bus.stats();
    assert_eq!((stats.kept_events, stats.kept_bytes), (0, 0));
    assert_eq!(stats.networks, 1, "but for the one that is read");
    drop(reader);
}

#[test]
fn a_forgotten_network_never_mistakes_an_old_id_for_a_new_one() {
    let bus = bus(|_| ());
    for _ in 0..5 {
        publish(&bus, None, 0);
    }
    for minute in 1..=6 {
        bus.sweep(minute * MINUTE);
    }
    assert_eq!(bus.stats().networks, 0);
    for _ in 0..5 {
        publish(&bus, None, 7 * MINUTE);
    }
    assert_eq!(resume(&bus, 3, 7 * MINUTE), ["resync 10"]);
    assert_eq!(resume(&bus, 5, 7 * MINUTE), ["6", "7", "8", "9", "10"]);
}

#[test]
fn a_forgotten_server_is_told_that_its_events_are_gone() {
    let bus = bus(|_| ());
    let _reader = subscribe(&bus, NETWORK, None, None, 0);
    publish(&bus, None, 0);
    publish(&bus, Some("a"), 0);
    for minute in 1..=6 {
        bus.sweep(minute * MINUTE);
    }
    assert_eq!(resume(&bus, 1, 6 * MINUTE), ["resync 2"]);
    assert_eq!(resume(&bus, 2, 6 * MINUTE), [""; 0]);
}

#[test]
fn a_short_visit_is_enough_to_be_remembered() {
    let bus = bus(|_| ());
    let _reader = subscribe(&bus, NETWORK, None, None, 0);
    publish(&bus, None, 0);
    publish(&bus, Some("b"), 0);
    let visitors = [(NETWORK, Some("a")), (NETWORK + 1, None)];
    drop(subscribe(&bus, NETWORK, Some("a"), None, 0));
    for network in [NETWORK + 1, NETWORK + 2] {
        assert!(now(bus.publish(network, chat(None), 0)).is_some());
    }
    assert!(now(bus.publish(NETWORK + 2, chat(None), 0)).is_some());
    bus.sweep(2 * MINUTE);
    for (network, server) in visitors {
        drop(subscribe(&bus, network, server, None, 3 * MINUTE));
    }
    bus.sweep(4 * MINUTE);
    assert_eq!(bus.stats().networks, 2, "the one nobody visited is forgotten");
    for (network, server) in visitors {
        let mut stream = subscribe(&bus, network, server, Some(&id(1)), 4 * MINUTE);
        assert_eq!(read(&mut stream), [""; 0], "{network}");
    }
}
