//! Modules that are too large for their row are blobs.

use hub_sandbox::contract::chat::Decision;
use reqwest::Method;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{chain, point, say, upload, wasm};
use crate::support::{Backend, Hub, NOW, S3, on_both};

const HOUR: i64 = 60 * 60 * 1000;
const LARGE: usize = 2_500_000;

/// The names of all blobs. Of a core module there are two: the component that it is wrapped into is as large.
fn names(hub: &Hub) -> Vec<String> {
    let name = |path: &std::path::PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut names: Vec<_> = hub.blobs().iter().map(name).collect();
    names.sort();
    names
}

on_both! {
    async fn a_large_module_is_loaded_from_its_blobs(hub: Hub) {
        let owner = hub.network().await;
        let bytes = wasm::padded(wasm::moody(1), LARGE);
        let made = upload(&owner, "large", bytes.clone()).await.expect(201).clone();
        assert_eq!((&made["version"], &made["sizeBytes"]), (&json!(1), &json!(LARGE)));
        assert_eq!(names(&hub), ["large-1", "large-1"]);
        let of_upload = hub.data().join("blobs").join(owner.network.unwrap().to_string());
        let of_upload = of_upload.join("modules").join(made["sha256"].as_str().unwrap()).join("large-1");
        assert!(std::fs::read(of_upload).unwrap() == bytes);
        chain(&owner, "chat", json!([{"name": "large", "version": 1}])).await.expect(200);

        // The compiled code is gone.
        let cache = hub.data().join("modules-cache");
        std::fs::remove_dir_all(&cache).unwrap();
        let hub = hub.restart(std::time::Duration::ZERO).await;
        let owner = hub.with_key(owner.key.as_deref().unwrap()).for_network(owner.network.unwrap());
        // It is compiled again for the first call.
        assert!(matches!(say(&hub, &owner, "R").await.decision, Decision::Refuse(_)));
        assert_eq!(point(&owner, "chat").await["modules"][0]["failures"], 0);
        let download = owner.request(Method::GET, "/api/manage/modules/large/1/wasm").send().await.unwrap();
        assert!(download.bytes().await.unwrap() == bytes);
        assert_eq!(upload(&owner, "large", bytes).await.expect(200), &made);

        // A version's blobs are deleted with it, and only its own.
        upload(&owner, "large", wasm::padded(wasm::moody(2), LARGE)).await.expect(201);
        upload(&owner, "small", wasm::moody(3)).await.expect(201);
        chain(&owner, "chat", json!([])).await.expect(200);
        owner.delete("/api/manage/modules/large/1").await.expect(204);
        assert_eq!(names(&hub), ["large-2", "large-2"]);
    }

    async fn the_same_large_module_twice_at_once_is_stored_once(hub: Hub) {
        let owner = hub.network().await;
        let bytes = wasm::padded(wasm::moody(1), LARGE);
        let (one, two) = tokio::join!(upload(&owner, "large", bytes.clone()), upload(&owner, "large", bytes));
        let mut both = [one, two].map(|answer| (answer.status.as_u16(), answer.body["version"].as_i64().unwrap()));
        both.sort_unstable();
        let [(200, known), (201, made)] = both else { panic!("{both:?}") };
        assert_eq!(known, made);
        assert_eq!(names(&hub), [format!("large-{made}"), format!("large-{made}")]);
    }

    async fn a_large_upload_may_carry_an_idempotency_key(hub: Hub) {
        let owner = hub.network().await;
        let bytes = wasm::padded(wasm::moody(1), LARGE);
        let mut answers = Vec::new();
        for _ in 0..2 {
            let request = owner.request(Method::POST, "/api/manage/modules?name=large");
            let request = request.header("Idempotency-Key", "one").body(bytes.clone());
            answers.push(owner.send(request).await.expect(201).clone());
        }
        assert_eq!(answers[0], answers[1]);
        assert_eq!(names(&hub), ["large-1", "large-1"]);
    }

    async fn blobs_stored_without_a_row_by_a_killed_hub_are_swept(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "large", wasm::padded(wasm::moody(1), LARGE)).await.expect(201);
        let network = owner.network.unwrap();
        for (name, delete_at) in [("gone-1", NOW + HOUR), ("gone-2", 0), ("young-1", NOW + 3 * HOUR)] {
            let key = format!("{network}/modules/0123/{name}");
            let file = hub.data().join("blobs").join(&key);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "bytes").unwrap();
            let insert = "INSERT INTO unreferenced_blobs (network_id, blob_key, delete_at) VALUES ($1, $2, $3)";
            hub.app.db.write(insert).bind(network).bind(key).bind(delete_at).execute().await.unwrap();
        }
        hub.advance_ms(2 * HOUR.unsigned_abs());
        Hub::eventually("they are swept", async || names(&hub) == ["large-1", "large-1", "young-1"]).await;
        let left = "SELECT COUNT(*) FROM unreferenced_blobs WHERE network_id = $1";
        let noted = async || hub.app.db.query(left).bind(network).one::<(i64,)>().await.unwrap().0;
        Hub::eventually("they are forgotten", async || noted().await == 1).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_that_has_arrived_is_stored_though_its_sender_hung_up() {
    let s3 = S3::start().await;
    let hub = Hub::start_with(Backend::sqlite(), |settings| settings.blobs = Some(s3.url())).await;
    let owner = hub.network().await;
    // It is begun, and then the store accepts no more.
    s3.allow_writes(1);
    let sending = tokio::spawn({
        let owner = owner.clone();
        async move { upload(&owner, "large", wasm::padded(wasm::moody(1), 12_000_000)).await }
    });
    Hub::eventually("it has begun", async || s3.unfinished() == 1).await;
    sending.abort();
    s3.allow_writes(usize::MAX);
    let stored = async || owner.get("/api/manage/modules/large/1").await.status == 200;
    Hub::eventually("it is stored", async || s3.unfinished() == 0 && stored().await).await;
    assert!(!s3.keys().is_empty());
}

/// Only on SQLite: PostgreSQL limits the time for which a transaction blocks others.
#[tokio::test(flavor = "multi_thread")]
async fn an_upload_keeps_its_permit_until_it_is_stored() {
    let hub = Hub::start(Backend::sqlite()).await;
    let owner = hub.network().await;
    upload(&owner, "large", wasm::moody(0)).await.expect(201);
    let (app, network) = (hub.app.clone(), owner.network.unwrap());
    let (held, released) = (CancellationToken::new(), CancellationToken::new());
    // No other upload gets a version number meanwhile.
    let hold = tokio::spawn({
        let (held, released) = (held.clone(), released.clone());
        async move {
            app.db
                .transaction(async |mut tx| {
                    let names = "UPDATE module_names SET last_version = last_version WHERE network_id = $1";
                    tx.query(names).bind(network).execute().await?;
                    held.cancel();
                    released.cancelled().await;
                    Ok::<_, hub_db::Error>(())
                })
                .await
        }
    });
    held.cancelled().await;
    let stored: Vec<_> = (1..=4)
        .map(|number| {
            let (owner, bytes) = (owner.clone(), wasm::padded(wasm::moody(number), 300_000));
            tokio::spawn(async move { upload(&owner, "large", bytes).await })
        })
        .collect();
    // Prepared modules are in the cache.
    let prepared = || {
        let entries = |folder: std::path::PathBuf| {
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
        };
        let networks = entries(hub.data().join("modules-cache")).into_iter().flat_map(entries);
        networks.flat_map(entries).filter(|file| file.extension().is_some_and(|end| end == "bin")).count()
    };
    Hub::eventually("all are prepared", async || prepared() >= 5).await;
    let fifth = tokio::spawn({
        let owner = owner.clone();
        async move { upload(&owner, "large", wasm::moody(5)).await }
    });
    // In small steps: after days, stored blobs would count as abandoned.
    while !fifth.is_finished() {
        hub.advance_ms(1_000);
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    fifth.await.unwrap().expect_error(429, "rate_limited");
    released.cancel();
    hold.await.unwrap().unwrap();
    for upload in stored {
        // 202 if it was not quite prepared when the hub's clock moved.
        let status = upload.await.unwrap().status.as_u16();
        assert!(matches!(status, 201 | 202), "{status}");
    }
    upload(&owner, "large", wasm::moody(5)).await.expect(201);
}
