//! NATS loses events, or the connection to it: a stream carries everything, or ends and begins again with RESYNC.

use crate::cluster::{data, data_of, next, node, number_in, numbered, open, until};
use crate::common::{self, NETWORK};
use crate::nats::Nats;
use crate::ports::free_port;
use crate::proxy::Proxy;
use async_nats::jetstream;
use futures_util::future::join_all;
use hub_bus::{Bus, BusConfig, Cluster, ClusterConfig, Event, PublishError, Subscription};
use std::collections::BTreeSet;
use std::time::Duration;

/// A node with other limits.
async fn node_with(
    url: &str,
    name: &str,
    change: impl FnOnce(&mut ClusterConfig),
    change_bus: impl FnOnce(&mut BusConfig),
) -> (Bus, Cluster) {
    let mut config = ClusterConfig::new(url, name);
    change(&mut config);
    let mut bus = BusConfig::new(1);
    change_bus(&mut bus);
    let cluster = Cluster::connect(config).await.unwrap();
    (Bus::clustered(bus, cluster.clone()).await.unwrap(), cluster)
}

fn large(number: u64) -> Event {
    let mut event = numbered(number, None);
    event.data = format!(r#"{{"number":{number},"text":"{}"}}"#, "x".repeat(10_000));
    event
}

/// Publishes these events of a network, many at a time.
async fn publish_all(bus: &Bus, network: u128, events: Vec<Event>) {
    let mut events = events.into_iter().peekable();
    while events.peek().is_some() {
        let some: Vec<_> = events.by_ref().take(200).map(|event| bus.publish(network, event, 1)).collect();
        for published in join_all(some).await {
            published.unwrap();
        }
    }
}

async fn in_time<T>(seconds: u64, what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(seconds), future).await.unwrap_or_else(|_| panic!("{what}"))
}

/// A client: it reads, and resumes when its stream ends.
struct Reader {
    bus: Bus,
    stream: Option<Subscription>,
    last: String,
    seen: Vec<u64>,
    resyncs: usize,
}

impl Reader {
    async fn start(bus: &Bus) -> Self {
        let stream = open(bus, None, None).await;
        Self { bus: bus.clone(), last: stream.start_id(), stream: Some(stream), seen: vec![], resyncs: 0 }
    }

    /// Reads until it has seen this number.
    async fn read_until(&mut self, number: u64) {
        let reading = async {
            while !self.seen.contains(&number) {
                self.step().await;
            }
        };
        let done = tokio::time::timeout(Duration::from_secs(30), reading).await;
        assert!(done.is_ok(), "{number} does not arrive; {} RESYNCs, {:?}", self.resyncs, self.seen);
    }

    /// Reads until a gap is announced.
    async fn read_until_resync(&mut self) {
        let reading = async {
            while self.resyncs == 0 {
                self.step().await;
            }
        };
        let done = tokio::time::timeout(Duration::from_secs(30), reading).await;
        assert!(done.is_ok(), "no RESYNC arrives; {:?}", self.seen);
    }

    async fn step(&mut self) {
        let Some(stream) = &mut self.stream else {
            self.stream = self.bus.subscribe(NETWORK, None, Some(&self.last), 5).await.ok();
            tokio::time::sleep(Duration::from_millis(20)).await;
            return;
        };
        match common::next(stream).await {
            Ok(frame) => {
                let text = String::from_utf8(frame.to_vec()).unwrap();
                let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap().to_owned();
                self.last = field("id: ");
                if field("event: ") == "RESYNC" {
                    self.resyncs += 1;
                } else {
                    let data = field("data: ");
                    self.seen.push(number_in(data.split(",\"text").next().unwrap()));
                }
            }
            Err(_) => self.stream = None,
        }
    }
}

#[tokio::test]
async fn a_connection_that_breaks_while_history_is_read_silences_no_stream() {
    let nats = Nats::start().await;
    let proxy = Proxy::start(&nats.url()).await;
    let (one, _) = node(&nats, "one").await;
    let unlimited = |config: &mut BusConfig| (config.max_lag_events, config.max_lag_bytes) = (u64::MAX, u64::MAX);
    let (two, link) = node_with(&proxy.url, "two", |_| {}, unlimited).await;
    let mut reader = Reader::start(&two).await;
    proxy.cut();
    until(|| !link.is_connected()).await;
    publish_all(&one, NETWORK, (0..1_000).map(large).collect()).await;
    // In the middle of the first batch of missed events.
    proxy.freeze_after(2 << 20);
    until(|| proxy.is_frozen()).await;
    proxy.open();
    while reader.seen.len() < 1_000 {
        in_time(30, "all events arrive", reader.step()).await;
    }
    reader.seen.sort_unstable();
    assert_eq!((reader.resyncs, reader.seen), (0, (0..1_000).collect()));
    // A call does not wait for an abandoned one.
    in_time(6, "a new stream opens", open(&two, None, None)).await;
}

#[tokio::test]
async fn a_stream_that_cannot_be_opened_is_refused_in_time() {
    let nats = Nats::start().await;
    let proxy = Proxy::start(&nats.url()).await;
    let (one, _) = node(&nats, "one").await;
    publish_all(&one, NETWORK, (0..1_000).map(large).collect()).await;
    let (two, link) = node_with(&proxy.url, "two", |_| {}, |_| {}).await;
    proxy.cut();
    until(|| !link.is_connected()).await;
    proxy.freeze_after(2 << 20);
    until(|| link.is_connected()).await;
    // Two concurrent callers, one of which waits for the other.
    let opening = async || two.subscribe(NETWORK, None, None, 5).await.map(drop).is_err();
    let refused = in_time(9, "the callers are answered", async { tokio::join!(opening(), opening()) }).await;
    assert_eq!(refused, (true, true));
    proxy.open();
    let first = in_time(20, "it opens", async {
        loop {
            if let Ok(stream) = two.subscribe(NETWORK, None, None, 5).await {
                return stream;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    drop(first.await);
}

#[tokio::test]
async fn an_older_store_of_nats_begins_a_new_sequence() {
    let mut nats = Nats::start().await;
    let ((one, _), (two, link)) = (node(&nats, "one").await, node(&nats, "two").await);
    let mut readers = [Reader::start(&one).await, Reader::start(&two).await];
    publish_all(&one, NETWORK, (0..5).map(|number| numbered(number, None)).collect()).await;
    let older = nats.save();
    nats.restart().await;
    until(|| link.is_connected()).await;
    publish_all(&one, NETWORK, (5..15).map(|number| numbered(number, None)).collect()).await;
    for reader in &mut readers {
        reader.read_until(14).await;
        assert_eq!(reader.resyncs, 0);
    }
    nats.restore(older);
    nats.restart().await;
    let mut acknowledged = vec![];
    for number in 15..30 {
        if one.publish(NETWORK, numbered(number, None), 1).await.is_ok() {
            acknowledged.push(number);
        }
    }
    assert!(acknowledged.len() > 10, "{acknowledged:?}");
    for reader in &mut readers {
        reader.read_until(*acknowledged.last().unwrap()).await;
        assert!(acknowledged.iter().all(|number| reader.seen.contains(number)), "{:?}", reader.seen);
        assert_eq!(reader.resyncs, 1, "{:?}", reader.seen);
        assert_eq!(reader.seen.iter().collect::<BTreeSet<_>>().len(), reader.seen.len(), "none twice");
    }
}

#[tokio::test]
async fn an_older_store_is_noticed_after_it_has_grown_again() {
    let mut nats = Nats::start().await;
    let (one, link) = node(&nats, "one").await;
    let mut reader = Reader::start(&one).await;
    publish_all(&one, NETWORK, (0..5).map(|number| numbered(number, None)).collect()).await;
    let older = nats.save();
    nats.restart().await;
    until(|| link.is_connected()).await;
    publish_all(&one, NETWORK, (5..15).map(|number| numbered(number, None)).collect()).await;
    reader.read_until(14).await;
    // A node that was not there before publishes first.
    nats.restore(older);
    let port = nats.change_port(free_port());
    nats.restart().await;
    let (three, _) = node(&nats, "three").await;
    publish_all(&three, NETWORK, (100..120).map(|number| numbered(number, None)).collect()).await;
    nats.kill(false);
    nats.change_port(port);
    nats.restart().await;
    reader.read_until_resync().await;
    one.publish(NETWORK, numbered(200, None), 1).await.unwrap();
    reader.read_until(200).await;
}

#[tokio::test]
async fn a_line_stored_before_the_loss_was_noticed_is_announced() {
    let mut nats = Nats::start().await;
    let ((one, link), (two, _)) = (node(&nats, "one").await, node(&nats, "two").await);
    let mut reader = Reader::start(&two).await;
    publish_all(&one, NETWORK, (0..5).map(|number| numbered(number, None)).collect()).await;
    let older = nats.save();
    nats.restart().await;
    until(|| link.is_connected()).await;
    publish_all(&one, NETWORK, (5..15).map(|number| numbered(number, None)).collect()).await;
    reader.read_until(14).await;
    nats.restore(older);
    until(|| !link.is_connected()).await;
    // Its first attempt waits in the client for the next connection, and its publisher gives that up after 2 s. So it
    // is stored with a number that readers have, and the second attempt is answered as a duplicate.
    let late = tokio::spawn(async move { one.publish(NETWORK, numbered(15, None), 1).await });
    tokio::time::sleep(Duration::from_millis(2_300)).await;
    nats.restart().await;
    late.await.unwrap().unwrap();
    reader.read_until(15).await;
    assert_eq!(reader.resyncs, 1, "{:?}", reader.seen);
}

#[tokio::test]
async fn a_stream_that_opens_before_any_check_gets_no_number_twice() {
    let mut nats = Nats::start().await;
    let ((one, _), (two, link)) = (node(&nats, "one").await, node(&nats, "two").await);
    let mut reader = Reader::start(&one).await;
    publish_all(&one, NETWORK, (0..5).map(|number| numbered(number, None)).collect()).await;
    let older = nats.save();
    nats.restart().await;
    until(|| link.is_connected()).await;
    publish_all(&one, NETWORK, (5..15).map(|number| numbered(number, None)).collect()).await;
    reader.read_until(14).await;
    // The other one has read nothing of the network; it knows the numbers from the check once a second.
    tokio::time::sleep(Duration::from_millis(2_200)).await;
    nats.restore(older);
    until(|| !link.is_connected()).await;
    nats.restart().await;
    until(|| link.is_connected()).await;
    let mut stream = in_time(20, "it opens", async {
        loop {
            if let Ok(stream) = two.subscribe(NETWORK, None, Some(&reader.last), 5).await {
                return stream;
            }
        }
    })
    .await;
    let (id, data) = next(&mut stream).await;
    let epoch = |id: &str| id.split_once('.').unwrap().0.parse::<u64>().unwrap();
    assert!(data.contains("RESYNC") && epoch(&id) > epoch(&reader.last), "{id} after {}", reader.last);
}

#[tokio::test]
async fn numbers_that_are_given_again_while_the_connection_lasts_begin_a_new_sequence() {
    let nats = Nats::start().await;
    let ((one, _), (two, _)) = (node(&nats, "one").await, node(&nats, "two").await);
    // A node that only publishes would remember its last publication.
    let (mut reader, _other) = (Reader::start(&two).await, Reader::start(&one).await);
    publish_all(&one, NETWORK, (0..15).map(|number| numbered(number, None)).collect()).await;
    reader.read_until(14).await;
    // Like a cluster's server that lost the stream, while nodes are connected to another one: the same stream by its
    // description, and by the time of the next check it has more than before.
    let url = nats.url();
    let replacing = async move {
        let jetstream = jetstream::new(async_nats::connect(&url).await.unwrap());
        let stream = jetstream.get_stream("hub-events").await.unwrap();
        let epoch = stream.cached_info().created.unix_timestamp_nanos() / 1_000;
        let description = Some(format!("epoch {epoch} after 0 of database 0"));
        let config = jetstream::stream::Config { description, ..stream.cached_info().config.clone() };
        jetstream.delete_stream("hub-events").await.unwrap();
        jetstream.create_stream(config).await.unwrap();
        let (three, _) = node_with(&url, "three", |_| {}, |_| {}).await;
        publish_all(&three, NETWORK, (100..130).map(|number| numbered(number, None)).collect()).await;
    };
    // The other nodes run on this thread and get all events at once.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    std::thread::spawn(move || runtime.block_on(replacing)).join().unwrap();
    reader.read_until_resync().await;
    one.publish(NETWORK, numbered(200, None), 1).await.unwrap();
    reader.read_until(200).await;
}

#[tokio::test]
async fn events_that_the_stream_dropped_early_are_announced() {
    let nats = Nats::start().await;
    let proxy = Proxy::start(&nats.url()).await;
    let small = |config: &mut ClusterConfig| config.max_bytes = 1 << 20;
    let (one, _) = node_with(&nats.url(), "one", small, |_| {}).await;
    let (two, link) = node_with(&proxy.url, "two", small, |_| {}).await;
    let mut reader = Reader::start(&two).await;
    one.publish(NETWORK, numbered(0, None), 1).await.unwrap();
    reader.read_until(0).await;
    proxy.cut();
    until(|| !link.is_connected()).await;
    publish_all(&one, NETWORK, (1..300).map(large).collect()).await;
    proxy.open();
    reader.read_until_resync().await;
    one.publish(NETWORK, numbered(300, None), 1).await.unwrap();
    reader.read_until(300).await;
}

#[tokio::test]
async fn a_networks_oldest_events_beyond_its_number_are_announced() {
    let nats = Nats::start().await;
    let proxy = Proxy::start(&nats.url()).await;
    let (one, _) = node(&nats, "one").await;
    let (two, link) = node_with(&proxy.url, "two", |_| {}, |_| {}).await;
    let mut reader = Reader::start(&two).await;
    one.publish(NETWORK, numbered(0, None), 1).await.unwrap();
    let mut quiet = two.subscribe(NETWORK + 1, None, None, 5).await.unwrap();
    one.publish(NETWORK + 1, numbered(7, None), 1).await.unwrap();
    reader.read_until(0).await;
    proxy.cut();
    until(|| !link.is_connected()).await;
    publish_all(&one, NETWORK, (1..10_100).map(|number| numbered(number, None)).collect()).await;
    proxy.open();
    reader.read_until_resync().await;
    // The other network's events are all there.
    one.publish(NETWORK + 1, numbered(8, None), 1).await.unwrap();
    assert_eq!(data(&mut quiet, 2).await, data_of([7, 8]));
    let begin = quiet.start_id();
    let (three, _) = node(&nats, "three").await;
    let mut resumed = three.subscribe(NETWORK + 1, None, Some(&begin), 5).await.unwrap();
    assert_eq!(data(&mut resumed, 2).await, data_of([7, 8]));
}

#[tokio::test]
async fn a_network_of_large_events_drops_its_own_history_alone() {
    let nats = Nats::start().await;
    let proxy = Proxy::start(&nats.url()).await;
    let bounded = |config: &mut ClusterConfig| (config.max_bytes, config.network_bytes) = (4 << 20, 1 << 20);
    let (one, _) = node_with(&nats.url(), "one", bounded, |_| {}).await;
    let (two, link) = node_with(&proxy.url, "two", bounded, |_| {}).await;
    let mut reader = Reader::start(&two).await;
    let mut other = two.subscribe(NETWORK + 1, None, None, 5).await.unwrap();
    let begin = other.start_id();
    one.publish(NETWORK + 1, numbered(7, None), 1).await.unwrap();
    one.publish(NETWORK, numbered(0, None), 1).await.unwrap();
    reader.read_until(0).await;
    // Events within the limit are kept for all.
    publish_all(&one, NETWORK, (1..90).map(large).collect()).await;
    let (three, _) = node_with(&nats.url(), "three", bounded, |_| {}).await;
    let mut resumed = open(&three, None, Some(&begin)).await;
    assert_eq!(data(&mut resumed, 90).await.len(), 90);
    proxy.cut();
    until(|| !link.is_connected()).await;
    // Twice as much as the stream keeps of all networks.
    for first in (100..900).step_by(50) {
        publish_all(&one, NETWORK, (first..first + 50).map(large).collect()).await;
    }
    proxy.open();
    reader.read_until_resync().await;
    // While it reads the rest, more may be dropped: another RESYNC stands for the first ones.
    let mut number = 1_000;
    let is_told = async |reader: &mut Reader, number| {
        let reading = async {
            while !reader.seen.contains(&number) {
                reader.step().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(2), reading).await.is_ok()
    };
    while {
        one.publish(NETWORK, numbered(number, None), 1).await.unwrap();
        !is_told(&mut reader, number).await
    } {
        number += 1;
        assert!(number < 1_010, "{} RESYNCs, {:?}", reader.resyncs, reader.seen);
    }
    one.publish(NETWORK + 1, numbered(8, None), 1).await.unwrap();
    assert_eq!(data(&mut other, 2).await, data_of([7, 8]));
    let (four, _) = node_with(&nats.url(), "four", bounded, |_| {}).await;
    let mut resumed = four.subscribe(NETWORK + 1, None, Some(&begin), 5).await.unwrap();
    assert_eq!(data(&mut resumed, 2).await, data_of([7, 8]));
    let mut resumed = open(&four, None, Some(&begin)).await;
    assert!(next(&mut resumed).await.1.contains("RESYNC"));
}

#[tokio::test]
async fn other_networks_events_do_not_count_for_a_networks_history() {
    let nats = Nats::start().await;
    let few = |config: &mut BusConfig| config.retention_events = 20;
    let (one, _) = node_with(&nats.url(), "one", |_| {}, few).await;
    let mut stream = open(&one, None, None).await;
    let begin = stream.start_id();
    publish_all(&one, NETWORK, (0..5).map(|number| numbered(number, None)).collect()).await;
    publish_all(&one, NETWORK + 1, (0..100).map(|number| numbered(number, None)).collect()).await;
    one.publish(NETWORK, numbered(5, None), 1).await.unwrap();
    let numbers: BTreeSet<_> = data(&mut stream, 6).await.iter().map(|data| number_in(data)).collect();
    assert_eq!(numbers, (0..6).collect());
    let mut resumed = open(&one, None, Some(&begin)).await;
    assert!(!next(&mut resumed).await.1.contains("RESYNC"));
}

#[tokio::test]
async fn a_quiet_networks_stream_goes_on_where_the_history_of_others_expired() {
    let nats = Nats::start().await;
    let proxy = Proxy::start(&nats.url()).await;
    let short = |config: &mut ClusterConfig| config.retention = Duration::from_secs(3);
    let (one, _) = node_with(&nats.url(), "one", short, |_| {}).await;
    let (two, link) = node_with(&proxy.url, "two", short, |_| {}).await;
    let mut stream = open(&two, None, None).await;
    for number in 0..45 {
        one.publish(NETWORK + 1, numbered(number, None), 1).await.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    proxy.cut();
    until(|| !link.is_connected()).await;
    proxy.open();
    until(|| link.is_connected()).await;
    one.publish(NETWORK, numbered(1, None), 1).await.unwrap();
    assert_eq!(data(&mut stream, 1).await, data_of([1]));
}

async fn jetstream_of(nats: &Nats) -> jetstream::Context {
    jetstream::new(async_nats::connect(nats.url()).await.unwrap())
}

/// Publishes a line until it is acknowledged, and expects it at a reader that was notified of the gap.
async fn expect_new_sequence(publisher: &Bus, reader: &mut Reader, first: u64) {
    for number in first..first + 5 {
        in_time(15, "a line is published", async {
            while publisher.publish(NETWORK, numbered(number, None), 1).await.is_err() {}
        })
        .await;
    }
    reader.read_until_resync().await;
    for number in first..first + 5 {
        reader.read_until(number).await;
    }
    assert_eq!(reader.resyncs, 1, "{:?}", reader.seen);
    assert!(reader.bus.is_reachable());
}

#[tokio::test]
async fn a_deleted_stream_is_recreated() {
    let nats = Nats::start().await;
    let ((one, _), (two, _)) = (node(&nats, "one").await, node(&nats, "two").await);
    let mut reader = Reader::start(&two).await;
    publish_all(&one, NETWORK, (0..5).map(|number| numbered(number, None)).collect()).await;
    reader.read_until(4).await;
    jetstream_of(&nats).await.delete_stream("hub-events").await.unwrap();
    expect_new_sequence(&one, &mut reader, 5).await;
}

/// Makes the stream refuse more than this many bytes; returns its previous configuration.
async fn bound_stream(jetstream: &jetstream::Context, max_bytes: i64) -> jetstream::stream::Config {
    let config = jetstream.get_stream("hub-events").await.unwrap().cached_info().config.clone();
    let discard = jetstream::stream::DiscardPolicy::New;
    let full = jetstream::stream::Config { max_bytes, discard, ..config.clone() };
    jetstream.update_stream(full).await.unwrap();
    config
}

#[tokio::test]
async fn an_empty_stream_that_stores_nothing_is_recreated() {
    let nats = Nats::start().await;
    let ((one, _), (two, _)) = (node(&nats, "one").await, node(&nats, "two").await);
    let mut reader = Reader::start(&two).await;
    // NATS 2.9 leaves such a stream if it deletes its files together with those of the previous one.
    bound_stream(&jetstream_of(&nats).await, 1).await;
    expect_new_sequence(&one, &mut reader, 0).await;
}

#[tokio::test]
async fn a_stream_with_events_that_stores_nothing_more_is_kept() {
    let nats = Nats::start().await;
    let (one, _) = node(&nats, "one").await;
    let mut reader = Reader::start(&one).await;
    one.publish(NETWORK, numbered(0, None), 1).await.unwrap();
    let jetstream = jetstream_of(&nats).await;
    let config = bound_stream(&jetstream, 300).await;
    assert_eq!(one.publish(NETWORK, large(1), 1).await, Err(PublishError::Unreachable));
    jetstream.update_stream(config).await.unwrap();
    one.publish(NETWORK, numbered(1, None), 1).await.unwrap();
    reader.read_until(1).await;
    assert_eq!((reader.resyncs, &reader.seen), (0, &vec![0, 1]));
}

#[tokio::test]
async fn a_stream_recreated_by_hand_is_noticed() {
    let nats = Nats::start().await;
    let ((one, _), (two, _)) = (node(&nats, "one").await, node(&nats, "two").await);
    let mut reader = Reader::start(&two).await;
    publish_all(&one, NETWORK, (0..5).map(|number| numbered(number, None)).collect()).await;
    reader.read_until(4).await;
    let jetstream = jetstream_of(&nats).await;
    let config = jetstream.get_stream("hub-events").await.unwrap().cached_info().config.clone();
    jetstream.delete_stream("hub-events").await.unwrap();
    jetstream.create_stream(config).await.unwrap();
    expect_new_sequence(&one, &mut reader, 5).await;
    // Created by hand, without the settings the hub needs.
    jetstream.delete_stream("hub-events").await.unwrap();
    let bare = jetstream::stream::Config {
        name: "hub-events".to_owned(),
        subjects: vec!["hub.in.*".to_owned()],
        ..jetstream::stream::Config::default()
    };
    jetstream.create_stream(bare).await.unwrap();
    reader.resyncs = 0;
    expect_new_sequence(&one, &mut reader, 10).await;
}

#[tokio::test]
async fn a_stream_of_the_version_before_keeps_its_events_and_gets_a_bound() {
    let nats = Nats::start().await;
    let (one, _) = node(&nats, "one").await;
    let mut reader = Reader::start(&one).await;
    one.publish(NETWORK, numbered(1, None), 1).await.unwrap();
    let jetstream = jetstream_of(&nats).await;
    let bound =
        async || jetstream.get_stream("hub-events").await.unwrap().cached_info().config.max_messages_per_subject;
    let config = jetstream.get_stream("hub-events").await.unwrap().cached_info().config.clone();
    jetstream.update_stream(jetstream::stream::Config { max_messages_per_subject: -1, ..config }).await.unwrap();
    let (two, _) = node(&nats, "two").await;
    assert_eq!(bound().await, 10_000);
    two.publish(NETWORK, numbered(2, None), 1).await.unwrap();
    reader.read_until(2).await;
    assert_eq!((reader.resyncs, reader.seen), (0, vec![1, 2]));
}

#[tokio::test]
async fn a_bus_that_keeps_no_events_is_not_reachable() {
    let mut nats = Nats::start().await;
    let (one, link) = node(&nats, "one").await;
    let stream = open(&one, None, None).await;
    nats.kill(false);
    nats.restart_without_jetstream().await;
    until(|| link.is_connected()).await;
    until(|| !one.is_reachable()).await;
    nats.kill(false);
    nats.restart().await;
    until(|| one.is_reachable()).await;
    drop(stream);
}
