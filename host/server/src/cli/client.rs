//! Client for commands that call a running hub.

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use network_hub_client::{HubClientBuilder, HubError, Method, Request, RetryPolicy};
use reqwest::Response;
use serde_json::Value;
use sse_stream::SseByteStream;

use crate::http_client;

/// A refusal of the hub in words of the command line, with the API's code.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) text: String,
    pub(super) code: String,
}

impl std::fmt::Display for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Told {}

/// Parses an argument that is a segment of a path: an id, or a name.
pub(super) fn segment(typed: &str) -> Result<String, &'static str> {
    let is_plain = |it: char| !it.is_control() && !it.is_whitespace() && !"/\\?#%".contains(it);
    let is_segment = !matches!(typed, "" | "." | "..") && typed.chars().all(is_plain);
    is_segment.then(|| typed.to_owned()).ok_or("it is no id or name")
}

/// A hub and its API key. Calls are made once, without a timeout, because a person is watching.
#[derive(Clone, Debug)]
pub(super) struct HubClient(network_hub_client::HubClient);

impl HubClient {
    /// Calls the hub at `base`, such as `https://hub.example.org`.
    pub(super) fn new(base: &str, key: &str) -> anyhow::Result<Self> {
        Self::build(base, key, |client| client)
    }

    /// The same as a person, by their session and in the network with this id.
    pub(super) fn of_session(base: &str, token: &str, network: Option<&str>) -> anyhow::Result<Self> {
        Self::build(base, token, |client| client.session(network))
    }

    fn build(base: &str, key: &str, set: impl FnOnce(HubClientBuilder) -> HubClientBuilder) -> anyhow::Result<Self> {
        let url = reqwest::Url::parse(base).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        anyhow::ensure!(
            url.is_some_and(|url| url.has_host()),
            "`{base}` is not a valid hub URL; examples: http://127.0.0.1:8080, https://hub.example"
        );
        let client = network_hub_client::HubClient::builder(base, key).http(http_client::client()?);
        Ok(Self(set(client.timeout(None).retry(RetryPolicy::NONE)).build()?))
    }

    /// Creates a request with the key.
    pub(super) fn request(&self, method: Method, path: &str) -> Request {
        self.0.request(method, path)
    }

    /// Sends a request and returns a successful response before its body is read.
    pub(super) async fn answer(&self, request: Request) -> Result<Response, HubError> {
        request.response().await
    }

    /// Sends a request and parses the response as JSON; null if it is empty.
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

/// Data of the events of a `text/event-stream`, until the connection ends.
pub(super) fn event_data(response: Response) -> BoxStream<'static, String> {
    SseByteStream::new(response.bytes_stream()).filter_map(async |event| event.ok()?.data).boxed()
}
