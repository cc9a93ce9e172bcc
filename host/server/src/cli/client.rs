//! The HTTP client of the commands that work on a running hub.

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use sse_stream::SseByteStream;

use crate::http_client;

/// A hub and the key to call it with.
#[derive(Clone, Debug)]
pub(super) struct HubClient {
    http: reqwest::Client,
    base: String,
    key: String,
}

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    /// The request is invalid, such as for a wrong address.
    #[error("{0}")]
    Request(String),
    #[error("the hub at {base} does not answer")]
    Unreachable { base: String, source: reqwest::Error },
    #[error("the hub answered {status}: {message}")]
    Refused { status: StatusCode, message: String },
}

impl CallError {
    /// Whether a retry may succeed.
    pub(super) fn is_unreachable(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused { status, .. } => status.is_server_error(),
            Self::Request(_) => false,
        }
    }
}

impl HubClient {
    /// Calls the hub at `base`, such as `https://hub.example.org`.
    pub(super) fn new(base: &str, key: &str) -> anyhow::Result<Self> {
        let url = reqwest::Url::parse(base).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        anyhow::ensure!(
            url.is_some_and(|url| url.has_host()),
            "`{base}` is no address of a hub: it must read as http://127.0.0.1:8080 or https://hub.example does"
        );
        Ok(Self { http: http_client::client()?, base: base.trim_end_matches('/').to_owned(), key: key.to_owned() })
    }

    /// A request with the key.
    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base)).header("X-Service-Api-Key", &self.key)
    }

    /// Sends a request and answers a successful response before its body is read.
    pub(super) async fn answer(&self, request: RequestBuilder) -> Result<Response, CallError> {
        let response = request.send().await.map_err(|source| self.to_error(source))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let bytes = response.bytes().await.map_err(|source| self.to_error(source))?;
        let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let message =
            body["error"].as_str().map_or_else(|| String::from_utf8_lossy(&bytes).into_owned(), str::to_owned);
        Err(CallError::Refused { status, message })
    }

    /// Sends a request and reads the response's JSON; null where there is none.
    pub(super) async fn send(&self, request: RequestBuilder) -> Result<Value, CallError> {
        let bytes = self.answer(request).await?.bytes().await.map_err(|source| self.to_error(source))?;
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }

    fn to_error(&self, source: reqwest::Error) -> CallError {
        if source.is_builder() {
            return CallError::Request(format!("`{}` is no address of a hub: {source}", self.base));
        }
        CallError::Unreachable { base: self.base.clone(), source }
    }

    pub(super) async fn get(&self, path: &str) -> Result<Value, CallError> {
        self.send(self.request(Method::GET, path)).await
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value, CallError> {
        self.send(self.request(Method::POST, path).json(body)).await
    }

    pub(super) async fn put(&self, path: &str, body: &Value) -> Result<Value, CallError> {
        self.send(self.request(Method::PUT, path).json(body)).await
    }

    pub(super) async fn delete(&self, path: &str) -> Result<Value, CallError> {
        self.send(self.request(Method::DELETE, path)).await
    }
}

/// The data of the events of a `text/event-stream`, until the connection ends.
pub(super) fn event_data(response: Response) -> BoxStream<'static, String> {
    SseByteStream::new(response.bytes_stream()).filter_map(async |event| event.ok()?.data).boxed()
}
