//! Servers with a stream, by node. Every node announces the streams it opens, a moment later those that ended, and
//! every few seconds all it has.

use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
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
    /// It opened a stream at that time; an older one of the same server is replaced.
    Opened(Server, i64),
    /// A stream ended.
    Closed(Server),
    /// A stream ended because the node stops; the server reconnects elsewhere.
    Moving(Server),
    /// The entries up to `SnapshotEnd` are all its streams.
    SnapshotBegin,
    SnapshotEntry(Server),
    SnapshotEnd,
}

/// The other nodes' streams.
#[derive(Default)]
pub(crate) struct Roster {
    nodes: Mutex<HashMap<String, Node>>,
}

#[derive(Default)]
struct Node {
    streams: HashSet<Server>,
    /// The snapshot it is sending, with its announcements meanwhile.
    snapshot: HashSet<Server>,
    last_heard: Option<Instant>,
    moving: HashSet<Server>,
    last_moved: Option<Instant>,
}

impl Node {
    fn has(&self, server: &Server) -> bool {
        let may_reconnect = || self.last_moved.is_some_and(|at| at.elapsed() < RECONNECT_GRACE);
        self.is_alive() && (self.streams.contains(server) || may_reconnect() && self.moving.contains(server))
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

    /// Applies another node's messages; returns those that this node must react to.
    pub(crate) fn receive(&self, own_name: &str, payload: &str) -> Vec<PeerMessage> {
        let mut lines = payload.lines();
        let Some(name) = lines.next().filter(|name| *name != own_name) else { return vec![] };
        let mut nodes = self.nodes.lock();
        let node = nodes.entry(name.to_owned()).or_default();
        node.last_heard = Some(Instant::now());
        let mut for_this_node = vec![];
        for message in lines.filter_map(PeerMessage::decode) {
            match message {
                PeerMessage::Goodbye => node.streams.clear(),
                PeerMessage::SnapshotBegin => node.snapshot.clear(),
                PeerMessage::SnapshotEntry(server) => drop(node.snapshot.insert(server)),
                PeerMessage::SnapshotEnd => node.streams = std::mem::take(&mut node.snapshot),
                PeerMessage::Closed(server) => {
                    node.snapshot.remove(&server);
                    node.streams.remove(&server);
                }
                PeerMessage::Moving(server) => {
                    node.snapshot.remove(&server);
                    node.streams.remove(&server);
                    node.moving.insert(server);
                    node.last_moved = Some(Instant::now());
                }
                PeerMessage::Opened(ref server, _) => {
                    node.snapshot.insert(server.clone());
                    node.streams.insert(server.clone());
                    for_this_node.push(message);
                }
                PeerMessage::Hello => for_this_node.push(message),
            }
        }
        nodes.retain(|_, node| node.is_alive());
        for_this_node
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
            "has" => Self::SnapshotEntry(server(rest)?),
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
            Self::SnapshotEntry((network, server)) => writeln!(out, "has {network:x} {server}"),
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
        encode(node, messages).iter().flat_map(|payload| roster.receive("me", payload)).collect()
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
        let many = (0..5000).map(|number| PeerMessage::SnapshotEntry(server(&format!("server-{number}"))));
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
