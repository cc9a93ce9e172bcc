//! All routes of all components, and the layers around them.

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use serde_json::Value;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::app::App;
use crate::endpoints::{Endpoints, RouteTable, facts_layer};
use crate::events::{self, EventSchema};
use crate::http::error::ApiError;
use crate::http::{client_address, json, openapi, publication, reference, request_id};
use crate::{answer_memory, auth, cluster, hang_up, idempotency, limits, server_binding};

fn endpoints() -> Endpoints {
    Endpoints::default()
        .merge(in_database().database_only())
        .merge(crate::artifacts::public())
        .merge(crate::artifacts::router())
        .merge(crate::chat::router())
        .merge(crate::control::router())
        .merge(crate::events::router())
        .merge(crate::matchmaking::router())
        .merge(crate::modules::router())
        .merge(crate::sessions::router())
        .merge(crate::transfers::router())
        .merge(crate::people::public())
        .merge(crate::waitlist::public())
        .merge(crate::waitlist::router())
        .merge(crate::worlds::router())
        .merge(crate::health::router())
        .merge(crate::worlds::public_router())
}

/// The components that keep nothing in memory which follows a network from owner to owner.
fn in_database() -> Endpoints {
    Endpoints::default()
        .merge(crate::audit::router())
        .merge(crate::collections::router())
        .merge(crate::config_documents::router())
        .merge(crate::economy::router())
        .merge(crate::imports::router())
        .merge(crate::localization::router())
        .merge(crate::moderation::router())
        .merge(crate::networks::router())
        .merge(crate::plans::router())
        .merge(crate::people::router())
        .merge(crate::permissions::router())
        .merge(crate::players::router())
        .merge(crate::profiles::router())
        .merge(crate::provisioning::router())
        .merge(crate::signing_secret::router())
        .merge(crate::statistics::router())
}

fn routes() -> (Router<App>, OpenApi, RouteTable) {
    let (endpoints, facts) = endpoints().into_parts();
    let (routes, mut document) = OpenApiRouter::with_openapi(openapi::base()).merge(endpoints).split_for_parts();
    events::add_to(&mut document, &event_schemas());
    openapi::complete(&mut document, |path| facts.kept_key(path));
    (routes, document, facts)
}

fn event_schemas() -> Vec<EventSchema> {
    [
        crate::chat::events(),
        crate::config_documents::events(),
        crate::control::events(),
        crate::economy::events(),
        crate::localization::events(),
        crate::permissions::events(),
        crate::punishments::events(),
        crate::servers::events(),
        crate::signing_secret::events(),
        crate::transfers::events(),
        crate::worlds::events(),
    ]
    .concat()
}

/// The served OpenAPI document.
pub fn document() -> Value {
    publication::publish(&routes().1)
}

/// The whole service.
pub fn router(app: &App) -> Router {
    let (routes, document, facts) = routes();
    let openapi = publication::publish(&document);
    let asyncapi = publication::asyncapi(&openapi, events::ANY_EVENT);
    let idempotency = idempotency::LayerState::new(app, &document);
    let server_binding = server_binding::LayerState::new(app, &document);
    routes
        .route_layer(from_fn(json::layer))
        .route_layer(from_fn_with_state(idempotency, idempotency::layer))
        // Around the transaction of a key, which must not wait for memory.
        .route_layer(from_fn_with_state(app.clone(), answer_memory::layer))
        // Around the answers that are kept, so that a retry of who hung up gets one.
        .route_layer(from_fn_with_state(app.clone(), hang_up::layer))
        .route_layer(from_fn_with_state(server_binding, server_binding::layer))
        .merge(reference::router(&openapi, &asyncapi).layer(from_fn_with_state(app.clone(), limits::public_layer)))
        .fallback(async || ApiError::not_found("unknown_route", "There is no such route; /api shows those there are."))
        .method_not_allowed_fallback(async || {
            let status = axum::http::StatusCode::METHOD_NOT_ALLOWED;
            ApiError::new(
                status,
                "method_not_allowed",
                "This route exists, but not with this method; /api shows which.",
            )
        })
        .layer(from_fn_with_state(app.clone(), limits::layer))
        .layer(from_fn_with_state(app.clone(), cluster::layer))
        .layer(from_fn_with_state(app.clone(), auth::layer))
        .layer(from_fn_with_state(facts, facts_layer))
        .layer(from_fn_with_state(app.clone(), client_address::layer))
        .layer(CatchPanicLayer::custom(|_| {
            let panicked = std::io::Error::other("the handler panicked; the panic is in the log");
            axum::response::IntoResponse::into_response(ApiError::internal(panicked))
        }))
        .layer(from_fn_with_state(app.clone(), request_id::layer))
        .with_state(app.clone())
}
