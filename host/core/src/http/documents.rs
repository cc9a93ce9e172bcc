//! The documents of the API, and the way to them from the hub's address.

use std::sync::LazyLock;

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::response::Redirect;
use axum::routing::{MethodRouter, get};

use crate::app::App;

/// Routes of the documents.
pub fn router(openapi: &'static LazyLock<Bytes>, asyncapi: &'static LazyLock<Bytes>) -> Router<App> {
    Router::new()
        .route("/", get(async || Redirect::temporary("/docs")))
        .route("/api/openapi.json", document(openapi))
        .route("/api/asyncapi.json", document(asyncapi))
}

fn document(json: &'static LazyLock<Bytes>) -> MethodRouter<App> {
    get(async || ([(CONTENT_TYPE, "application/json")], LazyLock::force(json).clone()))
}
