//! Open connections: their limits, and the connection of a request.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use ipnet::{IpNet, Ipv4Net};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::config::Settings;

const LOOPBACK: Ipv4Net = Ipv4Net::new_assert(Ipv4Addr::new(127, 0, 0, 0), 8);

/// All open connections, counted.
#[derive(Debug)]
pub struct Connections(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    limit: usize,
    limit_per_address: usize,
    /// Addresses without a limit.
    exempt: Vec<IpNet>,
    open: AtomicUsize,
    by_address: Mutex<HashMap<IpAddr, usize>>,
    all_closed: Notify,
}

/// Reason for refusing a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectionLimit {
    /// Limit of the hub.
    #[error("The hub has reached its maximum number of connections.")]
    All,
    /// Limit of the address.
    #[error("Too many open connections from this address.")]
    Address,
}

impl Connections {
    /// None are open yet. The rest of the files that the process may open is for the database, blobs, and the other nodes.
    pub fn of(settings: &Settings) -> Self {
        const PER_ADDRESS: u32 = 4096;
        let open_files = rlimit::Resource::NOFILE.get_soft().unwrap_or(1024).try_into().unwrap_or(u32::MAX);
        let limit = settings.max_connections.unwrap_or(open_files - open_files / 8);
        let per_address = settings.max_connections_per_address.unwrap_or(PER_ADDRESS.min(limit / 4));
        let mut exempt = settings.trusted_proxies.clone();
        if settings.connections.is_loopback_exempt {
            exempt.extend([IpNet::from(IpAddr::from(Ipv6Addr::LOCALHOST)), IpNet::V4(LOOPBACK)]);
        }
        tracing::info!(limit, per_address, "connections");
        Self::new(limit as usize, per_address as usize, exempt)
    }

    /// Creates an empty count.
    pub fn new(limit: usize, limit_per_address: usize, exempt: Vec<IpNet>) -> Self {
        Self(Arc::new(Counts {
            limit,
            limit_per_address,
            exempt,
            open: AtomicUsize::new(0),
            by_address: Mutex::default(),
            all_closed: Notify::new(),
        }))
    }

    /// Counts a connection from this address until it is dropped.
    pub fn open(&self, address: IpAddr) -> Result<Connection, ConnectionLimit> {
        let counts = &self.0;
        let address = counted_as(address);
        if counts.open.fetch_add(1, Relaxed) >= counts.limit {
            counts.close();
            return Err(ConnectionLimit::All);
        }
        let is_exempt = counts.exempt.iter().any(|network| network.contains(&address));
        if !is_exempt {
            let mut by_address = counts.by_address.lock();
            let open = by_address.entry(address).or_default();
            if *open >= counts.limit_per_address {
                counts.close();
                return Err(ConnectionLimit::Address);
            }
            *open += 1;
        }
        let share = Mutex::new((!is_exempt).then_some(address));
        let inner = ConnectionState { abort: CancellationToken::new(), counts: Arc::clone(counts), share };
        Ok(Connection(Arc::new(inner)))
    }

    /// Number of open connections.
    pub fn count(&self) -> usize {
        self.0.open.load(Relaxed)
    }

    /// Waits until all connections are closed.
    pub async fn all_closed(&self) {
        loop {
            let closed = self.0.all_closed.notified();
            if self.count() == 0 {
                return;
            }
            closed.await;
        }
    }
}

impl Counts {
    fn close(&self) {
        if self.open.fetch_sub(1, Relaxed) == 1 {
            self.all_closed.notify_waiters();
        }
    }
}

/// An IPv6 address counts as its /64 network, which usually belongs to one client.
fn counted_as(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) if address.is_loopback() => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
    }
}

/// Connection of a request. It counts as open until all clones are dropped.
#[derive(Clone, Debug)]
pub struct Connection(Arc<ConnectionState>);

#[derive(Debug)]
struct ConnectionState {
    abort: CancellationToken,
    counts: Arc<Counts>,
    /// Address to whose share it counts.
    share: Mutex<Option<IpAddr>>,
}

impl Connection {
    /// Closes the connection immediately, aborting everything in flight. A response to a client that stopped reading
    /// blocks in a write that otherwise ends late.
    pub fn abort(&self) {
        self.0.abort.cancel();
    }

    /// Waits until it is aborted.
    pub async fn aborted(&self) {
        self.0.abort.cancelled().await;
    }

    /// Excludes the connection, which belongs to another node of the hub, from its address's share.
    pub fn exempt(&self) {
        self.0.leave_share();
    }
}

impl ConnectionState {
    fn leave_share(&self) {
        let Some(address) = self.share.lock().take() else { return };
        let mut by_address = self.counts.by_address.lock();
        if let Some(open) = by_address.get_mut(&address) {
            *open -= 1;
            if *open == 0 {
                by_address.remove(&address);
            }
        }
    }
}

impl Drop for ConnectionState {
    fn drop(&mut self) {
        self.leave_share();
        self.counts.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_share_and_proxies_have_any_number() {
        let connections = Connections::new(100, 2, vec!["10.0.0.0/8".parse().unwrap()]);
        let open = |address: &str| connections.open(address.parse().unwrap());
        let kept = [open("203.0.113.7").unwrap(), open("::ffff:203.0.113.7").unwrap()];
        assert_eq!(open("203.0.113.7").unwrap_err(), ConnectionLimit::Address);
        let _other = open("203.0.113.8").unwrap();
        // All of an IPv6 network together.
        let _six = [open("2001:db8:1:2::1").unwrap(), open("2001:db8:1:2::2").unwrap()];
        assert_eq!(open("2001:db8:1:2:3::4").unwrap_err(), ConnectionLimit::Address);
        let _neighbour = open("2001:db8:1:3::1").unwrap();
        let _proxy: Vec<_> = (0..10).map(|_| open("::ffff:10.1.2.3").unwrap()).collect();
        // A connection identified as another node's makes room.
        kept[0].exempt();
        let _another = open("203.0.113.7").unwrap();
        assert_eq!(open("203.0.113.7").unwrap_err(), ConnectionLimit::Address);
        drop(kept);
        assert!(open("203.0.113.7").is_ok());
    }

    #[tokio::test]
    async fn all_together_have_a_limit() {
        let connections = Connections::new(2, 9, vec!["10.0.0.0/8".parse().unwrap()]);
        let open = |address: &str| connections.open(address.parse().unwrap());
        let kept = [open("203.0.113.7").unwrap(), open("10.0.0.1").unwrap()];
        for address in ["203.0.113.8", "10.0.0.1"] {
            assert_eq!(open(address).unwrap_err(), ConnectionLimit::All);
        }
        assert_eq!(connections.count(), 2);
        let closed = connections.all_closed();
        drop(kept);
        closed.await;
        assert!(connections.0.by_address.lock().is_empty());
    }
}
