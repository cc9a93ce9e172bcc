//! `GET /api/manage/openapi.json`: the hub's document with the network's own routes.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use axum::extract::State;
use hub_sandbox::manifest::{Encoding, Endpoint, Method, Schema, Signature};
use serde_json::{Map, Value, json};

use super::state::{self, ServedEndpoint};
use crate::app::App;
use crate::auth::ModulesRead;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::ApiError;
use crate::http::extract::Json;
use crate::values::NetworkId;

/// The hub's own document, which the router above makes when it is first asked for.
#[derive(Debug, Default)]
pub struct HubDocument(OnceLock<fn() -> &'static Value>);

impl HubDocument {
    /// Takes what makes the document; a second one is the same.
    pub fn publish(&self, document: fn() -> &'static Value) {
        self.0.get_or_init(|| document);
    }

    /// The document; `None` where nothing is served.
    fn get(&self) -> Option<&'static Value> {
        self.0.get().map(|document| document())
    }
}

/// Routes of this part.
pub(super) fn router() -> Endpoints {
    endpoints![openapi: large_answer]
}

/// Get the network's OpenAPI document
///
/// The hub's document with the network's own routes: those of the modules that are active at `endpoints`. Their
/// parameters and schemas are those of the manifests. Each has the tag `x:` and its module's name.
#[utoipa::path(get, path = "/api/manage/openapi.json", operation_id = "get_network_openapi", tag = "Modules",
    security(("apiKey" = ["modules:read"])), responses((status = 200, body = Object, description = "OpenAPI 3.1")))]
async fn openapi(ModulesRead(caller): ModulesRead, State(app): State<App>) -> Result<Json<Value>, ApiError> {
    let mut document = app.state::<HubDocument>().get().cloned().unwrap_or_default();
    if let Some(endpoints) = state::of(&app, caller.network).await? {
        add_routes(&mut document, caller.network, &endpoints.routes);
    }
    Ok(Json(document))
}

/// Adds the routes of a network.
fn add_routes(document: &mut Value, network: NetworkId, routes: &[ServedEndpoint]) {
    let (mut modules, mut ids) = (BTreeSet::new(), BTreeSet::new());
    let mut added = vec![];
    for ServedEndpoint { module, version, endpoint, .. } in routes {
        modules.insert((module.as_str(), *version));
        let id = format!("x_{module}_{}_{}", endpoint.method.name().to_lowercase(), endpoint.path);
        let id: String = id.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' }).collect();
        let path = format!("/{module}/{}", endpoint.path);
        added.push((
            format!("/api/plugin/x{path}"),
            operation(module, endpoint, &unique(&mut ids, &id), false),
            endpoint,
        ));
        if endpoint.public {
            let id = unique(&mut ids, &format!("{id}_public"));
            added.push((format!("/api/public/x/{network}{path}"), operation(module, endpoint, &id, true), endpoint));
        }
    }
    let Some(paths) = document.get_mut("paths").and_then(Value::as_object_mut) else { return };
    for (path, operation, endpoint) in added {
        let item = paths.entry(path).or_insert_with(|| json!({}));
        item[endpoint.method.name().to_lowercase()] = operation;
    }
    let tags = modules.iter().map(|(module, version)| {
        json!({"name": format!("x:{module}"), "description": format!("Routes of the module `{module}`, version {version}.")})
    });
    match document.get_mut("tags").and_then(Value::as_array_mut) {
        Some(known) => known.extend(tags),
        None => document["tags"] = tags.collect(),
    }
}

/// An id that no other operation has.
fn unique(ids: &mut BTreeSet<String>, id: &str) -> String {
    let numbered = (2..).map(|number| format!("{id}_{number}"));
    let free = std::iter::once(id.to_owned()).chain(numbered).find(|id| !ids.contains(id)).unwrap_or_default();
    ids.insert(free.clone());
    free
}

fn operation(module: &str, endpoint: &Endpoint, id: &str, is_public: bool) -> Value {
    let signature = endpoint.signature.as_ref().filter(|_| is_public);
    let mut operation = json!({
        "tags": [format!("x:{module}")],
        "operationId": id,
        "summary": endpoint.name,
        "security": if is_public { json!([]) } else { json!([{"apiKey": ["plugin"]}]) },
        "parameters": parameters(endpoint, signature),
        "responses": responses(endpoint, is_public, signature.is_some()),
    });
    if let Some(signature) = signature {
        operation["description"] = format!("The request is signed: {}.", described(signature)).into();
        operation["x-signature"] = shown(signature);
    }
    if endpoint.method != Method::Get {
        let (schema, is_required) = schema_of(endpoint.request.as_ref().map(Schema::to_json));
        operation["requestBody"] = json!({"required": is_required, "content": schema});
    }
    operation
}

/// Content of a body: JSON of a schema, or anything.
fn schema_of(schema: Option<&Value>) -> (Value, bool) {
    match schema {
        Some(schema) => (json!({"application/json": {"schema": schema}}), true),
        None => (json!({"*/*": {}}), false),
    }
}

fn parameters(endpoint: &Endpoint, signature: Option<&Signature>) -> Vec<Value> {
    let names = endpoint.path.split('/').filter_map(|it| it.strip_prefix('{')?.strip_suffix('}'));
    let of_path = names.map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}));
    let signed: &[&str] = match signature {
        Some(Signature::HmacSha256 { header, .. }) => &[header.as_str()],
        Some(Signature::StandardWebhooks { .. }) => &["webhook-id", "webhook-timestamp", "webhook-signature"],
        Some(Signature::Discord { .. }) => &["x-signature-timestamp", "x-signature-ed25519"],
        None => &[],
    };
    let header = |name: &str, is_required: bool| json!({"name": name, "in": "header", "required": is_required, "schema": {"type": "string"}});
    let seen =
        endpoint.headers.iter().map(String::as_str).filter(|name| !signed.contains(name) && *name != "content-type");
    let needed = signed.iter().map(|name| header(name, true));
    of_path.chain(needed).chain(seen.map(|name| header(name, false))).collect()
}

fn responses(endpoint: &Endpoint, is_public: bool, is_signed: bool) -> Value {
    let (content, _) = schema_of(endpoint.response.as_ref().map(Schema::to_json));
    let mut responses = Map::new();
    responses.insert("2XX".to_owned(), json!({"description": "The module's answer", "content": content}));
    let mut refused = |status: &str, description: &str| {
        let body = json!({"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}});
        responses.insert(status.to_owned(), json!({"description": description, "content": body}));
    };
    refused("400", "The body does not fit its schema, or the module refuses the request");
    if is_signed || !is_public {
        refused("401", if is_signed { "The signature is missing or wrong" } else { "The key is missing or wrong" });
    }
    if !is_public {
        refused("403", "The key lacks the scope");
    }
    refused("413", "The body is larger than 64 KiB");
    refused("429", "Too many requests");
    refused("502", "The module failed, or the hub refused what it asked for");
    refused("503", "The module is not available right now");
    refused("504", "The module did not answer in time");
    Value::Object(responses)
}

/// A signature in a sentence.
fn described(signature: &Signature) -> String {
    match signature {
        Signature::HmacSha256 { header, encoding, prefix, .. } => {
            let encoding = if *encoding == Encoding::Hex { "hexadecimal" } else { "Base64" };
            let after = if prefix.is_empty() { String::new() } else { format!(" after `{prefix}`") };
            format!("the header `{header}` has the HMAC-SHA256 of the raw body in {encoding}{after}")
        }
        Signature::StandardWebhooks { .. } => "by Standard Webhooks, at most 5 minutes ago".to_owned(),
        Signature::Discord { .. } => "by Ed25519 as Discord does, at most 5 minutes ago".to_owned(),
    }
}

/// A signature as its manifest has it, but for the name of the secret.
fn shown(signature: &Signature) -> Value {
    let mut shown = serde_json::to_value(signature).unwrap_or_default();
    if let Some(fields) = shown.as_object_mut() {
        fields.remove("secret");
    }
    shown
}
