//! All routes of all components, and the layers around them.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use serde_json::Value;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::app::App;
use crate::endpoints::{Endpoints, RouteTable, facts_layer};
use crate::events::{self, EventSchema};
use crate::http::error::ApiError;
use crate::http::layers::{self, Layers, Next};
use crate::http::private_answers;
use crate::http::{client_address, json, openapi, publication, reference, request_id};
use crate::{audit, auth, client_disconnect, cluster, idempotency, limits, response_budget, server_binding};

fn endpoints() -> Endpoints {
    Endpoints::default()
        .merge(in_database().database_only())
        .merge(crate::artifacts::public())
        .merge(crate::artifacts::router())
        .merge(crate::chat::router())
        .merge(crate::control::router())
        .merge(crate::events::router())
        .merge(crate::erasure::router())
        .merge(crate::matchmaking::router())
        .merge(crate::modules::router())
        .merge(crate::presence::router())
        .merge(crate::transfers::router())
        .merge(crate::people::public())
        .merge(crate::waitlist::public())
        .merge(crate::waitlist::router())
        .merge(crate::worlds::router())
        .merge(crate::health::router())
        .merge(crate::worlds::public_router())
}

/// Components without state in memory that moves with a network's owner.
fn in_database() -> Endpoints {
    Endpoints::default()
        .merge(crate::audit::router())
        .merge(crate::collections::router())
        .merge(crate::config_documents::router())
        .merge(crate::economy::router())
        .merge(crate::imports::router())
        .merge(crate::localization::router())
        .merge(crate::metering::router())
        .merge(crate::punishments::router())
        .merge(crate::networks::router())
        .merge(crate::plans::router())
        .merge(crate::people::router())
        .merge(crate::permissions::router())
        .merge(crate::players::router())
        .merge(crate::provisioning::router())
        .merge(crate::signing_secret::router())
        .merge(crate::statistics::router())
        .merge(crate::webhooks::router())
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
        crate::presence::events(),
        crate::signing_secret::events(),
        crate::transfers::events(),
        crate::worlds::events(),
    ]
    .concat()
}

/// OpenAPI document.
pub fn document() -> Value {
    publication::publish(&routes().1)
}

/// Router of the whole service.
pub fn router(app: &App) -> Router {
    let (routes, document, facts) = routes();
    let openapi = publication::publish(&document);
    let asyncapi = publication::asyncapi(&openapi, events::ANY_EVENT);
    let idempotency = idempotency::LayerState::new(app, &document);
    let server_binding = server_binding::LayerState::new(app, &document);
    let around_all = Layers::default()
        .with(app.clone(), request_id::layer)
        .with((), private_answers::layer)
        .with((), catch_panic)
        .with(app.clone(), client_address::layer)
        .with(facts, facts_layer)
        .with(app.clone(), auth::layer)
        .with(app.clone(), cluster::layer)
        .with(app.clone(), limits::layer);
    let around_routes = Layers::default()
        .with(server_binding, server_binding::layer)
        // Outside of the stored answers, so that a retry after a disconnect gets one.
        .with(app.clone(), client_disconnect::layer)
        // Outside of the transaction of a key, which must not wait for memory.
        .with(app.clone(), response_budget::layer)
        .with(idempotency, idempotency::layer)
        // Inside of it, so that a repeat is not a second change.
        .with(app.clone(), audit::layer)
        .with((), json::layer);
    let around_reference = Layers::default().with(app.clone(), limits::public_layer);
    let layer = |layers: Layers| from_fn_with_state(Arc::new(layers), layers::run);
    routes
        .route_layer(layer(around_routes))
        .merge(reference::router(&openapi, &asyncapi).layer(layer(around_reference)))
        .fallback(async || ApiError::not_found("unknown_route", "No such route; see /api for all routes."))
        .method_not_allowed_fallback(async || {
            let status = axum::http::StatusCode::METHOD_NOT_ALLOWED;
            ApiError::new(status, "method_not_allowed", "The route does not support this method; see /api.")
        })
        .layer(layer(around_all))
        .with_state(app.clone())
}

async fn catch_panic(State(()): State<()>, request: Request, next: Next) -> Response {
    AssertUnwindSafe(next.run(request)).catch_unwind().await.unwrap_or_else(|_| {
        let panicked = std::io::Error::other("the handler panicked; the panic is in the log");
        ApiError::internal(panicked).into_response()
    })
}
