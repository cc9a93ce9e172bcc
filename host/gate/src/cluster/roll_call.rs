//! The roll of nodes: all that a node hears on the bus are in its database, and all that are in its database are heard.
//!
//! A node with another NATS, or a copy of the database on the same one, would lose events or send them to another hub's
//! servers, and all of them would look healthy.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hub_bus::Inbox;
use hub_db::Db;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep};

use crate::clock::Millis;
use crate::cluster::registry::Node;
use crate::cluster::store::{self, NodeRow};
use crate::fault::{Fault, FaultKind};

/// Topic of the calls.
const TOPIC: &str = "roll-call";
/// A call of a node that is not in the roll yet: the others answer with their names.
const WHO_IS_THERE: &str = "";
const CALL_INTERVAL: Duration = Duration::from_secs(1);
/// Time without a call after which a node is not heard.
const SILENT_AFTER: Duration = Duration::from_secs(3);
/// Time for which a difference must last: nodes start and end, and the bus restarts.
const LASTS: Duration = Duration::from_secs(10);
/// Time for a starting node to hear all others, and for those that died to leave the roll.
const START_TIMEOUT: Duration = Duration::from_secs(6);
const FIRST_ANSWERS: Duration = Duration::from_millis(500);
const POLL_INTERVAL: Duration = Duration::from_millis(100);

const STRANGER: &str = "Another hub with a copy of this database uses the same bus; `hub admin cluster separate` makes \
                        the copy a hub of its own.";
const ABSENT: &str = "Nodes on this database use another bus; all of them need the same --bus.";

/// Nodes as heard on the bus.
#[derive(Debug, Default)]
pub(super) struct RollCall {
    heard: Mutex<HashMap<String, Instant>>,
    /// Nodes that were there before this one. Where parts do not fit, the newcomer gives way.
    elders: Mutex<HashSet<String>>,
    difference: Mutex<Option<Difference>>,
}

#[derive(Debug)]
struct Difference {
    message: &'static str,
    is_with_elder: bool,
    since: Instant,
}

/// Nodes in one place only.
#[derive(Debug, Default, PartialEq, Eq)]
struct Unmatched<'a> {
    strangers: Vec<&'a str>,
    absent: Vec<&'a str>,
}

impl RollCall {
    fn note(&self, name: &str) {
        self.heard.lock().insert(name.to_owned(), Instant::now());
    }

    fn heard(&self) -> HashSet<String> {
        let mut heard = self.heard.lock();
        heard.retain(|_, at| at.elapsed() < 2 * LASTS);
        heard.iter().filter(|(_, at)| at.elapsed() < SILENT_AFTER).map(|(name, _)| name.clone()).collect()
    }

    /// Compares with the nodes in the database: all recent ones, of which `is_live` are alive.
    pub(super) fn compare(&self, own: &str, rows: &[NodeRow], is_live: impl Fn(&NodeRow) -> bool) {
        let heard = self.heard();
        let unmatched = unmatched(own, &heard, rows, is_live);
        let elders = self.elders.lock();
        let (message, names) = match (&unmatched.strangers[..], &unmatched.absent[..]) {
            ([], []) => {
                *self.difference.lock() = None;
                return;
            }
            ([], absent) => (ABSENT, absent),
            (strangers, _) => (STRANGER, strangers),
        };
        let is_with_elder = names.iter().any(|name| elders.contains(*name));
        let mut difference = self.difference.lock();
        let since = difference.as_ref().map_or_else(Instant::now, |before| before.since);
        *difference = Some(Difference { message, is_with_elder, since });
    }

    /// Nodes that were there before this one.
    pub(super) fn elders(&self) -> HashSet<String> {
        self.elders.lock().clone()
    }

    /// Forgets a difference: without the bus nobody is heard.
    pub(super) fn forget(&self) {
        *self.difference.lock() = None;
    }

    /// The fault, while the difference lasts.
    pub(super) fn fault(&self) -> Option<Fault> {
        let difference = self.difference.lock();
        let difference = difference.as_ref().filter(|difference| difference.since.elapsed() >= LASTS)?;
        let fault = if difference.is_with_elder { Fault::disabling } else { Fault::tolerable };
        Some(fault(FaultKind::Cluster, difference.message))
    }
}

fn unmatched<'a>(
    own: &str,
    heard: &'a HashSet<String>,
    rows: &'a [NodeRow],
    is_live: impl Fn(&NodeRow) -> bool,
) -> Unmatched<'a> {
    let is_known = |name: &str| name == own || rows.iter().any(|row| row.node == name);
    let is_missed =
        |row: &&NodeRow| row.node != own && row.fitness.reaches_bus && is_live(row) && !heard.contains(&row.node);
    Unmatched {
        strangers: heard.iter().map(String::as_str).filter(|name| !is_known(name)).collect(),
        absent: rows.iter().filter(is_missed).map(|row| row.node.as_str()).collect(),
    }
}

impl Node {
    /// Compares the roll before this node joins, with the nodes seen `recently`, of which those seen within
    /// `live_within` are alive.
    pub(super) async fn call_roll_first(
        self: &Arc<Self>,
        db: &Db,
        recently: Millis,
        live_within: Millis,
    ) -> anyhow::Result<Inbox> {
        let mut inbox = self.cluster.listen(TOPIC).await?;
        self.cluster.broadcast(TOPIC, Bytes::from_static(WHO_IS_THERE.as_bytes())).await?;
        let began = Instant::now();
        loop {
            while let Ok(Some(payload)) = tokio::time::timeout(POLL_INTERVAL, inbox.next()).await {
                self.hear(&payload);
                if began.elapsed() > FIRST_ANSWERS {
                    break;
                }
            }
            let (heard, rows) = (self.roll_call.heard(), store::nodes(db, recently).await?);
            let unmatched = unmatched(&self.name, &heard, &rows, |row| row.is_live(live_within));
            let fits = unmatched == Unmatched::default();
            if fits && began.elapsed() >= FIRST_ANSWERS {
                let others = rows.iter().map(|row| row.node.clone()).filter(|name| *name != self.name);
                *self.roll_call.elders.lock() = others.chain(heard).collect();
                return Ok(inbox);
            }
            if began.elapsed() >= START_TIMEOUT {
                anyhow::ensure!(unmatched.strangers.is_empty(), "{STRANGER}");
                anyhow::ensure!(unmatched.absent.is_empty(), "{ABSENT}");
            }
            sleep(POLL_INTERVAL).await;
        }
    }

    fn hear(&self, payload: &[u8]) {
        match std::str::from_utf8(payload) {
            Ok(WHO_IS_THERE) | Err(_) => {}
            Ok(name) => self.roll_call.note(name),
        }
    }

    /// Answers calls until the hub stops.
    pub(super) async fn answer_calls(self: Arc<Self>, mut inbox: Inbox) {
        while let Some(payload) = inbox.next().await {
            self.hear(&payload);
            if payload.is_empty() {
                self.say_name().await;
            }
        }
    }

    /// Says this node's name until the hub stops.
    pub(super) async fn say_name_repeatedly(self: Arc<Self>) {
        loop {
            self.say_name().await;
            sleep(CALL_INTERVAL).await;
        }
    }

    async fn say_name(&self) {
        if let Err(error) = self.cluster.broadcast(TOPIC, Bytes::from(self.name.clone())).await {
            tracing::debug!(%error, "the other nodes could not be called");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::store::Fitness;

    fn row(name: &str, reaches_bus: bool) -> NodeRow {
        let fitness = Fitness { reaches_bus, is_clock_right: true };
        NodeRow { node: name.into(), url: "u".into(), fitness, reached: "[]".into(), options: "{}".into(), silent: 0 }
    }

    fn heard(names: &[&str]) -> HashSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn nodes_in_one_place_only_are_found() {
        let rows = [row("own", true), row("a", true), row("lost-bus", false), row("dead", true)];
        let of = |names: &[&str]| {
            let heard = heard(names);
            let found = unmatched("own", &heard, &rows, |row| row.node != "dead");
            (found.strangers.concat(), found.absent.concat())
        };
        assert_eq!(of(&["own", "a"]), (String::new(), String::new()));
        assert_eq!(of(&["own"]), (String::new(), "a".to_owned()));
        assert_eq!(of(&["own", "a", "copy"]), ("copy".to_owned(), String::new()));
        assert_eq!(of(&["own", "a", "dead"]), (String::new(), String::new()), "it may be a moment late");
    }

    #[tokio::test(start_paused = true)]
    async fn the_newcomer_gives_way_and_only_to_what_lasts() {
        for (elders, is_disabling) in [(heard(&["a"]), true), (heard(&[]), false)] {
            let roll = RollCall { elders: Mutex::new(elders), ..RollCall::default() };
            let rows = [row("own", true), row("a", true)];
            roll.compare("own", &rows, |_| true);
            tokio::time::advance(LASTS / 2).await;
            assert_eq!(roll.fault(), None);
            tokio::time::advance(LASTS).await;
            roll.compare("own", &rows, |_| true);
            assert_eq!(roll.fault().unwrap().is_disabling, is_disabling);
            roll.note("a");
            roll.compare("own", &rows, |_| true);
            assert_eq!(roll.fault(), None, "it was heard again");
        }
    }
}
