//! Tools, made from the document of the API.

use std::sync::Arc;

use anyhow::ensure;
use network_hub_client::Method;
use rmcp::model::{JsonObject, Tool as Description, ToolAnnotations};
use serde_json::{Map, Value, json};

use crate::cli::api::{Answer, Body, Input, Operation, Place, operations};

/// Levels of a body that are described; what is deeper takes any value.
const DEPTH: usize = 6;
/// A field of a body that is named like a value of the path or the query has this behind its name.
const IN_BODY: &str = "InBody";

/// One operation of the API.
pub(super) struct Tool {
    pub(super) description: Description,
    pub(super) operation: Operation,
    pub(super) arguments: Vec<Argument>,
}

impl Tool {
    /// True if the request may have no body.
    pub(super) fn is_body_optional(&self) -> bool {
        matches!(self.operation.body, Some(Body::Json { is_required: false }))
    }
}

/// Value that a tool takes.
pub(super) struct Argument {
    pub(super) name: String,
    pub(super) place: Place,
    /// Its name in the request.
    pub(super) field: String,
    pub(super) is_required: bool,
}

/// The tools that are offered.
pub(super) struct Tools {
    offered: Vec<Tool>,
    /// Names of those that only `--allow-writes` offers.
    writing: Vec<String>,
}

impl Tools {
    pub(super) fn new(document: &Value, allow_writes: bool, only: &[String]) -> anyhow::Result<Self> {
        let mut operations = operations(document);
        for noun in only {
            ensure!(operations.iter().any(|it| it.noun == noun), "--only: there is no command `{noun}` of the API");
        }
        // Streams have no end, and files are not for models.
        operations.retain(|it| it.answer == Answer::Json && !matches!(it.body, Some(Body::Bytes(_))));
        operations.retain(|it| only.is_empty() || only.iter().any(|noun| noun == it.noun));
        let (offered, left): (Vec<_>, Vec<_>) = operations.into_iter().partition(|it| allow_writes || reads(it));
        Ok(Self {
            offered: offered.into_iter().map(|operation| tool(document, operation)).collect(),
            writing: left.into_iter().map(|operation| operation.id).collect(),
        })
    }

    pub(super) fn descriptions(&self) -> impl Iterator<Item = &Description> {
        self.offered.iter().map(|tool| &tool.description)
    }

    pub(super) fn find(&self, name: &str) -> Option<&Tool> {
        self.offered.iter().find(|tool| tool.operation.id == name)
    }

    /// Reason why there is no tool of this name.
    pub(super) fn absent(&self, name: &str) -> String {
        if self.writing.iter().any(|it| it == name) {
            format!("`{name}` changes something, and `hub mcp` was started without --allow-writes")
        } else {
            format!("there is no tool `{name}`")
        }
    }
}

fn reads(operation: &Operation) -> bool {
    method(operation) == Method::GET
}

/// Its method; operations of the document have valid ones.
fn method(operation: &Operation) -> Method {
    Method::from_bytes(operation.method.as_bytes()).unwrap_or_default()
}

fn tool(document: &Value, operation: Operation) -> Tool {
    let arguments = arguments(&operation);
    let mut about = operation.summary.clone();
    if !operation.description.is_empty() {
        about = format!("{about}\n\n{}", operation.description);
    }
    let hints = ToolAnnotations::from_raw(
        None,
        Some(reads(&operation)),
        Some(method(&operation) == Method::DELETE),
        Some(method(&operation).is_idempotent()),
        Some(false),
    );
    let schema = Arc::new(schema(document, &operation, &arguments));
    let description = Description::new(operation.id.clone(), about, schema)
        .with_title(operation.summary.clone())
        .with_annotations(hints);
    Tool { description, operation, arguments }
}

fn arguments(operation: &Operation) -> Vec<Argument> {
    let is_taken = |name: &str| operation.inputs.iter().any(|it| it.place != Place::Body && it.name == name);
    let argument = |input: &Input| Argument {
        name: match input.place {
            Place::Body if is_taken(&input.name) => format!("{}{IN_BODY}", input.name),
            _ => input.name.clone(),
        },
        place: input.place,
        field: input.name.clone(),
        is_required: input.is_required,
    };
    operation.inputs.iter().map(argument).collect()
}

fn schema(document: &Value, operation: &Operation, arguments: &[Argument]) -> JsonObject {
    let mut properties = Map::new();
    for (input, argument) in operation.inputs.iter().zip(arguments) {
        let mut schema = whole(document, &input.schema, DEPTH);
        if let (Value::Object(fields), false) = (&mut schema, input.help.is_empty()) {
            fields.insert("description".to_owned(), json!(input.help));
        }
        properties.insert(argument.name.clone(), schema);
    }
    let required: Vec<_> = arguments.iter().filter(|it| it.is_required).map(|it| &it.name).collect();
    let schema =
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let Value::Object(schema) = schema else { return Map::new() };
    schema
}

/// A schema with what it refers to in its place.
fn whole(document: &Value, schema: &Value, depth: usize) -> Value {
    if let Some(target) = schema["$ref"].as_str() {
        let Some(depth) = depth.checked_sub(1) else { return json!({}) };
        return whole(document, document.pointer(target.trim_start_matches('#')).unwrap_or(&Value::Null), depth);
    }
    match schema {
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| (name.clone(), whole(document, field, depth))).collect()
        }
        Value::Array(items) => items.iter().map(|item| whole(document, item, depth)).collect(),
        value => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Place, Tools};
    use crate::router::document;

    #[test]
    fn every_tool_has_a_name_of_its_own_and_describes_what_it_takes() {
        let tools = Tools::new(&document(), true, &[]).unwrap();
        let mut names = HashSet::new();
        for tool in &tools.offered {
            let name = tool.description.name.to_string();
            assert!(name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{name}");
            assert!(!serde_json::to_string(&tool.description.input_schema).unwrap().contains("$ref"), "{name}");
            let mut arguments = HashSet::new();
            assert!(tool.arguments.iter().all(|it| arguments.insert(&it.name)), "{name}");
            for argument in tool.arguments.iter().filter(|it| it.place == Place::Path) {
                assert!(tool.operation.path.contains(&format!("{{{}}}", argument.field)), "{name}");
            }
            assert!(names.insert(name));
        }
        assert!(names.contains("listServers") && names.contains("createPunishment"), "{names:?}");
        assert!(!names.contains("openEventStream") && !names.contains("uploadModule"), "{names:?}");
    }

    #[test]
    fn only_reading_tools_are_offered_unless_writing_is_allowed() {
        let tools = Tools::new(&document(), false, &["punishment".to_owned()]).unwrap();
        assert!(tools.offered.iter().all(|tool| tool.operation.method == "GET" && tool.operation.noun == "punishment"));
        assert!(tools.find("createPunishment").is_none());
        assert!(tools.absent("createPunishment").contains("--allow-writes"));
        assert!(Tools::new(&document(), false, &["nothing".to_owned()]).is_err());
    }
}
