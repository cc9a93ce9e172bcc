//! The listening socket.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use socket2::{SockFilter, SockRef};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

/// Connections that wait to be accepted; the system may allow fewer (`net.core.somaxconn`). With a short queue, a burst
/// makes other clients wait for a second until they try again.
const BACKLOG: u32 = 4096;
/// While no connection can be accepted, for want of file descriptors for instance.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
const WARNING_INTERVAL: Duration = Duration::from_secs(10);
/// For the handshakes under way when the socket closes.
const HANDSHAKES: Duration = Duration::from_millis(100);
/// Drops what begins a connection, which has SYN without ACK: its sender tries again in a second, and then finds the port
/// closed, or the next process.
const NO_NEW_CONNECTIONS: [SockFilter; 4] = [
    // The flags of TCP's header.
    SockFilter::new(0x30, 0, 0, 13),
    // With ACK?
    SockFilter::new(0x45, 0, 1, 0x10),
    SockFilter::new(0x06, 0, 0, u32::MAX),
    SockFilter::new(0x06, 0, 0, 0),
];

/// Listens on `address`.
///
/// # Errors
/// Where that is not possible, such as for an address that is in use; the error names it.
pub async fn bind(address: SocketAddr) -> anyhow::Result<TcpListener> {
    try_bind(address).map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::AddrInUse => {
                ": another process, maybe another hub, listens there; name another with --listen"
            }
            io::ErrorKind::AddrNotAvailable => ": this machine does not have that address; name another with --listen",
            _ => "",
        };
        anyhow::anyhow!("cannot listen on {address}: {error}{hint}")
    })
}

fn try_bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Connections of the process before may still be closing.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Accepts connections. Where that fails it waits a moment, and existing connections go on.
pub(super) struct Acceptor {
    listener: TcpListener,
    warned_at: Option<Instant>,
}

impl Acceptor {
    pub(super) fn new(listener: TcpListener) -> Self {
        Self { listener, warned_at: None }
    }

    pub(super) async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok(accepted) => return accepted,
                // The client has gone away already.
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset) => {}
                Err(error) => {
                    if self.warned_at.is_none_or(|at| at.elapsed() > WARNING_INTERVAL) {
                        tracing::warn!(%error, "could not accept a connection; trying again");
                        self.warned_at = Some(Instant::now());
                    }
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    /// Closes the socket after it has accepted what has already connected, which would be reset otherwise.
    pub(super) async fn close(self, mut serve: impl FnMut(TcpStream, SocketAddr)) {
        let deadline = Instant::now() + HANDSHAKES;
        if let Err(error) = SockRef::from(&self.listener).attach_filter(&NO_NEW_CONNECTIONS) {
            tracing::debug!(%error, "connections that begin now may be reset");
        }
        while let Ok(accepted) = timeout_at(deadline, self.listener.accept()).await {
            match accepted {
                Ok((stream, remote)) => serve(stream, remote),
                Err(_) => sleep_until(deadline).await,
            }
        }
    }
}
