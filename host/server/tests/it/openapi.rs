//! The served document says what a reader needs, and the reference page is there.

use serde_json::Value;

use crate::support::on_both;

on_both! {
    async fn every_operation_is_documented(hub: Hub) {
        let document = hub.stranger().get("/api/openapi.json").await.expect(200).clone();
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
        let document = hub.stranger().get("/api/openapi.json").await.expect(200).clone();
        check(&document, &document);
    }

    async fn the_reference_page_brings_its_own_assets(hub: Hub) {
        let stranger = hub.stranger();
        let page = stranger.get("/api").await;
        assert!(page.headers["content-type"].to_str().unwrap().starts_with("text/html"));
        let html = page.expect(200).as_str().unwrap().to_owned();
        assert!(!html.contains("http://") && !html.contains("https://"));
        let mut assets = 0;
        for part in html.split(['"']).filter(|part| part.starts_with("/api/reference/")) {
            stranger.get(part).await.expect(200);
            assets += 1;
        }
        assert!(assets >= 4);
        stranger.get("/api/reference/nothing.js").await.expect_error(404, "unknown_route");
    }
}
