//! Uploads of any bytes: each becomes a module, or is refused with a reason for its author. Nothing panics.
//!
//! The first byte chooses the kind of the rest: the upload itself, the random data for a core module with the
//! contract's imports and exports, or that for any component.
#![no_main]

use hub_fuzz::modules::{embed, sandbox};
use hub_sandbox::{PrepareError, Sandbox};
use libfuzzer_sys::arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use wasm_smith::{Component, Config, Module};

struct Setup {
    runtime: Runtime,
    sandbox: Sandbox,
    folder: TempDir,
    imports: Vec<u8>,
    exports: Vec<u8>,
}

static SETUP: LazyLock<Setup> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let wat = |text: &str| wat::parse_str(text).expect("it is WebAssembly");
    Setup {
        runtime: tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime"),
        sandbox: sandbox(folder.path()),
        folder,
        imports: wat(r#"(module
            (import "network-hub:module/log@1.0.0" "write" (func (param i32 i32 i32)))
            (import "network-hub:module/store@1.0.0" "get" (func (param i32 i32 i32)))
            (import "network-hub:module/store@1.0.0" "increment" (func (param i32 i32 i64 i32 i64 i32))))"#),
        exports: wat(r#"(module
            (memory (export "memory") 1)
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 0))
            (func (export "network-hub:module/chat@1.0.0#filter") (param i32) (result i32) (i32.const 0)))"#),
    }
});

fuzz_target!(|data: &[u8]| {
    let [choice, rest @ ..] = data else { return };
    match choice {
        0 => upload(rest.to_vec()),
        1 => core(rest).map_or((), upload),
        2 => component(rest).map_or((), upload),
        _ => upload(data.to_vec()),
    }
});

fn core(data: &[u8]) -> Option<Vec<u8>> {
    let mut data = Unstructured::new(data);
    let config = Config {
        available_imports: Some(SETUP.imports.clone()),
        exports: Some(SETUP.exports.clone()),
        // With some features that the engine does not have.
        gc_enabled: false,
        exceptions_enabled: false,
        threads_enabled: false,
        relaxed_simd_enabled: data.ratio(1, 8).ok()?,
        memory64_enabled: data.ratio(1, 8).ok()?,
        max_memories: if data.ratio(1, 8).ok()? { 3 } else { 1 },
        max_memory32_bytes: 1 << 30,
        ..Config::default()
    };
    let module = Module::new(config, &mut data).ok()?;
    embed("chat-module", module.to_bytes())
}

fn component(data: &[u8]) -> Option<Vec<u8>> {
    let component = Component::arbitrary(&mut Unstructured::new(data)).ok()?;
    Some(component.to_bytes())
}

fn upload(bytes: Vec<u8>) {
    let outcome = SETUP.runtime.block_on(SETUP.sandbox.prepare(bytes));
    match outcome {
        Ok(prepared) => {
            assert!(!prepared.points.is_empty());
            clean();
        }
        Err(PrepareError::Invalid(reason)) => assert!(!reason.trim().is_empty()),
        Err(PrepareError::Internal(reason)) => panic!("not the upload's fault: {reason}"),
    }
}

/// Deletes the compiled code, which would fill the disk.
fn clean() {
    for version in std::fs::read_dir(SETUP.folder.path()).into_iter().flatten().flatten() {
        for file in std::fs::read_dir(version.path()).into_iter().flatten().flatten() {
            let _ = std::fs::remove_file(file.path());
        }
    }
}
