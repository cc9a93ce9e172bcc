//! Interactive API reference at `/api`. Its assets are in the binary; nothing is loaded from elsewhere.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::Bytes;
use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{MethodRouter, get};
use utoipa_swagger_ui::Config;

use crate::app::App;
use crate::http::error::ApiError;

const PAGE: &str = include_str!("reference.html");
const SCRIPT: &str = include_str!("reference.js");
/// Content security policy: the page may only run its own scripts and call its own hub.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Routes of the page, its assets and the documents.
pub fn router(openapi: &'static LazyLock<Bytes>, asyncapi: &'static LazyLock<Bytes>) -> Router<App> {
    Router::new()
        .route("/", get(async || Redirect::temporary("/api")))
        .route(
            "/api",
            get(async || ([(CONTENT_TYPE, "text/html; charset=utf-8"), (CONTENT_SECURITY_POLICY, POLICY)], PAGE)),
        )
        .route("/api/reference/start.js", get(async || ([(CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT)))
        .route("/api/reference/{asset}", get(asset))
        .route("/api/openapi.json", document(openapi))
        .route("/api/asyncapi.json", document(asyncapi))
}

fn document(json: &'static LazyLock<Bytes>) -> MethodRouter<App> {
    get(async || ([(CONTENT_TYPE, "application/json")], LazyLock::force(json).clone()))
}

/// Serves an asset, stored in the binary as gzip, which every browser supports.
async fn asset(Path(name): Path<String>) -> Result<Response, ApiError> {
    let Ok(Some(file)) = utoipa_swagger_ui::serve(&name, Arc::new(Config::from("/api/openapi.json"))) else {
        return Err(ApiError::not_found("unknown_route", "No such asset."));
    };
    let bytes = match file.bytes {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => Bytes::from(bytes),
    };
    let headers = [(CONTENT_TYPE, file.content_type), (CACHE_CONTROL, "public, max-age=86400".to_owned())];
    let encoding = file.gzpipped.then_some([(CONTENT_ENCODING, "gzip")]);
    Ok((headers, encoding, bytes).into_response())
}
