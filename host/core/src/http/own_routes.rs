//! Requests of a route to the hub's own routes, as the caller of the route.

use std::net::SocketAddr;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, COOKIE, ETAG, HOST, IF_MATCH, USER_AGENT};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, Request, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;
use tower::ServiceExt as _;

use crate::http::error::ApiError;
use crate::http::request_id::RequestId;

/// Maximum size of an answer.
const MOST_BYTES: usize = 8 << 20;
/// Headers that tell who the caller is, and where they call from.
static OF_CALLER: [HeaderName; 8] = [
    HeaderName::from_static("x-service-api-key"),
    AUTHORIZATION,
    COOKIE,
    HOST,
    USER_AGENT,
    HeaderName::from_static("x-network-id"),
    HeaderName::from_static("x-forwarded-proto"),
    HeaderName::from_static("x-csrf-token"),
];

/// The hub's routes with all layers around them, in the extensions of each request. Those of their own requests have none.
#[derive(Clone, Debug)]
pub struct OwnRoutes(pub Router);

/// Answer of a route.
#[derive(Debug)]
pub struct OwnAnswer {
    /// Its JSON; null without a body.
    pub body: Value,
    /// Its `ETag`.
    pub revision: Option<HeaderValue>,
}

impl OwnRoutes {
    /// Sends a request with the rights of `caller`. A refusal is passed on as it is.
    ///
    /// # Errors
    /// The response of a refusal.
    pub async fn send(
        &self,
        caller: &Parts,
        method: Method,
        path: &str,
        body: Option<&Value>,
        revision: Option<HeaderValue>,
    ) -> Result<OwnAnswer, Response> {
        let fault = |error: Box<dyn std::error::Error + Send + Sync>| {
            ApiError::internal(std::io::Error::other(error)).into_response()
        };
        let bytes = body.map(serde_json::to_vec).transpose().map_err(|error| fault(error.into()))?;
        let mut request = Request::new(bytes.map_or_else(Body::empty, Body::from));
        *request.method_mut() = method;
        *request.uri_mut() = path.parse().map_err(|error: axum::http::uri::InvalidUri| fault(error.into()))?;
        let headers = request.headers_mut();
        for name in &OF_CALLER {
            // HTTP/2 may split the cookies.
            for value in caller.headers.get_all(name) {
                headers.append(name.clone(), value.clone());
            }
        }
        let id = caller.extensions.get::<RequestId>().and_then(|id| HeaderValue::from_str(id.as_str()).ok());
        headers.extend(id.map(|id| (HeaderName::from_static("x-request-id"), id)));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.extend(body.map(|_| (CONTENT_TYPE, HeaderValue::from_static("application/json"))));
        headers.extend(revision.map(|revision| (IF_MATCH, revision)));
        if let Some(address) = caller.extensions.get::<ConnectInfo<SocketAddr>>() {
            request.extensions_mut().insert(*address);
        }
        let Ok(response) = self.0.clone().oneshot(request).await;
        if !response.status().is_success() {
            return Err(response);
        }
        let (head, body) = response.into_parts();
        let bytes = to_bytes(body, MOST_BYTES).await.map_err(|error| fault(error.into()))?;
        let is_empty = bytes.is_empty() || head.status == StatusCode::NO_CONTENT;
        let body =
            if is_empty { Value::Null } else { serde_json::from_slice(&bytes).map_err(|error| fault(error.into()))? };
        Ok(OwnAnswer { body, revision: head.headers.get(ETAG).cloned() })
    }
}
