//! The only way from a page to the hub: a request to one of its routes, as the person who opened the page.

use std::net::SocketAddr;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::header::{ACCEPT, CONTENT_TYPE, COOKIE, HOST, RETRY_AFTER, USER_AGENT};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;
use tower::ServiceExt as _;

use hub_base::compute::{LARGE_JSON, compute_for};
use hub_base::values::{NetworkId, OPERATOR_NETWORK};
use hub_core::app::App;
use hub_core::auth::session_cookie;
use hub_core::http::cookie;
use hub_core::http::request_id::RequestId;

use crate::refusal::Refusal;

/// Maximum size of an answer that a page reads.
const MOST_BYTES: usize = 8 << 20;
pub(crate) static NETWORK: HeaderName = HeaderName::from_static("x-network-id");
pub(crate) static CSRF: HeaderName = HeaderName::from_static("x-csrf-token");
/// Cookies of a sign-in at an OpenID provider.
const OPENID_COOKIES: [&str; 2] = ["hub_openid", "__Host-hub_openid"];
static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
static FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The hub's routes, with all layers around them.
#[derive(Clone)]
pub(crate) struct Door(Router);

/// Caller of the hub's routes: the sender of a request to the console.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    headers: HeaderMap,
    address: Option<ConnectInfo<SocketAddr>>,
    /// Token of the session, if there is one.
    pub(crate) session: Option<String>,
}

impl Sender {
    /// Takes over only what identifies the sender: other headers belong to the page.
    pub(crate) fn of(parts: &Parts, app: &App) -> Self {
        let mut headers = HeaderMap::new();
        for name in [&HOST, &USER_AGENT, &FORWARDED_PROTO] {
            if let Some(value) = parts.headers.get(name) {
                headers.insert(name.clone(), value.clone());
            }
        }
        let id = parts.extensions.get::<RequestId>().and_then(|id| HeaderValue::from_str(id.as_str()).ok());
        if let Some(id) = id {
            headers.insert(REQUEST_ID.clone(), id);
        }
        let plain = || cookie::find(&parts.headers, session_cookie(false)).filter(|_| !app.settings.is_tls());
        let session = cookie::find(&parts.headers, session_cookie(true)).map(|token| (true, token));
        let session = session.or_else(|| plain().map(|token| (false, token)));
        let of_session = session.map(|(is_tls, token)| (session_cookie(is_tls), token));
        let of_provider = OPENID_COOKIES.iter().filter_map(|name| Some((*name, cookie::find(&parts.headers, name)?)));
        let pairs: Vec<_> =
            of_session.into_iter().chain(of_provider).map(|(name, value)| format!("{name}={value}")).collect();
        if !pairs.is_empty() {
            headers.extend(HeaderValue::from_str(&pairs.join("; ")).ok().map(|pairs| (COOKIE, pairs)));
        }
        let session = session.map(|(_, token)| token.to_owned());
        Self { headers, address: parts.extensions.get().copied(), session }
    }

    /// Network whose computing its requests are; the operator's if they are about none.
    fn network(&self) -> NetworkId {
        let id = self.headers.get(&NETWORK).and_then(|id| id.to_str().ok());
        id.and_then(|id| serde_json::from_value(id.into()).ok()).unwrap_or(OPERATOR_NETWORK)
    }

    /// Adds a header to all further requests.
    pub(crate) fn set(&mut self, name: &HeaderName, value: &str) {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name.clone(), value);
        }
    }
}

/// Answer of a route: its headers and its JSON, null without a body.
pub(crate) struct Answer {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Door {
    pub(crate) fn new(api: Router) -> Self {
        Self(api)
    }

    /// Sends a request whose answer is passed on as it comes.
    pub(crate) async fn open(&self, sender: &Sender, path: &str, more: &[(HeaderName, HeaderValue)]) -> Response {
        let mut request = Request::new(Body::empty());
        *request.headers_mut() = sender.headers.clone();
        request.headers_mut().extend(more.iter().cloned());
        self.pass(sender, path, request).await
    }

    /// Sends a request. A refusal of the hub is an error.
    pub(crate) async fn send(
        &self,
        sender: &Sender,
        method: Method,
        path: &str,
        body: Option<&Value>,
        more: &[(HeaderName, HeaderValue)],
    ) -> Result<Answer, Refusal> {
        let bytes = body.map(serde_json::to_vec).transpose().map_err(Refusal::fault)?;
        let mut request = Request::new(bytes.map_or_else(Body::empty, Body::from));
        *request.method_mut() = method;
        *request.headers_mut() = sender.headers.clone();
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
        if body.is_some() {
            request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        request.headers_mut().extend(more.iter().cloned());
        self.ask(sender, path, request).await
    }

    /// Sends a file as it comes.
    pub(crate) async fn upload(&self, sender: &Sender, path: &str, file: Body) -> Result<Answer, Refusal> {
        let mut request = Request::new(file);
        *request.method_mut() = Method::POST;
        *request.headers_mut() = sender.headers.clone();
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
        self.ask(sender, path, request).await
    }

    async fn ask(&self, sender: &Sender, path: &str, request: Request<Body>) -> Result<Answer, Refusal> {
        let response = self.pass(sender, path, request).await;
        let (head, body) = response.into_parts();
        let bytes = to_bytes(body, MOST_BYTES).await.map_err(Refusal::fault)?;
        if !head.status.is_success() {
            let retry_after = head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
            return Err(Refusal::of_hub(head.status, &bytes, retry_after));
        }
        let read = || serde_json::from_slice(&bytes).map_err(Refusal::fault);
        let body = if bytes.is_empty() || head.status == StatusCode::NO_CONTENT {
            Value::Null
        } else if bytes.len() < LARGE_JSON {
            read()?
        } else {
            compute_for(sender.network(), read).await?
        };
        Ok(Answer { headers: head.headers, body })
    }

    async fn pass(&self, sender: &Sender, path: &str, mut request: Request<Body>) -> Response {
        let Ok(uri) = path.parse() else { return StatusCode::BAD_REQUEST.into_response() };
        *request.uri_mut() = uri;
        if let Some(address) = sender.address {
            request.extensions_mut().insert(address);
        }
        let Ok(response) = self.0.clone().oneshot(request).await;
        response
    }
}
