//! Modules that are too large for one row are stored in pieces.

use reqwest::Method;
use serde_json::json;

use tokio_util::sync::CancellationToken;

use super::{chain, point, refused, say, slow_upload, upload, wasm};
use crate::support::{Backend, Client, Hub, NOW, on_both};

const HOUR: i64 = 60 * 60 * 1000;
/// More pieces than are read at once, the last of which is not full.
const LARGE: usize = 2_500_000;

/// The versions that have pieces, with how many there are of each part.
async fn pieces(hub: &Hub, owner: &Client) -> Vec<(String, i64, String, i64)> {
    hub.app
        .db
        .query(
            "SELECT name, version, part, COUNT(*) FROM module_pieces WHERE network_id = $1
             GROUP BY name, version, part ORDER BY name, version, part",
        )
        .bind(owner.network.unwrap())
        .all()
        .await
        .unwrap()
}

async fn no_pieces_of(hub: &Hub, owner: &Client, version: i64) {
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(30);
    while pieces(hub, owner).await.iter().any(|of| of.1 == version) {
        assert!(tokio::time::Instant::now() < deadline, "{:?}", pieces(hub, owner).await);
        tokio::task::yield_now().await;
    }
}

fn both_parts(version: i64) -> [(String, i64, String, i64); 2] {
    // A core module: the component that it is wrapped into is as large.
    ["COMPONENT", "UPLOAD"].map(|part| ("large".to_owned(), version, part.to_owned(), 153))
}

on_both! {
    async fn a_large_module_is_loaded_from_its_pieces(hub: Hub) {
        let owner = hub.network().await;
        let bytes = wasm::padded(wasm::moody(1), LARGE);
        let made = upload(&owner, "large", bytes.clone()).await.expect(201).clone();
        assert_eq!((&made["version"], &made["sizeBytes"]), (&json!(1), &json!(LARGE)));
        assert_eq!(pieces(&hub, &owner).await, both_parts(1));
        chain(&owner, "chat", json!([{"name": "large", "version": 1}])).await.expect(200);

        // Nothing of it is compiled any more.
        let cache = hub.data().join("modules-cache");
        std::fs::remove_dir_all(&cache).unwrap();
        let hub = hub.restart(std::time::Duration::ZERO).await;
        let owner = hub.with_key(owner.key.as_deref().unwrap()).for_network(owner.network.unwrap());
        assert_eq!(refused(&say(&hub, &owner, "R").await), "rude");
        assert_eq!(point(&owner, "chat").await["modules"][0]["failures"], 0);
        let download = owner.request(Method::GET, "/api/manage/modules/large/1/wasm").send().await.unwrap();
        assert!(download.bytes().await.unwrap() == bytes);
        assert_eq!(upload(&owner, "large", bytes).await.expect(200), &made);

        // With the version its pieces go, and only its own.
        upload(&owner, "large", wasm::padded(wasm::moody(2), LARGE)).await.expect(201);
        chain(&owner, "chat", json!([])).await.expect(200);
        owner.delete("/api/manage/modules/large/1").await.expect(204);
        no_pieces_of(&hub, &owner, 1).await;
        assert_eq!(pieces(&hub, &owner).await, both_parts(2));
    }

    async fn the_same_large_module_twice_at_once_is_stored_once(hub: Hub) {
        let owner = hub.network().await;
        let bytes = wasm::padded(wasm::moody(1), LARGE);
        let (one, two) = tokio::join!(upload(&owner, "large", bytes.clone()), upload(&owner, "large", bytes));
        let mut both = [one, two].map(|answer| (answer.status.as_u16(), answer.body["version"].as_i64().unwrap()));
        both.sort_unstable();
        let [(200, known), (201, made)] = both else { panic!("{both:?}") };
        assert_eq!(known, made);
        no_pieces_of(&hub, &owner, 3 - made).await;
        assert_eq!(pieces(&hub, &owner).await, both_parts(made));
    }

    async fn nothing_stays_of_an_upload_whose_sender_hung_up(hub: Hub) {
        let owner = hub.network().await;
        // Storing it takes seconds.
        let bytes = wasm::padded(wasm::moody(1), 4 * LARGE);
        let sending = tokio::spawn({
            let owner = owner.clone();
            async move { upload(&owner, "large", bytes).await }
        });
        while pieces(&hub, &owner).await.is_empty() {
            assert!(!sending.is_finished());
            tokio::task::yield_now().await;
        }
        sending.abort();
        no_pieces_of(&hub, &owner, 1).await;
        owner.get("/api/manage/modules/large/1").await.expect_error(404, "unknown_module");
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
        assert_eq!(pieces(&hub, &owner).await, both_parts(1));
    }

    async fn pieces_that_a_killed_hub_left_behind_are_swept(hub: Hub) {
        let (owner, other) = (hub.network().await, hub.network().await);
        upload(&owner, "large", wasm::padded(wasm::moody(1), LARGE)).await.expect(201);
        for (client, name, version, age) in [
            (&owner, "gone", 1_i64, HOUR + 1),
            (&owner, "large", 7, HOUR + 1),
            (&owner, "young", 1, HOUR),
            (&other, "gone", 1, HOUR + 1),
        ] {
            for part in ["COMPONENT", "UPLOAD"] {
                for piece in 0..40_i64 {
                    let insert = "INSERT INTO module_pieces (network_id, name, version, part, piece, created_at, bytes)
                                  VALUES ($1, $2, $3, $4, $5, $6, $7)";
                    let row = hub.app.db.write(insert).bind(client.network.unwrap()).bind(name.to_owned());
                    let row = row.bind(version).bind(part.to_owned()).bind(piece);
                    row.bind(NOW + 2 * HOUR - age).bind(vec![0_u8; 9]).execute().await.unwrap();
                }
            }
        }
        hub.advance_ms(2 * HOUR.unsigned_abs());
        upload(&owner, "large", wasm::padded(wasm::moody(2), LARGE)).await.expect(201);
        let left: Vec<_> = pieces(&hub, &owner).await.into_iter().map(|(name, version, ..)| (name, version)).collect();
        let expected = [("large", 1), ("large", 1), ("large", 2), ("large", 2), ("young", 1), ("young", 1)];
        assert_eq!(left, expected.map(|(name, version)| (name.to_owned(), version)));
        assert_eq!(pieces(&hub, &other).await.len(), 2);
    }
}

/// PostgreSQL lets nobody hold what others wait for.
#[tokio::test(flavor = "multi_thread")]
async fn an_upload_has_its_place_until_it_is_stored() {
    let hub = Hub::start(Backend::sqlite()).await;
    let owner = hub.network().await;
    upload(&owner, "large", wasm::moody(0)).await.expect(201);
    let (app, network) = (hub.app.clone(), owner.network.unwrap());
    let (held, go_on) = (CancellationToken::new(), CancellationToken::new());
    // Nobody takes a number for a version while this goes on.
    let hold = tokio::spawn({
        let (held, go_on) = (held.clone(), go_on.clone());
        async move {
            app.db
                .transaction(async |mut tx| {
                    let names = "UPDATE module_names SET last_version = last_version WHERE network_id = $1";
                    tx.query(names).bind(network).execute().await?;
                    held.cancel();
                    go_on.cancelled().await;
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
    // What is prepared is in the cache.
    let prepared = || {
        let engines = std::fs::read_dir(hub.data().join("modules-cache")).unwrap();
        let files = engines.flat_map(|engine| std::fs::read_dir(engine.unwrap().path()).unwrap());
        files.filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|end| end == "bin")).count()
    };
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_mins(1);
    while prepared() < 5 {
        assert!(tokio::time::Instant::now() < deadline);
        tokio::task::yield_now().await;
    }
    let fifth = tokio::time::timeout_at(deadline, slow_upload(&hub, &owner, "large", wasm::moody(5))).await;
    fifth.expect("it has no place").expect_error(429, "rate_limited");
    go_on.cancel();
    hold.await.unwrap().unwrap();
    for upload in stored {
        // 202 where it was not quite prepared when the hub's clock went on.
        let status = upload.await.unwrap().status.as_u16();
        assert!(matches!(status, 201 | 202), "{status}");
    }
    upload(&owner, "large", wasm::moody(5)).await.expect(201);
}
