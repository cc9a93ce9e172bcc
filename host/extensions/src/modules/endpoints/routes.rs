//! `/api/plugin/x/…` and `/api/public/x/…`: the networks' own routes. Each network's document has its own
//! ([`document`](super::document)).

use axum::extract::{Request as HttpRequest, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use hub_db::with_tenant;
use hub_sandbox::contract::endpoints::{Caller, CallerKind};

use super::document;
use super::serve::{self, unknown};
use crate::app::App;
use crate::auth::{ActorType, Plugin};
use crate::endpoints::{Endpoints, RouteFacts, authorize_of};
use crate::http::error::ApiError;
use crate::modules::open::is_open;
use crate::values::NetworkId;

/// Path of the routes with a key.
const PRIVATE: &str = "/api/plugin/x/{module}/{*path}";
/// Path of the routes without one.
const PUBLIC: &str = "/api/public/x/{network}/{module}/{*path}";

/// Methods that endpoints may have. Others are refused before anything is looked up.
const METHODS: [Method; 5] = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// Routes of this part.
pub(in crate::modules) fn router() -> Endpoints {
    document::router()
        .undocumented_with(PRIVATE, any(private), RouteFacts::guarded(authorize_of(&private)))
        .undocumented_with(PUBLIC, any(public), RouteFacts::default().public())
}

/// Segments after `/api/plugin/x/`: encoded, as parameters are split before they are decoded.
fn rest(path: &str, segments: usize) -> Vec<&str> {
    path.splitn(4 + segments, '/').skip(4).collect()
}

async fn private(Plugin(caller): Plugin, State(app): State<App>, request: HttpRequest) -> Response {
    let is_person = matches!(caller.origin(&app).actor.kind, ActorType::Person);
    let kind = if is_person { CallerKind::Person } else { CallerKind::Key };
    let servers = caller.bindings.servers.iter().flatten().map(ToString::to_string).collect();
    let by = Caller { kind, id: caller.key.0.clone(), servers };
    let path = request.uri().path().to_owned();
    let [module, path] = rest(&path, 2)[..] else { return unknown().into_response() };
    let served = serve::serve(&app, caller.network, module, path, Some(by), request).await;
    served.unwrap_or_else(ApiError::into_response)
}

async fn public(State(app): State<App>, request: HttpRequest) -> Response {
    if request.method() == Method::OPTIONS {
        return preflight();
    }
    if !METHODS.contains(request.method()) {
        let message = "The endpoint does not support this method.";
        return ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message).into_response();
    }
    let path = request.uri().path().to_owned();
    let [network, module, path] = rest(&path, 3)[..] else { return unknown().into_response() };
    let served = match network.parse().map(NetworkId) {
        Ok(id) => match is_open(&app, id).await {
            // A name that a stranger made up is no tenant.
            Ok(true) => with_tenant(id.0, serve::serve(&app, id, module, path, None, request)).await,
            Ok(false) => Err(unknown()),
            Err(error) => Err(error.into()),
        },
        Err(_) => Err(unknown()),
    };
    served.unwrap_or_else(ApiError::into_response)
}

/// Answer to a browser that asks what pages of others may send.
fn preflight() -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    let methods = HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE");
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("*"));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    response
}
