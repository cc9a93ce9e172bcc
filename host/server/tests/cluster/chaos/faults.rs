//! The faults, their random choice from the seed and their effects.

use std::sync::Arc;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use rustix::process::Signal;

use super::client::Client;
use super::database_faults::{TABLES, foreign_transaction, lock, take_connections};
use super::links::{End, LinkState};
use super::run::NETWORKS;
use super::site::{BusStore, NODES, PATIENCE, Site, faketime, set_clock};
use super::strangers::Wrong;
use super::{doubles, strangers};
use crate::fleet::CURRENT;

/// All kinds of faults.
pub const KINDS: [&str; 22] = [
    "kill",
    "pause",
    "cut",
    "stall",
    "slow",
    "isolate",
    "database",
    "bus",
    "bus-older",
    "bus-lost",
    "disk",
    "clock",
    "upgrade",
    "join",
    "foreign",
    "locks",
    "connections",
    "start",
    "wrong",
    "database-clock",
    "database-older",
    "double",
];

/// Owner of the full disk.
#[derive(Clone, Copy, Debug)]
pub enum FullDisk {
    Node(usize),
    Bus,
    Blobs,
    Database,
}

#[derive(Clone, Debug)]
pub enum Fault {
    /// SIGKILL, and a start after this time.
    Kill {
        node: usize,
        down: Duration,
    },
    /// SIGSTOP, which the node cannot notice.
    Pause {
        node: usize,
        lasting: Duration,
    },
    Link {
        node: usize,
        end: End,
        state: LinkState,
        lasting: Duration,
    },
    /// All links of a node.
    Isolate {
        node: usize,
        state: LinkState,
        lasting: Duration,
    },
    RestartDatabase {
        down: Duration,
    },
    RestartBus {
        down: Duration,
        store: BusStore,
    },
    Disk {
        disk: FullDisk,
        lasting: Duration,
    },
    /// A wrong clock: from the node's start, or suddenly.
    Clock {
        node: usize,
        seconds: i32,
        at_start: bool,
        lasting: Duration,
    },
    /// All nodes are replaced, one after the other; by the previous binary and back if there is one.
    Upgrade {
        first: usize,
    },
    /// A node joins, and leaves after this time.
    Join {
        lasting: Duration,
        by_kill: bool,
    },
    /// A transaction stays open that is not the hub's: in its database, or in another of the same server.
    Foreign {
        elsewhere: bool,
        lasting: Duration,
    },
    /// One network's rows are locked, or the whole table.
    Lock {
        network: usize,
        table: &'static str,
        whole: bool,
        lasting: Duration,
    },
    /// Others take all connections that PostgreSQL has left.
    Connections {
        lasting: Duration,
    },
    /// A node is killed, and starts while PostgreSQL or NATS is away.
    StartInOutage {
        node: usize,
        end: End,
        down: Duration,
    },
    /// A node with a wrong part starts.
    Stranger(Wrong),
    DatabaseClock {
        seconds: i32,
        lasting: Duration,
    },
    /// An older copy takes the database's place.
    OlderDatabase {
        age: Duration,
        is_standby: bool,
    },
    /// Streams of one server at all nodes at once.
    Double {
        network: usize,
    },
}

/// A fault with its kind and its start within a round.
#[derive(Clone, Debug)]
pub struct Draw {
    pub kind: &'static str,
    pub start: Duration,
    pub fault: Fault,
}

/// Draws faults: the same ones from the same seed and kinds.
pub struct Drawer {
    rng: StdRng,
    kinds: Vec<&'static str>,
}

impl Drawer {
    pub fn new(seed: u64, kinds: Vec<&'static str>) -> Self {
        Self { rng: StdRng::seed_from_u64(seed), kinds }
    }

    /// The faults of one round: one, or sometimes two or three at about the same time.
    pub fn round(&mut self) -> Vec<Draw> {
        let count = [1, 1, 1, 2, 2, 3][self.rng.random_range(0..6)];
        (0..count).map(|_| self.draw()).collect()
    }

    fn draw(&mut self) -> Draw {
        let kind = self.kinds[self.rng.random_range(0..self.kinds.len())];
        let node = self.rng.random_range(0..NODES);
        let fault = match kind {
            "kill" => Fault::Kill { node, down: self.millis(100, 8_000) },
            "pause" => Fault::Pause { node, lasting: self.lasting() },
            "cut" => self.link(node, LinkState::Cut),
            "stall" => self.link(node, LinkState::Stalled),
            "slow" => {
                let delay = self.millis(5, 80);
                self.link(node, LinkState::Slow(delay))
            }
            "isolate" => {
                let state = if self.rng.random_bool(0.5) { LinkState::Cut } else { LinkState::Stalled };
                Fault::Isolate { node, state, lasting: self.lasting() }
            }
            "database" => Fault::RestartDatabase { down: self.millis(0, 8_000) },
            "bus" => Fault::RestartBus { down: self.millis(0, 8_000), store: BusStore::Same },
            "bus-older" => {
                let store = BusStore::Older(self.millis(500, 6_000));
                Fault::RestartBus { down: self.millis(0, 3_000), store }
            }
            "bus-lost" => Fault::RestartBus { down: self.millis(0, 3_000), store: BusStore::Empty },
            "disk" => {
                let disk = [FullDisk::Node(node), FullDisk::Bus, FullDisk::Blobs, FullDisk::Database];
                let disk = disk[self.rng.random_range(0..disk.len())];
                Fault::Disk { disk, lasting: self.millis(1_000, 8_000) }
            }
            "clock" => {
                let seconds = [-90, -5, -1, 2, 30, 90][self.rng.random_range(0..6)];
                let at_start = self.rng.random_bool(0.5);
                Fault::Clock { node, seconds, at_start, lasting: self.millis(1_000, 8_000) }
            }
            "upgrade" => Fault::Upgrade { first: node },
            "foreign" | "locks" | "connections" | "database-clock" | "database-older" => self.of_database(kind),
            "start" => {
                let end = if self.rng.random_bool(0.5) { End::Database } else { End::Bus };
                Fault::StartInOutage { node, end, down: self.millis(2_000, 8_000) }
            }
            "wrong" => Fault::Stranger([Wrong::Bus, Wrong::Blobs, Wrong::Database][self.rng.random_range(0..3)]),
            "double" => Fault::Double { network: self.rng.random_range(0..NETWORKS) },
            _ => Fault::Join { lasting: self.millis(2_000, 10_000), by_kill: self.rng.random_bool(0.5) },
        };
        Draw { kind, start: self.millis(0, 3_000), fault }
    }

    /// A fault that others cause in the database.
    fn of_database(&mut self, kind: &str) -> Fault {
        match kind {
            "foreign" => Fault::Foreign { elsewhere: self.rng.random_bool(0.5), lasting: self.lasting() },
            "locks" => {
                let (network, whole) = (self.rng.random_range(0..NETWORKS), self.rng.random_bool(0.3));
                let table = TABLES[self.rng.random_range(0..TABLES.len())];
                Fault::Lock { network, table, whole, lasting: self.millis(500, 12_000) }
            }
            "connections" => Fault::Connections { lasting: self.millis(2_000, 10_000) },
            "database-clock" => {
                let seconds = [-3_600, 3_600, 31_536_000][self.rng.random_range(0..3)];
                Fault::DatabaseClock { seconds, lasting: self.millis(1_000, 8_000) }
            }
            // A copy on the same timeline is noticed within a second, in which numbers may repeat.
            _ => Fault::OlderDatabase { age: self.millis(500, 5_000), is_standby: true },
        }
    }

    fn link(&mut self, node: usize, state: LinkState) -> Fault {
        let ends = [End::Database, End::Bus, End::Node((node + 1) % NODES), End::Node((node + 2) % NODES)];
        Fault::Link { node, end: ends[self.rng.random_range(0..ends.len())], state, lasting: self.lasting() }
    }

    fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(self.rng.random_range(from..=to))
    }

    /// From 0.1 to 30 s, more often short than long.
    fn lasting(&mut self) -> Duration {
        let (from, to) = [(100, 3_000), (100, 3_000), (3_000, 10_000), (10_000, 30_000)][self.rng.random_range(0..4)];
        self.millis(from, to)
    }
}

/// Requirement of a kind that this machine lacks.
pub fn lacks(kind: &str, site: &Site) -> Option<&'static str> {
    match kind {
        "clock" | "database-clock" if faketime().is_none() => Some("Debian's package faketime is not installed"),
        "disk" if !site.bus_disk.is_small() => Some("mounting a tmpfs is not allowed"),
        _ => None,
    }
}

impl Fault {
    /// Injects the fault, and undoes it. `is_alone` in its round.
    pub async fn inject(&self, site: &Arc<Site>, clients: &[Client], is_alone: bool) {
        let now = site.recorder.now();
        match *self {
            Self::Kill { node, down } => {
                let mut held = site.node(node).await;
                site.kill(&mut held).await;
                tokio::time::sleep(down).await;
                start_again(site, &mut held).await;
                site.note_disturbance(node, now);
            }
            Self::Pause { node, lasting } => {
                let held = site.node(node).await;
                held.signal(Signal::STOP);
                tokio::time::sleep(lasting).await;
                held.signal(Signal::CONT);
                site.note_disturbance(node, now);
            }
            Self::Link { node, end, state, lasting } => {
                site.links.set(node, end, state);
                tokio::time::sleep(lasting).await;
                site.links.set(node, end, LinkState::Open);
            }
            Self::Isolate { node, state, lasting } => {
                let peers = (0..=NODES).filter(|other| *other != node).map(End::Node);
                let ends: Vec<_> = peers.chain([End::Database, End::Bus]).collect();
                ends.iter().for_each(|end| site.links.set(node, *end, state));
                tokio::time::sleep(lasting).await;
                ends.iter().for_each(|end| site.links.set(node, *end, LinkState::Open));
            }
            Self::RestartDatabase { down } => site.restart_database(down).await,
            Self::RestartBus { down, store } => site.restart_bus(down, store).await,
            Self::Disk { disk, lasting } => fill(site, disk, lasting).await,
            Self::Clock { node, seconds, at_start, lasting } => skew(site, node, seconds, at_start, lasting).await,
            Self::Upgrade { first } => {
                let previous = std::env::var("HUB_PREVIOUS_BINARY").unwrap_or_else(|_| CURRENT.to_owned());
                for node in (0..NODES).map(|node| (first + node) % NODES) {
                    let mut held = site.node(node).await;
                    let began = site.recorder.now();
                    site.stop(&mut held).await;
                    held.binary = if held.binary == previous { CURRENT.to_owned() } else { previous.clone() };
                    start_again(site, &mut held).await;
                    site.note_disturbance(node, began);
                    site.wait_until_ready(&held).await;
                }
            }
            Self::Join { lasting, by_kill } => {
                let mut held = site.node(NODES).await;
                start_again(site, &mut held).await;
                site.note_disturbance(NODES, now);
                tokio::time::sleep(lasting).await;
                let leaves = site.recorder.now();
                site.forget_url(&held);
                if by_kill {
                    site.kill(&mut held).await;
                } else {
                    site.stop(&mut held).await;
                }
                site.note_disturbance(NODES, leaves);
            }
            Self::Foreign { elsewhere, lasting } => foreign_transaction(site, elsewhere, lasting).await,
            Self::Lock { network, table, whole, lasting } => lock(site, network, table, whole, lasting).await,
            Self::Connections { lasting } => take_connections(site, lasting).await,
            Self::StartInOutage { node, end, down } => start_in_outage(site, node, end, down).await,
            Self::Stranger(wrong) => strangers::start(site, wrong).await,
            Self::DatabaseClock { seconds, lasting } => site.skew_database(seconds, lasting).await,
            Self::OlderDatabase { age, is_standby } => site.go_back(age, is_standby).await,
            Self::Double { network } => doubles::open(site, &clients[network], is_alone).await,
        }
    }
}

async fn start_again(site: &Site, node: &mut super::site::Node) {
    assert!(site.start_node(node, PATIENCE).await, "a node does not start");
}

/// Kills a node, and starts it while a service is away.
async fn start_in_outage(site: &Site, number: usize, end: End, down: Duration) {
    let mut node = site.node(number).await;
    let began = site.recorder.now();
    site.kill(&mut node).await;
    let outage = async {
        match end {
            End::Database => site.restart_database(down).await,
            End::Bus | End::Node(_) => site.restart_bus(down, BusStore::Same).await,
        }
    };
    let start = async {
        tokio::time::sleep(down / 2).await;
        start_again(site, &mut node).await;
    };
    tokio::join!(outage, start);
    site.note_disturbance(number, began);
}

async fn fill(site: &Site, disk: FullDisk, lasting: Duration) {
    let full = match disk {
        FullDisk::Node(node) => &site.node_disks[node],
        FullDisk::Bus => &site.bus_disk,
        FullDisk::Blobs => &site.blob_disk,
        FullDisk::Database => &site.database_disk,
    };
    tokio::task::block_in_place(|| full.fill());
    tokio::time::sleep(lasting).await;
    full.free();
    // The operator restarts a service that ended by a full disk.
    match disk {
        FullDisk::Bus => site.restart_bus(Duration::ZERO, BusStore::Same).await,
        FullDisk::Database => site.restart_database(Duration::ZERO).await,
        FullDisk::Node(_) | FullDisk::Blobs => {}
    }
}

/// Restarts a node with a clock that is wrong from the start or later; then again with the right one.
async fn skew(site: &Site, number: usize, seconds: i32, at_start: bool, lasting: Duration) {
    let mut node = site.node(number).await;
    let file = site.node_disks[number].path().with_extension("clock");
    let set = |seconds: i32| set_clock(&file, seconds);
    let began = site.recorder.now();
    site.stop(&mut node).await;
    node.set_clock(Some(file.clone()));
    set(if at_start { seconds } else { 0 });
    // It may refuse to run.
    let is_running = site.start_node(&mut node, lasting).await;
    site.note_disturbance(number, began);
    if is_running {
        set(seconds);
        let back = Duration::from_secs(u64::from(seconds.min(0).unsigned_abs()));
        site.set_back.lock().unwrap().push((site.recorder.now(), back));
        tokio::time::sleep(lasting).await;
    }
    let began = site.recorder.now();
    site.stop(&mut node).await;
    node.set_clock(None);
    start_again(site, &mut node).await;
    site.note_disturbance(number, began);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_draws_the_same_faults() {
        let draw = |seed| {
            let mut drawer = Drawer::new(seed, KINDS.to_vec());
            format!("{:?}", (0..50).map(|_| drawer.round()).collect::<Vec<_>>())
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        let all = draw(1);
        for fault in [
            "Kill",
            "Pause",
            "Cut",
            "Stalled",
            "Slow",
            "Isolate",
            "RestartDatabase",
            "Same",
            "Older",
            "Empty",
            "Disk",
            "Clock",
            "Upgrade",
            "Join",
            "Foreign",
            "Lock",
            "Connections",
            "StartInOutage",
            "Stranger",
            "DatabaseClock",
            "OlderDatabase",
            "Double",
        ] {
            assert!(all.contains(fault), "{fault}");
        }
    }
}
