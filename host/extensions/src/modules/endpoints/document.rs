//! `GET /api/manage/openapi.json`: the hub's document with the network's own routes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use axum::extract::State;
use hub_sandbox::manifest::{Encoding, Endpoint, Method, Schema, Signature, Signed};
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Map, Value, json};

use super::state::{self, NetworkEndpoints, ServedEndpoint};
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
async fn openapi(ModulesRead(caller): ModulesRead, State(app): State<App>) -> Result<Json<Document>, ApiError> {
    let hub = app.state::<HubDocument>().get();
    let endpoints = state::of(&app, caller.network).await?;
    Ok(Json(Document::new(hub, caller.network, endpoints)))
}

/// The document. Its routes are made one by one while it is written: their schemas, each of them twice, would take many
/// times the size of their text.
struct Document {
    hub: Option<&'static Value>,
    endpoints: Option<Arc<NetworkEndpoints>>,
    /// Operations of each path.
    paths: BTreeMap<String, Vec<Operation>>,
}

/// An operation of the document.
struct Operation {
    /// Place of its endpoint.
    at: usize,
    id: String,
    is_public: bool,
}

impl Document {
    fn new(hub: Option<&'static Value>, network: NetworkId, endpoints: Option<Arc<NetworkEndpoints>>) -> Self {
        let (mut paths, mut ids) = (BTreeMap::<_, Vec<_>>::new(), BTreeMap::new());
        let mut document = Self { hub, endpoints, paths: BTreeMap::new() };
        for (at, ServedEndpoint { module, endpoint, .. }) in document.routes().iter().enumerate() {
            let id = format!("x_{module}_{}_{}", endpoint.method.name().to_lowercase(), endpoint.path);
            let id: String = id.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' }).collect();
            let path = format!("/{module}/{}", endpoint.path);
            let private = Operation { at, id: unique(&mut ids, &id), is_public: false };
            paths.entry(format!("/api/plugin/x{path}")).or_default().push(private);
            if endpoint.public {
                let public = Operation { at, id: unique(&mut ids, &format!("{id}_public")), is_public: true };
                paths.entry(format!("/api/public/x/{network}{path}")).or_default().push(public);
            }
        }
        document.paths = paths;
        document
    }

    fn routes(&self) -> &[ServedEndpoint] {
        self.endpoints.as_ref().map_or(&[], |endpoints| &endpoints.routes)
    }

    /// The operations of a path, by method.
    fn item(&self, operations: &[Operation]) -> Value {
        let operations = operations.iter().filter_map(|Operation { at, id, is_public }| {
            let ServedEndpoint { module, endpoint, .. } = self.routes().get(*at)?;
            Some((endpoint.method.name().to_lowercase(), operation(module, endpoint, id, *is_public)))
        });
        Value::Object(operations.collect())
    }
}

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for (key, value) in self.hub.and_then(Value::as_object).into_iter().flatten() {
            match (key.as_str(), value) {
                ("paths", Value::Object(paths)) => map.serialize_entry(key, &Paths(self, paths))?,
                ("tags", Value::Array(tags)) => map.serialize_entry(key, &Tags(self, tags))?,
                _ => map.serialize_entry(key, value)?,
            }
        }
        map.end()
    }
}

/// All paths: the hub's, then the network's.
struct Paths<'a>(&'a Document, &'a Map<String, Value>);

impl Serialize for Paths<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(document, hub) = self;
        let mut map = to.serialize_map(None)?;
        for (path, item) in *hub {
            map.serialize_entry(path, item)?;
        }
        for (path, operations) in &document.paths {
            map.serialize_entry(path, &document.item(operations))?;
        }
        map.end()
    }
}

/// All tags: the hub's, then one of each module.
struct Tags<'a>(&'a Document, &'a [Value]);

impl Serialize for Tags<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(document, hub) = self;
        let modules: BTreeSet<_> = document.routes().iter().map(|it| (it.module.as_str(), it.version)).collect();
        let described = |(module, version)| {
            let description = format!("Routes of the module `{module}`, version {version}.");
            json!({"name": format!("x:{module}"), "description": description})
        };
        to.collect_seq(hub.iter().cloned().chain(modules.into_iter().map(described)))
    }
}

/// An id that no other operation has. `ids` has the highest number of each.
fn unique(ids: &mut BTreeMap<String, usize>, id: &str) -> String {
    let (mut free, mut number) = (id.to_owned(), ids.get(id).copied().unwrap_or(1));
    while ids.contains_key(&free) {
        number += 1;
        free = format!("{id}_{number}");
    }
    ids.insert(id.to_owned(), number);
    ids.entry(free.clone()).or_insert(1);
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
        Signature::HmacSha256 { header, encoding, prefix, of, .. } => {
            let of = match of {
                Signed::Body => "the raw body",
                Signed::BodySha256 => "the raw body's SHA-256, in lower-case hexadecimal,",
            };
            let encoding = if *encoding == Encoding::Hex { "hexadecimal" } else { "Base64" };
            let after = if prefix.is_empty() { String::new() } else { format!(" after `{prefix}`") };
            format!("the header `{header}` has the HMAC-SHA256 of {of} in {encoding}{after}")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_however_many_begin_alike() {
        let mut ids = BTreeMap::new();
        let all: Vec<_> = ["a", "a", "a_2", "a", "b"].map(|id| unique(&mut ids, id)).into();
        assert_eq!(all, ["a", "a_2", "a_2_2", "a_3", "b"]);
        assert_eq!((0..20_000).map(|_| unique(&mut ids, "c")).collect::<BTreeSet<_>>().len(), 20_000);
    }
}
