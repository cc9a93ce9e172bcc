//! Refused uploads, and the reasons for their authors.

use crate::support::{TestSandbox, config, load};
use crate::wat::{allowing, chat_module, core};
use hub_sandbox::contract::Point;
use hub_sandbox::{CompileLimits, Compiler, PrepareError, Sandbox, SandboxConfig};
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

#[tokio::test]
async fn a_core_module_with_its_type_is_wrapped() {
    let test = TestSandbox::new();
    let upload = allowing("wrapped");
    let prepared = test.sandbox.prepare(upload.clone()).await.unwrap();
    assert_eq!(prepared.points, [Point::Chat]);
    assert_eq!(prepared.world_version, "1.0.0");
    assert_ne!(prepared.component, upload);
    assert_ne!(prepared.id, prepared.sha256);
    // The wrapped component is itself a valid module.
    let again = test.sandbox.prepare(prepared.component.clone()).await.unwrap();
    assert_eq!(again.component, prepared.component);
    assert_eq!(again.sha256, prepared.id);
}

#[tokio::test]
async fn an_invalid_upload_is_refused_with_a_reason() {
    let test = TestSandbox::new();
    let plain = wat::parse_str("(module (func (export \"run\")))").unwrap();
    let wasi = wat::parse_str(r#"(module (import "wasi_snapshot_preview1" "fd_write" (func)))"#).unwrap();
    let wasi_component =
        wat::parse_str(r#"(component (import "wasi:cli/environment@0.2.6" (instance (export "x" (func)))))"#).unwrap();
    let empty = wat::parse_str("(component)").unwrap();
    let foreign = wat::parse_str(r#"(component (import "acme:shop/till@1.0.0" (instance)))"#).unwrap();
    let newer = wat::parse_str(r#"(component (import "network-hub:module/log@1.7.0" (instance)))"#).unwrap();
    let start_traps = chat_module("", "(func $trap (unreachable)) (start $trap)");
    for (upload, expected) in [
        (b"".to_vec(), "not a WebAssembly module"),
        (b"MZ\x90\x00\x03garbage".to_vec(), "not a WebAssembly module"),
        (b"\0asm\x01\0\0\0\x01\x05garbage".to_vec(), "not a WebAssembly module that can be read"),
        (b"\0asm\x0d\0\x01\0\x07\xffgarbage".to_vec(), "not a WebAssembly module that can be read"),
        (plain, "does not say which extension points it serves"),
        (wasi, "wasm32-unknown-unknown"),
        (wasi_component, "--stub-wasi"),
        (empty, "exports no extension point"),
        (foreign, "imports `acme:shop/till@1.0.0`, which the hub does not offer"),
        (newer, "this hub supports 1.1.0, 1.0.0"),
        (start_traps, "its trial call of chat.filter failed"),
    ] {
        let why = test.refusal(upload).await;
        assert!(why.contains(expected), "expected «{expected}» in «{why}»");
    }
}

/// A component that imports WASI, of core modules that name these tools, and of one with this name.
fn wasi_component(module: &str, tools: &[&[&str]]) -> Vec<u8> {
    let mut modules = String::new();
    for tools in tools {
        write!(modules, r#"(core module (@custom "producers" "\01\0cprocessed-by\{:02x}"#, tools.len()).unwrap();
        for tool in *tools {
            write!(modules, r"\{:02x}{tool}\01x", tool.len()).unwrap();
        }
        modules += "\"))";
    }
    let text = format!(
        r#"(component (import "wasi:cli/environment@0.2.6" (instance (export "x" (func))))
            {modules} (core module ${module} (func)))"#
    );
    wat::parse_str(text).unwrap()
}

#[tokio::test]
async fn a_wasi_import_is_refused_with_advice_for_the_language() {
    let test = TestSandbox::new();
    for (module, tools, expected, other) in [
        ("a", &[&["rustc", "clang"][..]][..], "wasm32-unknown-unknown instead of wasm32-wasip1", "--stub-wasi"),
        // The adapter to WASI is written in Rust.
        ("a", &[&["clang"], &["rustc"]], "instead of the WASI SDK", "wasm32-wasip1"),
        ("libpython3.14.so", &[&["clang"], &["rustc"]], "componentize-py componentize --stub-wasi", "wasm32-wasip1"),
        ("a", &[&["clang", "rustc"], &["ComponentizeJS"]], "disableFeatures", "--stub-wasi"),
        ("componentize_qjs_runtime.wasm", &[&["rustc"]], "disableFeatures", "wasm32-wasip1"),
    ] {
        let why = test.refusal(wasi_component(module, tools)).await;
        assert!(why.contains("it imports WASI (wasi:cli/environment@0.2.6)"), "{why}");
        assert!(why.contains(expected) && !why.contains(other), "{module} {tools:?}: {why}");
    }
}

#[tokio::test]
async fn exports_of_the_wrong_type_do_not_fit_the_contract() {
    let test = TestSandbox::new();
    let upload = wat::parse_str(
        r#"(component
            (core module $m (func (export "filter")))
            (core instance $i (instantiate $m))
            (func $filter (canon lift (core func $i "filter")))
            (instance $chat (export "filter" (func $filter)))
            (export "network-hub:module/chat@1.0.0" (instance $chat)))"#,
    )
    .unwrap();
    let why = test.refusal(upload).await;
    assert!(why.contains("chat.filter"), "{why}");
}

#[tokio::test]
async fn invalid_code_does_not_compile() {
    let mut upload = core(
        "chat-module",
        r#"(module (memory (export "memory") 1)
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 7777))
        (func (export "network-hub:module/chat@1.0.0#filter") (param i32) (result i32) (i32.const 64)))"#,
    );
    // The constant 7777 becomes an f32 constant of a function that returns i32.
    let constant = [0x41, 0xe1, 0x3c, 0x0b];
    let at = upload.windows(4).position(|bytes| bytes == constant).unwrap();
    upload[at] = 0x43;
    let why = TestSandbox::new().refusal(upload).await;
    assert!(why.contains("not valid WebAssembly"), "{why}");
}

#[tokio::test]
async fn a_memory_larger_than_the_pools_is_refused() {
    let test = TestSandbox::new();
    let huge = core(
        "chat-module",
        r#"(module (memory (export "memory") 2000)
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 7777))
        (func (export "network-hub:module/chat@1.0.0#filter") (param i32) (result i32) (i32.const 64)))"#,
    );
    let why = test.refusal(huge).await;
    assert!(why.contains("memory"), "{why}");
}

fn in_child(limits: CompileLimits, program: PathBuf) -> (Sandbox, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let config = SandboxConfig { compiler: Compiler::Child(program), compile_limits: limits, ..config(folder.path()) };
    (Sandbox::new(config).unwrap(), folder)
}

fn compiler() -> PathBuf {
    env!("CARGO_BIN_EXE_hub-compile-module").into()
}

async fn refusal_in_child(limits: CompileLimits, program: PathBuf, upload: Vec<u8>) -> String {
    let (sandbox, _folder) = in_child(limits, program);
    match sandbox.prepare(upload).await {
        Err(PrepareError::Invalid(why)) => why,
        Err(PrepareError::Internal(why)) => panic!("{why}"),
        Ok(_) => panic!("it became a module"),
    }
}

#[tokio::test]
async fn code_compiled_by_the_child_runs_here() {
    let (sandbox, _folder) = in_child(CompileLimits::default(), compiler());
    let prepared = sandbox.prepare(allowing("child")).await.unwrap();
    assert_eq!(prepared.points, [Point::Chat]);
    assert_eq!(load(&sandbox, prepared).await.points(), [Point::Chat]);
}

#[tokio::test]
async fn the_childs_reasons_reach_the_author() {
    let empty = core("chat-module", "(module)");
    let why = refusal_in_child(CompileLimits::default(), compiler(), empty).await;
    assert!(why.contains("can't be wrapped"), "{why}");
}

/// A module whose compilation takes seconds on any machine: many functions with many branches.
fn compile_bomb() -> Vec<u8> {
    let mut more = String::new();
    for number in 0..4_000 {
        write!(more, "(func (param $a i64) (result i64) ").unwrap();
        for step in 0..60 {
            write!(
                more,
                "(if (i64.gt_u (local.get $a) (i64.const {step})) (then (local.set $a (i64.mul (i64.rotl (local.get $a) (i64.const {number})) (local.get $a)))))"
            )
            .unwrap();
        }
        more.push_str("(local.get $a))");
    }
    chat_module("", &more)
}

#[tokio::test]
async fn a_compilation_over_its_limits_is_ended_and_named() {
    let bomb = compile_bomb();
    let limits = CompileLimits::default();

    let short = CompileLimits { cpu_seconds: 1, ..limits };
    let why = refusal_in_child(short, compiler(), bomb.clone()).await;
    assert!(why.contains("more than 1 s of CPU time"), "{why}");

    let hasty = CompileLimits { wall: Duration::from_millis(50), ..limits };
    let why = refusal_in_child(hasty, compiler(), bomb.clone()).await;
    assert!(why.contains("took longer than 0.05 s"), "{why}");

    let narrow = CompileLimits { memory_bytes: 40 << 20, ..limits };
    let why = refusal_in_child(narrow, compiler(), bomb.clone()).await;
    assert!(why.contains("more than 40 MiB of memory"), "{why}");

    let small = CompileLimits { module_bytes: 1000, ..limits };
    let why = refusal_in_child(small, compiler(), bomb).await;
    assert!(why.contains("more than 1000"), "{why}");
}

#[tokio::test]
async fn a_child_that_dies_or_never_starts_is_an_error() {
    let limits = CompileLimits::default();
    let why = refusal_in_child(limits, "/bin/false".into(), allowing("x")).await;
    assert!(why.contains("the compiler failed on it"), "{why}");

    let (sandbox, _folder) = in_child(limits, "/no/such/program".into());
    let error = sandbox.prepare(allowing("x")).await.unwrap_err();
    assert!(matches!(&error, PrepareError::Internal(why) if why.contains("did not start")), "{error:?}");
}
