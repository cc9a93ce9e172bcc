//! A caller of the hub.

use hub::components::components;
use hub::values::NetworkId;
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::Value;

use super::document;
use super::events::Events;

#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    pub key: Option<String>,
    pub network: Option<NetworkId>,
}

/// The hub's answer.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: reqwest::header::HeaderMap,
    /// The JSON of the body; null for an empty one, text for anything else.
    pub body: Value,
}

impl Client {
    pub fn new(http: reqwest::Client, base: String, key: Option<String>) -> Self {
        Self { http, base, key, network: None }
    }

    pub fn for_network(self, network: NetworkId) -> Self {
        Self { network: Some(network), ..self }
    }

    /// The same caller without a key.
    #[allow(dead_code)]
    pub fn without_key(&self) -> Self {
        Self { key: None, ..self.clone() }
    }

    /// The same caller with another key.
    pub fn with_key(&self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..self.clone() }
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        match &self.key {
            Some(key) => request.header("X-Service-Api-Key", key),
            None => request,
        }
    }

    /// Sends a request. The answer must be as the document says.
    pub async fn send(&self, request: RequestBuilder) -> Answer {
        let (http, request) = request.build_split();
        let request = request.unwrap();
        let (method, path) = (request.method().clone(), request.url().path().to_owned());
        let response = http.execute(request).await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = response.bytes().await.unwrap();
        let parsed = serde_json::from_slice(&bytes);
        if let Ok(body) = &parsed {
            document::check(&method, &path, status, body);
        }
        let text = |_| String::from_utf8_lossy(&bytes).into_owned().into();
        let body = if bytes.is_empty() { Value::Null } else { parsed.unwrap_or_else(text) };
        Answer { status, headers, body }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path)).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::POST, path).json(&body)).await
    }

    #[allow(dead_code)]
    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::PUT, path).json(&body)).await
    }

    #[allow(dead_code)]
    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::PATCH, path).json(&body)).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(self.request(Method::DELETE, path)).await
    }

    /// A key of the same network with just these scopes.
    pub async fn key_with(&self, scopes: &[&str]) -> Self {
        let created = self.post("/api/manage/keys", serde_json::json!({"name": "test", "scopes": scopes})).await;
        self.with_key(created.expect(201)["apiKey"].as_str().unwrap())
    }

    /// Checks that the event stream is refused; an open stream would be read for ever.
    pub async fn expect_no_stream(&self, query: &str, status: u16, code: &str) {
        let path = format!("/api/plugin/events?{query}");
        let response = self.request(Method::GET, &path).send().await.unwrap();
        assert_eq!(response.status().as_u16(), status, "{path}");
        assert_eq!(response.json::<Value>().await.unwrap()["code"], code, "{path}");
    }

    /// Opens the event stream.
    #[allow(dead_code)]
    pub async fn events(&self, server: Option<&str>, last_event_id: Option<&str>) -> Events {
        let path = server.map_or("/api/plugin/events".to_owned(), |id| format!("/api/plugin/events?serverId={id}"));
        let mut request = self.request(Method::GET, &path);
        if let Some(id) = last_event_id {
            request = request.header("Last-Event-ID", id);
        }
        Events::open(request).await
    }
}

impl Answer {
    /// The body, provided the status is this one.
    #[track_caller]
    pub fn expect(&self, status: u16) -> &Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.body);
        &self.body
    }

    /// Checks that a limit of this name and value refused the request.
    #[track_caller]
    pub fn expect_quota(&self, limit: &str, value: i64) {
        assert_eq!(self.status.as_u16(), 403, "{}", self.body);
        assert_eq!(self.body["code"], "quota_exceeded", "{}", self.body);
        assert_eq!((&self.body["limit"], &self.body["value"]), (&limit.into(), &value.into()), "{}", self.body);
        assert!(self.body["used"].is_i64(), "{}", self.body);
        assert_eq!(self.body.as_object().unwrap().len(), 6);
    }

    /// Checks that this is an error body with this status and code.
    #[track_caller]
    pub fn expect_error(&self, status: u16, code: &str) {
        assert_eq!(self.status.as_u16(), status, "{}", self.body);
        assert_eq!(self.body["code"], code, "{}", self.body);
        let is_declared = components().errors().any(|error| error.code == code && error.statuses.contains(&status));
        assert!(is_declared, "no component declares the error code {code} with the status {status}");
        assert!(self.body["error"].as_str().is_some_and(|text| text.len() > 10), "{}", self.body);
        assert_eq!(self.body["requestId"], self.headers["x-request-id"].to_str().unwrap());
        assert_eq!(self.body.as_object().unwrap().len(), 3);
    }
}
