//! The listening socket.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use socket2::{SockFilter, SockRef};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

/// Connections that wait to be accepted; the system may allow fewer (`net.core.somaxconn`). With a short queue, a burst
/// makes other clients wait a second for their retry.
const BACKLOG: u32 = 4096;
/// Pause after a failed accept, for example without free file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
const WARNING_INTERVAL: Duration = Duration::from_secs(10);
/// Time for the handshakes in progress when the socket closes.
const HANDSHAKES: Duration = Duration::from_millis(100);
/// Drops packets that begin a connection (SYN without ACK): the sender retries in a second, and then finds the port
/// closed, or the next process.
const NO_NEW_CONNECTIONS: [SockFilter; 4] = [
    // Flags of TCP's header.
    SockFilter::new(0x30, 0, 0, 13),
    // Tests ACK.
    SockFilter::new(0x45, 0, 1, 0x10),
    SockFilter::new(0x06, 0, 0, u32::MAX),
    SockFilter::new(0x06, 0, 0, 0),
];

/// Listens on `address`.
///
/// # Errors
/// Fails if that is impossible, for example if the address is in use; the error names it.
pub async fn bind(address: SocketAddr) -> anyhow::Result<TcpListener> {
    try_bind(address).map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::AddrInUse => {
                ": another process, maybe another hub, already listens there; choose another address with --listen"
            }
            io::ErrorKind::AddrNotAvailable => {
                ": this machine does not have that address; choose another with --listen"
            }
            _ => "",
        };
        anyhow::anyhow!("cannot listen on {address}: {error}{hint}")
    })
}

fn try_bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Connections of the previous process may still be closing.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Accepts connections. After a failure it pauses, while existing connections continue.
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
                // The client has already disconnected.
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset) => {}
                Err(error) => {
                    if self.warned_at.is_none_or(|at| at.elapsed() > WARNING_INTERVAL) {
                        tracing::warn!(%error, "could not accept a connection; retrying");
                        self.warned_at = Some(Instant::now());
                    }
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    /// Closes the socket after accepting all completed connections, which would be reset otherwise.
    pub(super) async fn close(self, mut serve: impl FnMut(TcpStream, SocketAddr)) {
        let deadline = Instant::now() + HANDSHAKES;
        if let Err(error) = SockRef::from(&self.listener).attach_filter(&NO_NEW_CONNECTIONS) {
            tracing::debug!(%error, "new connections may be reset during shutdown");
        }
        while let Ok(accepted) = timeout_at(deadline, self.listener.accept()).await {
            match accepted {
                Ok((stream, remote)) => serve(stream, remote),
                Err(_) => sleep_until(deadline).await,
            }
        }
    }
}
