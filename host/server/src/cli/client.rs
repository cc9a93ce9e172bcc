//! Calls a hub over HTTP, as the commands that work on a running hub do.

use anyhow::Context as _;
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

/// A hub and the key to call it with.
#[derive(Clone, Debug)]
pub(super) struct HubClient {
    http: reqwest::Client,
    base: String,
    key: String,
}

impl HubClient {
    /// Calls the hub at `base`, such as `http://127.0.0.1:8080`.
    pub(super) fn new(base: &str, key: &str) -> Self {
        Self { http: reqwest::Client::new(), base: base.trim_end_matches('/').to_owned(), key: key.to_owned() }
    }

    /// A request with the key on it.
    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base)).header("X-Service-Api-Key", &self.key)
    }

    /// Sends it and reads the JSON of the answer (null for none). An error's sentence becomes this one's.
    pub(super) async fn send(&self, request: RequestBuilder) -> anyhow::Result<Value> {
        let response = request.send().await.with_context(|| format!("the hub at {} does not answer", self.base))?;
        let status = response.status();
        let bytes = response.bytes().await?;
        let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        if !status.is_success() {
            let said =
                body["error"].as_str().map_or_else(|| String::from_utf8_lossy(&bytes).into_owned(), str::to_owned);
            anyhow::bail!("the hub answered {status}: {said}");
        }
        Ok(body)
    }

    /// GET.
    pub(super) async fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.send(self.request(Method::GET, path)).await
    }

    /// POST of a JSON body.
    pub(super) async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        self.send(self.request(Method::POST, path).json(body)).await
    }

    /// PUT of a JSON body.
    pub(super) async fn put(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        self.send(self.request(Method::PUT, path).json(body)).await
    }

    /// DELETE.
    pub(super) async fn delete(&self, path: &str) -> anyhow::Result<Value> {
        self.send(self.request(Method::DELETE, path)).await
    }
}
