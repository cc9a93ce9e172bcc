//! Which servers have a stream at which node. Every node tells the others of the streams it opens and, a moment later,
//! of those that ended; now and then of all it has, so that a message that was lost matters for seconds at most.

use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A node that was silent this long has no streams any more. All tell of theirs more often.
const SILENT: Duration = Duration::from_secs(12);
/// How long a server whose node leaves may take to open a stream at another. Streams say that it is to come back after
/// 2 to 4 seconds.
const COMES_WITHIN: Duration = Duration::from_secs(6);
/// Bytes of one message, about.
const CHUNK: usize = 64 * 1024;

/// A server of a network.
pub(crate) type Server = (u128, Arc<str>);

/// What nodes say of their streams, a line each. A server's id has no line break.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// It came just now and asks for everybody's streams.
    Hello,
    /// It leaves; its streams have ended.
    Bye,
    /// It opened one, then; an older one of the same server gives way.
    Opened(Server, i64),
    /// One has ended.
    Closed(Server),
    /// One was ended because the node leaves; the server comes back somewhere.
    Coming(Server),
    /// What follows, up to `End`, is all it has.
    Begin,
    /// It has this one.
    Has(Server),
    /// That was all.
    End,
}

/// The other nodes' streams.
#[derive(Default)]
pub(crate) struct Roster {
    nodes: Mutex<HashMap<String, Node>>,
}

#[derive(Default)]
struct Node {
    streams: HashSet<Server>,
    /// What it has told of since its last `Begin`.
    telling: HashSet<Server>,
    heard_at: Option<Instant>,
    /// Those that it sent elsewhere, and when the last of them.
    coming: HashSet<Server>,
    coming_since: Option<Instant>,
}

impl Node {
    fn has(&self, server: &Server) -> bool {
        let comes = || self.coming_since.is_some_and(|since| since.elapsed() < COMES_WITHIN);
        self.is_there() && (self.streams.contains(server) || comes() && self.coming.contains(server))
    }

    fn is_there(&self) -> bool {
        self.heard_at.is_some_and(|at| at.elapsed() < SILENT)
    }
}

impl Roster {
    /// Whether another node has a stream of the server, or had it until it began to leave.
    pub(crate) fn has(&self, server: &Server) -> bool {
        self.nodes.lock().values().any(|node| node.has(server))
    }

    /// Takes in what another node says, and gives what concerns this node's own streams.
    pub(crate) fn hear(&self, own: &str, message: &str) -> Vec<Said> {
        let mut lines = message.lines();
        let Some(name) = lines.next().filter(|name| *name != own) else { return vec![] };
        let mut nodes = self.nodes.lock();
        let node = nodes.entry(name.to_owned()).or_default();
        node.heard_at = Some(Instant::now());
        let mut concerns = vec![];
        for said in lines.filter_map(Said::read) {
            match said {
                Said::Bye => node.streams.clear(),
                Said::Begin => node.telling.clear(),
                Said::Has(server) => drop(node.telling.insert(server)),
                Said::End => node.streams = std::mem::take(&mut node.telling),
                Said::Closed(server) => {
                    node.telling.remove(&server);
                    node.streams.remove(&server);
                }
                Said::Coming(server) => {
                    node.telling.remove(&server);
                    node.streams.remove(&server);
                    node.coming.insert(server);
                    node.coming_since = Some(Instant::now());
                }
                Said::Opened(ref server, _) => {
                    node.telling.insert(server.clone());
                    node.streams.insert(server.clone());
                    concerns.push(said);
                }
                Said::Hello => concerns.push(said),
            }
        }
        nodes.retain(|_, node| node.is_there());
        concerns
    }
}

impl Said {
    fn read(line: &str) -> Option<Self> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let server = |text: &str| {
            let (network, server) = text.split_once(' ')?;
            Some((u128::from_str_radix(network, 16).ok()?, Arc::from(server)))
        };
        Some(match word {
            "hello" => Self::Hello,
            "bye" => Self::Bye,
            "begin" => Self::Begin,
            "end" => Self::End,
            "has" => Self::Has(server(rest)?),
            "closed" => Self::Closed(server(rest)?),
            "coming" => Self::Coming(server(rest)?),
            "opened" => {
                let (at, rest) = rest.split_once(' ')?;
                Self::Opened(server(rest)?, at.parse().ok()?)
            }
            _ => return None,
        })
    }

    fn write(&self, to: &mut String) {
        // Writing to a text does not fail.
        let _ = match self {
            Self::Hello => writeln!(to, "hello"),
            Self::Bye => writeln!(to, "bye"),
            Self::Begin => writeln!(to, "begin"),
            Self::End => writeln!(to, "end"),
            Self::Has((network, server)) => writeln!(to, "has {network:x} {server}"),
            Self::Closed((network, server)) => writeln!(to, "closed {network:x} {server}"),
            Self::Coming((network, server)) => writeln!(to, "coming {network:x} {server}"),
            Self::Opened((network, server), at) => writeln!(to, "opened {at} {network:x} {server}"),
        };
    }
}

/// The messages that say all this in a node's name, none too large.
pub(crate) fn messages(node: &str, said: impl IntoIterator<Item = Said>) -> Vec<String> {
    let mut messages = vec![];
    let mut message = format!("{node}\n");
    for one in said {
        if message.len() > CHUNK {
            messages.push(std::mem::replace(&mut message, format!("{node}\n")));
        }
        one.write(&mut message);
    }
    messages.push(message);
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(id: &str) -> Server {
        (7, Arc::from(id))
    }

    fn say(roster: &Roster, node: &str, said: Vec<Said>) -> Vec<Said> {
        messages(node, said).iter().flat_map(|message| roster.hear("me", message)).collect()
    }

    #[test]
    fn what_other_nodes_have_is_known() {
        let roster = Roster::default();
        let concerns = say(&roster, "one", vec![Said::Hello, Said::Opened(server("a b"), 5)]);
        assert_eq!(concerns, [Said::Hello, Said::Opened(server("a b"), 5)]);
        assert!(roster.has(&server("a b")));
        assert!(!roster.has(&(8, Arc::from("a b"))));
        say(&roster, "me", vec![Said::Opened(server("c"), 5)]);
        assert!(!roster.has(&server("c")), "one's own streams are not others'");
        say(&roster, "one", vec![Said::Closed(server("a b"))]);
        assert!(!roster.has(&server("a b")));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_whose_node_leaves_is_as_good_as_there_for_a_while() {
        let roster = Roster::default();
        say(&roster, "one", vec![Said::Opened(server("a"), 5), Said::Opened(server("b"), 5)]);
        say(&roster, "one", vec![Said::Coming(server("a")), Said::Closed(server("b"))]);
        say(&roster, "one", vec![Said::Bye]);
        assert!(roster.has(&server("a")));
        assert!(!roster.has(&server("b")));
        tokio::time::advance(COMES_WITHIN).await;
        assert!(!roster.has(&server("a")));
    }

    #[test]
    fn all_takes_the_place_of_what_was() {
        let roster = Roster::default();
        say(&roster, "one", vec![Said::Opened(server("old"), 5)]);
        let many = (0..5000).map(|number| Said::Has(server(&format!("server-{number}"))));
        let told = messages("one", [Said::Begin].into_iter().chain(many).chain([Said::End]));
        assert!(told.len() > 1);
        for message in &told {
            assert!(roster.has(&server("old")), "until all is told");
            roster.hear("me", message);
        }
        assert!(!roster.has(&server("old")));
        assert!((0..5000).all(|number| roster.has(&server(&format!("server-{number}")))));
        say(&roster, "one", vec![Said::Bye]);
        assert!(!roster.has(&server("server-1")));
    }
}
