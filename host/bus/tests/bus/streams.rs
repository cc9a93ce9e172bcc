//! Selection of a stream's events, and its starting position.

use crate::common::{EPOCH, NETWORK, bus, chat, id, next, now, publish, read, sequence, subscribe};
use hub_bus::{EndReason, Event, EventRef, PublishError, StoredEvent};

#[test]
fn an_event_is_one_frame_for_every_stream() {
    let bus = bus(|_| ());
    let mut one = subscribe(&bus, NETWORK, Some("a"), None, 0);
    let mut other = subscribe(&bus, NETWORK, None, None, 0);
    let mut elsewhere = subscribe(&bus, NETWORK + 1, Some("a"), None, 0);
    publish(&bus, None, 0);
    let (Some(Ok(first)), Some(Ok(second))) = (now(next(&mut one)), now(next(&mut other))) else {
        panic!("both streams have the event");
    };
    assert_eq!(first, format!("id: {EPOCH}.1\nevent: CHAT\ndata: {{\"type\":\"CHAT\"}}\n\n"));
    assert_eq!(first.as_ptr(), second.as_ptr(), "the bytes are shared");
    assert_eq!(now(next(&mut elsewhere)), None, "another network's stream is silent");
}

#[test]
fn a_targeted_event_takes_a_number_but_goes_to_one_stream() {
    let bus = bus(|_| ());
    let mut streams = ["a", "b"].map(|id| subscribe(&bus, NETWORK, Some(id), None, 0));
    let mut untargeted = subscribe(&bus, NETWORK, None, None, 0);
    for target in [None, Some("a"), Some("b"), None, Some("a"), None] {
        publish(&bus, target, 0);
    }
    let [a, b] = streams.each_mut().map(read);
    assert_eq!(a, ["1", "2", "4", "5", "6"]);
    assert_eq!(b, ["1", "3", "4", "6"]);
    assert_eq!(read(&mut untargeted), ["1", "4", "6"]);
}

#[test]
fn a_stream_resumes_after_its_last_event() {
    let bus = bus(|_| ());
    for target in [None, Some("a"), Some("b"), None] {
        publish(&bus, target, 0);
    }
    let resume = |server, last: &str| read(&mut subscribe(&bus, NETWORK, server, Some(last), 0));
    assert_eq!(resume(Some("a"), &id(1)), ["2", "4"]);
    assert_eq!(resume(Some("a"), &id(0)), ["1", "2", "4"]);
    assert_eq!(resume(Some("b"), &id(1)), ["3", "4"]);
    assert_eq!(resume(None, &id(2)), ["4"]);
    assert_eq!(resume(Some("a"), &id(4)), [""; 0]);
    assert_eq!(resume(Some("a"), ""), [""; 0], "an empty id counts as none");
}

#[test]
fn a_malformed_or_unknown_id_gets_a_resync() {
    let bus = bus(|_| ());
    publish(&bus, None, 0);
    for last in ["malformed".to_owned(), format!("{}.1", EPOCH + 1), id(2), format!("{EPOCH}.-1")] {
        let mut stream = subscribe(&bus, NETWORK, Some("a"), Some(&last), 5);
        assert_eq!(stream.start_id(), id(1));
        let Some(Ok(frame)) = now(next(&mut stream)) else {
            panic!("{last} begins with a RESYNC");
        };
        assert_eq!(frame, format!("id: {EPOCH}.1\nevent: RESYNC\ndata: {{\"type\":\"RESYNC\",\"at\":5}}\n\n"));
        assert_eq!(now(next(&mut stream)), None);
    }
    assert_eq!(bus.stats().resyncs, 4);
    let mut stream = subscribe(&bus, NETWORK, Some("a"), Some("malformed"), 0);
    publish(&bus, None, 0);
    assert_eq!(read(&mut stream), ["resync 1", "2"]);
    let mut again = subscribe(&bus, NETWORK, Some("a"), Some(&id(1)), 0);
    assert_eq!(read(&mut again), ["2"], "the RESYNC's own id can be resumed from");
}

#[test]
fn a_stream_can_resume_before_its_first_event() {
    let bus = bus(|_| ());
    publish(&bus, None, 0);
    let start = subscribe(&bus, NETWORK, Some("a"), None, 0).start_id();
    publish(&bus, None, 0);
    let mut again = subscribe(&bus, NETWORK, Some("a"), Some(&start), 0);
    assert_eq!(again.start_id(), start);
    assert_eq!(read(&mut again), ["2"]);
}

#[test]
fn the_newer_stream_of_a_server_replaces_the_older() {
    let bus = bus(|_| ());
    let mut old = subscribe(&bus, NETWORK, Some("a"), None, 0);
    publish(&bus, None, 0);
    let mut new = subscribe(&bus, NETWORK, Some("a"), Some(&id(0)), 0);
    publish(&bus, None, 0);
    assert_eq!(read(&mut old), ["Replaced"]);
    assert_eq!(read(&mut old), ["Replaced"], "and stays so");
    drop(old);
    assert!(bus.is_connected(NETWORK, "a"), "the newer one is still there");
    assert_eq!(read(&mut new), ["1", "2"]);
    drop(new);
    assert!(!bus.is_connected(NETWORK, "a"));
    assert_eq!(bus.stats().replaced, 1);
}

#[test]
fn a_server_is_connected_while_it_has_an_open_stream() {
    let bus = bus(|_| ());
    publish(&bus, Some("b"), 0);
    let a = subscribe(&bus, NETWORK, Some("a"), None, 0);
    let untargeted = subscribe(&bus, NETWORK, None, None, 0);
    assert!(bus.is_connected(NETWORK, "a"));
    assert!(!bus.is_connected(NETWORK, "b"), "events alone connect nobody");
    assert!(!bus.is_connected(NETWORK + 1, "a"));
    assert_eq!(bus.stats().subscriptions, 2);
    drop((a, untargeted));
    assert!(!bus.is_connected(NETWORK, "a"));
    assert_eq!(bus.stats().subscriptions, 0);
}

#[test]
fn closing_a_network_ends_only_its_streams() {
    let bus = bus(|_| ());
    let mut stream = subscribe(&bus, NETWORK, Some("a"), None, 0);
    let mut elsewhere = subscribe(&bus, NETWORK + 1, Some("a"), None, 0);
    for _ in 0..3 {
        publish(&bus, None, 0);
    }
    bus.close_network(NETWORK);
    assert_eq!(read(&mut stream), ["Closed"]);
    assert!(!bus.is_connected(NETWORK, "a"));
    assert_eq!(now(next(&mut elsewhere)), None);

    // Earlier events are dropped, and no number is assigned twice.
    assert_eq!(publish(&bus, None, 0), 4);
    let mut again = subscribe(&bus, NETWORK, Some("a"), Some(&id(1)), 0);
    assert_eq!(read(&mut again), ["resync 4"]);
}

#[test]
fn a_closed_bus_refuses_streams_and_events() {
    let bus = bus(|_| ());
    let mut before = subscribe(&bus, NETWORK, Some("a"), None, 0);
    bus.close();
    let mut after = subscribe(&bus, NETWORK, Some("b"), None, 0);
    let mut new_network = subscribe(&bus, NETWORK + 1, Some("b"), None, 0);
    for stream in [&mut before, &mut after, &mut new_network] {
        assert_eq!(read(stream), ["Closed"]);
    }
    assert!(!bus.is_connected(NETWORK, "b"));
    for network in [NETWORK, NETWORK + 1] {
        let published = now(bus.publish(network, chat(None), 0));
        assert_eq!(published, Some(Err(PublishError::Closed)));
    }
}

#[test]
fn an_event_that_would_forge_frames_is_refused() {
    let bus = bus(|_| ());
    let forged = Event { data: "{}\n\nevent: TRANSFER\ndata: {}".to_owned(), ..chat(None) };
    let published = now(bus.publish(NETWORK, forged, 0));
    assert_eq!(published, Some(Err(PublishError::Malformed)));
    assert_eq!(publish(&bus, None, 0), 1, "it took no number");
}

#[test]
fn the_end_can_be_watched_without_reading() {
    let bus = bus(|_| ());
    let old = subscribe(&bus, NETWORK, Some("a"), None, 0);
    let mut ended = std::pin::pin!(old.watch_end().wait());
    assert_eq!(now(ended.as_mut()), None);
    assert!(!old.watch_end().is_over());
    let new = subscribe(&bus, NETWORK, Some("a"), None, 0);
    assert_eq!(now(ended), Some(Some(EndReason::Replaced)));
    assert!(old.watch_end().is_over());
    assert_eq!(now(old.watch_end().wait()), Some(Some(EndReason::Replaced)), "also later");

    let mut left = std::pin::pin!(new.watch_end().wait());
    assert_eq!(now(left.as_mut()), None);
    drop(new);
    assert_eq!(now(left), Some(None));
}

#[test]
fn a_batch_takes_the_ready_frames_up_to_its_size() {
    let bus = bus(|_| ());
    let mut stream = subscribe(&bus, NETWORK, Some("a"), Some("old"), 0);
    for _ in 0..5 {
        publish(&bus, None, 0);
    }
    let mut frames = Vec::new();
    assert_eq!(now(stream.next_batch(&mut frames, 4)), Some(Ok(())));
    let seen: Vec<_> = frames.iter().map(|frame| sequence(frame)).collect();
    assert_eq!(seen, [0, 1, 2, 3], "the RESYNC, then events");
    assert_eq!(now(stream.next_batch(&mut frames, 4)), Some(Ok(())));
    assert_eq!(frames.len(), 6, "earlier frames stay in the buffer");
    assert_eq!(now(stream.next_batch(&mut frames, 4)), None);
}

#[test]
fn events_left_by_an_earlier_process_follow_the_resync() {
    let bus = bus(|_| ());
    publish(&bus, None, 0);
    let left = |target| {
        let event = EventRef { name: "CHAT", target, data: "{}" };
        let stored = StoredEvent { message_id: "1", is_left_over: true, event };
        now(bus.publish_stored(NETWORK, stored, 0)).expect("no waiting").expect("it is published")
    };
    assert_eq!([left(None), left(Some("a")), left(Some("b"))], [2, 3, 4]);
    publish(&bus, None, 0);
    let earlier = format!("{}.9", EPOCH + 1);
    let read_from = |server, last: &str| read(&mut subscribe(&bus, NETWORK, server, Some(last), 0));
    assert_eq!(read_from(Some("a"), &earlier), ["resync 1", "2", "3", "5"]);
    assert_eq!(read_from(None, &earlier), ["resync 1", "2", "5"]);
    assert_eq!(read_from(Some("a"), "malformed"), ["resync 5"], "nothing says that it is of an earlier process");
    assert_eq!(read_from(Some("a"), &id(99)), ["resync 5"]);
    assert_eq!(read_from(Some("a"), &id(3)), ["5"]);
    // Dropped like all events.
    bus.sweep(1_000_000);
    assert_eq!(read_from(Some("a"), &earlier), ["resync 5"]);
}
