//! Blobs of an older hub: files in its data folder, and modules in its database.

use std::path::Path;
use std::time::Duration;

use hub::values::NetworkId;
use hub_db::Db;

use super::{check, fill, run_module};
use crate::support::{Backend, Client, Hub, S3, files, on_each};

const DAY: u64 = 24 * 60 * 60 * 1000;
const RUN_EVERY: u64 = 10 * 60 * 1000;
/// An artifact, a bundle, a snapshot, and two modules with their components.
const BLOBS: usize = 7;

/// Moves all blobs to their places in an older hub.
async fn age(db: &Db, data: &Path, network: NetworkId) {
    let blobs = data.join("blobs");
    let all = files(&blobs);
    assert_eq!(all.len(), BLOBS);
    for file in all {
        let key = file.strip_prefix(&blobs).unwrap().to_str().unwrap();
        let parts: Vec<_> = key.split('/').collect();
        let old = match parts[..] {
            [network, kind @ ("artifacts" | "bundles"), _, id] => format!("files/{kind}/{network}/{id}"),
            [_, "modules", sha256, name] => {
                let (name, version) = name.rsplit_once('-').unwrap();
                let bytes = std::fs::read(&file).unwrap();
                age_module(db, network, name, version.parse().unwrap(), sha256, bytes).await;
                std::fs::remove_file(file).unwrap();
                continue;
            }
            [..] => format!("worlds/{key}"),
        };
        std::fs::create_dir_all(data.join(&old).parent().unwrap()).unwrap();
        std::fs::rename(file, data.join(old)).unwrap();
    }
    std::fs::remove_dir_all(blobs).unwrap();
}

async fn age_module(db: &Db, network: NetworkId, name: &str, version: i64, sha256: &str, bytes: Vec<u8>) {
    let sql = "SELECT sha256 FROM modules WHERE network_id = $1 AND name = $2 AND version = $3";
    let (of_upload,): (String,) = db.query(sql).bind(network).bind(name).bind(version).one().await.unwrap();
    let part = if of_upload == sha256 { "UPLOAD" } else { "COMPONENT" };
    if name == "inline" {
        // Like the first hubs did.
        let update = if part == "UPLOAD" {
            "UPDATE module_code SET upload = $4 WHERE network_id = $1 AND name = $2 AND version = $3"
        } else {
            "UPDATE module_code SET component = $4 WHERE network_id = $1 AND name = $2 AND version = $3"
        };
        db.write(update).bind(network).bind(name).bind(version).bind(bytes).execute().await.unwrap();
        return;
    }
    db.transaction(async |mut tx| {
        for (piece, chunk) in (0_i64..).zip(bytes.chunks(16 * 1024)) {
            let insert = "INSERT INTO module_pieces (network_id, name, version, part, piece, created_at, bytes)
                          VALUES ($1, $2, $3, $4, $5, $6, $7)";
            let row = tx.query(insert).bind(network).bind(name).bind(version).bind(part).bind(piece);
            row.bind(crate::support::NOW).bind(chunk).execute().await?;
        }
        Ok::<_, hub_db::Error>(())
    })
    .await
    .unwrap();
}

async fn count(hub: &Hub, sql: &'static str, owner: &Client) -> i64 {
    hub.app.db.query(sql).bind(owner.network.unwrap()).one::<(i64,)>().await.unwrap().0
}

async fn moved(hub: &Hub, owner: &Client) -> i64 {
    count(hub, "SELECT COUNT(*) FROM blob_moves WHERE network_id = $1", owner).await
}

/// Bytes still in the database, and number of files.
async fn left(hub: &Hub, owner: &Client) -> (i64, usize) {
    let rows = "SELECT COUNT(*) FROM (
                    SELECT piece FROM module_pieces WHERE network_id = $1
                    UNION ALL SELECT version FROM module_code WHERE network_id = $1 AND length(upload) > 262144
                    UNION ALL SELECT version FROM module_code WHERE network_id = $1 AND length(component) > 262144) x";
    let old = ["files", "worlds"].map(|folder| files(&hub.data().join(folder)).len());
    (count(hub, rows, owner).await, old.iter().sum())
}

async fn move_and_check(from: Hub, owner: Client, things: super::Things, s3: Option<&S3>) {
    age(&from.app.db, from.data(), owner.network.unwrap()).await;
    let backend = from.stop().await;
    let hub = Hub::start_with(backend, |settings| settings.blobs = s3.map(S3::url)).await;
    let owner = hub.with_key(owner.key.as_deref().unwrap()).for_network(owner.network.unwrap());
    // Moved or not yet.
    check(&owner, &things).await;
    Hub::eventually("all of it is moved", async || moved(&hub, &owner).await == BLOBS as i64).await;
    let of_store = || s3.map_or_else(|| hub.blobs().len(), |s3| s3.keys().len());
    assert_eq!(of_store(), BLOBS);
    check(&owner, &things).await;
    let (rows, old) = left(&hub, &owner).await;
    assert_eq!((rows > 700, old), (true, 3), "nodes of the older version serve it as before");

    // Step by step: waits for the clock must not be skipped.
    hub.advance_ms(DAY - RUN_EVERY);
    assert_eq!(left(&hub, &owner).await, (rows, old));
    hub.advance_ms(RUN_EVERY);
    Hub::eventually("the old places are empty", async || left(&hub, &owner).await == (0, 0)).await;
    Hub::eventually("that is forgotten", async || moved(&hub, &owner).await == 0).await;
    assert_eq!(of_store(), BLOBS);
    check(&owner, &things).await;
    let hub = run_module(hub, &owner).await;
    check(&hub.with_key(owner.key.as_deref().unwrap()), &things).await;
}

async fn an_older_hubs_blobs_are_moved_into_the_folder(backend: Backend) {
    let hub = Hub::start(backend).await;
    let owner = hub.network().await;
    let things = fill(&owner).await;
    move_and_check(hub, owner, things, None).await;
}

async fn an_older_hubs_blobs_are_moved_into_a_bucket(backend: Backend) {
    let hub = Hub::start(backend).await;
    let owner = hub.network().await;
    let things = fill(&owner).await;
    move_and_check(hub, owner, things, Some(&S3::start().await)).await;
}

async fn a_move_interrupted_by_a_kill_continues(backend: Backend) {
    let s3 = S3::start().await;
    let hub = Hub::start(backend).await;
    let owner = hub.network().await;
    let things = fill(&owner).await;
    age(&hub.app.db, hub.data(), owner.network.unwrap()).await;
    let backend = hub.stop().await;
    // Each start gets some writes further, and is killed in the middle of one.
    s3.allow_writes(0);
    let mut hub = Hub::start_with(backend, |settings| settings.blobs = Some(s3.url())).await;
    for writes in [1, 3, 5, 4, 2] {
        s3.allow_writes(writes);
        tokio::time::sleep(Duration::from_millis(300)).await;
        hub = hub.abandon(Duration::from_millis(RUN_EVERY)).await;
    }
    let owner = hub.with_key(owner.key.as_deref().unwrap()).for_network(owner.network.unwrap());
    s3.allow_writes(usize::MAX);
    let mut steps = 0;
    Hub::eventually("all of it is moved", async || {
        // Several of them were at the same blob: the losers try again.
        steps += 1;
        if steps % 100 == 0 {
            hub.advance_ms(RUN_EVERY);
        }
        moved(&hub, &owner).await == BLOBS as i64
    })
    .await;
    check(&owner, &things).await;
    hub.advance_ms(2 * DAY);
    Hub::eventually("the old places are empty", async || left(&hub, &owner).await == (0, 0)).await;
    check(&owner, &things).await;
    // Half-finished uploads are swept.
    hub.advance_ms(2 * DAY);
    Hub::eventually("nothing but the blobs", async || s3.keys().len() == BLOBS).await;
    check(&owner, &things).await;
}

async fn damaged_or_unowned_blobs_stay_in_place(backend: Backend) {
    let hub = Hub::start(backend).await;
    let owner = hub.network().await;
    let things = fill(&owner).await;
    let network = owner.network.unwrap();
    age(&hub.app.db, hub.data(), network).await;
    let artifacts = hub.data().join(format!("files/artifacts/{network}"));
    let artifact = files(&artifacts).pop().unwrap();
    let mut bytes = things.artifact.clone();
    bytes[7] ^= 1;
    std::fs::write(&artifact, &bytes).unwrap();
    std::fs::write(artifacts.join("nobodys"), "x").unwrap();
    std::fs::create_dir_all(hub.data().join("files/incoming")).unwrap();
    std::fs::write(hub.data().join("files/incoming/in-half"), "x").unwrap();
    let hub = hub.restart(Duration::ZERO).await;
    let owner = hub.with_key(owner.key.as_deref().unwrap()).for_network(network);
    Hub::eventually("the others are moved", async || moved(&hub, &owner).await == BLOBS as i64 - 1).await;
    hub.advance_ms(DAY);
    Hub::eventually("their old places are empty", async || moved(&hub, &owner).await == 0).await;
    assert_eq!(left(&hub, &owner).await, (0, 2));
    assert!(artifact.exists() && artifacts.join("nobodys").exists());
}

on_each! {
    an_older_hubs_blobs_are_moved_into_the_folder
    an_older_hubs_blobs_are_moved_into_a_bucket
    a_move_interrupted_by_a_kill_continues
    damaged_or_unowned_blobs_stay_in_place
}
