//! All blobs in an S3-compatible store.

use reqwest::Method;
use serde_json::json;

use super::{check, fill, run_module};
use crate::support::{Backend, Hub, S3, on_each};

async fn all_blobs_go_to_the_store_and_come_back(backend: Backend) {
    let s3 = S3::start().await;
    let hub = Hub::start_with(backend, |settings| settings.blobs = Some(s3.url())).await;
    let owner = hub.network().await;
    let things = fill(&owner).await;
    let network = owner.network.unwrap();
    let mut kinds: Vec<_> = s3
        .keys()
        .iter()
        .map(|key| key.strip_prefix(&format!("{network}/")).unwrap().split('/').next().unwrap().to_owned())
        .collect();
    kinds.dedup();
    assert_eq!(kinds, ["1", "artifacts", "bundles", "modules"]);
    assert_eq!((s3.keys().len(), s3.unfinished()), (7, 0));
    assert!(!hub.data().join("blobs").exists());
    check(&owner, &things).await;
    let hub = run_module(hub, &owner).await;
    let owner = hub.with_key(owner.key.as_deref().unwrap());

    // Unneeded blobs are deleted there.
    let bundle = owner.request(Method::PUT, "/api/manage/provisioning/bundles/bedwars").body("newer mods");
    owner.send(bundle).await.expect(200);
    assert_eq!(owner.get("/api/plugin/provisioning/agent/bedwars").await.expect(200), "newer mods");
    assert_eq!(s3.keys().len(), 7);
    owner.delete("/api/manage/provisioning/bundles/bedwars").await.expect(204);
    let artifacts = owner.get("/api/manage/artifacts").await.expect(200).clone();
    let id = artifacts["items"][0]["artifactId"].as_str().unwrap().to_owned();
    owner.delete(&format!("/api/manage/artifacts/{id}")).await.expect(204);
    for name in ["large", "inline"] {
        owner.delete(&format!("/api/manage/modules/{name}/1")).await.expect(204);
    }
    assert_eq!(s3.keys().len(), 1, "the snapshot");
}

async fn failed_deletions_are_retried(backend: Backend) {
    let s3 = S3::start().await;
    let hub = Hub::start_with(backend, |settings| settings.blobs = Some(s3.url())).await;
    let owner = hub.network().await;
    let upload = owner.request(Method::POST, "/api/manage/artifacts?name=a&version=1").body("bytes");
    let id = owner.send(upload).await.expect(201)["artifactId"].as_str().unwrap().to_owned();
    s3.allow_writes(0);
    let deleting = tokio::spawn({
        let owner = owner.clone();
        async move { owner.delete(&format!("/api/manage/artifacts/{id}")).await }
    });
    let gone = async || owner.get("/api/manage/artifacts").await.expect(200)["total"] == 0;
    Hub::eventually("its row is gone", gone).await;
    // Like after a kill.
    deleting.abort();
    assert_eq!(s3.keys().len(), 1);
    s3.allow_writes(usize::MAX);
    hub.advance_ms(600_000);
    Hub::eventually("it is deleted", async || s3.keys().is_empty()).await;
    assert_eq!(owner.get("/api/manage/artifacts").await.expect(200)["items"], json!([]));
}

/// The store takes nothing: small blobs and those in parts get the same answer, and the hub continues.
async fn a_store_that_refuses_is_an_error_of_the_hubs(backend: Backend) {
    let s3 = S3::start().await;
    let hub = Hub::start_with(backend, |settings| settings.blobs = Some(s3.url().replace("AKID", "NOBODY"))).await;
    let owner = hub.network().await;
    for size in [10, 12_000_000] {
        let upload = owner.request(Method::POST, "/api/manage/artifacts?name=a&version=1").body(vec![7; size]);
        owner.send(upload).await.expect_error(500, "internal");
    }
    assert_eq!(owner.get("/api/manage/artifacts").await.expect(200)["total"], 0);
    assert_eq!((s3.keys().len(), s3.unfinished()), (0, 0));
}

on_each! {
    a_store_that_refuses_is_an_error_of_the_hubs
    all_blobs_go_to_the_store_and_come_back
    failed_deletions_are_retried
}
