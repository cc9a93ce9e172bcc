//! Accepts connections and serves them until the hub stops.
//!
//! axum's own `serve` installs no timer: a client that never finishes its request line would hold a connection for
//! ever.

use std::net::SocketAddr;
use std::time::Duration;

use axum::extract::ConnectInfo;
use axum::{Extension, Router};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tower::Layer as _;

use crate::app::App;
use crate::http::connection::Connection;

/// For sending a request's head, and for a connection that idles between two requests.
const HEAD_TIMEOUT: Duration = Duration::from_mins(1);
/// Bytes read from a connection at once, and the largest head. hyper's default is six times as large and blocks the
/// thread for a millisecond.
const READ_BUFFER: usize = 64 << 10;
/// For the requests in flight at a shutdown.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// Listens on `address`.
pub async fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    TcpListener::bind(address).await
}

/// Serves one listener.
pub struct Server {
    app: App,
    router: Router,
}

impl Server {
    /// A server for all of the hub's routes.
    pub fn new(app: App) -> Self {
        let router = crate::router::router(&app);
        Self { app, router }
    }

    /// Serves until the hub stops, then drains the requests in flight.
    pub async fn run(self, listener: TcpListener) {
        let graceful = GracefulShutdown::new();
        let (closed, stop) = (self.app.not_listening(), self.app.stopping());
        loop {
            tokio::select! {
                () = closed.cancelled() => break,
                accepted = listener.accept() => match accepted {
                    Ok((stream, remote)) => self.serve(stream, remote, &graceful),
                    // Most likely out of file descriptors, until other connections close.
                    Err(error) => {
                        tracing::warn!(%error, "could not accept a connection");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                },
            }
        }
        self.serve_backlog(listener, &graceful);
        stop.cancelled().await;
        if tokio::time::timeout(DRAIN_TIMEOUT, graceful.shutdown()).await.is_err() {
            tracing::warn!("some requests did not finish in time and were cut off");
        }
    }

    /// Serves the connections that the kernel has accepted already, and closes the listener.
    fn serve_backlog(&self, listener: TcpListener, graceful: &GracefulShutdown) {
        let Ok(listener) = listener.into_std() else { return };
        while let Ok((stream, remote)) = listener.accept() {
            if stream.set_nonblocking(true).is_ok()
                && let Ok(stream) = TcpStream::from_std(stream)
            {
                self.serve(stream, remote, graceful);
            }
        }
    }

    fn serve(&self, stream: TcpStream, remote: SocketAddr, graceful: &GracefulShutdown) {
        // Answers and events are small: no batching by Nagle's algorithm.
        let _ = stream.set_nodelay(true);
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(READ_BUFFER);
        builder.http2().timer(TokioTimer::new()).keep_alive_interval(Duration::from_secs(30));
        let connection = Connection::default();
        let of_connection = (Extension(ConnectInfo(remote)), Extension(connection.clone()));
        // Around the router: its own `layer` would copy every route for every connection.
        let service = TowerToHyperService::new(of_connection.layer(self.router.clone()));
        let serving = graceful.watch(builder.serve_connection(TokioIo::new(stream), service).into_owned());
        tokio::spawn(async move {
            tokio::select! {
                ended = serving => if let Err(error) = ended {
                    tracing::debug!(error, "connection ended early");
                },
                () = connection.aborted() => tracing::debug!("connection aborted"),
            }
        });
    }
}
