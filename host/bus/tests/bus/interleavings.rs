//! Whatever happens in whatever order, a stream is the sequence it should be, or says that it is not.

use crate::common::{NETWORK, bus, id, now, publish, sequence, subscribe};
use hub_bus::{Bus, Next, Subscription};
use proptest::prelude::*;
use std::time::Duration;

const RETENTION_MS: i64 = 100;
const RETENTION_EVENTS: u64 = 8;
const MAX_LAG: usize = 4;

/// Two clients are the same server, so that they replace each other.
const CLIENTS: [Option<&str>; 4] = [None, Some("a"), Some("a"), Some("b")];

#[derive(Debug, Clone, Copy)]
enum Step {
    Publish(Option<&'static str>),
    Connect { client: usize, resume: bool },
    Disconnect(usize),
    Read { client: usize, most: usize },
    Pass(i64),
    Sweep,
}

fn step() -> impl Strategy<Value = Step> {
    let client = || 0..CLIENTS.len();
    prop_oneof![
        6 => prop_oneof![Just(None), Just(Some("a")), Just(Some("b"))].prop_map(Step::Publish),
        3 => (client(), prop::bool::weighted(0.8))
            .prop_map(|(client, resume)| Step::Connect { client, resume }),
        1 => client().prop_map(Step::Disconnect),
        4 => (client(), 1..6_usize).prop_map(|(client, most)| Step::Read { client, most }),
        2 => (1..60_i64).prop_map(Step::Pass),
        1 => Just(Step::Sweep),
    ]
}

/// What really happened, kept for ever.
struct World {
    bus: Bus,
    now_ms: i64,
    events: Vec<(Option<&'static str>, i64)>,
    clients: [Client; CLIENTS.len()],
}

#[derive(Default)]
struct Client {
    stream: Option<Subscription>,
    /// The last event id it has, and so the sequence all that follows is measured by.
    last: Option<u64>,
    joined_at: u64,
    left_ms: i64,
}

impl World {
    fn new() -> Self {
        Self {
            bus: bus(|config| {
                config.retention = Duration::from_millis(RETENTION_MS as u64);
                config.retention_events = RETENTION_EVENTS;
                config.max_lag_events = MAX_LAG as u64;
            }),
            now_ms: 0,
            events: Vec::new(),
            clients: Default::default(),
        }
    }

    fn head(&self) -> u64 {
        self.events.len() as u64
    }

    /// The sequences after one that a client's stream must carry.
    fn due(&self, client: usize, after: u64) -> Vec<u64> {
        let concerns = |target: Option<&str>| target.is_none() || target == CLIENTS[client];
        (after + 1..=self.head()).filter(|sequence| concerns(self.events[*sequence as usize - 1].0)).collect()
    }

    fn is_kept(&self, sequence: u64) -> bool {
        let at_ms = self.events[sequence as usize - 1].1;
        at_ms > self.now_ms - RETENTION_MS && sequence + RETENTION_EVENTS > self.head()
    }

    fn lags(&self, client: usize) -> bool {
        let it = &self.clients[client];
        let after = it.last.unwrap_or(0).max(it.joined_at);
        self.due(client, after).len() > MAX_LAG
    }

    fn connect(&mut self, client: usize, resume: bool) {
        self.disconnect(client);
        let last = self.clients[client].last.filter(|_| resume);
        let text = last.map(id);
        let stream = subscribe(&self.bus, NETWORK, CLIENTS[client], text.as_deref(), self.now_ms);
        for (other, server) in CLIENTS.iter().enumerate() {
            if server.is_some() && *server == CLIENTS[client] {
                self.expect_end(other, &Next::Replaced);
            }
        }
        let head = self.head();
        let it = &mut self.clients[client];
        it.joined_at = head;
        it.last = last.or(Some(head));
        it.stream = Some(stream);
        if let Some(last) = last {
            self.expect_resync_if_due(client, last);
        }
    }

    fn expect_resync_if_due(&mut self, client: usize, last: u64) {
        let missed = self.due(client, last);
        let kept = missed.iter().all(|sequence| self.is_kept(*sequence));
        let lately = self.now_ms - self.clients[client].left_ms < RETENTION_MS;
        match self.next(client) {
            Some(Next::Resync(frame)) => {
                assert!(!(kept && lately), "{client} could have resumed after {last}");
                assert_eq!(sequence(&frame), self.head());
                self.clients[client].last = Some(self.head());
            }
            Some(Next::Frame(frame)) => self.expect_frame(client, sequence(&frame)),
            None => assert!(missed.is_empty(), "{client} waits although it missed {missed:?}"),
            Some(end) => panic!("{client} ended at once: {end:?}"),
        }
    }

    fn disconnect(&mut self, client: usize) {
        let it = &mut self.clients[client];
        if it.stream.take().is_some() {
            it.left_ms = self.now_ms;
        }
    }

    /// A stream that should have been ended from outside, if the client has one.
    fn expect_end(&mut self, client: usize, end: &Next) {
        if self.clients[client].stream.is_some() {
            assert_eq!(self.next(client).as_ref(), Some(end));
            self.disconnect(client);
        }
    }

    fn next(&mut self, client: usize) -> Option<Next> {
        now(self.clients[client].stream.as_mut()?.next())
    }

    fn expect_frame(&mut self, client: usize, sequence: u64) {
        let last = self.clients[client].last.expect("it has connected");
        assert_eq!(self.due(client, last).first(), Some(&sequence), "after {last}");
        self.clients[client].last = Some(sequence);
    }

    fn read(&mut self, client: usize, most: usize) {
        for _ in 0..most {
            let Some(last) = self.clients[client].last else {
                return;
            };
            if self.clients[client].stream.is_none() {
                return;
            }
            let due = self.due(client, last);
            match self.next(client) {
                Some(Next::Frame(frame)) => self.expect_frame(client, sequence(&frame)),
                Some(Next::TooSlow) => {
                    let expired = due.iter().any(|sequence| !self.is_kept(*sequence));
                    assert!(self.lags(client) || expired, "{client} is cut off for nothing");
                    self.disconnect(client);
                }
                None => {
                    assert_eq!(due, [0_u64; 0], "{client} waits although events are there");
                    return;
                }
                other => panic!("{client} got {other:?}"),
            }
        }
    }

    fn sweep(&mut self) {
        self.bus.sweep(self.now_ms);
        for client in 0..CLIENTS.len() {
            if self.lags(client) {
                self.expect_end(client, &Next::TooSlow);
            }
        }
    }

    fn run(&mut self, step: Step) {
        match step {
            Step::Publish(target) => {
                self.events.push((target, self.now_ms));
                assert_eq!(publish(&self.bus, target, self.now_ms), self.head());
            }
            Step::Connect { client, resume } => self.connect(client, resume),
            Step::Disconnect(client) => self.disconnect(client),
            Step::Read { client, most } => self.read(client, most),
            Step::Pass(ms) => self.now_ms += ms,
            Step::Sweep => self.sweep(),
        }
        for server in ["a", "b"] {
            let open = (0..CLIENTS.len()).any(|one| CLIENTS[one] == Some(server) && self.clients[one].stream.is_some());
            assert_eq!(self.bus.is_connected(NETWORK, server), open, "{server}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_stream_is_its_sequence_without_a_gap(steps in prop::collection::vec(step(), 1..120)) {
        let mut world = World::new();
        for step in steps {
            world.run(step);
        }
    }
}
