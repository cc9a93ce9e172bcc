//! A database that is older, or somebody else's, since the hub last looked.

use std::path::Path;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::cli::Installation;
use crate::servers::uuid;
use crate::support::{Backend, Client, Hub};

/// Stores a player's data, and returns its version.
async fn put(client: &Client, data: &str) -> i64 {
    let path = format!("/api/plugin/players/{}/data/global/inventory", uuid(1));
    let body = json!({"data": json!(data).to_string()});
    client.put(&path, body).await.expect(200)["version"].as_i64().unwrap()
}

/// The position that a hub remembers.
fn position(data: &Path) -> i64 {
    let text = std::fs::read(data.join("database-epoch.json")).unwrap();
    serde_json::from_slice::<Value>(&text).unwrap()["position"].as_i64().unwrap()
}

/// A snapshot of the disk that is seconds older: what was written since was acknowledged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_put_back_after_seconds_repeats_no_version() {
    let installation = Installation::new(Backend::sqlite());
    let network = installation.json(&["network", "create", "older", "--json"]);
    let data = &installation.settings.data;
    let hub = installation.serve();
    let client = hub.client(network["apiKey"].as_str().unwrap());
    put(&client, "before").await;
    let copy = tempfile::tempdir().unwrap();
    let files = || std::fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path());
    let is_database = |path: &Path| path.file_name().unwrap().to_str().unwrap().contains(".db");
    let copied = position(data);
    for path in files().filter(|path| is_database(path)) {
        std::fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    let lost = put(&client, "lost").await;
    Hub::eventually("the position rises", async || position(data) >= copied + 2).await;
    drop(hub);
    for path in files().filter(|path| is_database(path)) {
        std::fs::remove_file(path).unwrap();
    }
    for entry in std::fs::read_dir(copy.path()).unwrap().map(Result::unwrap) {
        std::fs::copy(entry.path(), data.join(entry.file_name())).unwrap();
    }
    let hub = installation.serve();
    let client = hub.client(network["apiKey"].as_str().unwrap());
    let version = put(&client, "after").await;
    assert!(version > lost + 1, "{version} {lost}");
}

/// A hub is paused, another one is started in its place, and the first goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_hub_without_a_bus_serves_nothing_and_ends_once_another_has_its_place() {
    let installation = Installation::new(Backend::postgres().await);
    let network = installation.json(&["network", "create", "alone", "--json"]);
    let mut first = installation.serve();
    let client = first.client(network["apiKey"].as_str().unwrap());
    put(&client, "before").await;
    first.signal("-STOP");
    let folder = tempfile::tempdir().unwrap();
    let second = installation.serve_elsewhere(folder.path());
    first.signal("-CONT");
    for _ in 0..50 {
        let request = client.request(Method::GET, "/api/manage/servers").timeout(Duration::from_secs(5));
        let status = request.send().await.map(|answer| answer.status().as_u16());
        assert!(!matches!(status, Ok(200)), "it serves");
    }
    Hub::eventually("it ends", async || first.child.try_wait().unwrap().is_some()).await;
    put(&second.client(network["apiKey"].as_str().unwrap()), "after").await;
}
