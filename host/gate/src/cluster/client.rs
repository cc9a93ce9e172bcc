use std::time::Duration;

use axum::body::Body;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

/// Shorter than the idle timeout of servers, so that no request is sent on a connection that is just being closed.
const IDLE_TIMEOUT: Duration = Duration::from_mins(1);

/// Sends requests to other nodes.
pub(super) type HttpClient = Client<HttpConnector, Body>;

pub(super) fn new() -> HttpClient {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(Duration::from_secs(2)));
    // Detects dead machines, also for requests that may legitimately wait.
    connector.set_keepalive(Some(Duration::from_secs(5)));
    connector.set_keepalive_interval(Some(Duration::from_secs(2)));
    connector.set_keepalive_retries(Some(3));
    let mut client = Client::builder(TokioExecutor::new());
    client.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE_TIMEOUT).build(connector)
}
