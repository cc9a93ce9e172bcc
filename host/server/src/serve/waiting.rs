//! Answers while the hub waits for its database or bus: it lives, and is not ready. A hub that misses nothing answers only
//! once it has started: until then connections wait in the system's queue, so that a restart refuses nobody.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::fault::FaultKind;
use crate::health;
use crate::ids::Ids;

/// Time for a client to send its request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of connections; others wait in the system's queue.
const MAX_CONNECTIONS: usize = 256;

/// The part that is waited for, if any.
#[derive(Debug)]
pub struct Missing(watch::Sender<Option<FaultKind>>);

impl Default for Missing {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl Missing {
    /// Sets it.
    pub fn set(&self, kind: FaultKind) {
        self.0.send_replace(Some(kind));
    }

    /// The part, once there is one.
    async fn wait(&self) -> FaultKind {
        let mut missing = self.0.subscribe();
        loop {
            if let Some(kind) = *missing.borrow_and_update() {
                return kind;
            }
            // The sender lives in `self`, so waiting cannot fail.
            let _ = missing.changed().await;
        }
    }
}

/// Runs `start`, and serves the listener meanwhile if it misses a part. Connections close after one request: the next
/// ones are the hub's.
pub async fn until<T>(listener: &TcpListener, missing: &Missing, start: impl Future<Output = T>) -> T {
    let mut start = std::pin::pin!(start);
    tokio::select! {
        started = &mut start => return started,
        _ = missing.wait() => {}
    }
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            started = &mut start => return started,
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => {
                match accepted {
                    Ok((stream, _)) => {
                        connections.spawn(serve(stream, missing.wait().await));
                    }
                    // No file is left for it: others close soon.
                    Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, missing: FaultKind) {
    let answer = service_fn(move |request: Request<Incoming>| async move {
        Ok::<_, Infallible>(answer(request.uri().path(), missing))
    });
    let mut http = http1::Builder::new();
    http.keep_alive(false).timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    let served = http.serve_connection(TokioIo::new(stream), answer).await;
    if let Err(error) = served {
        tracing::debug!(%error, "connection ended early");
    }
}

fn answer(path: &str, missing: FaultKind) -> Response<Body> {
    let (status, body) = match path {
        "/healthz" => (StatusCode::OK, json!(health::alive())),
        "/readyz" => (StatusCode::SERVICE_UNAVAILABLE, json!(health::waiting_for(missing))),
        _ => (StatusCode::SERVICE_UNAVAILABLE, error()),
    };
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if status == StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// In the form of all errors, which the hub's layers give to others.
fn error() -> Value {
    json!({
        "error": "The hub is starting, and waits for its database or its bus; try again.",
        "code": "starting",
        "requestId": Ids::System.token(16),
    })
}
