//! In every order of operations, a stream carries its sequence without a gap or announces the gap.

use crate::common::{NETWORK, bus, id, is_resync, next, now, publish, sequence, subscribe};
use bytes::Bytes;
use hub_bus::{Bus, EndReason, Subscription};
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

/// The complete history to compare with.
struct Model {
    bus: Bus,
    now_ms: i64,
    events: Vec<(Option<&'static str>, i64)>,
    clients: [Client; CLIENTS.len()],
}

#[derive(Default)]
struct Client {
    stream: Option<Subscription>,
    /// The last sequence it has; expectations continue after it.
    last: Option<u64>,
    joined_at: u64,
    left_ms: i64,
}

impl Model {
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

    /// Sequences after `after` that a client's stream must carry.
    fn due(&self, client: usize, after: u64) -> Vec<u64> {
        let concerns = |target: Option<&str>| target.is_none() || target == CLIENTS[client];
        (after + 1..=self.head()).filter(|sequence| concerns(self.events[*sequence as usize - 1].0)).collect()
    }

    fn is_retained(&self, sequence: u64) -> bool {
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
                self.expect_end(other, EndReason::Replaced);
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
        let retained = missed.iter().all(|sequence| self.is_retained(*sequence));
        let recent = self.now_ms - self.clients[client].left_ms < RETENTION_MS;
        match self.next(client) {
            Some(Ok(frame)) if is_resync(&frame) => {
                assert!(!(retained && recent), "{client} could have resumed after {last}");
                assert_eq!(sequence(&frame), self.head());
                self.clients[client].last = Some(self.head());
            }
            Some(Ok(frame)) => self.expect_frame(client, sequence(&frame)),
            None => assert!(missed.is_empty(), "{client} waits although it missed {missed:?}"),
            Some(Err(end)) => panic!("{client} ended at once: {end:?}"),
        }
    }

    fn disconnect(&mut self, client: usize) {
        let it = &mut self.clients[client];
        if it.stream.take().is_some() {
            it.left_ms = self.now_ms;
        }
    }

    /// Expects the client's stream, if it has one, to have been ended from outside.
    fn expect_end(&mut self, client: usize, end: EndReason) {
        if self.clients[client].stream.is_some() {
            assert_eq!(self.next(client), Some(Err(end)));
            self.disconnect(client);
        }
    }

    fn next(&mut self, client: usize) -> Option<Result<Bytes, EndReason>> {
        now(next(self.clients[client].stream.as_mut()?))
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
                Some(Ok(frame)) if !is_resync(&frame) => self.expect_frame(client, sequence(&frame)),
                Some(Err(EndReason::TooSlow)) => {
                    let expired = due.iter().any(|sequence| !self.is_retained(*sequence));
                    assert!(self.lags(client) || expired, "{client} is disconnected without a reason");
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
                self.expect_end(client, EndReason::TooSlow);
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
        let mut model = Model::new();
        for step in steps {
            model.run(step);
        }
    }
}
