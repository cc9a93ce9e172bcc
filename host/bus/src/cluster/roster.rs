//! Servers with a stream, by node. Every node announces the streams it opens, a moment later those that ended, and
//! every few seconds a digest of all it has. Nodes that know others of it ask for all.
//!
//! Of several streams of one server the one that was opened last stays. Openings have one order for all nodes: by a time
//! that is later than those of all openings known so far, and by the nodes' names.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A node that was silent this long is gone. All nodes send more often.
const NODE_TIMEOUT: Duration = Duration::from_secs(12);
/// Time for a server whose node stops to reconnect elsewhere. Streams ask for 2 to 4 seconds.
const RECONNECT_GRACE: Duration = Duration::from_secs(6);
/// A message is complete once it exceeds this.
const MESSAGE_BYTES: usize = 64 * 1024;

/// A server of a network.
pub(crate) type Server = (u128, Arc<str>);

/// Messages between nodes about their streams, a line each. A server's id has no line break.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PeerMessage {
    /// The node just started and asks for all nodes' streams.
    Hello,
    /// The node stops; its streams have ended.
    Goodbye,
    /// It opened a stream; an older one of the same server is replaced.
    Opened(Server, i64),
    /// A stream ended.
    Closed(Server),
    /// A stream ended because the node stops; the server reconnects elsewhere.
    Moving(Server),
    /// Digest of all its streams.
    Digest(u64),
    /// The named node is asked for all its streams: what is known of them does not have the announced digest.
    Ask(String),
    /// The entries up to `SnapshotEnd` are all its streams, with the times of their openings.
    SnapshotBegin,
    SnapshotEntry(Server, i64),
    SnapshotEnd,
}

/// Streams of a node, each with the time of its opening.
pub(crate) type Streams = HashMap<Server, i64>;

/// Digest of streams in any order. Builds of the hub may differ in it: then their nodes ask each time.
pub(crate) fn digest(streams: &Streams) -> u64 {
    streams.iter().fold(0, |all, stream| {
        let mut hasher = DefaultHasher::new();
        stream.hash(&mut hasher);
        all ^ hasher.finish()
    })
}

/// The other nodes' streams.
#[derive(Default)]
pub(crate) struct Roster {
    nodes: Mutex<HashMap<String, Node>>,
}

#[derive(Default)]
struct Node {
    streams: Streams,
    /// The snapshot it is sending, with its announcements meanwhile.
    snapshot: Streams,
    last_heard: Option<Instant>,
    moving: Streams,
    last_moved: Option<Instant>,
}

impl Node {
    fn has(&self, server: &Server) -> bool {
        let may_reconnect = || self.last_moved.is_some_and(|at| at.elapsed() < RECONNECT_GRACE);
        self.is_alive() && (self.streams.contains_key(server) || may_reconnect() && self.moving.contains_key(server))
    }

    fn is_alive(&self) -> bool {
        self.last_heard.is_some_and(|at| at.elapsed() < NODE_TIMEOUT)
    }
}

impl Roster {
    /// True if another node has a stream of the server, or had it until it began to stop.
    pub(crate) fn has(&self, server: &Server) -> bool {
        self.nodes.lock().values().any(|node| node.has(server))
    }

    /// A time for opening the server's stream now that is later than those of its streams at other nodes.
    pub(crate) fn opening_time(&self, server: &Server, now_ms: i64) -> i64 {
        let nodes = self.nodes.lock();
        let latest = nodes.values().filter_map(|node| node.streams.get(server)).max();
        latest.map_or(now_ms, |latest| now_ms.max(latest + 1))
    }

    /// Applies another node's messages; returns its name and those that this node must react to.
    pub(crate) fn receive<'p>(&self, own_name: &str, payload: &'p str) -> (&'p str, Vec<PeerMessage>) {
        let mut lines = payload.lines();
        let Some(name) = lines.next().filter(|name| *name != own_name) else { return ("", vec![]) };
        let mut nodes = self.nodes.lock();
        let node = nodes.entry(name.to_owned()).or_default();
        node.last_heard = Some(Instant::now());
        let mut for_this_node = vec![];
        for message in lines.filter_map(PeerMessage::decode) {
            match message {
                PeerMessage::Goodbye => node.streams.clear(),
                PeerMessage::SnapshotBegin => node.snapshot.clear(),
                PeerMessage::SnapshotEntry(ref server, at) => {
                    node.snapshot.insert(server.clone(), at);
                    for_this_node.push(message);
                }
                PeerMessage::SnapshotEnd => node.streams = std::mem::take(&mut node.snapshot),
                PeerMessage::Closed(server) => {
                    node.snapshot.remove(&server);
                    node.streams.remove(&server);
                }
                PeerMessage::Moving(server) => {
                    node.snapshot.remove(&server);
                    let at = node.streams.remove(&server).unwrap_or_default();
                    node.moving.insert(server, at);
                    node.last_moved = Some(Instant::now());
                }
                PeerMessage::Opened(ref server, at) => {
                    node.snapshot.insert(server.clone(), at);
                    node.streams.insert(server.clone(), at);
                    for_this_node.push(message);
                }
                PeerMessage::Digest(announced) if announced == digest(&node.streams) => {}
                PeerMessage::Digest(_) | PeerMessage::Hello => for_this_node.push(message),
                PeerMessage::Ask(ref node) if node == own_name => for_this_node.push(message),
                PeerMessage::Ask(_) => {}
            }
        }
        nodes.retain(|_, node| node.is_alive());
        (name, for_this_node)
    }
}

impl PeerMessage {
    fn decode(line: &str) -> Option<Self> {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        let server = |text: &str| {
            let (network, server) = text.split_once(' ')?;
            Some((u128::from_str_radix(network, 16).ok()?, Arc::from(server)))
        };
        Some(match kind {
            "hello" => Self::Hello,
            "bye" => Self::Goodbye,
            "begin" => Self::SnapshotBegin,
            "end" => Self::SnapshotEnd,
            "digest" => Self::Digest(u64::from_str_radix(rest, 16).ok()?),
            "ask" => Self::Ask(rest.to_owned()),
            "has" => {
                let (at, rest) = rest.split_once(' ')?;
                Self::SnapshotEntry(server(rest)?, at.parse().ok()?)
            }
            "closed" => Self::Closed(server(rest)?),
            "coming" => Self::Moving(server(rest)?),
            "opened" => {
                let (at, rest) = rest.split_once(' ')?;
                Self::Opened(server(rest)?, at.parse().ok()?)
            }
            _ => return None,
        })
    }

    fn encode(&self, out: &mut String) {
        // Writing to a `String` does not fail.
        let _ = match self {
            Self::Hello => writeln!(out, "hello"),
            Self::Goodbye => writeln!(out, "bye"),
            Self::SnapshotBegin => writeln!(out, "begin"),
            Self::SnapshotEnd => writeln!(out, "end"),
            Self::Digest(digest) => writeln!(out, "digest {digest:x}"),
            Self::Ask(node) => writeln!(out, "ask {node}"),
            Self::SnapshotEntry((network, server), at) => writeln!(out, "has {at} {network:x} {server}"),
            Self::Closed((network, server)) => writeln!(out, "closed {network:x} {server}"),
            Self::Moving((network, server)) => writeln!(out, "coming {network:x} {server}"),
            Self::Opened((network, server), at) => writeln!(out, "opened {at} {network:x} {server}"),
        };
    }
}

/// A node's messages as payloads of bounded size.
pub(crate) fn encode(node: &str, messages: impl IntoIterator<Item = PeerMessage>) -> Vec<String> {
    let mut payloads = vec![];
    let mut payload = format!("{node}\n");
    for message in messages {
        if payload.len() > MESSAGE_BYTES {
            payloads.push(std::mem::replace(&mut payload, format!("{node}\n")));
        }
        message.encode(&mut payload);
    }
    payloads.push(payload);
    payloads
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(id: &str) -> Server {
        (7, Arc::from(id))
    }

    fn send(roster: &Roster, node: &str, messages: Vec<PeerMessage>) -> Vec<PeerMessage> {
        encode(node, messages).iter().flat_map(|payload| roster.receive("me", payload).1).collect()
    }

    #[test]
    fn other_nodes_streams_are_known_until_they_close() {
        let roster = Roster::default();
        let returned = send(&roster, "one", vec![PeerMessage::Hello, PeerMessage::Opened(server("a b"), 5)]);
        assert_eq!(returned, [PeerMessage::Hello, PeerMessage::Opened(server("a b"), 5)]);
        assert!(roster.has(&server("a b")));
        assert!(!roster.has(&(8, Arc::from("a b"))));
        send(&roster, "me", vec![PeerMessage::Opened(server("c"), 5)]);
        assert!(!roster.has(&server("c")), "this node's own streams do not count");
        send(&roster, "one", vec![PeerMessage::Closed(server("a b"))]);
        assert!(!roster.has(&server("a b")));
    }

    #[test]
    fn an_opening_is_later_than_all_that_are_known() {
        let roster = Roster::default();
        send(&roster, "one", vec![PeerMessage::Opened(server("a"), 50)]);
        assert_eq!(roster.opening_time(&server("a"), 7), 51);
        assert_eq!(roster.opening_time(&server("a"), 70), 70);
        assert_eq!(roster.opening_time(&server("b"), 7), 7);
    }

    #[test]
    fn a_node_is_asked_for_its_streams_when_others_are_known() {
        let roster = Roster::default();
        let streams: Streams = [(server("a"), 5), (server("b"), 6)].into();
        let announced = PeerMessage::Digest(digest(&streams));
        let has = |id| PeerMessage::Opened(server(id), if id == "a" { 5 } else { 6 });
        send(&roster, "one", vec![has("b")]);
        assert_eq!(send(&roster, "one", vec![PeerMessage::Digest(digest(&streams))]), [announced]);
        send(&roster, "one", vec![has("a")]);
        assert_eq!(send(&roster, "one", vec![PeerMessage::Digest(digest(&streams))]), []);
        let asked = send(&roster, "one", vec![PeerMessage::Ask("other".into()), PeerMessage::Ask("me".into())]);
        assert_eq!(asked, [PeerMessage::Ask("me".into())]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_of_a_stopping_node_counts_as_connected_for_a_while() {
        let roster = Roster::default();
        send(&roster, "one", vec![PeerMessage::Opened(server("a"), 5), PeerMessage::Opened(server("b"), 5)]);
        send(&roster, "one", vec![PeerMessage::Moving(server("a")), PeerMessage::Closed(server("b"))]);
        send(&roster, "one", vec![PeerMessage::Goodbye]);
        assert!(roster.has(&server("a")));
        assert!(!roster.has(&server("b")));
        tokio::time::advance(RECONNECT_GRACE).await;
        assert!(!roster.has(&server("a")));
    }

    #[test]
    fn a_complete_snapshot_replaces_the_known_streams() {
        let roster = Roster::default();
        send(&roster, "one", vec![PeerMessage::Opened(server("old"), 5)]);
        let many = (0..5000).map(|number| PeerMessage::SnapshotEntry(server(&format!("server-{number}")), 5));
        let snapshot = [PeerMessage::SnapshotBegin].into_iter().chain(many).chain([PeerMessage::SnapshotEnd]);
        let payloads = encode("one", snapshot);
        assert!(payloads.len() > 1);
        for payload in &payloads {
            assert!(roster.has(&server("old")), "until the snapshot is complete");
            roster.receive("me", payload);
        }
        assert!(!roster.has(&server("old")));
        assert!((0..5000).all(|number| roster.has(&server(&format!("server-{number}")))));
        send(&roster, "one", vec![PeerMessage::Goodbye]);
        assert!(!roster.has(&server("server-1")));
    }
}
