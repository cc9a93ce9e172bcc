//! Compiled code on disk: used again, and refused if it is not this hub's own.

use crate::support::{TestSandbox, config, line, relaxed_limits};
use crate::wat::allowing;
use bytes::Bytes;
use hub_sandbox::contract::Point;
use hub_sandbox::{BoxFuture, ComponentSource, FilterChat, Prepared, Sandbox, SandboxConfig};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A source that counts its requests.
struct Counting(Bytes, AtomicUsize);

impl ComponentSource for Counting {
    fn component(&self) -> BoxFuture<'_, Result<Bytes, String>> {
        self.1.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(Ok(self.0.clone())))
    }
}

/// Loads a module in a fresh sandbox over a folder; returns the number of requests for its component.
async fn asked(config: SandboxConfig, prepared: &Prepared) -> usize {
    let sandbox = Sandbox::new(config).unwrap();
    let source = Arc::new(Counting(prepared.component.clone(), AtomicUsize::new(0)));
    let module = sandbox.load(prepared.id, Arc::clone(&source) as Arc<dyn ComponentSource>).await.unwrap();
    let host = Arc::new(hub_sandbox::EmptyHost);
    let report = sandbox
        .call::<FilterChat>(
            &module,
            relaxed_limits(Point::Chat),
            host,
            crate::support::context("{}"),
            Arc::new(line("hi")),
        )
        .await;
    assert!(report.result.is_ok(), "{report:?}");
    source.1.load(Ordering::SeqCst)
}

#[tokio::test]
async fn code_that_several_load_at_once_is_read_and_compiled_once() {
    let test = TestSandbox::new();
    let prepared = test.sandbox.prepare(allowing("at once")).await.unwrap();
    let empty = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::new(config(empty.path())).unwrap();
    let source = Arc::new(Counting(prepared.component.clone(), AtomicUsize::new(0)));
    let load = || sandbox.load(prepared.id, Arc::clone(&source) as Arc<dyn ComponentSource>);
    let loaded = tokio::join!(load(), load(), load());
    assert!(loaded.0.is_ok() && loaded.1.is_ok() && loaded.2.is_ok());
    assert_eq!(source.1.load(Ordering::SeqCst), 1);
}

/// All files of the cache.
fn artifacts(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { artifacts(&path) } else { vec![path] }).collect()
}

fn artifact(folder: &Path) -> PathBuf {
    let files = artifacts(folder);
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

#[tokio::test]
async fn compiled_code_survives_a_restart() {
    let test = TestSandbox::new();
    let prepared = test.sandbox.prepare(allowing("restart")).await.unwrap();
    assert_eq!(asked(config(test.folder.path()), &prepared).await, 0);
}

#[tokio::test]
async fn a_file_that_was_tampered_with_is_refused_and_compiled_again() {
    let test = TestSandbox::new();
    let prepared = test.sandbox.prepare(allowing("tampered")).await.unwrap();
    let path = artifact(test.folder.path());
    let intact = std::fs::read(&path).unwrap();
    let mut flipped = intact.clone();
    *flipped.last_mut().unwrap() ^= 1;
    for forged in [flipped, intact[..20].to_vec(), Vec::new(), intact[32..].to_vec()] {
        std::fs::write(&path, forged).unwrap();
        assert_eq!(asked(config(test.folder.path()), &prepared).await, 1);
        // It has been rewritten.
        assert_eq!(asked(config(test.folder.path()), &prepared).await, 0);
    }
}

#[tokio::test]
async fn another_hubs_code_and_another_modules_code_are_refused() {
    let test = TestSandbox::new();
    let one = test.sandbox.prepare(allowing("one")).await.unwrap();
    let path = artifact(test.folder.path());
    let two = test.sandbox.prepare(allowing("two")).await.unwrap();
    std::fs::copy(path.with_file_name(format!("{}.bin", two.id)), &path).unwrap();
    assert_eq!(asked(config(test.folder.path()), &one).await, 1);

    let other_key = SandboxConfig { mac_key: [8; 32], ..config(test.folder.path()) };
    assert_eq!(asked(other_key, &one).await, 1);
}

#[tokio::test]
async fn a_source_with_another_component_is_refused() {
    let test = TestSandbox::new();
    let one = test.sandbox.prepare(allowing("one")).await.unwrap();
    let two = test.sandbox.prepare(allowing("two")).await.unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::new(config(elsewhere.path())).unwrap();
    let error = sandbox.load(one.id, Arc::new(two.component)).await.unwrap_err();
    assert!(error.to_string().contains("the stored component is"), "{error}");
}

#[tokio::test]
async fn a_module_evicted_from_memory_is_loaded_again_when_called() {
    let folder = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::new(SandboxConfig { cache_bytes: 1, ..config(folder.path()) }).unwrap();
    let prepared = sandbox.prepare(allowing("evicted")).await.unwrap();
    let module = sandbox.load(prepared.id, Arc::new(prepared.component)).await.unwrap();
    // The folder may be lost as well.
    for lose_the_folder in [false, true] {
        if lose_the_folder {
            std::fs::remove_file(artifact(folder.path())).unwrap();
        }
        let host = Arc::new(hub_sandbox::EmptyHost);
        let context = crate::support::context("{}");
        let report =
            sandbox.call::<FilterChat>(&module, relaxed_limits(Point::Chat), host, context, Arc::new(line("hi"))).await;
        assert!(report.result.is_ok(), "{report:?}");
    }
}

#[tokio::test]
async fn nothing_stays_of_a_module_that_is_refused() {
    let test = TestSandbox::new();
    let why = test.refusal(crate::wat::chat_module("(unreachable)", "")).await;
    assert!(why.contains("trial call"), "{why}");
    let why = test.refusal(b"no module".to_vec()).await;
    assert!(why.contains("not a WebAssembly module"), "{why}");
    assert_eq!(artifacts(test.folder.path()), Vec::<PathBuf>::new());
    test.sandbox.prepare(allowing("accepted")).await.unwrap();
    artifact(test.folder.path());
}

/// Prepares a module for a network; returns the file of its code.
async fn prepared_for(sandbox: &Sandbox, folder: &Path, network: &str, name: &str) -> (Prepared, PathBuf) {
    let permit = sandbox.upload_permit(network).await;
    let prepared = sandbox.prepare_for(&permit, allowing(name)).await.unwrap();
    let file = format!("{network}/{}.bin", prepared.id);
    let path = artifacts(folder).into_iter().find(|path| path.ends_with(&file)).unwrap();
    (prepared, path)
}

/// Sets the last use of a file to that many days ago.
fn age(path: &Path, days: u64) {
    let used_at = std::fs::metadata(path).unwrap().modified().unwrap() - Duration::from_hours(24 * days);
    std::fs::File::options().append(true).open(path).unwrap().set_modified(used_at).unwrap();
}

#[tokio::test]
async fn least_recently_used_module_of_a_network_is_evicted_for_its_next() {
    let sizes = TestSandbox::new();
    sizes.sandbox.prepare(allowing("size")).await.unwrap();
    let size = std::fs::metadata(artifact(sizes.folder.path())).unwrap().len();

    let bounded = |config: &mut SandboxConfig| {
        config.disk_cache_bytes_per_network = size * 5 / 2;
        config.disk_cache_bytes = size * 9 / 2;
        // Each call must load the code from disk.
        config.cache_bytes = 0;
    };
    let test = TestSandbox::with(bounded);
    let (sandbox, folder) = (&test.sandbox, test.folder.path());
    let (_, other) = prepared_for(sandbox, folder, "other", "one").await;
    age(&other, 9);
    let (first, first_path) = prepared_for(sandbox, folder, "many", "one").await;
    age(&first_path, 8);
    let (_, second_path) = prepared_for(sandbox, folder, "many", "two").await;
    age(&second_path, 7);
    // A file that is used again is not the oldest any more.
    sandbox.load(first.id, Arc::new(OfNetwork("many", first.component.clone()))).await.unwrap();
    let (_, third_path) = prepared_for(sandbox, folder, "many", "three").await;
    let exist = |paths: &[&PathBuf]| paths.iter().map(|path| path.exists()).collect::<Vec<_>>();
    assert_eq!(exist(&[&first_path, &second_path, &third_path, &other]), [true, false, true, true]);

    // Of all networks together the oldest is evicted.
    let (_, fourth_path) = prepared_for(sandbox, folder, "third", "one").await;
    assert_eq!(exist(&[&first_path, &third_path, &other, &fourth_path]), [true; 4]);
    let (_, fifth_path) = prepared_for(sandbox, folder, "third", "two").await;
    assert_eq!(exist(&[&first_path, &third_path, &other, &fourth_path, &fifth_path]), [true, true, false, true, true]);

    // A restart keeps the times of use, and applies lowered bounds.
    let restarted = |bytes| {
        let mut config = config(folder);
        bounded(&mut config);
        Sandbox::new(SandboxConfig { disk_cache_bytes: bytes, ..config }).unwrap()
    };
    age(&third_path, 5);
    drop(restarted(size * 9 / 2));
    assert_eq!(artifacts(folder).len(), 4);
    drop(restarted(size * 7 / 2));
    assert_eq!(exist(&[&first_path, &third_path, &fourth_path, &fifth_path]), [true, false, true, true]);
    // Code that alone exceeds the bound runs, and is not written.
    let tiny = restarted(size / 2);
    assert!(artifacts(folder).is_empty());
    tiny.prepare(allowing("tiny")).await.unwrap();
    assert!(artifacts(folder).is_empty());
}

/// A component of a network.
struct OfNetwork(&'static str, Bytes);

impl ComponentSource for OfNetwork {
    fn component(&self) -> BoxFuture<'_, Result<Bytes, String>> {
        Box::pin(std::future::ready(Ok(self.1.clone())))
    }

    fn network(&self) -> String {
        self.0.to_owned()
    }
}
