//! Snapshots in an S3-compatible store, which nodes reach by presigned URLs.

use serde_json::{Value, json};

use super::{call, node, open, ready};
use crate::support::{Backend, Client, Hub, S3};

async fn upload(client: &Client, id: &Value, body: &'static str) -> Value {
    let path = format!("/api/plugin/worlds/{}/upload-url", id.as_str().unwrap());
    let upload = client.post(&path, Value::Null).await.expect(200).clone();
    let answer =
        hub::http_client::client().unwrap().put(upload["url"].as_str().unwrap()).body(body).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
    json!({"blobKey": upload["blobKey"], "sizeBytes": body.len()})
}

async fn boot(client: &Client) -> (Value, i64, Option<String>) {
    let mut stream = client.events(Some("n1"), None).await;
    let id = open(client, "p").await["worldInstanceId"].clone();
    let told = stream.next_named("WORLD_OPEN").await.data;
    let fence = told["fence"].as_i64().unwrap();
    ready(client, &id, "n1", fence).await;
    let Some(url) = told["snapshotUrl"].as_str() else { return (id, fence, None) };
    (id, fence, Some(hub::http_client::client().unwrap().get(url).send().await.unwrap().text().await.unwrap()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn snapshots_go_to_the_store_by_presigned_urls() {
    let s3 = S3::start().await;
    let hub = Hub::start_with(Backend::sqlite(), |settings| settings.blobs = Some(s3.url())).await;
    let client = hub.network().await;
    node(&client, "n1").await;
    let (id, fence, none) = boot(&client).await;
    assert_eq!((fence, none), (1, None));
    let saved = upload(&client, &id, "first").await;
    let key = saved["blobKey"].as_str().unwrap();
    assert_eq!(s3.keys(), [key]);
    // It counts when the node reports it.
    call(&client, &id, "heartbeat", "n1", 1, saved).await.expect(200);
    upload(&client, &id, "never spoken of").await;
    client.post("/api/plugin/worlds/release-all", json!({"nodeServerId": "n1"})).await.expect(200);
    let (id, _, booted) = boot(&client).await;
    assert_eq!(booted.as_deref(), Some("first"));
    let saved = upload(&client, &id, "second").await;
    call(&client, &id, "unloaded", "n1", 2, saved).await.expect(200);
    // Abandoned uploads are deleted from the store, too, once their links are good for nothing.
    assert_eq!(s3.keys().len(), 3);
    hub.advance_ms(31 * 60_000);
    Hub::eventually("the abandoned upload is deleted", async || s3.keys().len() == 2).await;
    node(&client, "n1").await;
    let (id, _, booted) = boot(&client).await;
    assert_eq!(booted.as_deref(), Some("second"));
    for body in ["third", "fourth"] {
        let saved = upload(&client, &id, body).await;
        call(&client, &id, "heartbeat", "n1", 3, saved).await.expect(200);
    }
    let mut kept = s3.values();
    kept.sort();
    assert_eq!(kept, ["fourth", "third"]);
}
