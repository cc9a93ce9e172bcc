//! Several nodes with one NATS server.

use crate::common::{self, NETWORK, chat};
use crate::nats::Nats;
use bytes::Bytes;
use hub_bus::{
    Bus, BusConfig, Cluster, ClusterConfig, EndReason, Event, EventRef, PublishError, StoredEvent, Subscription,
};
use std::time::Duration;

pub(crate) async fn node(nats: &Nats, name: &str) -> (Bus, Cluster) {
    let cluster = Cluster::connect(ClusterConfig::new(&nats.url(), name)).await.unwrap();
    let bus = Bus::clustered(BusConfig::new(1), cluster.clone()).await.unwrap();
    (bus, cluster)
}

pub(crate) fn numbered(number: u64, target: Option<&str>) -> Event {
    Event { data: format!(r#"{{"number":{number}}}"#), ..chat(target) }
}

pub(crate) async fn open(bus: &Bus, server: Option<&str>, last: Option<&str>) -> Subscription {
    bus.subscribe(NETWORK, server, last, 5).await.unwrap()
}

/// The next frame's id and data.
pub(crate) async fn next(stream: &mut Subscription) -> (String, String) {
    let next = tokio::time::timeout(Duration::from_secs(20), common::next(stream)).await.expect("a frame arrives");
    let text = String::from_utf8(next.unwrap().to_vec()).unwrap();
    let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().to_owned();
    (line("id: "), line("data: "))
}

pub(crate) async fn data(stream: &mut Subscription, count: usize) -> Vec<String> {
    let mut all = vec![];
    for _ in 0..count {
        all.push(next(stream).await.1);
    }
    all
}

pub(crate) fn data_of(numbers: impl IntoIterator<Item = u64>) -> Vec<String> {
    numbers.into_iter().map(|number| numbered(number, None).data).collect()
}

#[tokio::test]
async fn all_nodes_have_one_sequence() {
    let nats = Nats::start().await;
    let ((one, _), (two, _)) = (node(&nats, "one").await, node(&nats, "two").await);
    let mut streams = [open(&one, Some("a"), None).await, open(&two, Some("b"), None).await];
    let mut sequences = vec![];
    for number in 0..10 {
        let bus = if number % 2 == 0 { &one } else { &two };
        sequences.push(bus.publish(NETWORK, numbered(number, None), 1).await.unwrap());
        bus.publish(NETWORK + 1, numbered(99, None), 1).await.unwrap();
    }
    assert!(sequences.is_sorted());
    let mut ids = vec![];
    for stream in &mut streams {
        let mut seen = vec![];
        for number in 0..10 {
            let (id, data) = next(stream).await;
            assert_eq!(data, numbered(number, None).data);
            seen.push(id);
        }
        ids.push(seen);
    }
    assert_eq!(ids[0], ids[1]);
    one.publish(NETWORK, numbered(10, Some("b")), 1).await.unwrap();
    one.publish(NETWORK, numbered(11, None), 1).await.unwrap();
    assert_eq!(data(&mut streams[0], 1).await, data_of([11]));
    assert_eq!(data(&mut streams[1], 2).await, data_of([10, 11]));
}

#[tokio::test]
async fn a_client_resumes_at_another_node() {
    let nats = Nats::start().await;
    let ((one, _), (two, _)) = (node(&nats, "one").await, node(&nats, "two").await);
    let mut stream = open(&one, Some("a"), None).await;
    let begin = stream.start_id();
    for number in 0..600 {
        one.publish(NETWORK, numbered(number, (number % 3 == 0).then_some("a")), 1).await.unwrap();
    }
    let (id, _) = next(&mut stream).await;
    drop(stream);
    let mut all = open(&two, Some("a"), Some(&begin)).await;
    assert_eq!(data(&mut all, 600).await, data_of(0..600));
    let mut rest = open(&two, Some("a"), Some(&id)).await;
    assert_eq!(data(&mut rest, 599).await, data_of(1..600));
    // A node that just started has all events, too.
    let (three, _) = node(&nats, "three").await;
    let mut others = open(&three, Some("b"), Some(&begin)).await;
    assert_eq!(data(&mut others, 400).await, data_of((0..600).filter(|number| number % 3 != 0)));
    // An id that was never assigned gets a RESYNC.
    let (epoch, _) = begin.split_once('.').unwrap();
    let mut unknown = open(&two, Some("a"), Some(&format!("{epoch}.999999"))).await;
    assert!(next(&mut unknown).await.1.contains("RESYNC"));
}

#[tokio::test]
async fn of_one_servers_streams_opened_at_once_at_all_nodes_one_stays() {
    let nats = Nats::start().await;
    let (one, two, three) = (node(&nats, "one").await.0, node(&nats, "two").await.0, node(&nats, "three").await.0);
    for round in 0..10 {
        let server = format!("s-{round}");
        let open = |bus| open(bus, Some(&server), None);
        let (a, b, c) = tokio::join!(open(&one), open(&two), open(&three));
        let ends = [&a, &b, &c].map(Subscription::watch_end);
        let open_ends = || ends.iter().filter(|end| !end.is_over()).count();
        let opened = tokio::time::Instant::now();
        while open_ends() > 1 {
            assert!(opened.elapsed() < Duration::from_secs(20), "{} streams stay", open_ends());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(open_ends(), 1);
    }
}

#[tokio::test]
async fn all_streams_begin_anew_once_when_the_database_goes_back() {
    let nats = Nats::start().await;
    let ((one, _), (two, _)) = (node(&nats, "one").await, node(&nats, "two").await);
    let mut streams = [open(&one, Some("a"), None).await, open(&two, Some("b"), None).await];
    one.publish(NETWORK, numbered(1, None), 1).await.unwrap();
    let mut last = vec![];
    for stream in &mut streams {
        last.push(next(stream).await.0);
    }
    for bus in [&one, &two, &one] {
        bus.follow_database(7).await.unwrap();
    }
    for (stream, (bus, (server, last))) in
        streams.iter_mut().zip([&one, &two].into_iter().zip(["a", "b"].into_iter().zip(&last)))
    {
        assert_eq!(common::next(stream).await, Err(EndReason::Closed));
        let mut resumed = open(bus, Some(server), Some(last)).await;
        let (id, frame) = next(&mut resumed).await;
        assert!(frame.contains("RESYNC"), "{frame}");
        bus.follow_database(7).await.unwrap();
        let again = open(bus, Some(server), Some(&id)).await;
        assert_eq!(again.start_id(), id, "it is begun once");
    }
    // A node that starts later, and has heard of it from the database.
    let (three, _) = node(&nats, "three").await;
    three.follow_database(7).await.unwrap();
    let mut late = open(&three, Some("c"), Some(&last[0])).await;
    assert!(next(&mut late).await.1.contains("RESYNC"));
}

#[tokio::test]
async fn a_quiet_networks_id_is_valid_at_every_node() {
    let nats = Nats::start().await;
    let ((one, _), (two, _)) = (node(&nats, "one").await, node(&nats, "two").await);
    let quiet = open(&two, Some("a"), None).await.start_id();
    for number in 0..5 {
        one.publish(NETWORK + 1, numbered(number, None), 1).await.unwrap();
    }
    let later = open(&one, Some("a"), Some(&quiet)).await;
    let later = {
        let id = later.start_id();
        drop(later);
        id
    };
    assert_eq!(later, quiet);
    // Its number is beyond what the other node has seen of this network.
    let fresh = open(&one, Some("b"), None).await.start_id();
    let mut stream = open(&two, Some("b"), Some(&fresh)).await;
    two.publish(NETWORK, numbered(7, None), 1).await.unwrap();
    assert_eq!(data(&mut stream, 1).await, data_of([7]));
}

#[tokio::test]
async fn no_event_is_lost_or_repeated_when_nats_is_killed_and_restarted() {
    let mut nats = Nats::start().await;
    let ((one, _), (two, cluster)) = (node(&nats, "one").await, node(&nats, "two").await);
    let mut stream = open(&two, Some("a"), None).await;
    let writer = tokio::spawn({
        let one = one.clone();
        async move {
            let mut published = vec![];
            for number in 0..400 {
                if one.publish(NETWORK, numbered(number, None), 1).await.is_ok() {
                    published.push(number);
                }
            }
            published
        }
    });
    let first = data(&mut stream, 100).await;
    nats.kill(false);
    tokio::time::timeout(Duration::from_secs(20), async {
        while cluster.is_connected() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .expect("the node notices");
    nats.restart().await;
    let published = writer.await.unwrap();
    assert!(published.len() > 300, "{}", published.len());
    let mut seen = first;
    while seen.last() != Some(&numbered(*published.last().unwrap(), None).data) {
        seen.extend(data(&mut stream, 1).await);
    }
    // Acknowledged events are there, once and in order; others may be.
    let mut sorted: Vec<u64> = seen.iter().map(|data| number_in(data)).collect();
    assert!(sorted.is_sorted());
    sorted.dedup();
    assert_eq!(sorted.len(), seen.len(), "none twice");
    assert!(published.iter().all(|number| sorted.contains(number)), "none lost");
}

pub(crate) fn number_in(data: &str) -> u64 {
    data.trim_matches(|letter: char| !letter.is_ascii_digit()).parse().unwrap()
}

#[tokio::test]
async fn streams_restart_when_nats_lost_its_data() {
    let mut nats = Nats::start().await;
    let (one, _) = node(&nats, "one").await;
    one.publish(NETWORK, numbered(1, None), 1).await.unwrap();
    let mut stream = open(&one, Some("a"), None).await;
    let before = stream.start_id();
    nats.kill(true);
    nats.restart().await;
    let ended =
        tokio::time::timeout(Duration::from_secs(20), common::next(&mut stream)).await.expect("the stream ends");
    assert_eq!(ended, Err(EndReason::Closed));
    let mut again = open(&one, Some("a"), Some(&before)).await;
    assert!(next(&mut again).await.1.contains("RESYNC"));
    one.publish(NETWORK, numbered(2, None), 1).await.unwrap();
    assert_eq!(data(&mut again, 1).await, data_of([2]));
}

#[tokio::test]
async fn publishing_without_nats_fails() {
    let mut nats = Nats::start().await;
    let (one, _) = node(&nats, "one").await;
    nats.kill(false);
    assert_eq!(one.publish(NETWORK, chat(None), 1).await, Err(PublishError::Unreachable));
    one.close();
    assert_eq!(one.publish(NETWORK, chat(None), 1).await, Err(PublishError::Closed));
}

#[tokio::test]
async fn a_broadcast_reaches_the_other_nodes() {
    let nats = Nats::start().await;
    let ((_, one), (_, two)) = (node(&nats, "one").await, node(&nats, "two").await);
    // A listener receives everything broadcast from then on.
    for number in 0..100_u8 {
        let mut inbox = two.listen("keys").await.unwrap();
        one.broadcast("keys", Bytes::copy_from_slice(&[number])).await.unwrap();
        let received = tokio::time::timeout(Duration::from_secs(20), inbox.next()).await.expect("it arrives");
        assert_eq!(received.unwrap(), [number].as_slice());
    }
}

#[tokio::test]
async fn a_server_has_one_stream_and_every_node_knows_it() {
    let nats = Nats::start().await;
    let ((one, _), (two, _)) = (node(&nats, "one").await, node(&nats, "two").await);
    let mut old = one.subscribe(NETWORK, Some("a"), None, 5).await.unwrap();
    until(|| two.is_connected(NETWORK, "a")).await;
    assert!(!two.is_connected(NETWORK + 1, "a"));
    let new = two.subscribe(NETWORK, Some("a"), None, 6).await.unwrap();
    let ended =
        tokio::time::timeout(Duration::from_secs(20), common::next(&mut old)).await.expect("the older one ends");
    assert_eq!(ended, Err(EndReason::Replaced));
    assert!(one.is_connected(NETWORK, "a"));
    // A node that starts later asks for them.
    let (three, _) = node(&nats, "three").await;
    until(|| three.is_connected(NETWORK, "a")).await;
    drop(new);
    until(|| !one.is_connected(NETWORK, "a") && !three.is_connected(NETWORK, "a")).await;
}

pub(crate) async fn until(holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waiting).await.expect("the condition comes true");
}

#[tokio::test]
async fn a_stored_event_that_two_nodes_publish_is_on_streams_once() {
    let nats = Nats::start().await;
    let ((one, _), (two, _)) = (node(&nats, "one").await, node(&nats, "two").await);
    let mut stream = open(&two, Some("a"), None).await;
    let mut numbers = vec![];
    for (bus, message_id, data) in [(&one, "1", r#"{"number":1}"#), (&two, "1", r#"{"number":1}"#), (&two, "2", "{}")] {
        let event = EventRef { name: "CHAT", target: Some("a"), data };
        let stored = StoredEvent { message_id, is_left_over: false, event };
        numbers.push(bus.publish_stored(NETWORK, stored, 1).await.unwrap());
    }
    assert_eq!(numbers[0], numbers[1]);
    assert_eq!(data(&mut stream, 2).await, [r#"{"number":1}"#, "{}"]);
}
