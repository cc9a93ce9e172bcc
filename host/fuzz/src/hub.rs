//! A hub in this process, called through its router: the view of a caller, without sockets.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use hub::app::App;
use hub::auth::{Bindings, OPERATOR_NETWORK, Scope};
use hub::clock::{Clock, ManualClock};
use hub::config::Settings;
use hub::ids::Ids;
use hub::networks::service::{NewKey, create_key, create_network};
use hub::secrets::{SigningKey, signing_key};
use hub::{lifecycle, router};
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::time::timeout;
use tower::ServiceExt as _;
use uuid::Uuid;

/// Time of every hub's clock.
pub const NOW: i64 = 1_804_680_000_000;
/// Inputs that one hub serves: its database and memory would grow for ever.
const INPUTS_PER_HUB: u32 = 4096;
/// Longer than any request takes on a busy machine, except for long polls.
const PATIENCE: Duration = Duration::from_secs(60);
/// Maximum size of an answer in bytes.
const LARGEST_ANSWER: usize = 4 << 20;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime")
});
static HUB: Mutex<Option<Hub>> = Mutex::new(None);

/// A running hub.
pub struct Hub {
    app: App,
    router: Router,
    operator: String,
    inputs: u32,
    _data: TempDir,
}

/// A network of the hub and a key with all its scopes.
pub struct Network {
    /// Its id.
    pub id: Uuid,
    /// The owner's key.
    pub key: String,
}

/// The hub's answer.
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, of an event stream its first part.
    pub body: Bytes,
}

impl Hub {
    /// Runs one input with the hub, which is replaced from time to time.
    pub fn run(input: impl AsyncFnOnce(&mut Self)) {
        let mut slot = HUB.lock().unwrap_or_else(PoisonError::into_inner);
        RUNTIME.block_on(async {
            if slot.as_ref().is_some_and(|hub| hub.inputs >= INPUTS_PER_HUB)
                && let Some(hub) = slot.take()
            {
                hub.stop().await;
            }
            if slot.is_none() {
                *slot = Some(Self::start().await);
            }
            if let Some(hub) = slot.as_mut() {
                hub.inputs += 1;
                input(hub).await;
            }
        });
    }

    async fn start() -> Self {
        let data = tempfile::tempdir().expect("a folder");
        let settings = Settings {
            data: data.path().to_owned(),
            public_url: Some("https://hub.example".to_owned()),
            ..Settings::default()
        };
        let clock = Clock::Manual(ManualClock::new(NOW));
        let app = lifecycle::start(settings, clock, Ids::System).await.expect("the hub starts");
        let router = router::router(&app);
        let scopes = [Scope::Operator].into_iter().collect();
        let new = NewKey { name: "o".to_owned(), scopes, expires_at: None, bindings: Bindings::default() };
        let key = create_key(&app.db, &app.clock, &app.ids, OPERATOR_NETWORK, new).await.expect("a key");
        Self { router, operator: key.text.to_string(), inputs: 0, app, _data: data }
    }

    async fn stop(self) {
        self.app.begin_stop();
        lifecycle::finish_stop(&self.app).await;
    }

    /// Number of inputs that this hub has begun.
    pub fn inputs(&self) -> u32 {
        self.inputs
    }

    /// The operator's key.
    pub fn operator(&self) -> &str {
        &self.operator
    }

    /// A new network.
    pub async fn network(&self) -> Network {
        let name = format!("net-{}", self.app.ids.token(12));
        let (id, key) = create_network(&self.app.db, &self.app.clock, &self.app.ids, &name).await.expect("a network");
        Network { id: id.0, key: key.text.to_string() }
    }

    /// The hub's key for signatures of this purpose.
    pub async fn signing_key(&self, purpose: &'static str) -> SigningKey {
        signing_key(&self.app, purpose).await.expect("the database answers")
    }

    /// Sends a request from an address that belongs to this input. `None` if it waits for longer than `patience`, which
    /// is a finding unless the caller allows it.
    pub async fn send(&self, mut request: Request<Body>, patience: Option<Duration>) -> Option<Answer> {
        let [a, b, c, d] = self.inputs.to_be_bytes();
        request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([10 ^ a, b, c, d], 4711))));
        let shown = format!("{} {}", request.method(), request.uri());
        let is_head = request.method() == Method::HEAD;
        let work = async {
            let answer = self.router.clone().oneshot(request).await.unwrap_or_else(|never| match never {});
            let (head, mut body) = answer.into_parts();
            let is_stream = head.headers.get("content-type").is_some_and(|kind| kind == "text/event-stream");
            let body = if is_stream && !is_head {
                let first = body.frame().await.and_then(Result::ok).and_then(|frame| frame.into_data().ok());
                first.unwrap_or_default()
            } else {
                body.collect().await.expect("the body ends").to_bytes()
            };
            Answer { status: head.status, headers: head.headers, body }
        };
        let answer = match timeout(patience.unwrap_or(PATIENCE), work).await {
            Ok(answer) => answer,
            Err(_) if patience.is_some() => return None,
            Err(_) => panic!("{shown} was not answered in {PATIENCE:?}"),
        };
        answer.check(&shown, is_head);
        Some(answer)
    }
}

impl Answer {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Checks invariants of every answer.
    fn check(&self, request: &str, is_head: bool) {
        let shown = || format!("{request}: {} {}", self.status, String::from_utf8_lossy(&self.body));
        assert!(self.status != StatusCode::INTERNAL_SERVER_ERROR, "{}", shown());
        assert!(self.body.len() <= LARGEST_ANSWER, "{request}: {} bytes", self.body.len());
        let kind = self.headers.get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if is_head {
            return;
        }
        if kind.starts_with("application/json") {
            assert!(serde_json::from_slice::<Value>(&self.body).is_ok(), "{}", shown());
        }
        if (self.status.is_client_error() || self.status.is_server_error()) && !kind.starts_with("text/html") {
            let error = self.json();
            let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
            let code = text("code");
            assert!(
                !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'),
                "{}",
                shown()
            );
            assert!(!text("error").is_empty(), "{}", shown());
            let id = self.headers.get("x-request-id").and_then(|id| id.to_str().ok());
            assert_eq!(Some(text("requestId").as_str()), id, "{}", shown());
        }
    }
}

/// Bytes as one segment of a path.
pub fn percent_encode(bytes: &[u8]) -> String {
    let encode = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(*byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    bytes.iter().map(encode).collect()
}
