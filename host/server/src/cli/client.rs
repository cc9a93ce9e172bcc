//! Calls a hub over HTTP, as the commands that work on a running hub do.

use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::Value;

use crate::http_client;

/// A hub and the key to call it with.
#[derive(Clone, Debug)]
pub(super) struct HubClient {
    http: reqwest::Client,
    base: String,
    key: String,
}

/// A call that has no answer, or an error for one.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    /// Its request can't be made; a hub's address that is none, for one.
    #[error("{0}")]
    Request(String),
    #[error("the hub at {base} does not answer")]
    Unreachable { base: String, source: reqwest::Error },
    #[error("the hub answered {status}: {said}")]
    Refused { status: StatusCode, said: String },
}

impl CallError {
    /// Whether the same call may work later.
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
        Ok(Self { http: http_client::client()?, base: base.trim_end_matches('/').to_owned(), key: key.to_owned() })
    }

    /// A request with the key on it.
    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base)).header("X-Service-Api-Key", &self.key)
    }

    /// Sends it and gives the answer, its body still to come. An error's sentence becomes this one's.
    pub(super) async fn answer(&self, request: RequestBuilder) -> Result<Response, CallError> {
        let response = request.send().await.map_err(|source| self.failed(source))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let bytes = response.bytes().await.map_err(|source| self.failed(source))?;
        let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let said = body["error"].as_str().map_or_else(|| String::from_utf8_lossy(&bytes).into_owned(), str::to_owned);
        Err(CallError::Refused { status, said })
    }

    /// Sends it and reads the JSON of the answer (null for none). An error's sentence becomes this one's.
    pub(super) async fn send(&self, request: RequestBuilder) -> Result<Value, CallError> {
        let bytes = self.answer(request).await?.bytes().await.map_err(|source| self.failed(source))?;
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }

    fn failed(&self, source: reqwest::Error) -> CallError {
        if source.is_builder() {
            return CallError::Request(format!("`{}` is no address of a hub: {source}", self.base));
        }
        CallError::Unreachable { base: self.base.clone(), source }
    }

    /// GET.
    pub(super) async fn get(&self, path: &str) -> Result<Value, CallError> {
        self.send(self.request(Method::GET, path)).await
    }

    /// POST of a JSON body.
    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value, CallError> {
        self.send(self.request(Method::POST, path).json(body)).await
    }

    /// PUT of a JSON body.
    pub(super) async fn put(&self, path: &str, body: &Value) -> Result<Value, CallError> {
        self.send(self.request(Method::PUT, path).json(body)).await
    }

    /// DELETE.
    pub(super) async fn delete(&self, path: &str) -> Result<Value, CallError> {
        self.send(self.request(Method::DELETE, path)).await
    }
}

/// The data of the events of a `text/event-stream`.
pub(super) struct EventReader {
    response: Response,
    /// What came after the last whole line.
    rest: Vec<u8>,
    data: Vec<String>,
}

impl EventReader {
    pub(super) fn new(response: Response) -> Self {
        Self { response, rest: vec![], data: vec![] }
    }

    /// The next event's data; none when the stream has ended.
    pub(super) async fn next(&mut self) -> Option<String> {
        loop {
            while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line);
                let line = line.trim_end_matches(['\r', '\n']);
                if let Some(data) = line.strip_prefix("data:") {
                    self.data.push(data.strip_prefix(' ').unwrap_or(data).to_owned());
                } else if line.is_empty() && !self.data.is_empty() {
                    return Some(std::mem::take(&mut self.data).join("\n"));
                }
            }
            self.rest.extend(self.response.chunk().await.ok()??);
        }
    }
}
