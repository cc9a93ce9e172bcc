//! The document's word on answers: clients are generated from it, and fail at an answer that it does not describe.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::{Registry, Validator};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

const URI: &str = "json:///openapi";

static DOCUMENT: LazyLock<Value> = LazyLock::new(hub::router::document);
static REGISTRY: LazyLock<Registry<'static>> =
    LazyLock::new(|| Registry::new().add(URI, &*DOCUMENT).unwrap().prepare().unwrap());
/// Of each described answer that was checked.
static VALIDATORS: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// Checks an answer, unless the path is none of the document, such as a wrong one that a test tries.
#[track_caller]
pub fn check(method: &Method, path: &str, status: StatusCode, body: &Value) {
    let Some((template, operation)) = operation(method, path) else { return };
    let response = &operation["responses"][status.as_str()];
    if response.is_null() {
        assert!(!status.is_success(), "{method} {template} answers {status}, which the document does not know");
        return;
    }
    let media = "application/json";
    if response["content"][media]["schema"].is_null() {
        return;
    }
    let method_name = method.as_str().to_lowercase();
    let pointer = ["", "paths", template, &method_name, "responses", status.as_str(), "content", media, "schema"];
    let pointer = pointer.map(escaped).join("/");
    let errors: Vec<_> =
        validator(&pointer).iter_errors(body).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{method} {template} answers {status} unlike the document: {errors:?} in {body}");
}

/// The operation with the most parts that are equal, and its path.
fn operation(method: &Method, path: &str) -> Option<(&'static str, &'static Value)> {
    let parts: Vec<_> = path.split('/').collect();
    let fits = |template: &str| {
        let names: Vec<_> = template.split('/').collect();
        let is_equal = |(name, part): (&&str, &&str)| name.starts_with('{') || name == part;
        names.len() == parts.len() && names.iter().zip(&parts).all(is_equal)
    };
    let fitting = DOCUMENT["paths"].as_object()?.iter().filter(|(template, _)| fits(template));
    let (template, item) = fitting.min_by_key(|(template, _)| template.matches('{').count())?;
    Some((template, item.get(method.as_str().to_lowercase())?))
}

fn validator(pointer: &str) -> Arc<Validator> {
    let known = VALIDATORS.lock().unwrap().get(pointer).cloned();
    known.unwrap_or_else(|| {
        let schema = json!({"$ref": format!("{URI}#{pointer}")});
        let validator = Arc::new(jsonschema::options().with_registry(&REGISTRY).build(&schema).unwrap());
        VALIDATORS.lock().unwrap().insert(pointer.to_owned(), Arc::clone(&validator));
        validator
    })
}

/// A part of a JSON pointer in a URI.
fn escaped(part: &str) -> String {
    part.replace('~', "~0").replace('/', "~1").replace('{', "%7B").replace('}', "%7D")
}
