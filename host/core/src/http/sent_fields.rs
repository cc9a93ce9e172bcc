//! Marks fields that responses always contain as required, so that readers need not check for them.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::http::publication::{SCHEMAS, for_each_object, operations, operations_mut, reachable, schemas_mut};

/// Fields of both requests and responses that responses omit if unset.
const LEFT_OUT: &[(&str, &[&str])] = &[
    ("ChainLink", &["onFailure", "limits", "grants", "from", "activation", "grantedBy", "grantedAt"]),
    ("ChainLinkLimits", &["computeMillis", "fuel", "memoryBytes", "hostCalls", "logLines"]),
];

/// Marks the fields that responses always contain as required.
///
/// A field that a response may omit is not nullable. So a field that is null without a value is always sent. A schema
/// of requests and responses with fields optional in requests is split in two: `ChatMessage` and `ChatMessageInput`.
pub(super) fn require_sent_fields(document: &mut Value) {
    let requested = of_requests(document);
    let split = to_split(document, requested.intersection(&of_answers(document)).cloned().collect());
    split_schemas(document, &split, &requested);
    let of_requests = of_requests(document);
    let Some(schemas) = schemas_mut(document) else { return };
    for (name, schema) in schemas.iter_mut() {
        if split.contains(name) {
            let left_out = LEFT_OUT.iter().find(|(of, _)| of == name).map_or(&[][..], |(_, fields)| *fields);
            require_all(schema, left_out);
        } else if !of_requests.contains(name) {
            for_each_object(schema, &mut require_nullable);
        }
    }
    for operation in operations_mut(document) {
        if let Some(responses) = operation.get_mut("responses") {
            for_each_object(responses, &mut require_nullable);
        }
    }
}

fn of_requests(document: &Value) -> BTreeSet<String> {
    let parts = operations(document).flat_map(|it| it.get("requestBody").into_iter().chain(it.get("parameters")));
    reachable(document, parts)
}

fn of_answers(document: &Value) -> BTreeSet<String> {
    reachable(document, operations(document).filter_map(|it| it.get("responses")))
}

/// Schemas shared by requests and responses that must be split, because they or schemas they reference are less strict
/// than responses.
fn to_split(document: &Value, shared: BTreeSet<String>) -> BTreeSet<String> {
    let schema = |name: &str| &document["components"]["schemas"][name];
    let is_vague = |name: &String| {
        let required = schema(name)["required"].as_array();
        let fields = schema(name)["properties"].as_object().into_iter().flatten();
        fields.into_iter().any(|(field, _)| !required.is_some_and(|required| required.iter().any(|it| it == field)))
    };
    let vague: BTreeSet<_> = shared.iter().filter(|name| is_vague(name)).cloned().collect();
    let needs = |name: &String| !reachable(document, [schema(name)]).is_disjoint(&vague);
    shared.into_iter().filter(|name| vague.contains(name) || needs(name)).collect()
}

/// Gives requests their own copy of these schemas.
fn split_schemas(document: &mut Value, split: &BTreeSet<String>, of_requests: &BTreeSet<String>) {
    let mut refer_to_input = |fields: &mut Map<String, Value>| {
        if let Some(Value::String(target)) = fields.get_mut("$ref")
            && target.strip_prefix(SCHEMAS).is_some_and(|name| split.contains(name))
        {
            target.push_str("Input");
        }
    };
    for operation in operations_mut(document) {
        for part in ["requestBody", "parameters"] {
            if let Some(part) = operation.get_mut(part) {
                for_each_object(part, &mut refer_to_input);
            }
        }
    }
    let Some(schemas) = schemas_mut(document) else { return };
    for name in of_requests {
        let Some(mut schema) = schemas.get(name).cloned() else { continue };
        for_each_object(&mut schema, &mut refer_to_input);
        let name = if split.contains(name) { format!("{name}Input") } else { name.clone() };
        schemas.insert(name, schema);
    }
}

/// Marks all fields except those as required.
fn require_all(schema: &mut Value, left_out: &[&str]) {
    let Some(properties) = schema["properties"].as_object_mut() else { return };
    for (name, field) in properties.iter_mut() {
        // One whose default is null is sent as null.
        let default = field.as_object_mut().and_then(|field| field.remove("default"));
        if default.is_some_and(|default| !default.is_null()) || left_out.contains(&name.as_str()) {
            remove_null(field);
        }
    }
    let required: Vec<_> = properties.keys().filter(|name| !left_out.contains(&name.as_str())).cloned().collect();
    if let Some(fields) = schema.as_object_mut() {
        if required.is_empty() {
            fields.remove("required")
        } else {
            fields.insert("required".to_owned(), json!(required))
        };
    }
}

fn require_nullable(fields: &mut Map<String, Value>) {
    let Some(properties) = fields.get("properties").and_then(Value::as_object) else { return };
    let sent = properties.iter().filter(|(_, schema)| is_nullable(schema)).map(|(name, _)| name.clone());
    let mut required: BTreeSet<_> = sent.collect();
    let before = fields.get("required").and_then(Value::as_array);
    required.extend(before.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)));
    if !required.is_empty() {
        fields.insert("required".to_owned(), json!(required));
    }
}

fn is_nullable(schema: &Value) -> bool {
    let has_null = |kinds: &Value| kinds.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "null"));
    has_null(&schema["type"])
        || ["oneOf", "anyOf"].iter().any(|of| schema[of].as_array().is_some_and(|parts| parts.iter().any(is_null)))
}

fn is_null(schema: &Value) -> bool {
    schema["type"] == "null"
}

/// The same schema without null.
fn remove_null(schema: &mut Value) {
    if let Some(kinds) = schema.get_mut("type").and_then(Value::as_array_mut) {
        kinds.retain(|kind| kind != "null");
        if let [one] = kinds.as_slice() {
            schema["type"] = one.clone();
        }
    }
    if let Some(choices) = schema.get_mut("oneOf").and_then(Value::as_array_mut) {
        choices.retain(|choice| !is_null(choice));
        if let [one] = choices.as_slice() {
            *schema = one.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::publication::remove_unused_schemas;

    fn refer_to(name: &str) -> Value {
        json!({"$ref": format!("{SCHEMAS}{name}")})
    }

    #[test]
    fn an_answers_nullable_fields_are_always_sent() {
        let text = json!({"type": ["string", "null"]});
        let mut document = json!({
            "paths": {"/a": {"post": {"operationId": "a", "responses": {"200": refer_to("Answer")},
                "requestBody": refer_to("Request")}}},
            "components": {"schemas": {
                "Answer": {"properties": {"a": text, "b": {"type": "string"}, "c": refer_to("Shared")}},
                "Request": {"properties": {"a": text, "b": refer_to("Shared"), "c": refer_to("Same")}},
                "Shared": {"properties": {"a": text, "b": {"type": ["boolean", "null"], "default": true}, "c": refer_to("Same")}},
                "Same": {"type": "string"},
                "Unused": {},
            }},
        });
        let before = document["components"]["schemas"]["Shared"].clone();
        require_sent_fields(&mut document);
        remove_unused_schemas(&mut document);
        let schemas = &document["components"]["schemas"];
        assert_eq!(schemas["Answer"]["required"], json!(["a"]));
        assert_eq!(schemas["Answer"]["properties"]["c"], refer_to("Shared"));
        assert_eq!(
            (&schemas["Request"]["required"], &schemas["Request"]["properties"]["b"]),
            (&Value::Null, &refer_to("SharedInput"))
        );
        assert_eq!(schemas["SharedInput"], before);
        assert_eq!(schemas["Shared"]["required"], json!(["a", "b", "c"]));
        assert_eq!(schemas["Shared"]["properties"]["b"], json!({"type": "boolean"}));
        assert_eq!(schemas.as_object().map(Map::len), Some(5), "neither `SameInput` nor `Unused`: {schemas}");
    }

    #[test]
    fn what_answers_leave_out_is_not_null() {
        let mut schema = json!({"properties": {"limits": {"oneOf": [refer_to("Limits"), {"type": "null"}]}, "name": {"type": "string"}}});
        require_all(&mut schema, &["limits"]);
        assert_eq!(
            schema,
            json!({"properties": {"limits": refer_to("Limits"), "name": {"type": "string"}}, "required": ["name"]})
        );
    }
}
