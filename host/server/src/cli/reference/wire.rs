//! Error codes and events, as clients read them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::cell;
use crate::components::components;
use crate::http::publication;
use crate::{events, router};

/// A table of all error codes.
pub(super) fn errors() -> String {
    let mut text = String::from("| code | status | meaning |\n|---|---|---|\n");
    for error in components().errors() {
        let statuses: Vec<_> = error.statuses.iter().map(ToString::to_string).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| `{}` | {} | {} |", error.code, statuses.join(", "), cell(error.meaning));
    }
    text
}

/// A section for each event, then one for each object in them.
pub(super) fn events() -> String {
    let document = publication::asyncapi(&router::document(), events::ANY_EVENT);
    let schemas = Schemas(&document["components"]["schemas"]);
    let mut text = String::from("## Events\n\n");
    let mut objects = BTreeMap::new();
    let messages = document["components"]["messages"].as_object();
    let mut messages: Vec<_> = messages.into_iter().flatten().map(|(_, message)| message).collect();
    messages.sort_by_key(|message| message["name"].as_str());
    for message in messages {
        let name = message["name"].as_str().unwrap_or_default();
        schemas.collect_objects(&message["payload"], &mut objects);
        schemas.write_section(name, &message["summary"], &message["payload"], &mut text);
    }
    text.push_str("## Objects\n\n");
    for (name, schema) in objects {
        schemas.write_section(name, &schema["description"], schema, &mut text);
    }
    text
}

/// The schemas of a document, by their names.
struct Schemas<'a>(&'a Value);

impl<'a> Schemas<'a> {
    /// The name and the schema that a reference leads to.
    fn referenced(&self, schema: &'a Value) -> Option<(&'a str, &'a Value)> {
        let (_, name) = schema["$ref"].as_str()?.rsplit_once('/')?;
        Some((name, &self.0[name]))
    }

    /// The fields of an object, those that every event has left out.
    fn fields(&self, schema: &'a Value) -> Vec<(&'a str, &'a Value)> {
        if let Some((_, schema)) = self.referenced(schema) {
            return self.fields(schema);
        }
        let own = schema["properties"].as_object().into_iter().flatten();
        let is_common = |name: &str, field: &Value| (name == "type" && !field["const"].is_null()) || name == "at";
        let own = own.map(|(name, field)| (name.as_str(), field)).filter(|(name, field)| !is_common(name, field));
        let parts = schema["allOf"].as_array().into_iter().flatten();
        parts.flat_map(|part| self.fields(part)).chain(own).collect()
    }

    /// Finds the objects in the fields of an object.
    fn collect_objects(&self, schema: &'a Value, found: &mut BTreeMap<&'a str, &'a Value>) {
        for (_, field) in self.fields(schema) {
            for part in parts(field) {
                let Some((name, schema)) = self.referenced(part) else { continue };
                if !self.fields(schema).is_empty() && found.insert(name, schema).is_none() {
                    self.collect_objects(schema, found);
                }
            }
        }
    }

    fn write_section(&self, name: &str, description: &Value, schema: &'a Value, text: &mut String) {
        let _ = write!(text, "### {name}\n\n");
        if let Some(description) = description.as_str() {
            let _ = write!(text, "{}\n\n", description.trim());
        }
        let fields = self.fields(schema);
        if fields.is_empty() {
            return;
        }
        text.push_str("| field | type | meaning |\n|---|---|---|\n");
        for (name, field) in fields {
            let meaning = field["description"].as_str().or_else(|| self.referenced(field)?.1["description"].as_str());
            let _ = writeln!(text, "| `{name}` | {} | {} |", self.kind(field), cell(meaning.unwrap_or_default()));
        }
        text.push('\n');
    }

    /// The type of a value, in words.
    fn kind(&self, schema: &'a Value) -> String {
        if let Some((name, schema)) = self.referenced(schema) {
            let is_object = !self.fields(schema).is_empty();
            return if is_object { format!("[{name}](#{})", name.to_lowercase()) } else { self.kind(schema) };
        }
        if !schema["const"].is_null() {
            return format!("`{}`", schema["const"].as_str().unwrap_or_default());
        }
        if let Some(values) = schema["enum"].as_array() {
            let values =
                values.iter().map(|value| value.as_str().map_or("null".to_owned(), |text| format!("`{text}`")));
            return values.collect::<Vec<_>>().join(", ");
        }
        for choice in ["oneOf", "anyOf", "allOf"] {
            if let Some(parts) = schema[choice].as_array() {
                return parts.iter().map(|part| self.kind(part)).collect::<Vec<_>>().join(" or ");
            }
        }
        let kinds = match &schema["type"] {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            kind => vec![kind.as_str().unwrap_or("any")],
        };
        let kinds = kinds.into_iter().map(|kind| match (kind, schema["format"].as_str()) {
            ("array", _) => format!("list of {}", self.kind(&schema["items"])),
            ("string", Some(format)) => format!("string ({format})"),
            _ => kind.to_owned(),
        });
        kinds.collect::<Vec<_>>().join(" or ")
    }
}

/// The schemas that a field is made of: itself, its choices and its items.
fn parts(field: &Value) -> Vec<&Value> {
    let choices = ["oneOf", "anyOf", "allOf"].into_iter().filter_map(|choice| field[choice].as_array()).flatten();
    let items = Some(&field["items"]).filter(|items| !items.is_null());
    choices.chain(items).flat_map(parts).chain([field]).collect()
}
