//! A client that tries the next node when one does not answer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::fleet::TIMEOUT;

/// A response.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub body: Value,
    pub has_retry_after: bool,
}

impl Answer {
    pub fn expect(&self, status: u16) -> &Value {
        assert_eq!(self.status, status, "{}", self.body);
        &self.body
    }
}

/// A caller that knows all nodes.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    urls: Arc<Mutex<Vec<Option<String>>>>,
    pub key: String,
    next: Arc<AtomicUsize>,
}

impl Client {
    pub fn new(http: reqwest::Client, urls: Arc<Mutex<Vec<Option<String>>>>, key: &str) -> Self {
        Self { http, urls, key: key.to_owned(), next: Arc::default() }
    }

    /// The same caller without one of the nodes.
    pub fn without(&self, node: usize) -> Self {
        let mut urls = self.urls.lock().unwrap().clone();
        urls[node] = None;
        Self { urls: Arc::new(Mutex::new(urls)), ..self.clone() }
    }

    /// Sends a request to one node, once; `None` without an answer.
    pub async fn send(
        &self,
        node: usize,
        method: &Method,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Option<Answer> {
        let mut request = self.request(node, method, path)?;
        if let Some(body) = body {
            request = request.json(body);
        }
        if let Some(key) = key {
            request = request.header("Idempotency-Key", key);
        }
        let response = request.timeout(Duration::from_secs(10)).send().await.ok()?;
        let status = response.status().as_u16();
        let has_retry_after = response.headers().contains_key("retry-after");
        let bytes = response.bytes().await.ok()?;
        Some(Answer { status, body: serde_json::from_slice(&bytes).unwrap_or_default(), has_retry_after })
    }

    /// Sends a request to the next node, once.
    pub async fn send_once(&self, method: &Method, path: &str, body: Option<&Value>) -> Option<Answer> {
        self.send(self.next_node(), method, path, body, None).await
    }

    fn next_node(&self) -> usize {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Tries one node after the other until one answers. The idempotency `key` makes it one effect.
    pub async fn send_retrying(&self, method: Method, path: &str, body: Option<Value>, key: Option<&str>) -> Answer {
        let began = Instant::now();
        loop {
            match self.send(self.next_node(), &method, path, body.as_ref(), key).await {
                Some(answer) if answer.status != 503 => return answer,
                other => assert!(began.elapsed() < TIMEOUT, "no node answers {path}: {other:?}"),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send_retrying(Method::GET, path, None, None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send_retrying(Method::POST, path, Some(body), None).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.send_retrying(Method::PUT, path, Some(body), None).await
    }

    /// A request to a node; `None` if it is known to be down.
    pub fn request(&self, node: usize, method: &Method, path: &str) -> Option<RequestBuilder> {
        let url = self.urls.lock().unwrap()[node % 3].clone()?;
        Some(self.http.request(method.clone(), format!("{url}{path}")).header("X-Service-Api-Key", &self.key))
    }

    /// Tries the next node if one refuses the connection; any other failure fails the test.
    pub async fn expect_success(&self, method: Method, path: &str, body: Value, key: Option<&str>) -> Value {
        let with = |request: RequestBuilder| match key {
            Some(key) => request.json(&body).header("Idempotency-Key", key),
            None => request.json(&body),
        };
        self.expect_success_with(&method, path, with).await
    }

    /// Variant of [`Self::expect_success`] for any request.
    pub async fn expect_success_with(
        &self,
        method: &Method,
        path: &str,
        with: impl Fn(RequestBuilder) -> RequestBuilder,
    ) -> Value {
        for _ in 0..100 {
            let request = with(self.request(self.next_node(), method, path).unwrap());
            match request.timeout(Duration::from_secs(10)).send().await {
                Ok(answer) => {
                    let status = answer.status();
                    let body = answer.bytes().await.unwrap();
                    assert!(status.is_success(), "{method} {path}: {status} {}", String::from_utf8_lossy(&body));
                    return serde_json::from_slice(&body).unwrap_or_default();
                }
                Err(error) => assert!(error.is_connect(), "{method} {path}: {error:?}"),
            }
        }
        panic!("no node takes a connection");
    }

    /// A stream's request, at a node.
    pub fn stream(&self, node: usize, server: &str, last: Option<&str>) -> Option<RequestBuilder> {
        let request = self.request(node, &Method::GET, &format!("/api/plugin/events?serverId={server}"))?;
        Some(match last {
            Some(last) => request.header("Last-Event-ID", last),
            None => request,
        })
    }

    pub async fn register(&self, server: &str, more: Value) {
        let mut body = json!({"serverId": server, "serverType": "lobby", "gameType": "MINECRAFT", "role": "GAME",
            "maxPlayers": 10, "host": "10.0.0.1", "port": 25565});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.post("/api/plugin/servers/register", body).await.expect(201);
    }
}
