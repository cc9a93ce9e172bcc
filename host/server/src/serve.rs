//! Accepts connections and serves them until told to stop.
//!
//! Not axum's own `serve`: it installs no timer, so that a client which never finishes its request line would
//! hold a connection for ever.

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

/// How long a client may take to send a request's head; also how long a connection may idle between two.
const HEAD_TIMEOUT: Duration = Duration::from_mins(1);
/// Bytes of a connection that are read at once, and the largest head. By itself it would be six times as many, which
/// takes a millisecond, during which nobody else gets the thread.
const READ_AT_ONCE: usize = 64 << 10;
/// How long requests that are under way at a stop may take to finish.
const FINISH_WITHIN: Duration = Duration::from_secs(10);

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

    /// Serves until the hub is told to stop, then lets what is under way finish.
    pub async fn run(self, listener: TcpListener) {
        let graceful = GracefulShutdown::new();
        let (enough, stop) = (self.app.not_listening(), self.app.stopping());
        loop {
            tokio::select! {
                () = enough.cancelled() => break,
                accepted = listener.accept() => match accepted {
                    Ok((stream, remote)) => self.serve(stream, remote, &graceful),
                    // Out of descriptors, most likely: others will close some.
                    Err(error) => {
                        tracing::warn!(%error, "could not accept a connection");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                },
            }
        }
        self.serve_waiting(listener, &graceful);
        stop.cancelled().await;
        if tokio::time::timeout(FINISH_WITHIN, graceful.shutdown()).await.is_err() {
            tracing::warn!("some requests did not finish in time and were cut off");
        }
    }

    /// Serves those who are connected as far as the system is concerned, and lets nobody else connect.
    fn serve_waiting(&self, listener: TcpListener, graceful: &GracefulShutdown) {
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
        // Answers and events are small and should leave at once.
        let _ = stream.set_nodelay(true);
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(READ_AT_ONCE);
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
