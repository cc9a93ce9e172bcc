//! The served OpenAPI document is complete, and the reference page works.

use hub::components::components;
use serde_json::{Value, json};

use crate::support::on_both;

/// Target of a `$ref`.
fn resolve<'a>(document: &'a Value, mut schema: &'a Value) -> &'a Value {
    while let Some(reference) = schema["$ref"].as_str() {
        schema = document.pointer(reference.strip_prefix('#').unwrap()).unwrap();
    }
    schema
}

/// True if a reader sees a sample of such a value: by an example, by its few values, or field by field.
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

const PUBLIC: [&str; 8] = [
    "/healthz",
    "/readyz",
    "/api/version",
    "/api/public/waitlist",
    "/api/public/waitlist/confirm",
    "/api/public/appeals/{code}",
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
                // Sessions are no keys: those routes check them by themselves.
                let public = PUBLIC.contains(&path.as_str()) || path.starts_with("/api/people/");
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
        let mut undescribed = vec![];
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let name = format!("{method} {path}");
                assert!(operation["summary"].as_str().is_some_and(|text| text.len() > 5), "{name}: summary");
                assert!(operation["tags"].as_array().is_some_and(|tags| !tags.is_empty()), "{name}: tag");
                assert!(ids.insert(operation["operationId"].clone()), "{name}: operationId is taken");
                let responses = operation["responses"].as_object().unwrap();
                // A redirect counts as a success if a browser is sent elsewhere.
                assert!(responses.keys().any(|status| status.starts_with(['2', '3'])), "{name}: success");
                if operation.get("security").is_some() {
                    assert!(responses.contains_key("401") && responses.contains_key("403"), "{name}: 401 and 403");
                }
                for parameter in operation["parameters"].as_array().into_iter().flatten() {
                    assert!(parameter.get("schema").is_some(), "{name}: {parameter}");
                    if parameter["description"].as_str().is_none_or(|text| text.len() < 10) {
                        undescribed.push(format!("{name}: {}", parameter["name"]));
                    }
                }
            }
        }
        assert!(undescribed.is_empty(), "parameters without a description:\n{}", undescribed.join("\n"));
    }

    async fn names_are_those_of_a_generated_client(hub: Hub) {
        let document = hub.anonymous().get("/api/openapi.json").await.expect(200).clone();
        let tags: Vec<_> = document["tags"].as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap()).collect();
        assert!(document["tags"].as_array().unwrap().iter().all(|tag| tag["description"].as_str().unwrap().len() > 15));
        let verbs = ["accept", "add", "append", "cancel", "change", "claim", "complete", "confirm", "create", "decide", "define", "delete", "disable", "download", "dry", "enroll", "execute", "export", "fail", "fetch",
            "find", "get", "increment", "install", "invite", "join", "kill", "leave", "list", "load", "lose", "make", "modify", "note", "open",
            "preview", "publish", "put", "query", "record", "register", "release", "remove", "replay", "report", "resend", "reset", "restart", "restore", "retry", "revoke",
            "rollback", "rotate", "run", "save", "send", "sign", "snapshot", "start", "stop", "test", "transfer", "unban", "undo", "unregister", "update",
            "upload", "write", "read"];
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let id = operation["operationId"].as_str().unwrap();
                let verb: String = id.chars().take_while(char::is_ascii_lowercase).collect();
                assert!(verbs.contains(&verb.as_str()) && verb.len() < id.len(), "{method} {path}: {id}");
                assert!(id.chars().all(|letter| letter.is_ascii_alphanumeric()), "{id}");
                for tag in operation["tags"].as_array().unwrap() {
                    assert!(tags.contains(&tag.as_str().unwrap()), "{method} {path}: {tag}");
                }
            }
        }
        let schemas = document["components"]["schemas"].as_object().unwrap();
        for (name, schema) in schemas {
            assert!(!name.ends_with(|last: char| last.is_ascii_digit()) && !name.contains('_'), "{name}");
            assert!(name.starts_with(|first: char| first.is_ascii_uppercase()), "{name}");
            // A page refers to its items, and knows their fields.
            if let Some(item) = name.strip_suffix("Page").filter(|_| schema["properties"]["total"].is_object()) {
                assert_eq!(schema["properties"]["items"]["items"]["$ref"], format!("#/components/schemas/{item}"), "{name}");
                assert!(schemas.contains_key(item));
            }
        }
        assert!(schemas.contains_key("PlanPage") && schemas.contains_key("ServerStatus"));
        let sent = |name: &str, field: &str| {
            schemas[name]["required"].as_array().unwrap().iter().any(|required| required == field)
        };
        assert!(sent("TransferOutcome", "errorMessage") && sent("Match", "matchedServer") && !sent("Match", "explanation"));
        // Requests may leave out fields that answers always send.
        assert!(sent("PermissionNode", "value") && sent("ChatMessage", "rank") && !sent("ChainLink", "limits"));
        assert_eq!(schemas["PermissionNodeInput"]["required"], json!(["node"]));
        assert_eq!(schemas["PermissionNode"]["properties"]["value"]["type"], "boolean");
        assert_eq!(schemas["Bytes"], json!({"type": "string", "format": "binary"}));
    }

    async fn bodies_that_are_no_text_are_bytes(hub: Hub) {
        let document = hub.anonymous().get("/api/openapi.json").await.expect(200).clone();
        let mut bodies = 0;
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let answers = operation["responses"].as_object().unwrap().values();
                for body in answers.chain(operation.get("requestBody")) {
                    for (kind, content) in body["content"].as_object().into_iter().flatten() {
                        if kind == "application/octet-stream" || kind == "application/wasm" {
                            assert_eq!(resolve(&document, &content["schema"])["format"], "binary", "{method} {path}");
                            bodies += 1;
                        }
                    }
                }
            }
        }
        assert!(bodies >= 8, "{bodies}");
    }

    async fn every_error_code_is_documented(hub: Hub) {
        let document = hub.anonymous().get("/api/openapi.json").await.expect(200).clone();
        let codes = &document["components"]["schemas"]["ErrorCode"];
        let listed: Vec<_> = codes["enum"].as_array().unwrap().iter().map(|code| code.as_str().unwrap()).collect();
        assert_eq!(listed, components().errors().map(|error| error.code).collect::<Vec<_>>());
        assert_eq!(codes["x-enum-descriptions"].as_array().unwrap().len(), listed.len());
        assert!(listed.iter().all(|code| codes["description"].as_str().unwrap().contains(&format!("- `{code}`: "))));
    }

    /// Like a reader who presses "Execute" in the interactive page, from the top to the bottom.
    async fn the_examples_of_bodies_may_be_sent_as_they_are(hub: Hub) {
        let (client, operator) = (hub.network().await, hub.operator().await);
        let document = hub.anonymous().get("/api/openapi.json").await.expect(200).clone();
        let tags: Vec<_> = document["tags"].as_array().unwrap().iter().map(|tag| tag["name"].clone()).collect();
        let mut calls = vec![];
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let Some(body) = operation["requestBody"]["content"].get("application/json") else { continue };
                assert!(body.get("example").is_some(), "{path}");
                let mut path = path.clone();
                for parameter in operation["parameters"].as_array().into_iter().flatten() {
                    if parameter["in"] == "path" {
                        let schema = &parameter["schema"];
                        let value = [&parameter["example"], &schema["example"], &schema["examples"][0], &schema["enum"][0]]
                            .into_iter().find(|value| !value.is_null()).unwrap_or_else(|| panic!("{path} {parameter}"));
                        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                        path = path.replace(&format!("{{{}}}", parameter["name"].as_str().unwrap()), &text);
                    }
                }
                let tag = tags.iter().position(|tag| *tag == operation["tags"][0]).unwrap();
                calls.push((tag, path, method.to_uppercase(), body["example"].clone(), operation["operationId"].clone()));
            }
        }
        calls.sort_by_key(|(tag, .., id)| (*tag, id != "registerServer"));
        let mut refused = vec![];
        for (_, path, method, example, id) in calls {
            let caller = if path.starts_with("/api/admin") { &operator } else { &client };
            let request = caller.request(method.parse().unwrap(), &path).json(&example);
            let answer = caller.send(request).await;
            // The request itself is valid; the named objects may not exist.
            let is_unknown = answer.body["code"].as_str().is_some_and(|code| code.starts_with("unknown_"));
            if answer.status.is_server_error() && answer.status != 503 || answer.status == 400 && !is_unknown {
                refused.push(format!("{id} {path} {example}: {}", answer.body));
            }
            if ["findMatch", "registerServer", "sendHeartbeat"].contains(&id.as_str().unwrap()) {
                assert!(answer.status.is_success() && answer.body["success"] != false, "{id}: {}", answer.body);
            }
        }
        assert!(refused.is_empty(), "{}", refused.join("\n"));
    }

    async fn examples_match_their_fields(hub: Hub) {
        let document = hub.anonymous().get("/api/openapi.json").await.expect(200).clone();
        let mut wrong = vec![];
        for (path, methods) in document["paths"].as_object().unwrap() {
            for operation in methods.as_object().unwrap().values() {
                let example = &operation["requestBody"]["content"]["application/json"]["example"];
                let text = format!("{example} {}", operation["parameters"]);
                let is_of_modules = operation["tags"][0] == "Modules";
                // Default example of a field without one, and an example for modules only.
                let stands_in = text.contains(":\"text\"") || text.contains("[\"text\"");
                if stands_in || !is_of_modules && text.contains("\"region-first\"") {
                    wrong.push(format!("{path}: {text}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    async fn every_post_documents_its_idempotency_key(hub: Hub) {
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
            ("/api/plugin/economy/{ownerType}/{ownerKey}/currencies/modify", "even if the hub fails meanwhile"),
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
}
