//! Answers while the hub waits for its database or bus: it lives, and is not ready.

use std::convert::Infallible;

use axum::body::Body;
use axum::http::{Request, Response, StatusCode};
use axum::response::IntoResponse as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::fault::FaultKind;
use crate::health;
use crate::http::error::ApiError;

/// The part that is waited for.
#[derive(Debug, Default)]
pub struct Missing(Mutex<Option<FaultKind>>);

impl Missing {
    /// Sets it.
    pub fn set(&self, kind: FaultKind) {
        *self.0.lock() = Some(kind);
    }

    fn get(&self) -> FaultKind {
        self.0.lock().unwrap_or(FaultKind::Database)
    }
}

/// Serves the listener until `start` ends. Connections close after one request: the next ones are the hub's.
pub async fn until<T>(listener: &TcpListener, missing: &Missing, start: impl Future<Output = T>) -> T {
    let mut start = std::pin::pin!(start);
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            started = &mut start => return started,
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    connections.spawn(serve(stream, missing.get()));
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
    let served = http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), answer).await;
    if let Err(error) = served {
        tracing::debug!(%error, "connection ended early");
    }
}

fn answer(path: &str, missing: FaultKind) -> Response<Body> {
    match path {
        "/healthz" => health::alive().into_response(),
        "/readyz" => health::waiting_for(missing).into_response(),
        _ => ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "starting",
            "The hub is starting, and waits for its database or its bus; try again.",
        )
        .retry_after(1)
        .into_response(),
    }
}
