//! Retention and lag limits, and the effect of exceeding them.

use crate::common::{NETWORK, bus, chat, id, now, publish, read, subscribe};
use hub_bus::{Bus, EndReason};
use std::time::Duration;

const MINUTE: i64 = 60_000;

fn resume(bus: &Bus, last: u64, now_ms: i64) -> Vec<String> {
    let last = id(last);
    read(&mut subscribe(bus, NETWORK, Some("a"), Some(&last), now_ms))
}

#[test]
fn two_minutes_can_be_resumed() {
    let bus = bus(|_| ());
    publish(&bus, None, 0);
    publish(&bus, None, MINUTE);
    assert_eq!(resume(&bus, 0, 2 * MINUTE - 1), ["1", "2"]);
    assert_eq!(resume(&bus, 0, 2 * MINUTE), ["resync 2"]);
    assert_eq!(resume(&bus, 1, 2 * MINUTE), ["2"]);
}

#[test]
fn ten_events_can_be_resumed() {
    let bus = bus(|config| config.retention_events = 10);
    publish(&bus, Some("a"), 0);
    for _ in 0..9 {
        publish(&bus, Some("b"), 0);
    }
    assert_eq!(resume(&bus, 0, 0), ["1"]);
    publish(&bus, Some("b"), 0);
    assert_eq!(resume(&bus, 0, 0), ["resync 11"]);
    assert_eq!(resume(&bus, 1, 0), [""; 0], "the dropped event was not for this stream");
}

#[test]
fn huge_events_are_dropped_early() {
    let bus = bus(|config| config.retention_bytes = 100);
    for _ in 0..3 {
        publish(&bus, None, 0);
    }
    assert!(bus.stats().retained_bytes <= 100);
    assert_eq!(resume(&bus, 0, 0), ["resync 3"]);
    assert_eq!(resume(&bus, 1, 0), ["2", "3"]);
}

#[test]
fn a_reader_that_lags_too_many_events_is_disconnected() {
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
    assert!(bus.is_connected(NETWORK, "a"), "events for other servers are no lag");
    publish(&bus, Some("a"), 0);
    assert_eq!(read(&mut slow), ["TooSlow"]);
    assert_eq!(read(&mut fast), [""; 0]);
    assert!(!bus.is_connected(NETWORK, "a"));
    assert_eq!(bus.stats().too_slow, 1);
    assert_eq!(resume(&bus, 0, 0), ["1", "2", "3", "104"], "it resumes without loss");
}

#[test]
fn a_reader_that_lags_too_many_bytes_is_disconnected() {
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
fn a_reader_that_stops_polling_is_disconnected_by_the_sweep() {
    let bus = bus(|config| config.max_lag_events = 3);
    let mut stuck = subscribe(&bus, NETWORK, Some("a"), None, 0);
    let mut ended = std::pin::pin!(stuck.watch_end().wait());
    assert_eq!(now(ended.as_mut()), None);
    for _ in 0..4 {
        publish(&bus, None, 0);
    }
    bus.sweep(0);
    assert!(!bus.is_connected(NETWORK, "a"));
    assert_eq!(now(ended), Some(Some(EndReason::TooSlow)));
    assert_eq!(read(&mut stuck), ["TooSlow"]);
    assert_eq!(bus.stats().too_slow, 1);
}

#[test]
fn events_from_before_the_stream_are_no_lag() {
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
fn an_event_that_expires_unread_disconnects_instead_of_leaving_a_gap() {
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
fn unused_networks_are_removed() {
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
    assert_eq!((stats.retained_events, stats.retained_bytes), (0, 0));
    assert_eq!(stats.networks, 1, "except the one that is read");
    drop(reader);
}

#[test]
fn a_removed_network_never_reuses_an_id() {
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
fn a_removed_server_gets_a_resync() {
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
fn a_short_subscription_keeps_its_network() {
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
    assert_eq!(bus.stats().networks, 2, "the one without a subscription is removed");
    for (network, server) in visitors {
        let mut stream = subscribe(&bus, network, server, Some(&id(1)), 4 * MINUTE);
        assert_eq!(read(&mut stream), [""; 0], "{network}");
    }
}
