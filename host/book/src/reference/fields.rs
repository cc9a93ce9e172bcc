//! Fields of schemas and parameters, as rows.

use serde::Serialize;
use serde_json::Value;

use crate::markdown::prose;

/// Maximum depth of fields in fields: schemas may contain themselves.
const MAX_DEPTH: usize = 5;
/// Fields of one body, so that no page grows without end.
const MOST_FIELDS: usize = 400;

/// A field or a parameter.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Field {
    pub(crate) name: String,
    /// Place of a parameter: path, query or header.
    pub(crate) place: String,
    pub(crate) depth: usize,
    pub(crate) kind: String,
    #[serde(rename = "isRequired")]
    pub(crate) is_required: bool,
    #[serde(skip)]
    pub(crate) text: String,
    /// The same as HTML.
    pub(crate) html: String,
    /// Values, bounds and default.
    pub(crate) more: String,
    pub(crate) example: String,
}

fn resolve<'a>(document: &'a Value, mut schema: &'a Value) -> &'a Value {
    for _ in 0..MAX_DEPTH {
        let Some(target) = schema["$ref"].as_str().and_then(|it| it.strip_prefix('#')) else { break };
        schema = document.pointer(target).unwrap_or(&Value::Null);
    }
    schema
}

fn name_of(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

/// Alternatives of a schema beside null.
fn choices(schema: &Value) -> impl Iterator<Item = &Value> {
    let of = |key: &str| schema[key].as_array().into_iter().flatten();
    of("oneOf").chain(of("anyOf")).filter(|one| one["type"] != "null")
}

/// A value in a sentence.
fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn list(values: &Value) -> String {
    values.as_array().into_iter().flatten().map(written).collect::<Vec<_>>().join(", ")
}

/// Kind of value in words: `text`, `list of ChatMessage`, `object`.
pub(crate) fn shape(document: &Value, schema: &Value) -> String {
    let named = name_of(schema);
    let schema = resolve(document, schema);
    let mut of = choices(schema).peekable();
    if of.peek().is_some() {
        let names: Vec<_> = of.map(|one| shape(document, one)).collect();
        return if names.len() > 4 { named.unwrap_or("one of several").to_owned() } else { names.join(" or ") };
    }
    let kinds = schema["type"].as_array().cloned().unwrap_or_else(|| vec![schema["type"].clone()]);
    let kind = kinds.iter().find_map(|kind| kind.as_str().filter(|kind| *kind != "null")).unwrap_or_default();
    match kind {
        "array" => format!("list of {}", shape(document, &schema["items"])),
        "string" if schema["format"] == "binary" => "bytes".to_owned(),
        "string" if schema["format"] == "uuid" => "UUID".to_owned(),
        "string" => "text".to_owned(),
        "integer" => "integer".to_owned(),
        "number" => "number".to_owned(),
        "boolean" => "true or false".to_owned(),
        "object" if schema["additionalProperties"].is_object() => {
            format!("map of {}", shape(document, &schema["additionalProperties"]))
        }
        _ if named.is_some_and(|name| name != "AnyObject") => named.unwrap_or_default().to_owned(),
        "object" => "object".to_owned(),
        _ => "any".to_owned(),
    }
}

/// Values, bounds and default of a schema.
fn more(schema: &Value) -> String {
    let mut parts = vec![];
    if schema["enum"].is_array() {
        parts.push(format!("One of {}.", list(&schema["enum"])));
    }
    if let Some(value) = schema.get("const") {
        parts.push(format!("Always {}.", written(value)));
    }
    let number = |key: &str| schema.get(key).filter(|value| value.is_number());
    match (number("minimum"), number("maximum")) {
        (Some(least), Some(most)) => parts.push(format!("{least} to {most}.")),
        (Some(least), None) => parts.push(format!("At least {least}.")),
        (None, Some(most)) => parts.push(format!("At most {most}.")),
        (None, None) => {}
    }
    if let Some(most) = number("maxLength") {
        parts.push(format!("At most {most} characters."));
    }
    if let Some(most) = number("maxItems") {
        parts.push(format!("At most {most}."));
    }
    if let Some(value) = schema.get("default").filter(|value| !value.is_null()) {
        parts.push(format!("Default {}.", written(value)));
    }
    parts.join(" ")
}

/// Example of a parameter.
pub(crate) fn example(document: &Value, parameter: &Value) -> String {
    let schema = resolve(document, &parameter["schema"]);
    let all =
        [&parameter["example"], &schema["example"], &schema["examples"][0], &schema["default"], &schema["enum"][0]];
    all.into_iter().find(|value| !value.is_null()).map(written).unwrap_or_default()
}

/// A parameter as a row.
pub(crate) fn parameter(document: &Value, parameter: &Value) -> Field {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Field {
        name: text(&parameter["name"]),
        place: text(&parameter["in"]),
        depth: 0,
        kind: shape(document, &parameter["schema"]),
        is_required: parameter["required"] == true,
        html: prose(&text(&parameter["description"])),
        text: text(&parameter["description"]),
        more: more(resolve(document, &parameter["schema"])),
        example: example(document, parameter),
    }
}

/// Fields of a body, each below the one that contains it.
pub(crate) fn of(document: &Value, schema: &Value) -> Vec<Field> {
    let mut rows = vec![];
    add(document, schema, 0, &mut vec![], &mut rows);
    rows
}

fn add<'a>(document: &'a Value, schema: &'a Value, depth: usize, inside: &mut Vec<&'a str>, rows: &mut Vec<Field>) {
    let named = name_of(schema);
    if depth > MAX_DEPTH || rows.len() >= MOST_FIELDS || named.is_some_and(|name| inside.contains(&name)) {
        return;
    }
    inside.extend(named);
    let schema = resolve(document, schema);
    for part in schema["allOf"].as_array().into_iter().flatten() {
        add(document, part, depth, inside, rows);
    }
    let mut of: Vec<_> = choices(schema).collect();
    // The kinds of events have a page of their own.
    if of.len() > 8 {
        of.clear();
    }
    let are_many = of.len() > 1;
    for one in of {
        if let (true, Some(name)) = (are_many, name_of(one)) {
            rows.push(Field { name: format!("as {name}"), depth, kind: String::new(), ..Field::default() });
            add(document, one, depth + 1, inside, rows);
        } else {
            add(document, one, depth, inside, rows);
        }
    }
    if schema["items"].is_object() {
        add(document, &schema["items"], depth, inside, rows);
    }
    if schema["additionalProperties"].is_object() {
        add(document, &schema["additionalProperties"], depth, inside, rows);
    }
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|it| it == name));
    let mut fields: Vec<_> = schema["properties"].as_object().into_iter().flatten().collect();
    // Those that must be there come first.
    fields.sort_by_key(|(name, _)| !is_required(name));
    for (name, field) in fields {
        if rows.len() >= MOST_FIELDS {
            break;
        }
        let target = resolve(document, field);
        let text = field["description"].as_str().or_else(|| target["description"].as_str()).unwrap_or_default();
        rows.push(Field {
            name: name.clone(),
            place: String::new(),
            depth,
            kind: shape(document, field),
            is_required: is_required(name),
            html: prose(text),
            text: text.to_owned(),
            more: more(target),
            example: String::new(),
        });
        add(document, field, depth + 1, inside, rows);
    }
    if named.is_some() {
        inside.pop();
    }
}
