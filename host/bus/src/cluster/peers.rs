//! Exchanges open streams with the other nodes.

use super::connection::Cluster;
use super::messages::Inbox;
use super::roster::{PeerMessage, Roster, Server, Streams, digest, encode};
use super::watch::StreamWatch;
use crate::registry::Registry;
use bytes::Bytes;
use parking_lot::{Mutex, RwLock};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Topic on which nodes announce their streams.
pub(crate) const STREAMS_TOPIC: &str = "streams";
/// Maximum time until the end of a stream is announced.
const ANNOUNCE_INTERVAL: Duration = Duration::from_millis(500);
/// Number of announcements per digest of all streams of the node.
const DIGEST_EVERY: u32 = 10;

/// The other nodes, as this one knows them.
pub(crate) struct Peers {
    pub(crate) cluster: Cluster,
    pub(crate) watch: Arc<StreamWatch>,
    pub(crate) roster: Roster,
    /// This node's streams as announced to the others.
    announced: Mutex<Streams>,
}

type WeakRegistry = Weak<RwLock<Registry>>;

impl Peers {
    pub(crate) fn new(watch: StreamWatch) -> Self {
        let cluster = watch.cluster.clone();
        Self { cluster, watch: Arc::new(watch), roster: Roster::default(), announced: Mutex::default() }
    }

    /// Starts the background tasks, which end when the bus is dropped.
    pub(crate) fn start(self: &Arc<Self>, registry: &Arc<RwLock<Registry>>, inbox: Inbox) {
        let registry = Arc::downgrade(registry);
        tokio::spawn(Arc::clone(&self.watch).run());
        tokio::spawn(Arc::clone(self).listen(registry.clone(), inbox));
        tokio::spawn(Arc::clone(self).announce_changes(registry));
    }

    pub(crate) async fn announce_opened(&self, server: Server, opened_at: i64) {
        self.announced.lock().insert(server.clone(), opened_at);
        self.send([PeerMessage::Opened(server, opened_at)]).await;
    }

    async fn send(&self, messages: impl IntoIterator<Item = PeerMessage>) {
        for payload in encode(self.cluster.node(), messages) {
            if let Err(error) = self.cluster.broadcast(STREAMS_TOPIC, Bytes::from(payload)).await {
                tracing::debug!(%error, "streams could not be announced to the other nodes");
            }
        }
    }

    async fn send_snapshot(&self) {
        let entry = |(server, at): (&Server, &i64)| PeerMessage::SnapshotEntry(server.clone(), *at);
        let all: Vec<_> = self.announced.lock().iter().map(entry).collect();
        let (begin, end) = (PeerMessage::SnapshotBegin, PeerMessage::SnapshotEnd);
        self.send([begin].into_iter().chain(all).chain([end])).await;
    }

    async fn listen(self: Arc<Self>, registry: WeakRegistry, mut inbox: Inbox) {
        self.send([PeerMessage::Hello]).await;
        while let Some(payload) = inbox.next().await {
            let Ok(text) = std::str::from_utf8(&payload) else { continue };
            let (node, messages) = self.roster.receive(self.cluster.node(), text);
            for message in messages {
                match message {
                    PeerMessage::Opened((network, server), at) | PeerMessage::SnapshotEntry((network, server), at) => {
                        let Some(registry) = registry.upgrade() else { return };
                        let network = registry.read().networks.get(&network).cloned();
                        if let Some(network) = network {
                            network.replace_older(&server, (at, node), self.cluster.node());
                        }
                    }
                    PeerMessage::Digest(_) => self.send([PeerMessage::Ask(node.to_owned())]).await,
                    _ => self.send_snapshot().await,
                }
            }
        }
    }

    /// Announces ended streams, and every few times a digest of all streams: a lost message matters for seconds only.
    async fn announce_changes(self: Arc<Self>, registry: WeakRegistry) {
        for round in 1_u32.. {
            tokio::time::sleep(ANNOUNCE_INTERVAL).await;
            let Some(registry) = registry.upgrade() else { break };
            let closed = self.take_closed(&registry);
            drop(registry);
            if !closed.is_empty() {
                self.send(closed).await;
            }
            if round % DIGEST_EVERY == 0 {
                let all = digest(&self.announced.lock());
                self.send([PeerMessage::Digest(all)]).await;
            }
        }
        self.send([PeerMessage::Goodbye]).await;
    }

    fn take_closed(&self, registry: &RwLock<Registry>) -> Vec<PeerMessage> {
        let registry = registry.read();
        let mut announced = self.announced.lock();
        let closed = announced.extract_if(|(network, server), _| {
            let network = registry.networks.get(network);
            network.is_none_or(|network| !network.log.lock().is_connected(server))
        });
        let closed = closed.map(|(server, _)| server);
        closed.map(if registry.closed { PeerMessage::Moving } else { PeerMessage::Closed }).collect()
    }
}
