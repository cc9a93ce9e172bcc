//! Links between nodes, PostgreSQL and NATS: TCP proxies that cut, stall or slow down their connections.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::future::ready;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};

/// Other end of a node's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    Node(usize),
    Database,
    Bus,
}

/// State of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkState {
    Open,
    /// Connections are closed.
    Cut,
    /// Connections stay open and nothing passes.
    Stalled,
    /// Each chunk is held back this long.
    Slow(Duration),
}

/// The state of all links, by node and other end. A link of two nodes is that of both directions.
#[derive(Clone, Default)]
pub struct Links {
    states: Arc<Mutex<HashMap<(usize, End), watch::Sender<LinkState>>>>,
    /// Process of each node, by which a proxy recognises the connecting node.
    pids: Arc<Mutex<HashMap<usize, u32>>>,
}

impl Links {
    pub fn set(&self, node: usize, end: End, state: LinkState) {
        let _ = self.sender(node, end).send_replace(state);
    }

    pub fn set_pid(&self, node: usize, pid: Option<u32>) {
        let mut pids = self.pids.lock().unwrap();
        match pid {
            Some(pid) => pids.insert(node, pid),
            None => pids.remove(&node),
        };
    }

    /// The processes of all nodes that run.
    pub fn pids(&self) -> Vec<u32> {
        self.pids.lock().unwrap().values().copied().collect()
    }

    fn sender(&self, node: usize, end: End) -> watch::Sender<LinkState> {
        let key = match end {
            End::Node(other) => (node.min(other), End::Node(node.max(other))),
            end => (node, end),
        };
        self.states.lock().unwrap().entry(key).or_insert_with(|| watch::Sender::new(LinkState::Open)).clone()
    }

    /// Starts a proxy to a node's database or bus; returns its address.
    pub async fn to_service(&self, node: usize, end: End, target: SocketAddr) -> SocketAddr {
        let links = self.clone();
        proxy(target, move |_| ready(links.sender(node, end).subscribe())).await
    }

    /// Starts a proxy to a node, for all other nodes; returns its address.
    pub async fn to_node(&self, node: usize, target: SocketAddr) -> SocketAddr {
        let links = self.clone();
        let (ask, asked) = mpsc::channel::<(u16, oneshot::Sender<Option<usize>>)>();
        // A thread of its own: it takes long on a machine with many connections, and other links must not wait.
        let looking = self.clone();
        std::thread::spawn(move || {
            while let Ok(first) = asked.recv() {
                let all: Vec<_> = std::iter::once(first).chain(asked.try_iter()).collect();
                let found = looking.nodes_at(&all.iter().map(|(port, _)| *port).collect());
                for (port, tell) in all {
                    let _ = tell.send(found.get(&port).copied());
                }
            }
        });
        proxy(target, move |client| {
            let (links, (tell, told)) = (links.clone(), oneshot::channel());
            let _ = ask.send((client.port(), tell));
            async move {
                // A node that reaches itself needs no network.
                let from = told.await.ok().flatten().unwrap_or(node);
                links.sender(from, End::Node(node)).subscribe()
            }
        })
        .await
    }

    /// The nodes whose processes have connections from these ports.
    fn nodes_at(&self, ports: &HashSet<u16>) -> HashMap<u16, usize> {
        let table = fs::read_to_string("/proc/net/tcp").unwrap_or_default();
        let socket = |line: &str| {
            let mut fields = line.split_whitespace();
            let port = u16::from_str_radix(fields.nth(1)?.split_once(':')?.1, 16).ok()?;
            ports.contains(&port).then_some(())?;
            Some((fields.nth(7)?.to_owned(), port))
        };
        let mut sockets: HashMap<_, _> = table.lines().filter_map(socket).collect();
        // Inode 0 belongs to no process.
        sockets.remove("0");
        let pids = self.pids.lock().unwrap().clone();
        let mut found = HashMap::new();
        for (node, pid) in pids {
            for file in fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten() {
                let target = fs::read_link(file.path()).ok().and_then(|target| target.to_str().map(str::to_owned));
                let inode = target.as_deref().and_then(|target| target.strip_prefix("socket:[")?.strip_suffix(']'));
                if let Some(port) = inode.and_then(|inode| sockets.get(inode)) {
                    found.insert(*port, node);
                }
            }
        }
        found
    }
}

async fn proxy<F>(target: SocketAddr, link: impl Fn(SocketAddr) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = watch::Receiver<LinkState>> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((client, from)) = listener.accept().await {
            let link = link(from);
            tokio::spawn(async move { relay(client, target, link.await).await });
        }
    });
    address
}

async fn relay(client: TcpStream, target: SocketAddr, mut link: watch::Receiver<LinkState>) {
    if !pass(&mut link).await {
        return;
    }
    let Ok(server) = TcpStream::connect(target).await else { return };
    let (_, _) = (client.set_nodelay(true), server.set_nodelay(true));
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    // The end of either direction ends the connection.
    tokio::select! {
        () = copy(from_client, to_server, link.clone()) => {}
        () = copy(from_server, to_client, link) => {}
    }
}

async fn copy(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut link: watch::Receiver<LinkState>) {
    let mut cut = link.clone();
    let copying = async {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(size @ 1..) = from.read(&mut buffer).await {
            if !pass(&mut link).await || to.write_all(&buffer[..size]).await.is_err() {
                return;
            }
        }
        // The end does not pass a stalled link either.
        pass(&mut link).await;
    };
    tokio::select! {
        () = copying => {}
        _ = cut.wait_for(|state| *state == LinkState::Cut) => {}
    }
}

/// Waits until the link passes bytes; false if it is cut.
async fn pass(link: &mut watch::Receiver<LinkState>) -> bool {
    let state = link.wait_for(|state| *state != LinkState::Stalled).await.map(|state| *state);
    match state {
        Ok(LinkState::Slow(delay)) => {
            tokio::time::sleep(delay).await;
            true
        }
        Ok(LinkState::Cut) => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::TIMEOUT;

    const SOON: Duration = Duration::from_millis(200);

    /// Connects and sends a byte; `Some` with the number of bytes echoed, or `None` if the time ends without an answer.
    async fn echo(address: SocketAddr, within: Duration) -> Option<usize> {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"x").await.unwrap();
        let mut buffer = [0];
        tokio::time::timeout(within, stream.read(&mut buffer)).await.ok().map(|read| read.unwrap_or_default())
    }

    #[tokio::test]
    async fn links_pass_cut_and_stall_traffic_of_a_node() {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = server.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((stream, _)) = server.accept().await {
                let (mut from, mut to) = stream.into_split();
                tokio::spawn(async move { tokio::io::copy(&mut from, &mut to).await });
            }
        });
        let links = Links::default();
        // This process is the first node.
        links.set_pid(0, Some(std::process::id()));
        let to_other = links.to_node(1, target).await;
        let to_itself = links.to_node(0, target).await;
        let to_database = links.to_service(0, End::Database, target).await;
        for (end, address) in [(End::Node(1), to_other), (End::Database, to_database)] {
            for (state, expected) in [
                (LinkState::Open, Some(1)),
                (LinkState::Cut, Some(0)),
                (LinkState::Stalled, None),
                (LinkState::Slow(SOON / 4), Some(1)),
            ] {
                links.set(0, end, state);
                let within = if expected.is_some() { TIMEOUT } else { SOON };
                assert_eq!(echo(address, within).await, expected, "{end:?} {state:?}");
                assert_eq!(echo(to_itself, TIMEOUT).await, Some(1));
            }
        }
        links.set(2, End::Node(1), LinkState::Cut);
        links.set(0, End::Node(1), LinkState::Open);
        assert_eq!(echo(to_other, TIMEOUT).await, Some(1), "another node's link");
    }
}
