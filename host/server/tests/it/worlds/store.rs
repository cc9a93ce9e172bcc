//! Snapshots in an S3-compatible store, here a small one of our own that looks at what is signed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::{call, node, open, ready};
use crate::support::{Backend, Client, Hub};

type Objects = Arc<Mutex<HashMap<String, Bytes>>>;

async fn object(
    State(objects): State<Objects>,
    Query(query): Query<HashMap<String, String>>,
    method: Method,
    uri: Uri,
    body: Bytes,
) -> Response {
    let said = |name: &str| query.get(name).map(String::as_str).unwrap_or_default();
    let signed = said("X-Amz-Algorithm") == "AWS4-HMAC-SHA256"
        && said("X-Amz-Credential").starts_with("AKID/20270310/eu-west-1/s3/aws4_request")
        && said("X-Amz-Signature").len() == 64
        && said("X-Amz-SignedHeaders") == "host";
    if !signed {
        return (StatusCode::FORBIDDEN, format!("{query:?}")).into_response();
    }
    let mut objects = objects.lock().unwrap();
    match method {
        Method::PUT => drop(objects.insert(uri.path().to_owned(), body)),
        Method::DELETE => drop(objects.remove(uri.path())),
        _ => {
            return objects
                .get(uri.path())
                .cloned()
                .map_or_else(|| StatusCode::NOT_FOUND.into_response(), IntoResponse::into_response);
        }
    }
    StatusCode::OK.into_response()
}

async fn store() -> (String, Objects) {
    let objects = Objects::default();
    let router = Router::new().fallback(object).with_state(objects.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    (format!("s3://AKID:s3cr%2Fet@{address}/worlds/eu?region=eu-west-1&tls=off"), objects)
}

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
    let (url, objects) = store().await;
    let hub = Hub::start_with(Backend::sqlite(), |settings| settings.snapshots = Some(url)).await;
    let client = hub.network().await;
    node(&client, "n1").await;
    let (id, fence, none) = boot(&client).await;
    assert_eq!((fence, none), (1, None));
    let saved = upload(&client, &id, "first").await;
    let key = saved["blobKey"].as_str().unwrap();
    assert_eq!(objects.lock().unwrap().keys().collect::<Vec<_>>(), [&format!("/worlds/eu/{key}")]);
    // It counts when the node says so.
    call(&client, &id, "heartbeat", "n1", 1, saved).await.expect(200);
    upload(&client, &id, "never spoken of").await;
    client.post("/api/plugin/worlds/release-all", json!({"nodeServerId": "n1"})).await.expect(200);
    let (id, _, booted) = boot(&client).await;
    assert_eq!(booted.as_deref(), Some("first"));
    let saved = upload(&client, &id, "second").await;
    call(&client, &id, "unloaded", "n1", 2, saved).await.expect(200);
    // What came to nothing is deleted from the store, too.
    assert_eq!(objects.lock().unwrap().len(), 2);
    let (id, _, booted) = boot(&client).await;
    assert_eq!(booted.as_deref(), Some("second"));
    for body in ["third", "fourth"] {
        let saved = upload(&client, &id, body).await;
        call(&client, &id, "heartbeat", "n1", 3, saved).await.expect(200);
    }
    let mut kept: Vec<_> = objects.lock().unwrap().values().cloned().collect();
    kept.sort();
    assert_eq!(kept, ["fourth", "third"]);
}
