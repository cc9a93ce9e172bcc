//! The log has a line for each request.

use serde_json::{Value, json};

use crate::cli::Installation;
use crate::support::{Backend, on_each};

async fn each_request_is_one_line(backend: Backend) {
    let installation = Installation::new(backend);
    let created = installation.json(&["admin", "network", "create", "logged", "--json"]);
    let key = created["apiKey"].as_str().unwrap();
    let mut hub = installation.serve_logged(&[], &[]);
    let owner = hub.client(key);
    let request = owner.request(reqwest::Method::GET, "/api/manage/keys").header("X-Request-Id", "mine-1");
    owner.send(request).await.expect(200);
    owner.get("/api/plugin/players/Steve%20Secret").await;
    hub.client("wrong").get("/api/plugin/servers").await.expect(401);
    hub.signal("-TERM");
    assert!(hub.child.wait().unwrap().success());

    let text = installation.log();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let served: Vec<_> = lines.filter(|line| line["target"] == "hub::request").collect();
    assert_eq!(served.len(), 3, "{text}");
    let first = &served[0];
    assert_eq!((&first["level"], &first["status"]), (&json!("INFO"), &json!(200)));
    assert_eq!((&first["network"], &first["key"]), (&created["networkId"], &json!(key[4..16])));
    assert_eq!((&first["id"], &first["route"]), (&json!("mine-1"), &json!("/api/manage/keys")));
    assert!(first["queries"].as_i64().unwrap() >= 2, "{first}");
    assert!(first["micros"].as_i64().unwrap() > 0);
    assert!(!text.contains("Secret"), "a path is in the log");
    let last = &served[2];
    assert_eq!((&last["status"], &last["network"], &last["key"]), (&json!(401), &Value::Null, &Value::Null));
}

async fn lines_name_the_request_that_they_are_of(backend: Backend) {
    let installation = Installation::new(backend);
    let created = installation.json(&["admin", "network", "create", "logged", "--json"]);
    let mut hub = installation.serve_logged(&[], &[]);
    let db = hub_db::Db::connect(&installation.settings.database()).await.unwrap();
    db.write("ALTER TABLE currencies RENAME TO currencies_away").execute().await.unwrap();
    let owner = hub.client(created["apiKey"].as_str().unwrap());
    // A change continues after its caller hangs up, and still belongs to its request.
    for (method, path) in [(reqwest::Method::GET, "currencies"), (reqwest::Method::PUT, "currencies/coins")] {
        let request = owner.request(method.clone(), &format!("/api/manage/economy/{path}"));
        let request = request.header("X-Request-Id", format!("mine-{method}")).json(&json!({"minimum": 0}));
        assert!(owner.send(request).await.status.is_server_error());
    }
    hub.signal("-TERM");
    assert!(hub.child.wait().unwrap().success());
    let text = installation.log();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let failed: Vec<_> = lines.filter(|line| line["message"] == "request failed").collect();
    let requests: Vec<_> = failed.iter().map(|line| line["request"].clone()).collect();
    assert_eq!(requests, ["mine-GET", "mine-PUT"], "{text}");
    assert_eq!(failed[0]["level"], "ERROR");
}

on_each! {
    each_request_is_one_line
    lines_name_the_request_that_they_are_of
}
