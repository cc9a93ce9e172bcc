//! The door: routing, callers, limits, the shapes of errors and lists, and the served documentation.

pub mod caller;
mod client_address;
pub mod document;
mod drain;
pub mod endpoints;
pub mod error;
mod examples;
pub mod extract;
pub mod hub_url;
mod openapi;
pub mod page;
mod public;
mod reference;
pub mod request_id;
mod serve;

use axum::Router;
use axum::middleware::from_fn_with_state;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa_axum::router::OpenApiRouter;

use crate::app::App;
use crate::http::error::ApiError;
pub use serve::{Connection, Server, bind};

/// All of the hub's routes, each room's from its own `router`.
fn rooms() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(openapi::base())
        .merge(crate::artifacts::public())
        .merge(crate::artifacts::router())
        .merge(crate::chat::router())
        .merge(crate::collections::router())
        .merge(crate::config_documents::router())
        .merge(crate::control::router())
        .merge(crate::economy::router())
        .merge(crate::events::router())
        .merge(crate::localization::router())
        .merge(crate::matchmaking::router())
        .merge(crate::modules::router())
        .merge(crate::networks::router())
        .merge(crate::permissions::router())
        .merge(crate::players::router())
        .merge(crate::provisioning::router())
        .merge(crate::punishments::router())
        .merge(crate::servers::router())
        .merge(crate::statistics::router())
        .merge(crate::transfers::router())
        .merge(crate::waitlist::public())
        .merge(crate::waitlist::router())
        .merge(crate::worlds::router())
        .merge(public::router())
}

/// The served OpenAPI document.
pub fn document() -> utoipa::openapi::OpenApi {
    let (_, mut document) = rooms().split_for_parts();
    openapi::complete(&mut document);
    document
}

/// The whole service.
pub fn router(app: &App) -> Router {
    let (routes, mut document) = rooms().split_for_parts();
    openapi::complete(&mut document);
    let idempotency = crate::idempotency::Guard::new(app, &document);
    routes
        .route_layer(from_fn_with_state(idempotency, crate::idempotency::layer))
        .merge(reference::router(&document))
        .fallback(async || ApiError::not_found("unknown_route", "There is no such route; /api shows those there are."))
        .method_not_allowed_fallback(async || {
            let status = axum::http::StatusCode::METHOD_NOT_ALLOWED;
            ApiError::new(
                status,
                "method_not_allowed",
                "This route exists, but not with this method; /api shows which.",
            )
        })
        .layer(from_fn_with_state(app.clone(), crate::cluster::layer))
        .layer(from_fn_with_state(app.clone(), client_address::layer))
        .layer(CatchPanicLayer::custom(|_| {
            let panicked = std::io::Error::other("the handler panicked; the panic is in the log");
            axum::response::IntoResponse::into_response(ApiError::internal(panicked))
        }))
        .layer(from_fn_with_state(app.clone(), request_id::layer))
        .with_state(app.clone())
}
