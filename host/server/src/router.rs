//! All routes of all components, and the layers around them.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Extension, Request, State};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use serde_json::Value;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::app::App;
use crate::components::components;
use crate::endpoints::{RouteTable, facts_layer};
use crate::http::error::ApiError;
use crate::http::layers::{self, Layers, Next};
use crate::http::own_routes::OwnRoutes;
use crate::http::private_answers;
use crate::http::{client_address, documents, json, openapi, publication, request_id};
use crate::modules::{HubDocument, protect_answers};
use crate::{
    audit, auth, client_disconnect, cluster, events, idempotency, limits, network_moves, response_budget,
    server_binding,
};

struct Routes {
    router: Router<App>,
    document: OpenApi,
    facts: RouteTable,
}

/// The same for every hub of a process.
static ROUTES: LazyLock<Routes> = LazyLock::new(|| {
    let (endpoints, facts) = components().endpoints().into_parts();
    let (router, mut document) = OpenApiRouter::with_openapi(openapi::base()).merge(endpoints).split_for_parts();
    events::add_to(&mut document, &components().event_schemas());
    document.tags = Some(components().tags(&document));
    openapi::complete(&mut document, &components().errors().collect::<Vec<_>>(), |path| facts.kept_key(path));
    Routes { router, document, facts }
});
/// Published when first asked for: a start of the hub doesn't wait for it.
static PUBLISHED: LazyLock<Value> = LazyLock::new(document);
static OPENAPI: LazyLock<Bytes> = LazyLock::new(|| PUBLISHED.to_string().into());
static ASYNCAPI: LazyLock<Bytes> =
    LazyLock::new(|| publication::asyncapi(&PUBLISHED, events::ANY_EVENT).to_string().into());

/// OpenAPI document.
pub fn document() -> Value {
    publication::publish(&ROUTES.document)
}

/// Router of the whole service.
pub fn router(app: &App) -> Router {
    let Routes { router, document, facts } = &*ROUTES;
    app.state::<HubDocument>().publish(|| &PUBLISHED);
    let idempotency = idempotency::LayerState::new(app, document);
    let server_binding = server_binding::LayerState::new(app, document);
    let around_all = Layers::default()
        .with(app.clone(), request_id::layer)
        .with((), private_answers::layer)
        .with((), protect_answers)
        .with((), catch_panic)
        .with(app.clone(), client_address::layer)
        .with(facts.clone(), facts_layer)
        .with(app.clone(), auth::layer)
        .with(app.clone(), network_moves::layer)
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
    let around_pages = Layers::default()
        .with(app.clone(), request_id::layer)
        .with((), private_answers::layer)
        .with((), catch_panic)
        .with(app.clone(), client_address::layer)
        .with(app.clone(), limits::page_layer)
        .with(app.clone(), response_budget::layer);
    let around_documents = Layers::default().with(app.clone(), limits::public_layer);
    let layer = |layers: Layers| from_fn_with_state(Arc::new(layers), layers::run);
    let api = router
        .clone()
        .route_layer(layer(around_routes))
        .merge(documents::router(&OPENAPI, &ASYNCAPI).layer(layer(around_documents)))
        .fallback(async || ApiError::not_found("unknown_route", "No such route; see /api for all routes."))
        .method_not_allowed_fallback(async || {
            let status = axum::http::StatusCode::METHOD_NOT_ALLOWED;
            ApiError::new(status, "method_not_allowed", "The route does not support this method; see /api.")
        })
        .layer(layer(around_all))
        .with_state(app.clone());
    // Routes whose work is other routes' get them with their request. Their own requests get none: no circle.
    let api = api.clone().layer(Extension(OwnRoutes(api)));
    let console = hub_console::router(app, api.clone());
    let pages = console.merge(hub_book::router(self::document));
    // Outside of the layers around the API, which each request of a page passes by itself.
    api.merge(pages.layer(layer(around_pages)))
}

async fn catch_panic(State(()): State<()>, request: Request, next: Next) -> Response {
    AssertUnwindSafe(next.run(request)).catch_unwind().await.unwrap_or_else(|_| {
        let panicked = std::io::Error::other("the handler panicked; the panic is in the log");
        ApiError::internal(panicked).into_response()
    })
}
