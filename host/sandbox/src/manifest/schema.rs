//! The part of JSON Schema 2020-12 that manifests use, and checking values against it.

use super::Invalid;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value};
use std::cell::Cell;
use std::fmt::Display;

const MAX_BYTES: usize = 16 << 10;
const MAX_DEPTH: usize = 8;
/// Comparisons while a value is checked: each of many parts may have to be compared with each of many others. They take
/// some milliseconds.
const MAX_COMPARISONS: usize = 1_000_000;
const KEYWORDS: [&str; 19] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "default",
    "title",
    "description",
    "format",
    "x-secret",
    "$schema",
];
const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/// A checked schema.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Schema(Value);

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(Value::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl Schema {
    /// Checks that a schema uses nothing else than the supported keywords.
    ///
    /// # Errors
    /// The first invalid part.
    pub fn new(schema: Value) -> Result<Self, Invalid> {
        let bytes = schema.to_string().len();
        if bytes > MAX_BYTES {
            return Err(Invalid::new("", format!("the schema has {bytes} bytes, more than {MAX_BYTES}")));
        }
        check_schema(&schema, "", 1)?;
        Ok(Self(schema))
    }

    /// The schema as JSON.
    pub fn to_json(&self) -> &Value {
        &self.0
    }

    /// Checks a value.
    ///
    /// # Errors
    /// The first invalid part of the value, or the one at which it took too many comparisons.
    pub fn check(&self, value: &Value) -> Result<(), Invalid> {
        check_value(&self.0, value, &Comparisons(Cell::new(MAX_COMPARISONS)))
    }
}

/// Comparisons that are left.
struct Comparisons(Cell<usize>);

impl Comparisons {
    fn draw(&self, count: usize) -> Result<(), Invalid> {
        let left = self.0.get().checked_sub(count);
        self.0.set(left.ok_or_else(|| Invalid::new("", "takes too many comparisons with its schema"))?);
        Ok(())
    }
}

fn check_schema(schema: &Value, at: &str, depth: usize) -> Result<(), Invalid> {
    let schema = match schema {
        Value::Bool(_) if depth > 1 => return Ok(()),
        Value::Object(schema) => schema,
        _ => return Err(Invalid::new(at, "a schema must be a JSON object")),
    };
    if depth > MAX_DEPTH {
        return Err(Invalid::new(at, format!("schemas are nested at most {MAX_DEPTH} deep")));
    }
    for (keyword, value) in schema {
        let place = format!("{at}/{}", escape(keyword));
        let wrong = |reason: &str| Err(Invalid::new(place.as_str(), reason));
        match keyword.as_str() {
            "type" => {
                let names = value.as_array().map_or_else(|| vec![value], |names| names.iter().collect());
                let known = |name: &&Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
                if names.is_empty() || !names.iter().all(known) {
                    return wrong(&format!("must be of {}", TYPES.join(", ")));
                }
            }
            "properties" => {
                let Value::Object(properties) = value else { return wrong("must be an object of schemas") };
                for (name, property) in properties {
                    check_schema(property, &format!("{place}/{}", escape(name)), depth + 1)?;
                }
            }
            "additionalProperties" | "items" => check_schema(value, &place, depth + 1)?,
            "required" if !value.as_array().is_some_and(|names| names.iter().all(Value::is_string)) => {
                return wrong("must be a list of names");
            }
            "enum" if !value.is_array() => return wrong("must be a list of values"),
            "minimum" | "maximum" if !value.is_number() => return wrong("must be a number"),
            "minLength" | "maxLength" | "minItems" | "maxItems" if !value.is_u64() => {
                return wrong("must be a whole number from 0");
            }
            "title" | "description" | "format" if !value.is_string() => return wrong("must be a text"),
            "x-secret" if !value.is_boolean() => return wrong("must be true or false"),
            keyword if !KEYWORDS.contains(&keyword) => {
                return wrong("is no supported keyword of JSON Schema");
            }
            _ => {}
        }
    }
    Ok(())
}

/// The place of what is invalid is put together on the way back: names may be long, and lists, too.
fn check_value(schema: &Value, value: &Value, left: &Comparisons) -> Result<(), Invalid> {
    let schema = match schema {
        Value::Bool(false) => return Err(Invalid::new("", "is not allowed")),
        Value::Object(schema) => schema,
        _ => return Ok(()),
    };
    let wrong = |reason: String| Err(Invalid::new("", reason));
    left.draw(1)?;
    if let Some(types) = schema.get("type") {
        let names = types.as_array().map_or_else(|| std::slice::from_ref(types), Vec::as_slice);
        left.draw(names.len())?;
        let names = || names.iter().filter_map(Value::as_str);
        if !names().any(|name| is_of_type(value, name)) {
            return wrong(format!("must be of the type {}", names().collect::<Vec<_>>().join(" or ")));
        }
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        left.draw(values.len())?;
        if !values.iter().any(|one| equals(one, value)) {
            let values: Vec<_> = values.iter().map(Value::to_string).collect();
            return wrong(format!("must be one of {}", values.join(", ")));
        }
    }
    if let Some(constant) = schema.get("const")
        && !equals(constant, value)
    {
        return wrong(format!("must be {constant}"));
    }
    let limit = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    match value {
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or(f64::NAN);
            check_range(number, limit("minimum"), limit("maximum"), "").or_else(wrong)
        }
        Value::String(text) => {
            check_range(text.chars().count() as f64, limit("minLength"), limit("maxLength"), " characters")
                .or_else(wrong)
        }
        Value::Array(items) => {
            check_range(items.len() as f64, limit("minItems"), limit("maxItems"), " entries").or_else(wrong)?;
            let Some(schema) = schema.get("items") else { return Ok(()) };
            let check = |(index, item)| check_value(schema, item, left).map_err(|invalid| below(&index, invalid));
            items.iter().enumerate().try_for_each(check)
        }
        Value::Object(object) => check_object(schema, object, left),
        Value::Null | Value::Bool(_) => Ok(()),
    }
}

fn check_object(schema: &Map<String, Value>, object: &Map<String, Value>, left: &Comparisons) -> Result<(), Invalid> {
    let required = schema.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    left.draw(required.len())?;
    for name in required.iter().filter_map(Value::as_str) {
        if !object.contains_key(name) {
            return Err(below(&escape(name), Invalid::new("", "is missing")));
        }
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, value) in object {
        if let Some(schema) =
            properties.and_then(|known| known.get(name)).or_else(|| schema.get("additionalProperties"))
        {
            check_value(schema, value, left).map_err(|invalid| below(&escape(name), invalid))?;
        }
    }
    Ok(())
}

/// The same inside a part of this name.
fn below(name: &impl Display, invalid: Invalid) -> Invalid {
    Invalid { pointer: format!("/{name}{}", invalid.pointer), ..invalid }
}

fn check_range(number: f64, least: Option<f64>, most: Option<f64>, unit: &str) -> Result<(), String> {
    if least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most) {
        return Ok(());
    }
    Err(match (least, most) {
        (Some(least), Some(most)) => format!("must be {least} to {most}{unit}"),
        (Some(least), None) => format!("must be at least {least}{unit}"),
        (_, most) => format!("must be at most {}{unit}", most.unwrap_or_default()),
    })
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => false,
    }
}

/// Equal values; numbers by their value, so that 1 is 1.0.
fn equals(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one.total_cmp(&other).is_eq(),
        _ => one == other,
    }
}

/// A name in a JSON pointer.
pub(super) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
