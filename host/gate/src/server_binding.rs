//! Keys bound to servers: refuses requests that name another server, in the path, the query or the body.
//!
//! One layer for all routes, so that none can omit it. It is outside of `idempotency`, so that a repeat is checked,
//! too.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts as _, MatchedPath, RawPathParams, Request, State};
use axum::http::Method;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use utoipa::openapi::path::Operation;
use utoipa::openapi::{OpenApi, RefOr, Schema};

use crate::app::App;
use crate::auth::Caller;
use crate::component::Component;
use crate::endpoints::RouteFacts;
use crate::http::error::ApiError;
use crate::http::extract::{JSON_LIMIT, read_body};
use crate::http::layers::Next;

/// Declaration of this component.
pub static COMPONENT: Component =
    Component { purpose: "holds keys that are bound to servers to those servers", ..Component::new(module_path!()) };

/// Parameters and fields that name a server.
const NAMES: [&str; 4] = ["serverId", "nodeServerId", "targetServerId", "preferNode"];
const JSON: &str = "application/json";

/// State of the layer.
#[derive(Clone)]
pub struct LayerState {
    app: App,
    /// Routes whose bodies name servers.
    bodies: Arc<HashSet<(Method, String)>>,
}

impl LayerState {
    /// State for the routes of `document`.
    pub fn new(app: &App, document: &OpenApi) -> Self {
        let mut bodies = HashSet::new();
        for (path, item) in &document.paths.paths {
            let operations = [
                (Method::PUT, &item.put),
                (Method::POST, &item.post),
                (Method::DELETE, &item.delete),
                (Method::PATCH, &item.patch),
            ];
            let naming = operations.into_iter().filter(|(_, operation)| {
                operation.as_ref().is_some_and(|operation| body_names_server(document, operation))
            });
            bodies.extend(naming.map(|(method, _)| (method, path.clone())));
        }
        Self { app: app.clone(), bodies: Arc::new(bodies) }
    }
}

fn body_names_server(document: &OpenApi, operation: &Operation) -> bool {
    let Some(RefOr::T(body)) = &operation.request_body else { return false };
    let Some(RefOr::T(content)) = body.content.get(JSON) else { return false };
    content.schema.as_ref().is_some_and(|schema| has_named_field(document, schema))
}

fn has_named_field(document: &OpenApi, schema: &RefOr<Schema>) -> bool {
    let schema = match schema {
        RefOr::T(schema) => schema,
        RefOr::Ref(reference) => {
            let name = reference.ref_location.rsplit('/').next().unwrap_or_default();
            let schemas = document.components.as_ref().map(|components| &components.schemas);
            return schemas.and_then(|all| all.get(name)).is_some_and(|schema| has_named_field(document, schema));
        }
    };
    match schema {
        Schema::Object(object) => NAMES.iter().any(|name| object.properties.contains_key(*name)),
        Schema::AllOf(parts) => parts.items.iter().any(|part| has_named_field(document, part)),
        Schema::OneOf(parts) => parts.items.iter().any(|part| has_named_field(document, part)),
        Schema::AnyOf(parts) => parts.items.iter().any(|part| has_named_field(document, part)),
        _ => false,
    }
}

/// Refuses requests outside the key's servers.
pub async fn layer(State(state): State<LayerState>, request: Request, next: Next) -> Response {
    match check(&state, request).await {
        Ok(request) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

async fn check(state: &LayerState, request: Request) -> Result<Request, ApiError> {
    let (mut parts, body) = request.into_parts();
    // The route reports the error in the key, or needs none.
    let Ok(caller) = Caller::identify(&parts, &state.app).await else { return Ok(Request::from_parts(parts, body)) };
    if caller.bindings.servers.is_none() {
        parts.extensions.insert(caller);
        return Ok(Request::from_parts(parts, body));
    }
    let authorize = parts.extensions.get::<RouteFacts>().and_then(|facts| facts.authorize);
    if let Some(authorize) = authorize {
        // A missing scope is reported before a server that the key is not bound to.
        authorize.check(&mut parts, &state.app).await?;
    }
    for server in named_in_path_and_query(&mut parts).await {
        caller.require_server(&server)?;
    }
    let path = parts.extensions.get::<MatchedPath>().map_or("", |path| path.as_str());
    if !state.bodies.contains(&(parts.method.clone(), path.to_owned())) {
        return Ok(Request::from_parts(parts, body));
    }
    let bytes = read_body(Request::from_parts(parts.clone(), body), JSON_LIMIT).await?;
    for server in named_in_body(&bytes) {
        caller.require_server(&server)?;
    }
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

/// A blank name counts as none.
fn is_server(name: &str, value: &str) -> bool {
    NAMES.contains(&name) && !value.trim().is_empty()
}

async fn named_in_path_and_query(parts: &mut Parts) -> Vec<String> {
    let mut named = vec![];
    if let Ok(parameters) = RawPathParams::from_request_parts(parts, &()).await {
        let servers = parameters.iter().filter(|(name, value)| is_server(name, value));
        named.extend(servers.map(|(_, value)| value.to_owned()));
    }
    let query = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
    named.extend(query.filter(|(name, value)| is_server(name, value)).map(|(_, value)| value.into_owned()));
    named
}

/// Servers that a body names. The route refuses other values than objects.
fn named_in_body(bytes: &[u8]) -> Vec<String> {
    let mut named = Named::default();
    // The route finds the same error.
    let _ = serde_json::Deserializer::from_slice(bytes).deserialize_map(&mut named);
    named.0
}

#[derive(Default)]
struct Named(Vec<String>);

impl<'de> Visitor<'de> for &mut Named {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key::<String>()? {
            if !NAMES.contains(&name.as_str()) {
                fields.next_value::<IgnoredAny>()?;
            } else if let Value::String(value) = fields.next_value()?
                && is_server(&name, &value)
            {
                self.0.push(value);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::named_in_body;

    #[test]
    fn every_server_name_in_a_body_is_checked() {
        let named = |body: &str| named_in_body(body.as_bytes());
        assert_eq!(
            named(r#"{"x": {"serverId": "no"}, "serverId": "a", "preferNode": "b", "serverId": "c"}"#),
            ["a", "b", "c"]
        );
        assert_eq!(named(r#"{"server\u0049d": "a", "targetServerId": "b""#), ["a", "b"]);
        for none in ["", "[1]", r#"["a"]"#, r#"{"serverId": null, "nodeServerId": " "}"#, r#"{"serverId": 7}"#] {
            assert!(named(none).is_empty(), "{none}");
        }
    }
}
