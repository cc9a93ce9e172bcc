//! Operations of the API's document, as far as a command line needs them.

use std::sync::LazyLock;

use serde_json::Value;

use super::names;

/// An operation with what it takes.
#[derive(Debug)]
pub(in crate::cli) struct Operation {
    pub(in crate::cli) id: String,
    pub(in crate::cli) noun: &'static str,
    /// Empty: the noun alone is the command.
    pub(in crate::cli) verb: String,
    pub(in crate::cli) method: String,
    pub(in crate::cli) path: String,
    pub(in crate::cli) summary: String,
    pub(in crate::cli) description: String,
    pub(in crate::cli) inputs: Vec<Input>,
    pub(in crate::cli) body: Option<Body>,
    pub(in crate::cli) answer: Answer,
}

/// Part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Place {
    Path,
    Query,
    Header,
    /// Field of the JSON body.
    Body,
}

/// A value that an operation takes.
#[derive(Debug)]
pub(in crate::cli) struct Input {
    pub(in crate::cli) place: Place,
    pub(in crate::cli) name: String,
    pub(in crate::cli) help: String,
    pub(in crate::cli) is_required: bool,
    pub(in crate::cli) kind: Kind,
    /// Its schema as it is in the document.
    pub(in crate::cli) schema: Value,
}

/// Form of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Kind {
    Text,
    Integer,
    Number,
    Boolean,
    Choice(Vec<String>),
    /// Texts, each given by an option of its own.
    Texts,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Body {
    Json {
        is_required: bool,
    },
    /// A file.
    Bytes(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Answer {
    Json,
    /// A stream of events, one JSON object each.
    Events,
    /// Text or a file, for standard output.
    Bytes,
}

/// All operations of this version of the hub.
pub(in crate::cli) fn all() -> &'static [Operation] {
    // Writing the document takes longer than all else that a command does before its call.
    static ALL: LazyLock<Vec<Operation>> = LazyLock::new(|| read(&crate::router::document()));
    &ALL
}

/// The operations of a document.
pub(in crate::cli) fn read(document: &Value) -> Vec<Operation> {
    let mut operations = vec![];
    for (path, methods) in object(&document["paths"]) {
        for (method, operation) in object(methods) {
            let tag = operation["tags"][0].as_str().unwrap_or_default();
            if let Some(noun) = names::noun(tag) {
                operations.push(one(document, noun, path, method, operation));
            }
        }
    }
    operations
}

fn one(document: &Value, noun: &'static str, path: &str, method: &str, operation: &Value) -> Operation {
    let id = string(&operation["operationId"]);
    let mut inputs: Vec<_> =
        array(&operation["parameters"]).iter().filter_map(|parameter| parameter_input(document, parameter)).collect();
    let (content_type, content) = object(&operation["requestBody"]["content"]).next().unzip();
    let body = match content_type.map(String::as_str) {
        Some("application/json") => {
            let schema = resolved(document, content.map_or(&Value::Null, |content| &content["schema"]));
            inputs.extend(fields(document, schema));
            Some(Body::Json { is_required: operation["requestBody"]["required"] == true })
        }
        Some("application/wasm") => Some(Body::Bytes("application/wasm")),
        Some(_) => Some(Body::Bytes("application/octet-stream")),
        None => None,
    };
    Operation {
        noun,
        verb: names::verb(noun, &id),
        id,
        method: method.to_uppercase(),
        path: path.to_owned(),
        summary: string(&operation["summary"]),
        description: string(&operation["description"]),
        inputs,
        body,
        answer: answer(operation),
    }
}

fn answer(operation: &Value) -> Answer {
    let good = object(&operation["responses"]).filter(|(status, _)| status.starts_with('2'));
    let mut types = good.flat_map(|(_, response)| object(&response["content"]).map(|(name, _)| name.as_str()));
    match types.next() {
        None | Some("application/json") => Answer::Json,
        Some("text/event-stream") => Answer::Events,
        Some(_) => Answer::Bytes,
    }
}

fn parameter_input(document: &Value, parameter: &Value) -> Option<Input> {
    let place = match parameter["in"].as_str()? {
        "path" => Place::Path,
        "query" => Place::Query,
        "header" => Place::Header,
        _ => return None,
    };
    let kind = kind(document, &parameter["schema"]);
    Some(Input {
        schema: parameter["schema"].clone(),
        place,
        name: string(&parameter["name"]),
        help: string(&parameter["description"]),
        is_required: parameter["required"] == true,
        kind,
    })
}

fn fields<'a>(document: &'a Value, schema: &'a Value) -> impl Iterator<Item = Input> + 'a {
    let required = array(&schema["required"]);
    object(&schema["properties"]).map(move |(name, property)| Input {
        place: Place::Body,
        name: name.clone(),
        help: help(document, property),
        is_required: required.iter().any(|it| it.as_str() == Some(name)),
        kind: kind(document, property),
        schema: property.clone(),
    })
}

/// A field's own description, or that of its type.
fn help(document: &Value, property: &Value) -> String {
    let own = string(&property["description"]);
    if own.is_empty() { string(&not_null(document, property)["description"]) } else { own }
}

/// The schema that a reference names.
fn resolved<'a>(document: &'a Value, mut schema: &'a Value) -> &'a Value {
    while let Some(target) = schema["$ref"].as_str() {
        schema = document.pointer(target.trim_start_matches('#')).unwrap_or(&Value::Null);
    }
    schema
}

/// The schema of a value that is there.
fn not_null<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let schema = resolved(document, schema);
    let others: Vec<_> = array(&schema["oneOf"]).iter().filter(|it| it["type"] != "null").collect();
    match others.as_slice() {
        [one] => resolved(document, one),
        _ => schema,
    }
}

fn kind(document: &Value, schema: &Value) -> Kind {
    let schema = not_null(document, schema);
    let choices: Vec<_> = array(&schema["enum"]).iter().filter_map(Value::as_str).map(str::to_owned).collect();
    if !choices.is_empty() {
        return Kind::Choice(choices);
    }
    let named = schema["type"].as_str();
    let listed = || array(&schema["type"]).iter().filter_map(Value::as_str).find(|it| *it != "null");
    match named.or_else(listed) {
        Some("string") => Kind::Text,
        Some("integer") => Kind::Integer,
        Some("number") => Kind::Number,
        Some("boolean") => Kind::Boolean,
        Some("array") if matches!(kind(document, &schema["items"]), Kind::Text | Kind::Choice(_)) => Kind::Texts,
        _ => Kind::Json,
    }
}

fn object(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
