//! Examples in the API document, by name of field or parameter, for those without their own.
//!
//! Examples beside a `$ref`, such as for a field of type `Identifier` or `PlayerId`, are not written. So schemas of
//! texts and numbers are inlined.

use serde_json::{Value, json};
use utoipa::openapi::path::{Operation, Parameter, ParameterIn};
use utoipa::openapi::schema::{OneOf, SchemaType, Type};
use utoipa::openapi::{Object, OpenApi, RefOr, Required, Schema};

/// Example of a field or parameter with this name.
#[allow(clippy::match_same_arms, reason = "different names may have the same example")]
fn example(name: &str) -> Option<Value> {
    Some(match name {
        "serverId" | "targetServerId" | "nodeServerId" => json!("bedwars-1"),
        "serverType" => json!("bedwars"),
        "worldId" | "newWorldId" | "targetWorldId" => json!("arena-3"),
        "previousWorldId" => json!("arena-2"),
        "worldType" => json!("duel"),
        "playerUuid" | "uuid" | "issuerUuid" | "actorUuid" => json!("069a79f4-44e9-4726-a5be-fca90e38aaf5"),
        "playerName" | "username" => json!("Notch"),
        "issuerName" | "actorName" => json!("Alex"),
        "reason" => json!("Griefing"),
        "name" => json!("region-first"),
        "version" | "page" | "percent" => json!(1),
        "limit" => json!(50),
        "total" | "currentPlayers" => json!(12),
        "maxPlayers" => json!(100),
        "totalPlayers" => json!(12),
        "playersToStart" | "playersNeededToStart" => json!(0),
        "displayName" => json!("Bedwars One"),
        "gameType" => json!("MINECRAFT"),
        "message" => json!("good evening"),
        "rank" => json!("VIP"),
        "rankColor" => json!("gold"),
        "world" => json!("arena-3"),
        "host" => json!("10.0.0.7"),
        "publicIp" => json!("203.0.113.7"),
        "platformName" => json!("Paper"),
        "platformVersion" => json!("1.21.4"),
        "pluginVersion" => json!("1.4.0"),
        "pluginBuild" => json!(212),
        "pluginCommit" => json!("1a2b3c4"),
        "requestId" => json!("Zk3vXq0aP1mB7s2T"),
        "keyId" => json!("4fTq0ZkX91ab"),
        "personId" | "invitationId" => json!("p_4fTq0ZkX91ab4fTq"),
        "csrfToken" => json!("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
        "recoveryCodes" => json!(["Zk3vXq0aP1mB7s2T"]),
        "deliveryId" => json!(12),
        "artifactId" | "importId" | "webhookId" => json!("Zk3vXq0aP1mB7s2T"),
        "transferId" => json!("4c9d2f6e-0b0e-4b0e-9b0e-0b0e4b0e9b0e"),
        "token" => json!("AAAAAAAAQACAAAAAAAAABwAAAaQ.c2lnbmF0dXJl"),
        "userCode" => json!("WDJB-MJHT"),
        "overlapMs" | "leaseMs" => json!(60_000),
        "timeoutMs" => json!(10_000),
        "durationMs" => json!(3_600_000),
        "heartbeatIntervalMs" => json!(5_000),
        "offlineAfterMs" => json!(30_000),
        "signingSecret" => json!("Zk3vXq0aP1mB7s2T4fTq0ZkX91abZk3vXq0aP1mB7s2T4fTq"),
        "region" => json!("EUROPE"),
        "gameMode" => json!("global"),
        "namespace" => json!("kit"),
        "collection" => json!("clans"),
        "field" => json!("score"),
        "group" | "groupId" => json!("lobby"),
        "gameId" => json!("islands"),
        "ownerScope" => json!("player"),
        "worldKey" => json!("default"),
        "fence" => json!(3),
        "ref" => json!("islands/desert"),
        "format" => json!("schematic"),
        "worldGen" => json!("flat"),
        "node" => json!("essentials.fly"),
        "key" => json!("welcome"),
        "value" => json!("Welcome!"),
        "locale" => json!("en"),
        "context" => json!("server=lobby"),
        "chatPrefix" => json!("[VIP] "),
        "chatPrefixColor" | "chatNameColor" => json!("gold"),
        "blobKey" => json!("islands/17/3"),
        "preferNode" => json!("island-node-1"),
        "provider" => json!("hetzner"),
        "serverVmType" => json!("cx32"),
        "source" => json!("website"),
        "statisticName" => json!("kills"),
        "errorMessage" => json!("The server is full."),
        "currency" | "currencyName" => json!("coins"),
        "ownerType" => json!("player"),
        "ownerKey" | "ownerId" => json!("069a79f4-44e9-4726-a5be-fca90e38aaf5"),
        "line" | "command" => json!("say good evening"),
        "firstSeen" | "lastSeen" | "startedAt" | "lastHeartbeat" | "createdAt" | "updatedAt" | "issuedAt"
        | "joinedAt" | "at" | "lastUsedAt" => json!(1_804_680_000_000_i64),
        "expiresAt" | "validUntil" => json!(1_804_683_600_000_i64),
        _ => return None,
    })
}

/// Example of an object without a schema of its fields.
fn object_example(name: &str) -> Option<Value> {
    match name {
        "input" => Some(json!({"player": {"uuid": "069a79f4-44e9-4726-a5be-fca90e38aaf5", "name": "Notch"},
            "message": "hello", "serverId": "lobby-1", "serverType": "lobby"})),
        "doc" | "defaultDoc" => Some(json!({"motd": "good evening"})),
        _ => None,
    }
}

/// Adds missing examples.
pub(super) fn complete(document: &mut OpenApi) {
    let Some(components) = &mut document.components else { return };
    let scalars = ScalarSchemas::new(&components.schemas);
    for schema in components.schemas.values_mut() {
        scalars.complete_fields(schema);
    }
    for item in document.paths.paths.values_mut() {
        let operations =
            [&mut item.get, &mut item.put, &mut item.post, &mut item.delete, &mut item.patch, &mut item.head];
        for operation in operations.into_iter().flatten() {
            scalars.complete_parameters(operation);
        }
    }
}

/// Named schemas of texts and numbers.
struct ScalarSchemas(Vec<(String, Object)>);

impl ScalarSchemas {
    fn new<'a>(schemas: impl IntoIterator<Item = (&'a String, &'a RefOr<Schema>)>) -> Self {
        let scalars = schemas.into_iter().filter_map(|(name, schema)| match schema {
            RefOr::T(Schema::Object(object)) if is_scalar(object) => {
                Some((format!("#/components/schemas/{name}"), object.clone()))
            }
            _ => None,
        });
        Self(scalars.collect())
    }

    fn find(&self, location: &str) -> Option<&Object> {
        self.0.iter().find(|(known, _)| known == location).map(|(_, object)| object)
    }

    fn complete_fields(&self, schema: &mut RefOr<Schema>) {
        match schema {
            RefOr::T(Schema::Object(object)) => {
                for (name, field) in &mut object.properties {
                    self.complete(name, field);
                    self.complete_fields(field);
                }
            }
            RefOr::T(Schema::OneOf(OneOf { items, .. })) => {
                for item in items {
                    self.complete_fields(item);
                }
            }
            RefOr::T(Schema::AllOf(all)) => {
                for item in &mut all.items {
                    self.complete_fields(item);
                }
            }
            _ => {}
        }
    }

    fn complete_parameters(&self, operation: &mut Operation) {
        for parameter in operation.parameters.iter_mut().flatten() {
            if let RefOr::T(Parameter { name, parameter_in, required, schema: Some(schema), .. }) = parameter {
                self.complete(name, schema);
                if let (ParameterIn::Query, Required::False, RefOr::T(Schema::Object(object))) =
                    (parameter_in, required, schema)
                {
                    allow_blank(object);
                }
            }
        }
    }

    /// Sets the example of a field or parameter.
    fn complete(&self, name: &str, field: &mut RefOr<Schema>) {
        match field {
            RefOr::T(Schema::Object(object)) if is_scalar(object) => add_example(name, object),
            RefOr::T(Schema::Object(object)) if object.properties.is_empty() && object.examples.is_empty() => {
                object.examples.extend(object_example(name));
            }
            RefOr::Ref(reference) => {
                if let Some(scalar) = self.find(&reference.ref_location) {
                    let mut object = scalar.clone();
                    if !reference.description.is_empty() {
                        object.description = Some(std::mem::take(&mut reference.description));
                    }
                    add_example(name, &mut object);
                    *field = RefOr::T(Schema::Object(object));
                }
            }
            RefOr::T(Schema::OneOf(OneOf { items, .. })) => {
                for item in items {
                    let optional = matches!(item, RefOr::Ref(_));
                    self.complete(name, item);
                    if let (true, RefOr::T(Schema::Object(object))) = (optional, item) {
                        allow_blank(object);
                    }
                }
            }
            RefOr::T(_) => {}
        }
    }
}

/// True for any text or number.
fn is_scalar(object: &Object) -> bool {
    let types = match &object.schema_type {
        SchemaType::Type(one) => std::slice::from_ref(one),
        SchemaType::Array(several) => several.as_slice(),
        SchemaType::AnyValue => &[],
    };
    let known = [Type::String, Type::Integer, Type::Number, Type::Null];
    let not_null = |kind: &Type| *kind != Type::Null;
    object.enum_values.is_none() && types.iter().any(not_null) && types.iter().all(|kind| known.contains(kind))
}

fn add_example(name: &str, object: &mut Object) {
    if object.example.is_some() || object.default.is_some() {
        return;
    }
    let Some(example) = example(name) else { return };
    let numeric = !matches!(&object.schema_type, SchemaType::Type(Type::String))
        && !matches!(&object.schema_type, SchemaType::Array(types) if types.contains(&Type::String));
    // A name may have two types: `version` is a number or a text.
    if numeric == example.is_number() && object.examples.is_empty() {
        object.examples.push(example);
    }
}

/// Allows an optional text to be blank, which counts as absent.
fn allow_blank(object: &mut Object) {
    if object.min_length.take().is_some() && object.pattern.is_some() {
        object.pattern = Some(r"^[^\u0000-\u001f\u007f-\u009f]*$".to_owned());
    }
}
