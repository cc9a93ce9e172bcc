//! JSON that an input chooses: mostly what a schema allows, at times something else.

use crate::Document;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

const DEEPEST: usize = 8;
const TEXTS: [&str; 12] = [
    "",
    " ",
    "\0",
    "a\u{0}b",
    "é",
    "../../etc/passwd",
    "%00",
    "*",
    "-1",
    "9223372036854775807",
    "069a79f4-44e9-4726-a5be-fca90e38aaf5",
    "\u{feff}\u{202e}😀",
];
const NUMBERS: [i64; 9] = [0, 1, -1, 2, 100, i64::MAX, i64::MIN, 1 << 53, 1_804_680_000_000];

/// Makes values.
pub struct FuzzedJson<'a> {
    document: &'a Document,
    /// Scalars in answers so far, by name: ids and the like, for later values.
    seen: HashMap<String, Value>,
}

impl<'a> FuzzedJson<'a> {
    /// For this document.
    pub fn new(document: &'a Document) -> Self {
        Self { document, seen: HashMap::new() }
    }

    /// Remembers the scalars of an answer.
    pub fn remember(&mut self, answer: &Value) {
        match answer {
            Value::Object(fields) => {
                for (name, value) in fields {
                    if value.is_string() || value.is_number() {
                        self.seen.insert(name.clone(), value.clone());
                    }
                    self.remember(value);
                }
            }
            Value::Array(items) => items.iter().take(4).for_each(|item| self.remember(item)),
            _ => {}
        }
    }

    /// A value of this name and schema.
    pub fn value(&self, name: &str, schema: &Value, input: &mut Unstructured<'_>) -> Result<Value> {
        self.at_depth(name, schema, input, 0)
    }

    /// A parameter's text.
    pub fn text(&self, name: &str, schema: &Value, input: &mut Unstructured<'_>) -> Result<String> {
        Ok(match self.value(name, schema, input)? {
            Value::String(text) => text,
            other => other.to_string(),
        })
    }

    fn at_depth(&self, name: &str, schema: &Value, input: &mut Unstructured<'_>, depth: usize) -> Result<Value> {
        let choice: u8 = input.arbitrary()?;
        if depth > DEEPEST || choice < 6 {
            return junk(choice, input);
        }
        let resolved = self.document.resolve(schema);
        if choice < 48
            && let Some(seen) = self.seen.get(name)
        {
            return Ok(seen.clone());
        }
        let examples = schema["examples"].as_array().or_else(|| resolved["examples"].as_array());
        if choice < 176
            && let Some(example) = examples.and_then(|all| all.first())
        {
            return Ok(example.clone());
        }
        for any in ["oneOf", "anyOf"] {
            if let Some(schemas) = resolved[any].as_array().filter(|all| !all.is_empty()) {
                return self.at_depth(name, input.choose(schemas)?, input, depth + 1);
            }
        }
        if let Some(values) = resolved["enum"].as_array().filter(|all| !all.is_empty()) {
            return Ok(input.choose(values)?.clone());
        }
        if !resolved["const"].is_null() {
            return Ok(resolved["const"].clone());
        }
        if let Some(schemas) = resolved["allOf"].as_array() {
            let mut all = Map::new();
            for schema in schemas {
                if let Value::Object(fields) = self.at_depth(name, schema, input, depth + 1)? {
                    all.extend(fields);
                }
            }
            return Ok(Value::Object(all));
        }
        let kind = match &resolved["type"] {
            Value::Array(kinds) if !kinds.is_empty() => input.choose(kinds)?.as_str().unwrap_or_default(),
            kind => kind.as_str().unwrap_or_default(),
        };
        match kind {
            "object" => self.object(resolved, input, depth),
            "array" => {
                let count = input.int_in_range(0..=4)?;
                let items = (0..count).map(|_| self.at_depth(name, &resolved["items"], input, depth + 1));
                Ok(Value::Array(items.collect::<Result<_>>()?))
            }
            "string" => text(input),
            "integer" | "number" => number(input),
            "boolean" => Ok(Value::Bool(input.arbitrary()?)),
            "null" => Ok(Value::Null),
            _ => junk(choice % 6, input),
        }
    }

    fn object(&self, schema: &Value, input: &mut Unstructured<'_>, depth: usize) -> Result<Value> {
        let mut object = Map::new();
        let required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let choice: u8 = input.arbitrary()?;
            if choice < if required(name) { 250 } else { 96 } {
                object.insert(name.clone(), self.at_depth(name, field, input, depth + 1)?);
            }
        }
        let more = &schema["additionalProperties"];
        if more.is_object() {
            for _ in 0..input.int_in_range(0..=3)? {
                let name = text(input)?.as_str().unwrap_or_default().to_owned();
                object.insert(name, self.at_depth("", more, input, depth + 1)?);
            }
        }
        Ok(Value::Object(object))
    }
}

fn text(input: &mut Unstructured<'_>) -> Result<Value> {
    Ok(match input.int_in_range(0..=3)? {
        0 => json!(input.choose(&TEXTS)?),
        1 => {
            let letter: char = input.arbitrary()?;
            json!(letter.to_string().repeat(input.int_in_range(1..=5000)?))
        }
        _ => {
            let length = input.int_in_range(0..=40)?;
            json!(String::from_utf8_lossy(input.bytes(length)?))
        }
    })
}

fn number(input: &mut Unstructured<'_>) -> Result<Value> {
    Ok(match input.int_in_range(0..=3)? {
        0 => json!(input.choose(&NUMBERS)?),
        1 => json!(input.arbitrary::<i64>()?),
        2 => json!(input.arbitrary::<f64>()?),
        _ => json!(input.int_in_range(0..=20)?),
    })
}

fn junk(choice: u8, input: &mut Unstructured<'_>) -> Result<Value> {
    match choice % 6 {
        0 => Ok(Value::Null),
        1 => number(input),
        2 => text(input),
        3 => Ok(json!([[], {}, [null]])),
        4 => {
            let mut nested = Value::Null;
            for _ in 0..input.int_in_range(0..=100)? {
                nested = json!({ "a": [nested] });
            }
            Ok(nested)
        }
        _ => Ok(Value::Bool(input.arbitrary()?)),
    }
}
