//! Published form of the document: adjustments made once for all operations and schemas.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use utoipa::openapi::OpenApi;

use crate::http::field_examples::{keep_one_example, set_field_examples};
use crate::http::parameters::describe_parameters;
use crate::http::sent_fields::require_sent_fields;

pub(super) const SCHEMAS: &str = "#/components/schemas/";
/// Maximum depth of an example: schemas may contain themselves.
const MAX_DEPTH: usize = 12;

/// Published form of a document.
pub fn publish(document: &OpenApi) -> Value {
    let mut document = serde_json::to_value(document).unwrap_or_default();
    name_pages(&mut document);
    name_operations(&mut document);
    describe_parameters(&mut document);
    write_constants(&mut document);
    name_free_objects(&mut document);
    require_sent_fields(&mut document);
    remove_unused_schemas(&mut document);
    set_field_examples(&mut document);
    keep_one_example(&mut document);
    add_body_examples(&mut document);
    document
}

pub(super) fn schemas_mut(document: &mut Value) -> Option<&mut Map<String, Value>> {
    document.pointer_mut("/components/schemas")?.as_object_mut()
}

fn schemas(document: &Value) -> impl Iterator<Item = (&String, &Value)> {
    document.pointer("/components/schemas").and_then(Value::as_object).into_iter().flatten()
}

pub(super) fn operations_mut(document: &mut Value) -> impl Iterator<Item = &mut Map<String, Value>> {
    let paths = document.get_mut("paths").and_then(Value::as_object_mut).into_iter().flatten();
    let methods = paths.filter_map(|(_, item)| item.as_object_mut()).flatten();
    methods.filter_map(|(_, operation)| operation.as_object_mut()).filter(|it| it.contains_key("responses"))
}

pub(super) fn operations(document: &Value) -> impl Iterator<Item = &Map<String, Value>> {
    let paths = document.get("paths").and_then(Value::as_object).into_iter().flatten();
    let methods = paths.filter_map(|(_, item)| item.as_object()).flatten();
    methods.filter_map(|(_, operation)| operation.as_object()).filter(|it| it.contains_key("responses"))
}

/// Calls `visit` for every object inside.
pub(super) fn for_each_object(value: &mut Value, visit: &mut impl FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Object(fields) => {
            visit(fields);
            fields.values_mut().for_each(|field| for_each_object(field, visit));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| for_each_object(item, visit)),
        _ => {}
    }
}

/// Names of the schemas that a part of the document references directly.
fn references(part: &Value, found: &mut BTreeSet<String>) {
    match part {
        Value::Object(fields) => {
            let name = fields.get("$ref").and_then(Value::as_str).and_then(|it| it.strip_prefix(SCHEMAS));
            found.extend(name.map(str::to_owned));
            // The events' discriminator references by values.
            if let Some(mapping) = fields.get("mapping").and_then(Value::as_object) {
                let names = mapping.values().filter_map(|it| it.as_str()?.strip_prefix(SCHEMAS));
                found.extend(names.map(str::to_owned));
            }
            fields.values().for_each(|field| references(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

/// Names of the schemas that these parts reference directly or indirectly.
pub(super) fn reachable<'a>(document: &Value, parts: impl IntoIterator<Item = &'a Value>) -> BTreeSet<String> {
    let mut next = BTreeSet::new();
    parts.into_iter().for_each(|part| references(part, &mut next));
    let mut found = BTreeSet::new();
    while let Some(name) = next.pop_first() {
        let schema = document.pointer(&format!("/components/schemas/{name}"));
        if found.insert(name)
            && let Some(schema) = schema
        {
            let mut more = BTreeSet::new();
            references(schema, &mut more);
            next.extend(more.difference(&found).cloned());
        }
    }
    found
}

/// Replaces `Page_Plan`, which has a copy of `Plan`, with `PlanPage`, which references it.
fn name_pages(document: &mut Value) {
    let Some(schemas) = schemas_mut(document) else { return };
    let pages: Vec<_> = schemas.keys().filter_map(|name| name.strip_prefix("Page_").map(str::to_owned)).collect();
    for item in pages {
        let Some(mut page) = schemas.remove(&format!("Page_{item}")) else { continue };
        let reference = json!({"$ref": format!("{SCHEMAS}{item}")});
        if let Some(items) = page.pointer_mut("/properties/items/items") {
            let copy = std::mem::replace(items, reference);
            schemas.entry(item.clone()).or_insert(copy);
        }
        schemas.insert(format!("{item}Page"), page);
    }
    for_each_object(document, &mut |fields| {
        if let Some(Value::String(target)) = fields.get_mut("$ref")
            && let Some(item) = target.strip_prefix(SCHEMAS).and_then(|name| name.strip_prefix("Page_"))
        {
            *target = format!("{SCHEMAS}{item}Page");
        }
    });
}

/// Converts `list_keys` to `listKeys`.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let mut letters = word.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        name + &first.into_iter().chain(letters).collect::<String>()
    })
}

fn name_operations(document: &mut Value) {
    for operation in operations_mut(document) {
        if let Some(Value::String(id)) = operation.get_mut("operationId") {
            *id = camel_case(id);
        }
    }
}

/// Replaces enumerations of one value: they have no name, so generators would number them.
fn write_constants(document: &mut Value) {
    for_each_object(document, &mut |fields| {
        if let Some([value]) = fields.get("enum").and_then(Value::as_array).map(Vec::as_slice) {
            let value = value.clone();
            fields.remove("enum");
            fields.insert("const".to_owned(), value);
        }
    });
}

/// Names unnamed parts of a choice, such as an object with any fields beside null: generators would number them.
fn name_free_objects(document: &mut Value) {
    for_each_object(document, &mut |fields| {
        if fields.get("type") == Some(&json!(["object", "null"])) && !fields.contains_key("properties") {
            fields.remove("type");
            fields.insert("oneOf".to_owned(), json!([{"$ref": format!("{SCHEMAS}AnyObject")}, {"type": "null"}]));
        }
    });
    if let Some(schemas) = schemas_mut(document) {
        let any = json!({"type": "object", "description": "An object with any fields.", "additionalProperties": true});
        schemas.insert("AnyObject".to_owned(), any);
    }
}

/// Removes schemas of texts and numbers, which are inlined.
pub(super) fn remove_unused_schemas(document: &mut Value) {
    let used = reachable(document, [&document["paths"]]);
    if let Some(schemas) = schemas_mut(document) {
        schemas.retain(|name, _| used.contains(name));
    }
}

/// Example of a schema: its own, or one composed of the examples of its fields.
pub fn example_of(document: &Value, schema: &Value, depth: usize) -> Value {
    if depth > MAX_DEPTH {
        return Value::Null;
    }
    let next = |schema: &Value| example_of(document, schema, depth + 1);
    let own = ["example", "default", "const"].iter().find_map(|key| schema.get(key));
    let first = |key: &str| schema.get(key).and_then(Value::as_array).and_then(|values| values.first());
    if let Some(example) = own.or_else(|| first("examples")).or_else(|| first("enum")) {
        return example.clone();
    }
    if let Some(target) = schema["$ref"].as_str().and_then(|it| it.strip_prefix('#')) {
        return document.pointer(target).map_or(Value::Null, next);
    }
    for choice in ["oneOf", "anyOf"] {
        if let Some(choices) = schema[choice].as_array() {
            return choices.iter().find(|it| it["type"] != "null").map_or(Value::Null, next);
        }
    }
    if let Some(parts) = schema["allOf"].as_array() {
        let fields = parts.iter().filter_map(|part| next(part).as_object().cloned()).flatten();
        return Value::Object(fields.collect());
    }
    let kinds = schema["type"].as_array().cloned().unwrap_or_else(|| vec![schema["type"].clone()]);
    match kinds.iter().find_map(|kind| kind.as_str().filter(|kind| *kind != "null")) {
        Some("array") => json!([next(&schema["items"])]),
        Some("boolean") => json!(false),
        Some("integer" | "number") => json!(1),
        Some("string") => json!("text"),
        _ => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            Value::Object(properties.map(|(name, schema)| (name.clone(), next(schema))).collect())
        }
    }
}

/// Body that can be sent unchanged, for operations whose field examples do not form one.
fn body_example(operation: &str) -> Option<Value> {
    Some(match operation {
        // Not a player whom other examples have already put on the server.
        "findMatch" => {
            json!({"playerUuid": "853c80ef-3c37-49fd-aa49-938b674adae6", "playerName": "Steve", "serverType": "bedwars"})
        }
        "createKey" | "createKeyOfNetwork" => json!({"name": "lobby servers", "scopes": ["plugin"]}),
        "updateNetwork" => json!({"plan": "default"}),
        // Without the fence of a session: the player has none.
        "modifyBalance" => json!({"currency": "coins", "amount": 12.5, "exact": true, "reason": "quest reward"}),
        "makeTransaction" => {
            let player = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
            json!({"reason": "quest reward", "operations": [
                {"ownerType": "player", "ownerKey": player, "currency": "coins", "amount": 50},
                {"ownerType": "shop", "ownerKey": "spawn", "currency": "coins", "amount": 12.5}]})
        }
        "putPlayerData" => json!({"data": "{\"coins\":5}"}),
        "createNetwork" => json!({"name": "skyblock"}),
        "putExtensionPoint" => json!({"modules": [{"name": "region-first", "version": 1, "mode": "ACTIVE"}]}),
        "replayModule" => json!({"point": "chat", "last": 100}),
        "reportWorldUnloaded" => json!({"nodeServerId": "island-node-1", "fence": 3}),
        _ => return None,
    })
}

fn add_body_examples(document: &mut Value) {
    let mut examples = vec![];
    for operation in operations(document) {
        let id = operation.get("operationId").and_then(Value::as_str).unwrap_or_default();
        let body = operation.get("requestBody").and_then(|body| body.pointer("/content/application~1json"));
        if let Some(body) = body.filter(|body| body.get("example").is_none()) {
            let example = body_example(id).unwrap_or_else(|| example_of(document, &body["schema"], 0));
            examples.push((id.to_owned(), example));
        }
    }
    for operation in operations_mut(document) {
        let id = operation.get("operationId").and_then(Value::as_str).unwrap_or_default().to_owned();
        let Some(at) = examples.iter().position(|(known, _)| *known == id) else { continue };
        let body = operation.get_mut("requestBody").and_then(|body| body.pointer_mut("/content/application~1json"));
        if let Some(body) = body.and_then(Value::as_object_mut) {
            body.insert("example".to_owned(), examples.swap_remove(at).1);
        }
    }
}

/// AsyncAPI 3 document of the events, derived from the published one.
pub fn asyncapi(document: &Value, any_event: &str) -> Value {
    let name_of =
        |reference: &Value| reference["$ref"].as_str().and_then(|it| it.strip_prefix(SCHEMAS)).map(str::to_owned);
    let events = document.pointer(&format!("/components/schemas/{any_event}/oneOf")).and_then(Value::as_array);
    let titles: Vec<_> = events.into_iter().flatten().filter_map(name_of).collect();
    let (mut messages, mut of_channel, mut of_operation) = (Map::new(), Map::new(), vec![]);
    for title in &titles {
        let payload = json!({"$ref": format!("{SCHEMAS}{title}")});
        let mut example = example_of(document, &payload, 0);
        if let Some("PLAYER_JOINED" | "PLAYER_LEFT") = example["type"].as_str() {
            // Only players who switch come from another server.
            example["previousServerId"] = Value::Null;
        }
        messages.insert(
            title.clone(),
            json!({
                "name": example["type"],
                "title": title,
                "summary": document.pointer(&format!("/components/schemas/{title}/description")),
                "contentType": "application/json",
                "examples": [{"payload": example}],
                "payload": payload,
            }),
        );
        of_channel.insert(title.clone(), json!({"$ref": format!("#/components/messages/{title}")}));
        of_operation.push(json!({"$ref": format!("#/channels/events/messages/{title}")}));
    }
    let wanted: Vec<_> = titles.iter().map(|title| json!({"$ref": format!("{SCHEMAS}{title}")})).collect();
    let used = reachable(document, &wanted);
    let schemas: Map<_, _> = schemas(document)
        .filter(|(name, _)| used.contains(*name))
        .map(|(name, it)| (name.clone(), it.clone()))
        .collect();
    let stream = &document["paths"]["/api/plugin/events"]["get"];
    json!({
        "asyncapi": "3.0.0",
        "info": {"title": "Network Hub events", "version": document["info"]["version"],
            "description": stream["description"], "license": {"name": "Apache-2.0"}},
        "defaultContentType": "application/json",
        "servers": {"hub": {"host": "hub.example.org", "protocol": "https",
            "description": "Your hub; its REST interface is described by /api/openapi.json.",
            "security": [{"$ref": "#/components/securitySchemes/apiKey"}]}},
        "channels": {"events": {"address": "/api/plugin/events", "title": "Event stream",
            "description": "Server-sent events. `event:` is the message's name, `data:` its payload.",
            "messages": of_channel}},
        "operations": {"receiveEvents": {"action": "receive", "channel": {"$ref": "#/channels/events"},
            "summary": stream["summary"], "messages": of_operation}},
        "components": {"messages": messages, "schemas": schemas, "securitySchemes": {"apiKey": {
            "type": "httpApiKey", "in": "header", "name": "X-Service-Api-Key"}}},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_in_camel_case() {
        assert_eq!(camel_case("list_keys_of_network"), "listKeysOfNetwork");
        assert_eq!(camel_case("chat"), "chat");
    }

    #[test]
    fn nothing_is_left_for_generators_to_number() {
        let config = json!({"type": ["object", "null"], "description": "Settings."});
        let mut document = json!({"components": {"schemas": {"Event": {"properties": {
            "type": {"type": "string", "enum": ["CHAT"]}, "config": config}}}}});
        write_constants(&mut document);
        name_free_objects(&mut document);
        let fields = &document["components"]["schemas"]["Event"]["properties"];
        assert_eq!(fields["type"], json!({"type": "string", "const": "CHAT"}));
        let choice = json!([{"$ref": "#/components/schemas/AnyObject"}, {"type": "null"}]);
        assert_eq!(fields["config"], json!({"description": "Settings.", "oneOf": choice}));
        assert_eq!(document["components"]["schemas"]["AnyObject"]["type"], "object");
    }
}
