//! Layers that a request passes on its way to its handler.
//!
//! axum's `from_fn` copies everything it wraps for each request, recursively: with a dozen layers this took most of a
//! small request's time. These layers are copied once, and each costs one allocation.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware;
use axum::response::Response;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

type Layer = Box<dyn Fn(Request, Next) -> BoxFuture<'static, Response> + Send + Sync>;

/// Layers around handlers, outermost first.
#[derive(Default)]
pub struct Layers(Vec<Layer>);

impl Layers {
    /// Adds a layer inside the previous ones.
    pub fn with<S, F, R>(mut self, state: S, layer: F) -> Self
    where
        S: Clone + Send + Sync + 'static,
        F: Fn(State<S>, Request, Next) -> R + Send + Sync + 'static,
        R: Future<Output = Response> + Send + 'static,
    {
        self.0.push(Box::new(move |request, next| layer(State(state.clone()), request, next).boxed()));
        self
    }
}

/// Remaining layers and the handler of a request.
#[derive(Clone)]
pub struct Next {
    layers: Arc<Layers>,
    at: usize,
    handler: middleware::Next,
}

impl Next {
    /// Passes the request on.
    pub async fn run(mut self, request: Request) -> Response {
        let layers = Arc::clone(&self.layers);
        let Some(layer) = layers.0.get(self.at) else { return self.handler.run(request).await };
        self.at += 1;
        layer(request, self).await
    }
}

/// Sends a request through the layers.
pub async fn run(State(layers): State<Arc<Layers>>, request: Request, handler: middleware::Next) -> Response {
    Next { layers, at: 0, handler }.run(request).await
}
