//! Accepts connections and serves them until the hub stops.
//!
//! axum's own `serve` installs no timer: a client that never finishes its request line would hold a connection forever.

mod activity;
mod listener;
pub mod open_files;
mod refusal;
mod socket;
pub mod waiting;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, Version};
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use crate::app::App;
use crate::http::connection::{Connection, Connections};
use activity::{Activity, TrackedBody};
use listener::Acceptor;
pub use listener::bind;
use socket::Socket;

/// Bytes read from a connection at once, and the maximum size of a head. hyper's default is six times as large and
/// blocks the thread for a millisecond.
const READ_BUFFER: usize = 64 << 10;
/// Interval of HTTP/2 pings; clients without an answer are gone.
const PING_INTERVAL: Duration = Duration::from_secs(30);
/// Time for the requests in flight at a shutdown.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
/// Time for the connections that are then cut, so that none is reset.
const CUT_TIMEOUT: Duration = Duration::from_secs(2);
/// Time without a request after which a closing connection is cut.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Serves one listener.
pub struct Server {
    app: App,
    router: Router,
    http: auto::Builder<TokioExecutor>,
    tasks: TaskTracker,
    /// Cancelled once the time for connections to end is over.
    cut: CancellationToken,
}

impl Server {
    /// A server for all of the hub's routes.
    pub fn new(app: App) -> Self {
        let router = crate::router::router(&app);
        let mut http = auto::Builder::new(TokioExecutor::new());
        // Connections without a request are timed here, before and after their first one.
        http.http1().header_read_timeout(None).max_buf_size(READ_BUFFER);
        http.http2().timer(TokioTimer::new()).keep_alive_interval(PING_INTERVAL);
        Self { app, router, http, tasks: TaskTracker::new(), cut: CancellationToken::new() }
    }

    /// Serves until the hub stops, then drains the requests in flight.
    pub async fn run(self, listener: TcpListener) {
        let (closed, stop) = (self.app.not_listening(), self.app.stopping());
        let mut acceptor = Acceptor::new(listener);
        loop {
            tokio::select! {
                () = closed.cancelled() => break,
                (stream, remote) = acceptor.accept() => self.accept(stream, remote),
            }
        }
        acceptor.close(|stream, remote| self.accept(stream, remote)).await;
        stop.cancelled().await;
        self.tasks.close();
        if timeout(DRAIN_TIMEOUT, self.tasks.wait()).await.is_err() {
            tracing::warn!("some requests did not finish in time and were cut off");
            self.cut.cancel();
            let _ = timeout(CUT_TIMEOUT, self.tasks.wait()).await;
        }
    }

    fn accept(&self, stream: TcpStream, remote: SocketAddr) {
        match self.app.state::<Connections>().open(remote.ip()) {
            Ok(connection) => self.serve(stream, remote, connection),
            Err(limit) => refusal::refuse(&self.app, &self.tasks, stream, remote, limit),
        }
    }

    fn serve(&self, stream: TcpStream, remote: SocketAddr, connection: Connection) {
        // Answers and events are small: no batching by Nagle's algorithm.
        let _ = stream.set_nodelay(true);
        let settings = &self.app.settings.connections;
        let activity = Activity::new(settings.head, settings.idle);
        let socket = Socket::new(stream, activity.clone(), settings.write, self.tasks.clone(), connection.clone());
        let (router, closed, tracked) = (self.router.clone(), self.app.not_listening(), activity.clone());
        let of_connection = connection.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let (router, closed, active) = (router.clone(), closed.clone(), tracked.begin());
            let version = request.version();
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(remote));
            request.extensions_mut().insert(of_connection.clone());
            async move {
                let Ok(mut response) = router.oneshot(request).await;
                if closed.is_cancelled() && version < Version::HTTP_2 {
                    // A client that knows closes the connection between two requests.
                    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
                Ok::<_, Infallible>(response.map(|body| TrackedBody { body, _request: active }))
            }
        });
        let serving = self.http.serve_connection(TokioIo::new(socket), service).into_owned();
        let (stop, cut) = (self.app.stopping(), self.cut.clone());
        self.tasks.spawn(async move {
            let mut serving = pin!(serving);
            let ended = tokio::select! {
                ended = &mut serving => Some(ended),
                () = connection.aborted() => return,
                () = activity.timed_out() => None,
                () = stop.cancelled() => None,
            };
            let ended = if let Some(ended) = ended {
                ended
            } else {
                serving.as_mut().graceful_shutdown();
                tokio::select! {
                    ended = &mut serving => ended,
                    () = connection.aborted() => return,
                    () = activity.idles(CLOSE_TIMEOUT) => return,
                    () = cut.cancelled() => return,
                }
            };
            if let Err(error) = ended {
                tracing::debug!(error, "connection ended early");
            }
        });
    }
}
