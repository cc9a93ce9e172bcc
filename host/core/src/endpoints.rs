//! Turns a component's handlers into routes: each declares its permission and its properties.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::http::request::Parts;
use axum::response::Response;
use axum::routing::MethodRouter;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
// For the macros below.
#[doc(hidden)]
pub use utoipa_axum;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use crate::app::App;
use crate::auth::{Caller, Permission};
use crate::http::error::ApiError;
use crate::http::layers::Next;
use crate::http::openapi::{self, KeptKey};
use crate::limits::{PublicRoute, PublishingRoute};

/// Properties of a route, for the layers around its handler.
#[allow(clippy::struct_excessive_bools, reason = "each fact is independent of the others")]
#[derive(Clone, Copy, Debug, Default)]
pub struct RouteFacts {
    /// A POST with effects only in the database: they and its `Idempotency-Key` are one transaction. After its first
    /// write it waits only for the database. For any other POST the response is stored when it is sent, so that a hub
    /// that dies in between repeats the work.
    pub is_transactional: bool,
    /// Both its effect and the data of its response are in the database, so that the response is valid regardless of
    /// the network's owner by then.
    pub(crate) is_database_only: bool,
    /// Its response contains a secret that is shown once and never stored.
    pub is_secret: bool,
    /// Any node can serve it: it needs no memory of the network's shard owner.
    pub is_any_node: bool,
    /// Before it changes anything, it may ask for a retry at the network's next shard owner.
    pub is_retried_on_owner: bool,
    /// A POST that changes nothing: its `Idempotency-Key` is ignored, because a repetition can simply read again.
    pub is_read_only: bool,
    /// A POST that is safe to send again: its `Idempotency-Key` is ignored.
    pub is_repeatable: bool,
    /// Dropped when its client disconnects, although it is not a GET: it waits on the client's behalf or only
    /// computes.
    pub is_ended_with_caller: bool,
    /// May legitimately take longer than ten seconds: it waits for a game server or its agent, or runs a module many
    /// times. A forwarding node waits for the response while it reaches the owner.
    pub is_long: bool,
    /// Its response may be larger than one document: it reserves memory before it begins and waits behind its own
    /// network's other responses.
    pub is_large_answer: bool,
    /// Publishes an event, so it counts against the event rate.
    pub(crate) is_publishing: bool,
    /// Requires no key, so it is limited by address.
    pub is_public: bool,
    /// Check of its permission; `None` for a public route.
    pub authorize: Option<Authorize>,
}

/// Check of a route's [`Permission`] for a request, for the layers around the handler.
#[derive(Clone, Copy)]
pub struct Authorize(AuthorizeFn);

type AuthorizeFn = for<'a> fn(&'a mut Parts, &'a App) -> BoxFuture<'a, Result<Caller, ApiError>>;

impl Authorize {
    const fn of<P: Permission>() -> Self {
        Self(|parts, app| P::from_request_parts(parts, app).map(|permission| permission.map(P::into_caller)).boxed())
    }

    /// Returns the caller if the route permits it.
    pub async fn check(self, parts: &mut Parts, app: &App) -> Result<Caller, ApiError> {
        (self.0)(parts, app).await
    }
}

impl fmt::Debug for Authorize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authorize")
    }
}

impl RouteFacts {
    pub fn guarded(authorize: Authorize) -> Self {
        Self { authorize: Some(authorize), ..Self::default() }
    }

    /// True if its response does not depend on the memory of the network's shard owner.
    pub fn is_in_database(self) -> bool {
        self.is_database_only || self.is_transactional
    }

    pub fn transactional(self) -> Self {
        Self { is_transactional: true, ..self }
    }

    pub fn secret(self) -> Self {
        Self { is_secret: true, ..self }
    }

    pub fn any_node(self) -> Self {
        Self { is_any_node: true, ..self }
    }

    pub fn retry_on_owner(self) -> Self {
        Self { is_retried_on_owner: true, ..self }
    }

    pub fn read_only(self) -> Self {
        Self { is_read_only: true, ..self }
    }

    pub fn repeatable(self) -> Self {
        Self { is_repeatable: true, ..self }
    }

    pub fn ends_with_caller(self) -> Self {
        Self { is_ended_with_caller: true, ..self }
    }

    pub fn long(self) -> Self {
        Self { is_long: true, ..self }
    }

    pub fn large_answer(self) -> Self {
        Self { is_large_answer: true, ..self }
    }

    pub fn publishing(self) -> Self {
        Self { is_publishing: true, ..self }
    }

    pub fn public(self) -> Self {
        Self { is_public: true, ..self }
    }
}

type FactsByRoute = HashMap<String, HashMap<Method, RouteFacts>>;

/// Routes with their documentation and properties.
#[derive(Default)]
pub struct Endpoints {
    router: OpenApiRouter<App>,
    facts: FactsByRoute,
}

impl Endpoints {
    /// Adds the route of a handler.
    pub fn route(mut self, mut handler: UtoipaMethodRouter<App>, facts: RouteFacts) -> Self {
        for (path, item) in &handler.1.paths {
            let methods = [
                (Method::GET, &item.get),
                (Method::PUT, &item.put),
                (Method::POST, &item.post),
                (Method::DELETE, &item.delete),
                (Method::PATCH, &item.patch),
            ];
            for (method, _) in methods.into_iter().filter(|(_, operation)| operation.is_some()) {
                self.facts.entry(path.clone()).or_default().insert(method, facts);
            }
        }
        if facts.is_large_answer {
            handler.1.paths.values_mut().for_each(openapi::add_unread_answers);
        }
        self.router = self.router.routes(handler);
        self
    }

    /// Adds a route without documentation.
    pub fn undocumented(mut self, path: &str, handler: MethodRouter<App>) -> Self {
        self.router = self.router.route(path, handler);
        self
    }

    /// Adds a route without documentation, whose methods all have these properties.
    pub fn undocumented_with(mut self, path: &str, handler: MethodRouter<App>, facts: RouteFacts) -> Self {
        let of_path = self.facts.entry(path.to_owned()).or_default();
        for method in [
            Method::GET,
            Method::HEAD,
            Method::PUT,
            Method::POST,
            Method::DELETE,
            Method::PATCH,
            Method::OPTIONS,
            Method::TRACE,
            Method::CONNECT,
        ] {
            of_path.insert(method, facts);
        }
        self.undocumented(path, handler)
    }

    /// Marks all these routes [database-only](RouteFacts::is_database_only).
    pub fn database_only(mut self) -> Self {
        for facts in self.facts.values_mut().flat_map(HashMap::values_mut) {
            facts.is_database_only = true;
        }
        self
    }

    /// Adds all routes of `other`.
    pub fn merge(mut self, other: Self) -> Self {
        self.router = self.router.merge(other.router);
        for (path, facts) in other.facts {
            self.facts.entry(path).or_default().extend(facts);
        }
        self
    }

    /// The documented routes, and the table of their properties.
    pub fn into_parts(self) -> (OpenApiRouter<App>, RouteTable) {
        (self.router, RouteTable(Arc::new(self.facts)))
    }
}

/// Properties of all routes.
#[derive(Clone, Debug)]
pub struct RouteTable(Arc<FactsByRoute>);

impl RouteTable {
    fn facts(&self, path: &str, method: &Method) -> RouteFacts {
        self.0.get(path).and_then(|methods| methods.get(method)).copied().unwrap_or_default()
    }

    /// Handling of the `Idempotency-Key` of a POST at a path.
    pub fn kept_key(&self, path: &str) -> KeptKey {
        match self.facts(path, &Method::POST) {
            RouteFacts { is_read_only: true, .. } => KeptKey::Never,
            RouteFacts { is_repeatable: true, .. } => KeptKey::Needless,
            RouteFacts { is_transactional: true, .. } => KeptKey::WithEffect,
            _ => KeptKey::AfterEffect,
        }
    }
}

/// Adds the [`RouteFacts`] of a request's route to its extensions.
pub async fn facts_layer(State(routes): State<RouteTable>, mut request: Request, next: Next) -> Response {
    if let Some(path) = request.extensions().get::<MatchedPath>() {
        let facts = routes.facts(path.as_str(), request.method());
        request.extensions_mut().insert(facts);
        if facts.is_publishing {
            request.extensions_mut().insert(PublishingRoute);
        }
        if facts.is_public {
            request.extensions_mut().insert(PublicRoute);
        }
    }
    next.run(request).await
}

/// A handler whose first argument is a [`Permission`].
pub trait Guarded<Arguments> {
    /// Check of its permission.
    const AUTHORIZE: Authorize;
}

macro_rules! guarded {
    ($($argument:ident),*) => {
        impl<F, P, O, $($argument),*> Guarded<(P, $($argument,)*)> for F
        where
            F: Fn(P, $($argument),*) -> O,
            P: Permission,
        {
            const AUTHORIZE: Authorize = Authorize::of::<P>();
        }
    };
}
guarded!();
guarded!(A);
guarded!(A, B);
guarded!(A, B, C);
guarded!(A, B, C, D);
guarded!(A, B, C, D, E);
guarded!(A, B, C, D, E, G);

/// Check of a handler's permission. Compiles only for a guarded handler.
pub const fn authorize_of<Arguments, H: Guarded<Arguments>>(_: &H) -> Authorize {
    H::AUTHORIZE
}

/// `endpoints![list, create: transactional secret]`: the routes of these handlers, each with its `#[utoipa::path]` and
/// the listed [`RouteFacts`]. The first argument of a handler must be a [`Permission`].
#[macro_export]
macro_rules! endpoints {
    ($($handler:path $(: $($fact:ident)+)?),+ $(,)?) => {
        $crate::endpoints::Endpoints::default()
            $(.route(
                $crate::endpoints::utoipa_axum::routes!($handler),
                $crate::endpoints::RouteFacts::guarded($crate::endpoints::authorize_of(&$handler))$($(.$fact())+)?,
            ))+
    };
}
pub use endpoints;

/// `public_endpoints![version]`: routes of handlers without a key, rate-limited by address.
#[macro_export]
macro_rules! public_endpoints {
    ($($($handler:path)|+),+ $(,)?) => {
        $crate::endpoints::Endpoints::default()
            $(.route($crate::endpoints::utoipa_axum::routes!($($handler),+), $crate::endpoints::RouteFacts::default().public()))+
    };
}
pub use public_endpoints;
