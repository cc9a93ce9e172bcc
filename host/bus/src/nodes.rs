//! What ties the bus of this process to those of other nodes.

use crate::bus::Registry;
use crate::cluster::roster::{Roster, Said, Server, messages};
use crate::cluster::{Cluster, Inbox};
use bytes::Bytes;
use parking_lot::{Mutex, RwLock};
use std::collections::HashSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Where nodes tell each other of their streams.
pub(crate) const STREAMS: &str = "streams";
/// How long a stream's end may go unsaid.
const TELL_EVERY: Duration = Duration::from_millis(500);
/// All is told every so many times.
const ALL_EVERY: u32 = 10;
const TRY_AGAIN_AFTER: Duration = Duration::from_millis(200);

pub(crate) struct Nodes {
    pub(crate) cluster: Cluster,
    pub(crate) roster: Roster,
    /// The streams of this node that the others were told of.
    told: Mutex<HashSet<Server>>,
}

type Here = Weak<RwLock<Registry>>;

impl Nodes {
    pub(crate) fn new(cluster: Cluster) -> Self {
        Self { cluster, roster: Roster::default(), told: Mutex::default() }
    }

    /// Works until the bus is dropped.
    pub(crate) fn start(self: &Arc<Self>, registry: &Arc<RwLock<Registry>>, heard: Inbox) {
        let registry = Arc::downgrade(registry);
        tokio::spawn(keep_epoch(registry.clone(), self.cluster.clone()));
        tokio::spawn(Arc::clone(self).listen(registry.clone(), heard));
        tokio::spawn(Arc::clone(self).tell(registry));
    }

    /// A stream was opened here.
    pub(crate) async fn opened(&self, server: Server, now_ms: i64) {
        self.told.lock().insert(server.clone());
        self.say([Said::Opened(server, now_ms)]).await;
    }

    async fn say(&self, said: impl IntoIterator<Item = Said>) {
        for message in messages(self.cluster.node(), said) {
            if let Err(error) = self.cluster.tell(STREAMS, Bytes::from(message)).await {
                tracing::debug!(%error, "the other nodes were not told of streams");
            }
        }
    }

    async fn say_all(&self) {
        let all: Vec<_> = self.told.lock().iter().cloned().map(Said::Has).collect();
        self.say([Said::Begin].into_iter().chain(all).chain([Said::End])).await;
    }

    async fn listen(self: Arc<Self>, here: Here, mut heard: Inbox) {
        self.say([Said::Hello]).await;
        while let Some(message) = heard.next().await {
            let Ok(text) = std::str::from_utf8(&message) else { continue };
            for said in self.roster.hear(self.cluster.node(), text) {
                match said {
                    Said::Opened((network, server), at) => {
                        let Some(registry) = here.upgrade() else { return };
                        let network = registry.read().networks.get(&network).cloned();
                        if let Some(network) = network {
                            network.replaced_elsewhere(&server, at);
                        }
                    }
                    _ => self.say_all().await,
                }
            }
        }
    }

    /// Tells of the streams that ended, and now and then of all.
    async fn tell(self: Arc<Self>, here: Here) {
        for turn in 1_u32.. {
            tokio::time::sleep(TELL_EVERY).await;
            let Some(registry) = here.upgrade() else { break };
            let closed = self.note_closed(&registry);
            drop(registry);
            if !closed.is_empty() {
                self.say(closed).await;
            }
            if turn % ALL_EVERY == 0 {
                self.say_all().await;
            }
        }
        self.say([Said::Bye]).await;
    }

    fn note_closed(&self, registry: &RwLock<Registry>) -> Vec<Said> {
        let registry = registry.read();
        let mut told = self.told.lock();
        let gone = told.extract_if(|(network, server)| {
            let network = registry.networks.get(network);
            network.is_none_or(|network| !network.state.lock().is_connected(server))
        });
        gone.map(if registry.closed { Said::Coming } else { Said::Closed }).collect()
    }
}

/// Begins anew where another sequence took the place of the one that was: streams end, and are told when they resume.
async fn keep_epoch(registry: Here, cluster: Cluster) {
    let mut link = cluster.link();
    while link.changed().await.is_ok() {
        if !link.borrow_and_update().connected {
            continue;
        }
        let Some(epoch) = epoch(&cluster).await else { continue };
        let Some(registry) = registry.upgrade() else { return };
        let mut registry = registry.write();
        if epoch != registry.epoch {
            tracing::warn!("the bus between nodes lost its events; streams begin anew");
            registry.epoch = epoch;
            registry.feeds.clear();
            for (_, network) in registry.networks.drain() {
                network.close();
            }
        }
    }
}

/// The epoch, as long as there is a connection to ask for it.
async fn epoch(cluster: &Cluster) -> Option<u64> {
    while cluster.is_connected() {
        match cluster.epoch().await {
            Ok(epoch) => return Some(epoch),
            Err(error) => tracing::debug!(%error, "the stream of events does not answer"),
        }
        tokio::time::sleep(TRY_AGAIN_AFTER).await;
    }
    None
}
