//! Answer to a connection above the limit.

use std::net::SocketAddr;

use axum::http::StatusCode;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use super::socket::linger;
use crate::app::App;
use crate::http::connection::ConnectionLimit;
use crate::http::error::ApiError;

/// Refused connections that may linger, so that their clients read the answer. Others are closed at once.
static LINGERING: Semaphore = Semaphore::const_new(64);

/// Answers before anything is read, and closes.
pub(super) fn refuse(app: &App, tasks: &TaskTracker, stream: TcpStream, remote: SocketAddr, limit: ConnectionLimit) {
    tracing::debug!(%remote, reason = %limit, "refused a connection");
    let status = match limit {
        ConnectionLimit::All => StatusCode::SERVICE_UNAVAILABLE,
        ConnectionLimit::Address => StatusCode::TOO_MANY_REQUESTS,
    };
    let error = ApiError::new(status, "too_many_connections", limit.to_string()).retry_after(1);
    // The socket's buffer is empty, so the write fits.
    let _ = stream.try_write(&error.to_http1(&app.ids.token(16)));
    if let Ok(permit) = LINGERING.try_acquire() {
        tasks.spawn(linger(stream, permit));
    }
}
