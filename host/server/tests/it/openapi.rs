//! The served OpenAPI document is complete, and the reference page works.

use serde_json::Value;

use crate::support::on_both;

/// What a `$ref` leads to.
fn resolve<'a>(document: &'a Value, mut schema: &'a Value) -> &'a Value {
    while let Some(reference) = schema["$ref"].as_str() {
        schema = document.pointer(reference.strip_prefix('#').unwrap()).unwrap();
    }
    schema
}

/// Whether a reader sees what such a value looks like: by an example, by its few values, or field by field.
fn has_example(document: &Value, schema: &Value, depth: usize) -> bool {
    let schema = resolve(document, schema);
    let says = |key: &str| schema.get(key).is_some();
    if depth > 8 || ["example", "examples", "enum", "const", "default"].into_iter().any(says) {
        return true;
    }
    let not_null = |one: &&Value| one["type"] != "null";
    for choice in ["oneOf", "anyOf"] {
        if let Some(choices) = schema[choice].as_array() {
            return choices.iter().filter(not_null).any(|one| has_example(document, one, depth + 1));
        }
    }
    if let Some(parts) = schema["allOf"].as_array() {
        return parts.iter().all(|part| has_example(document, part, depth + 1));
    }
    match &schema["type"] {
        Value::String(one) if one == "boolean" => true,
        Value::String(one) if one == "array" => has_example(document, &schema["items"], depth + 1),
        // Bytes, and texts of any kind, have no example that would help.
        Value::String(one) if one == "string" => schema["format"] == "binary",
        _ => fields_without_example(document, schema, depth).is_some_and(|fields| fields.is_empty()),
    }
}

/// The required fields without an example.
fn fields_without_example(document: &Value, schema: &Value, depth: usize) -> Option<Vec<String>> {
    let fields = resolve(document, schema)["properties"].as_object()?;
    let required = resolve(document, schema)["required"].as_array().cloned().unwrap_or_default();
    let lacking = fields.iter().filter(|(name, field)| {
        required.contains(&Value::from(name.as_str())) && !has_example(document, field, depth + 1)
    });
    Some(lacking.map(|(name, _)| name.clone()).collect())
}

const PUBLIC: [&str; 7] = [
    "/healthz",
    "/readyz",
    "/api/version",
    "/api/public/waitlist",
    "/api/public/waitlist/confirm",
    "/api/artifacts/{token}",
    "/api/worlds/blobs/{token}",
];

on_both! {
    async fn every_operation_has_examples_and_a_scope(hub: Hub) {
        let document = hub.anonymous().get("/api/openapi.json").await.expect(200).clone();
        let mut problems = vec![];
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let name = format!("{method} {path}");
                let public = PUBLIC.contains(&path.as_str());
                if public == operation.get("security").is_some() {
                    problems.push(format!("{name}: needs a key if and only if it is not public"));
                }
                let responses = operation["responses"].as_object().unwrap();
                for (status, response) in responses {
                    if response["description"].as_str().is_none_or(str::is_empty) {
                        problems.push(format!("{name}: {status} has no description"));
                    }
                }
                let takes = operation.get("requestBody").is_some() || operation.get("parameters").is_some();
                if takes && !responses.keys().any(|status| status.starts_with('4')) {
                    problems.push(format!("{name}: no 4xx answer"));
                }
                for parameter in operation["parameters"].as_array().into_iter().flatten() {
                    let shown = parameter.get("example").is_some() || has_example(&document, &parameter["schema"], 0);
                    if parameter["required"] == true && !shown {
                        problems.push(format!("{name}: no example for {}", parameter["name"]));
                    }
                }
                for (kind, content) in operation["requestBody"]["content"].as_object().into_iter().flatten() {
                    let shown = content.get("example").is_some() || has_example(&document, &content["schema"], 0);
                    if !shown && kind == "application/json" {
                        let lacking = fields_without_example(&document, &content["schema"], 0);
                        problems.push(format!("{name}: no example for {lacking:?} of the body"));
                    }
                }
            }
        }
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    async fn every_operation_is_documented(hub: Hub) {
        let document = hub.anonymous().get("/api/openapi.json").await.expect(200).clone();
        assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
        let mut ids = std::collections::HashSet::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let name = format!("{method} {path}");
                assert!(operation["summary"].as_str().is_some_and(|text| text.len() > 5), "{name}: summary");
                assert!(operation["tags"].as_array().is_some_and(|tags| !tags.is_empty()), "{name}: tag");
                assert!(ids.insert(operation["operationId"].clone()), "{name}: operationId is taken");
                let responses = operation["responses"].as_object().unwrap();
                assert!(responses.keys().any(|status| status.starts_with('2')), "{name}: success");
                if operation.get("security").is_some() {
                    assert!(responses.contains_key("401") && responses.contains_key("403"), "{name}: 401 and 403");
                }
                for parameter in operation["parameters"].as_array().into_iter().flatten() {
                    assert!(parameter.get("schema").is_some(), "{name}: {parameter}");
                }
            }
        }
    }

    async fn every_post_says_what_its_idempotency_key_survives(hub: Hub) {
        let document = hub.anonymous().get("/api/openapi.json").await.expect(200).clone();
        let said = |path: &str| {
            let parameters = document["paths"][path]["post"]["parameters"].as_array().unwrap();
            let key = parameters.iter().find(|parameter| parameter["name"] == "Idempotency-Key").unwrap();
            key["description"].as_str().unwrap().to_owned()
        };
        for (path, words) in [
            ("/api/plugin/chat", "if the hub dies in between"),
            ("/api/plugin/transfers", "if the hub dies in between"),
            ("/api/plugin/matchmaking/find", "if the hub dies in between"),
            ("/api/plugin/economy/{ownerType}/{ownerKey}/currencies/modify", "whatever becomes of the hub"),
        ] {
            assert!(said(path).contains(words), "{path}: {}", said(path));
        }
    }

    async fn every_reference_inside_the_document_resolves(hub: Hub) {
        fn check(document: &Value, part: &Value) {
            match part {
                Value::Object(fields) => {
                    if let Some(Value::String(reference)) = fields.get("$ref") {
                        let pointer = reference.strip_prefix('#').unwrap();
                        assert!(document.pointer(pointer).is_some(), "{reference} is nowhere");
                    }
                    fields.values().for_each(|part| check(document, part));
                }
                Value::Array(parts) => parts.iter().for_each(|part| check(document, part)),
                _ => {}
            }
        }
        let document = hub.anonymous().get("/api/openapi.json").await.expect(200).clone();
        check(&document, &document);
    }

    async fn the_reference_page_brings_its_own_assets(hub: Hub) {
        let anonymous = hub.anonymous();
        let page = anonymous.get("/api").await;
        assert!(page.headers["content-type"].to_str().unwrap().starts_with("text/html"));
        let html = page.expect(200).as_str().unwrap().to_owned();
        assert!(!html.contains("http://") && !html.contains("https://"));
        let mut assets = 0;
        for part in html.split(['"']).filter(|part| part.starts_with("/api/reference/")) {
            anonymous.get(part).await.expect(200);
            assets += 1;
        }
        assert!(assets >= 4);
        anonymous.get("/api/reference/nothing.js").await.expect_error(404, "unknown_route");
    }
}
