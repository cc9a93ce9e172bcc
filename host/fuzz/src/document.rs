//! The operations of the served OpenAPI document.

use serde_json::Value;

/// The OpenAPI document served by the hub.
pub struct Document {
    /// All operations, in the document's order.
    pub operations: Vec<Operation>,
    schemas: Value,
}

/// One method of one path.
pub struct Operation {
    /// In upper case.
    pub method: String,
    /// With `{parameters}`.
    pub path: String,
    /// True if the operator calls it.
    pub is_operators: bool,
    /// All parameters.
    pub parameters: Vec<Parameter>,
    /// Schema of its JSON.
    pub body: Option<Value>,
    /// Documented statuses.
    pub statuses: Vec<String>,
}

/// A parameter.
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Location in the request.
    pub location: Location,
    /// Schema of its values.
    pub schema: Value,
}

/// Location of a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Location {
    Path,
    Query,
    Header,
}

impl Document {
    /// The built-in document of the hub.
    pub fn read() -> Self {
        let document = serde_json::to_value(hub::router::document()).expect("the document is JSON");
        let methods = |(path, item): (&String, &Value)| {
            let item = item.as_object().cloned().unwrap_or_default();
            let path = path.clone();
            item.into_iter()
                .map(move |(method, operation)| Operation::read(&method, &path, &operation))
                .collect::<Vec<_>>()
        };
        let operations = document["paths"].as_object().into_iter().flatten().flat_map(methods).collect();
        Self { operations, schemas: document["components"]["schemas"].clone() }
    }

    /// The schema, or the one that it refers to.
    pub fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let name = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
        name.map_or(schema, |name| self.resolve(&self.schemas[name]))
    }
}

impl Operation {
    fn read(method: &str, path: &str, operation: &Value) -> Self {
        let location = |name: &Value| match name.as_str() {
            Some("path") => Location::Path,
            Some("header") => Location::Header,
            _ => Location::Query,
        };
        let parameter = |parameter: &Value| Parameter {
            name: parameter["name"].as_str().unwrap_or_default().to_owned(),
            location: location(&parameter["in"]),
            schema: if parameter["example"].is_null() {
                parameter["schema"].clone()
            } else {
                let mut schema = parameter["schema"].clone();
                schema["examples"] = Value::Array(vec![parameter["example"].clone()]);
                schema
            },
        };
        let body = &operation["requestBody"]["content"]["application/json"]["schema"];
        Self {
            method: method.to_uppercase(),
            path: path.to_owned(),
            is_operators: operation["security"][0]["apiKey"][0] == "operator",
            parameters: operation["parameters"].as_array().into_iter().flatten().map(parameter).collect(),
            body: (!body.is_null()).then(|| body.clone()),
            statuses: operation["responses"].as_object().into_iter().flat_map(|all| all.keys().cloned()).collect(),
        }
    }
}
