use std::time::Duration;

use axum::body::Body;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

/// Below the time after which a node closes an idle connection: no request is sent on one that is just being closed.
const IDLE_TIMEOUT: Duration = Duration::from_mins(1);

/// Sends requests to other nodes.
pub(super) type HttpClient = Client<HttpConnector, Body>;

pub(super) fn new() -> HttpClient {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(Duration::from_secs(2)));
    // A machine that is gone is noticed, also by requests that may rightly wait.
    connector.set_keepalive(Some(Duration::from_secs(5)));
    connector.set_keepalive_interval(Some(Duration::from_secs(2)));
    connector.set_keepalive_retries(Some(3));
    let mut client = Client::builder(TokioExecutor::new());
    client.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE_TIMEOUT).build(connector)
}
