//! A client that sends each request once and records its outcome.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use reqwest::{Method, RequestBuilder};
use serde_json::Value;

/// Time since the start of the run.
pub type At = Duration;

/// Maximum time of a request, without delays caused by the machine.
pub fn answer_limit() -> Duration {
    Duration::from_secs(10).mul_f64(slowness())
}

/// Factor by which a slow machine may exceed the bounds of time: `HUB_CHAOS_SLOWNESS`, 1 by default.
pub fn slowness() -> f64 {
    std::env::var("HUB_CHAOS_SLOWNESS").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1.0)
}

/// One line of a client's history.
#[derive(Clone, Debug)]
pub struct Record {
    pub network: usize,
    pub load: &'static str,
    pub node: Option<usize>,
    pub sent: At,
    pub answered: At,
    pub what: String,
    /// The response, or the reason for none.
    pub result: Result<u16, Failure>,
    pub code: String,
}

/// Reason for a missing answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Failure {
    /// No connection, so it was not sent.
    NotSent,
    /// The connection ended.
    Lost,
    TimedOut,
}

/// History of all clients.
#[derive(Clone, Debug)]
pub struct Recorder {
    began: Instant,
    records: Arc<Mutex<Vec<Record>>>,
    /// Times whose changes an older copy of the database may lack.
    lost: Arc<Mutex<Vec<(At, At)>>>,
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}

impl Recorder {
    pub fn new() -> Self {
        Self { began: Instant::now(), records: Arc::default(), lost: Arc::default() }
    }

    pub fn now(&self) -> At {
        self.began.elapsed()
    }

    pub fn push(&self, record: Record) {
        self.records.lock().unwrap().push(record);
    }

    pub fn records(&self) -> Vec<Record> {
        self.records.lock().unwrap().clone()
    }

    /// An older copy of the database took its place, without what changed between these times.
    pub fn note_lost(&self, from: At, to: At) {
        self.lost.lock().unwrap().push((from, to));
    }

    /// True if a change that was requested and answered at these times may be missing since.
    pub fn is_lost(&self, sent: At, answered: At) -> bool {
        self.lost.lock().unwrap().iter().any(|(from, to)| answered >= *from && sent <= *to)
    }
}

/// Effect of a request, according to its reply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect {
    /// It was acknowledged.
    Done,
    /// It was refused, with or without an invitation to retry: it has no effect.
    None,
    Unknown,
}

/// Outcome of one request.
#[derive(Clone, Debug)]
pub struct Reply {
    pub sent: At,
    pub answered: At,
    pub result: Result<u16, Failure>,
    pub body: Value,
}

impl Effect {
    /// The effect that is left if the database may have lost it.
    pub fn unless(self, is_lost: bool) -> Self {
        if is_lost && self == Self::Done { Self::Unknown } else { self }
    }
}

impl Reply {
    pub fn is_success(&self) -> bool {
        matches!(self.result, Ok(200..300))
    }

    pub fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }

    pub fn effect(&self) -> Effect {
        // By the hub's words: a reply that invites a retry without a warning means no effect.
        let words = self.body["error"].as_str().unwrap_or_default();
        let invites = words.contains("try again") && !words.contains("may ") && !words.contains("might ");
        match self.result {
            Ok(200..300) => Effect::Done,
            Ok(400..500) | Err(Failure::NotSent) => Effect::None,
            Ok(503) if invites => Effect::None,
            _ => Effect::Unknown,
        }
    }
}

/// Addresses of the nodes; `None` for a node that is down.
pub type Urls = Arc<Mutex<Vec<Option<String>>>>;

/// A caller of one network that knows all nodes.
#[derive(Clone)]
pub struct Client {
    pub http: reqwest::Client,
    pub urls: Urls,
    pub key: String,
    pub network: usize,
    pub load: &'static str,
    pub recorder: Recorder,
    pub next: Arc<AtomicUsize>,
}

impl Client {
    /// The same caller for one kind of load.
    pub fn for_load(&self, load: &'static str) -> Self {
        Self { load, next: Arc::new(AtomicUsize::new(self.network)), ..self.clone() }
    }

    /// The next node in turn, and its address.
    pub fn next_node(&self) -> (usize, String) {
        let urls = self.urls.lock().unwrap();
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let known: Vec<_> = urls.iter().enumerate().filter_map(|(node, url)| Some((node, url.clone()?))).collect();
        known[turn % known.len()].clone()
    }

    pub fn request(&self, url: &str, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{url}{path}")).header("X-Service-Api-Key", &self.key)
    }

    /// Sends a request to the next node, once.
    pub async fn send(&self, method: Method, path: &str, body: Option<&Value>, key: Option<&str>) -> Reply {
        self.send_to(self.next_node(), method, path, body, key).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Reply {
        self.send(Method::POST, path, Some(body), None).await
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.send(Method::GET, path, None, None).await
    }

    /// Sends a request to a node, once.
    pub async fn send_to(
        &self,
        (node, url): (usize, String),
        method: Method,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Reply {
        let what = format!("{method} {path} {}", body.map(Value::to_string).unwrap_or_default());
        let mut request = self.request(&url, method, path);
        if let Some(body) = body {
            request = request.json(body);
        }
        if let Some(key) = key {
            request = request.header("Idempotency-Key", key);
        }
        self.run(node, what, request).await
    }

    /// Sends a request that is already built.
    pub async fn run(&self, node: usize, what: String, request: RequestBuilder) -> Reply {
        let sent = self.recorder.now();
        let answering = async {
            let response = request.timeout(2 * answer_limit()).send().await?;
            Ok((response.status().as_u16(), response.bytes().await?))
        };
        let (result, body) = match answering.await {
            Ok((status, bytes)) => {
                let text = || Value::String(String::from_utf8_lossy(&bytes).into_owned());
                (Ok(status), serde_json::from_slice(&bytes).unwrap_or_else(|_| text()))
            }
            Err(error) => (Err(failure(&error)), Value::Null),
        };
        let reply = Reply { sent, answered: self.recorder.now(), result, body };
        self.recorder.push(Record {
            network: self.network,
            load: self.load,
            node: Some(node),
            sent,
            answered: reply.answered,
            what,
            result,
            code: reply.code().to_owned(),
        });
        reply
    }

    /// Adds a line to the history that is no request.
    pub fn note(&self, what: String) {
        let now = self.recorder.now();
        let (network, load) = (self.network, self.load);
        let code = String::new();
        self.recorder.push(Record { network, load, node: None, sent: now, answered: now, what, result: Ok(0), code });
    }

    /// Sends a request to one node after the other until the answer is not 503.
    pub async fn send_until_answered(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Reply {
        loop {
            let reply = self.send(method.clone(), path, body, key).await;
            if reply.result.is_ok_and(|status| status < 500) {
                return reply;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}

fn failure(error: &reqwest::Error) -> Failure {
    if error.is_timeout() {
        Failure::TimedOut
    } else if error.is_connect() {
        Failure::NotSent
    } else {
        Failure::Lost
    }
}

/// A test player's UUID.
pub fn uuid(player: usize) -> String {
    format!("00000000-0000-4000-8000-{player:012}")
}
