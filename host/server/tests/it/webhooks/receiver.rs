//! Receivers of webhooks with configurable answers.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use parking_lot::Mutex;
use ring::hmac;
use serde_json::Value;
use tokio::net::TcpListener;

/// A receiver's reaction to a request.
#[derive(Clone, Debug)]
pub enum Reply {
    Status(u16),
    /// A status and a header.
    With(u16, &'static str, String),
    /// An answer after this time.
    Late(Duration),
    /// No answer at all.
    Hang,
}

/// A request that arrived.
#[derive(Clone, Debug)]
pub struct Received {
    pub uri: String,
    pub headers: HeaderMap,
    pub text: String,
    pub body: Value,
}

#[derive(Clone)]
pub struct Receiver(Arc<Inner>);

struct Inner {
    address: SocketAddr,
    received: Mutex<Vec<Received>>,
    answered: Mutex<Vec<Received>>,
    /// For the next requests; then `usual`.
    replies: Mutex<VecDeque<Reply>>,
    usual: Mutex<Reply>,
    open: Mutex<OpenRequests>,
}

/// Unanswered requests, by the player of their event.
#[derive(Default)]
struct OpenRequests {
    players: Vec<Value>,
    most: usize,
    had_two_of_one_player: bool,
}

/// An unanswered request.
struct Open(Receiver, Value);

impl Open {
    fn new(receiver: &Receiver, player: &Value) -> Self {
        let mut open = receiver.0.open.lock();
        open.had_two_of_one_player |= !player.is_null() && open.players.contains(player);
        open.players.push(player.clone());
        open.most = open.most.max(open.players.len());
        Self(receiver.clone(), player.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let players = &mut self.0.0.open.lock().players;
        if let Some(position) = players.iter().position(|player| *player == self.1) {
            players.swap_remove(position);
        }
    }
}

impl Receiver {
    /// Listens at an address such as `127.0.0.2:0`.
    pub async fn start(address: &str) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let receiver = Self(Arc::new(Inner {
            address: listener.local_addr().unwrap(),
            received: Mutex::default(),
            answered: Mutex::default(),
            replies: Mutex::default(),
            usual: Mutex::new(Reply::Status(204)),
            open: Mutex::default(),
        }));
        let router = Router::new().fallback(receive).with_state(receiver.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        receiver
    }

    pub fn address(&self) -> SocketAddr {
        self.0.address
    }

    pub fn url(&self) -> String {
        format!("http://{}/hook", self.0.address)
    }

    pub fn will(&self, replies: impl IntoIterator<Item = Reply>) {
        self.0.replies.lock().extend(replies);
    }

    pub fn always(&self, reply: Reply) {
        *self.0.usual.lock() = reply;
    }

    pub fn received(&self) -> Vec<Received> {
        self.0.received.lock().clone()
    }

    /// Requests whose senders waited for the answer.
    pub fn answered(&self) -> Vec<Received> {
        self.0.answered.lock().clone()
    }

    /// Maximum number of requests that were open at once.
    pub fn most_at_once(&self) -> usize {
        self.0.open.lock().most
    }

    /// True if two requests about one player were open at once.
    pub fn had_two_of_one_player(&self) -> bool {
        self.0.open.lock().had_two_of_one_player
    }

    pub fn count(&self) -> usize {
        self.0.received.lock().len()
    }

    /// One field of the events that arrived, in order.
    pub fn fields(&self, name: &str) -> Vec<Value> {
        self.received().iter().map(|it| it.body["data"][name].clone()).collect()
    }
}

async fn receive(State(receiver): State<Receiver>, uri: Uri, headers: HeaderMap, bytes: Bytes) -> Response {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let body: Value = serde_json::from_str(&text).unwrap_or_default();
    let _open = Open::new(&receiver, &body["data"]["playerUuid"]);
    let received = Received { uri: uri.to_string(), headers, text, body };
    receiver.0.received.lock().push(received.clone());
    let reply = receiver.0.replies.lock().pop_front();
    let reply = reply.unwrap_or_else(|| receiver.0.usual.lock().clone());
    let response = match reply {
        Reply::Status(status) => StatusCode::from_u16(status).unwrap().into_response(),
        Reply::With(status, name, value) => {
            (StatusCode::from_u16(status).unwrap(), [(name, value)], "what is wrong").into_response()
        }
        Reply::Late(after) => {
            tokio::time::sleep(after).await;
            StatusCode::OK.into_response()
        }
        Reply::Hang => std::future::pending().await,
    };
    receiver.0.answered.lock().push(received);
    response
}

impl Received {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name}")).to_str().unwrap()
    }

    /// Number of its signatures with this secret.
    pub fn signatures_of(&self, secret: &str) -> usize {
        let key = BASE64_STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
        let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
        let signed = format!("{}.{}.{}", self.header("webhook-id"), self.header("webhook-timestamp"), self.text);
        let expected = format!("v1,{}", BASE64_STANDARD.encode(hmac::sign(&key, signed.as_bytes())));
        self.header("webhook-signature").split(' ').filter(|it| *it == expected).count()
    }
}
