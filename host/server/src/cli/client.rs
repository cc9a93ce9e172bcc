//! The client of the commands that work on a running hub.

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use network_hub_client::{HubError, Method, Request, RetryPolicy};
use reqwest::Response;
use serde_json::Value;
use sse_stream::SseByteStream;

use crate::http_client;

/// A hub and the key to call it with. Each call is made once and may take its time: somebody watches.
#[derive(Clone, Debug)]
pub(super) struct HubClient(network_hub_client::HubClient);

impl HubClient {
    /// Calls the hub at `base`, such as `https://hub.example.org`.
    pub(super) fn new(base: &str, key: &str) -> anyhow::Result<Self> {
        let url = reqwest::Url::parse(base).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        anyhow::ensure!(
            url.is_some_and(|url| url.has_host()),
            "`{base}` is no address of a hub: it must read as http://127.0.0.1:8080 or https://hub.example does"
        );
        let client = network_hub_client::HubClient::builder(base, key).http(http_client::client()?);
        Ok(Self(client.timeout(None).retry(RetryPolicy::NONE).build()?))
    }

    /// A request with the key.
    pub(super) fn request(&self, method: Method, path: &str) -> Request {
        self.0.request(method, path)
    }

    /// Sends a request and answers a successful response before its body is read.
    pub(super) async fn answer(&self, request: Request) -> Result<Response, HubError> {
        request.response().await
    }

    /// Sends a request and reads the response's JSON; null where there is none.
    pub(super) async fn send(&self, request: Request) -> Result<Value, HubError> {
        request.send().await
    }

    pub(super) async fn get(&self, path: &str) -> Result<Value, HubError> {
        self.request(Method::GET, path).send().await
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value, HubError> {
        self.request(Method::POST, path).json(body).send().await
    }

    pub(super) async fn put(&self, path: &str, body: &Value) -> Result<Value, HubError> {
        self.request(Method::PUT, path).json(body).send().await
    }

    pub(super) async fn delete(&self, path: &str) -> Result<Value, HubError> {
        self.request(Method::DELETE, path).send().await
    }
}

/// The data of the events of a `text/event-stream`, until the connection ends.
pub(super) fn event_data(response: Response) -> BoxStream<'static, String> {
    SseByteStream::new(response.bytes_stream()).filter_map(async |event| event.ok()?.data).boxed()
}
