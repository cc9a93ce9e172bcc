//! Compiled code on disk: used again, and refused where it is not this hub's own.

use crate::support::{TestSandbox, config, line, relaxed_limits};
use crate::wat::allowing;
use bytes::Bytes;
use hub_sandbox::contract::Point;
use hub_sandbox::{BoxFuture, ComponentSource, FilterChat, Prepared, Sandbox, SandboxConfig};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A source that counts how often it is asked.
struct Counting(Bytes, AtomicUsize);

impl ComponentSource for Counting {
    fn component(&self) -> BoxFuture<'_, Result<Bytes, String>> {
        self.1.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(Ok(self.0.clone())))
    }
}

/// Loads a module in a fresh sandbox over a folder; how often its component was asked for.
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

fn artifact(folder: &Path) -> PathBuf {
    let version = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let files: Vec<_> = std::fs::read_dir(version).unwrap().map(|file| file.unwrap().path()).collect();
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
        // It has been written anew.
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
