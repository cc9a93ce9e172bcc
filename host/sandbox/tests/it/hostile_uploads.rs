//! Hostile uploads: each is refused with a reason for its author, within the limits of compiling.

use crate::support::{TestSandbox, config};
use crate::wat::{allowing, chat_module, core, typed};
use hub_sandbox::contract::Point;
use hub_sandbox::{CompileLimits, Compiler, PrepareError, Sandbox, SandboxConfig};
use std::fmt::Write;
use std::time::Duration;
use wasm_encoder::{
    CodeSection, Component, ComponentTypeSection, EntityType, Function, FunctionSection, ImportSection, Module,
    PrimitiveValType, RawSection, TypeSection,
};

/// Limits that a bomb reaches soon.
fn tight() -> CompileLimits {
    CompileLimits { wall: Duration::from_secs(30), cpu_seconds: 2, ..CompileLimits::default() }
}

/// Prepares an upload that a child compiles.
async fn uploaded(limits: CompileLimits, upload: Vec<u8>) -> Result<Vec<Point>, String> {
    let folder = tempfile::tempdir().unwrap();
    let compiler = Compiler::Child(env!("CARGO_BIN_EXE_hub-compile-module").into());
    let config = SandboxConfig { compiler, compile_limits: limits, ..config(folder.path()) };
    match Sandbox::new(config).unwrap().prepare(upload).await {
        Ok(prepared) => Ok(prepared.points),
        Err(PrepareError::Invalid(why)) => Err(why),
        Err(PrepareError::Internal(why)) => panic!("{why}"),
    }
}

async fn refused(upload: Vec<u8>) -> String {
    uploaded(tight(), upload).await.unwrap_err()
}

fn is_cut_off(why: &str) -> bool {
    why.contains("CPU time") || why.contains("MiB of memory") || why.contains("took longer than")
}

/// A core module of this many functions without parameters that do nothing.
fn functions(count: u32) -> Vec<u8> {
    let (mut types, mut functions, mut code) = (TypeSection::new(), FunctionSection::new(), CodeSection::new());
    types.ty().function([], []);
    let mut body = Function::new([]);
    body.instructions().end();
    for _ in 0..count {
        functions.function(0);
        code.function(&body);
    }
    let mut module = Module::new();
    module.section(&types).section(&functions).section(&code);
    module.finish()
}

#[tokio::test]
async fn a_million_functions_are_refused() {
    let why = refused(typed("chat-module", functions(1_000_001))).await;
    assert!(why.contains("functions count") || is_cut_off(&why), "{why}");
    let why = refused(typed("chat-module", functions(1_000_000))).await;
    assert!(is_cut_off(&why) || why.contains("can't be wrapped"), "{why}");
}

/// Text of a function in this many blocks, each in the next.
fn nested_blocks(depth: usize) -> String {
    format!("(func {}{})", "block\n".repeat(depth), "end\n".repeat(depth))
}

/// A function that jumps by tables of this many targets, again and again.
fn jump_tables(targets: usize, times: usize) -> String {
    let jump = format!("(block (br_table {} (local.get 0)))", "0 ".repeat(targets));
    format!("(func (param i32) {})", jump.repeat(times))
}

#[tokio::test]
async fn code_made_to_be_slow_to_compile_is_refused_or_compiled_within_the_limits() {
    let step = "(local.set 0 (i64.mul (i64.rotl (local.get 0) (local.get 1)) (i64.add (local.get 0) (local.get 2))))";
    let huge = format!("(func (param i64 i64 i64) {})", step.repeat(150_000));
    let locals = format!("(func (local {}))", "i64 ".repeat(49_000)).repeat(40);
    for (name, more) in [
        ("huge function", huge),
        ("blocks in blocks", nested_blocks(60_000)),
        ("jump tables", jump_tables(20_000, 60)),
        ("locals", locals),
    ] {
        if let Err(why) = uploaded(tight(), chat_module("", &more)).await {
            assert!(is_cut_off(&why) || why.contains("it does not compile"), "{name}: {why}");
        }
    }
}

#[tokio::test]
async fn a_function_over_the_engines_own_limits_is_invalid() {
    let locals = format!("(func (local {}))", "i64 ".repeat(50_001));
    let why = refused(chat_module("", &locals)).await;
    assert!(why.contains("too many locals"), "{why}");
}

#[tokio::test]
async fn start_functions_that_trap_or_loop_fail_the_trial() {
    let test = TestSandbox::new();
    let why = test.refusal(chat_module("", "(func $trap (unreachable)) (start $trap)")).await;
    assert!(why.contains("its trial call of chat.filter failed: the module trapped"), "{why}");
    let why = test.refusal(chat_module("", "(func $spin (loop $again (br $again))) (start $spin)")).await;
    assert!(why.contains("its trial call of chat.filter failed: the call used up its fuel"), "{why}");
}

#[tokio::test]
async fn segments_and_tables_that_do_not_fit_are_refused() {
    let test = TestSandbox::new();
    let outside = r#"(data (i32.const 65530) "longer than there is room for")"#;
    let why = test.refusal(chat_module("", outside)).await;
    assert!(why.contains("out of bounds memory access"), "{why}");

    let element = format!("(func $f) (table 10 funcref) (elem (i32.const 0) {})", "$f ".repeat(5000));
    let why = test.refusal(chat_module("", &element)).await;
    assert!(why.contains("out of bounds table access"), "{why}");

    let why = test.refusal(chat_module("", "(table 2000000 funcref)")).await;
    assert!(why.contains("table"), "{why}");
    let why = test.refusal(chat_module("", &"(table 1 funcref)".repeat(40))).await;
    assert!(why.contains("tables"), "{why}");
    let why = test.refusal(chat_module("", &"(global (mut i64) (i64.const 1))".repeat(200_000))).await;
    assert!(why.contains("size"), "{why}");
}

#[tokio::test]
async fn a_segment_as_large_as_the_memory_may_be_is_fine() {
    let upload = core(
        "chat-module",
        r#"(module (memory (export "memory") 1024)
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 8192))
        (func (export "network-hub:module/chat@1.0.0#filter") (param i32) (result i32) (i32.const 64))
        (data (i32.const 67108860) "last"))"#,
    );
    assert_eq!(TestSandbox::new().sandbox.prepare(upload).await.unwrap().points, [Point::Chat]);
}

#[tokio::test]
async fn too_many_names_are_refused() {
    let mut types = TypeSection::new();
    types.ty().function([], []);
    let mut imports = ImportSection::new();
    for number in 0..200_000 {
        imports.import("network-hub:module/log@1.0.0", &format!("write{number}"), EntityType::Function(0));
    }
    let mut module = Module::new();
    module.section(&types).section(&imports);
    let why = refused(typed("chat-module", module.finish())).await;
    assert!(why.contains("can't be wrapped"), "{why}");

    let mut exports = String::new();
    for number in 0..100_000 {
        write!(exports, "(export \"x{number}\" (func 0))").unwrap();
    }
    // Exports that the world does not have are ignored, or too many.
    if let Err(why) = uploaded(tight(), chat_module("", &exports)).await {
        assert!(is_cut_off(&why) || why.contains("can't be wrapped"), "{why}");
    }
}

#[tokio::test]
async fn nested_components_and_types_are_refused() {
    let mut inner = Component::new().finish();
    for _ in 0..3000 {
        let mut outer = Component::new();
        outer.section(&RawSection { id: 4, data: &inner });
        inner = outer.finish();
    }
    let why = refused(inner).await;
    assert!(why.contains("not a WebAssembly module") || why.contains("extension point"), "{why}");

    let mut types = ComponentTypeSection::new();
    types.defined_type().list(PrimitiveValType::U8);
    for number in 0..50_000 {
        types.defined_type().list(wasm_encoder::ComponentValType::Type(number));
    }
    let mut component = Component::new();
    component.section(&types);
    let why = refused(component.finish()).await;
    assert!(why.contains("not a WebAssembly module") || why.contains("extension point"), "{why}");

    // With an export that makes the hub parse them.
    let deep = format!(
        r#"(component {} (core module $m (func (export "f")))
            (core instance $i (instantiate $m))
            (type $f (func (param "x" $t{depth})))
            (instance $chat)
            (export "network-hub:module/chat@1.0.0" (instance $chat)))"#,
        (0..=5000).fold(String::new(), |text, depth| match depth {
            0 => "(type $t0 (list u8))".to_owned(),
            _ => text + &format!("(type $t{depth} (list $t{}))", depth - 1),
        }),
        depth = 5000,
    );
    let why = refused(wat::parse_str(deep).unwrap()).await;
    assert!(!why.is_empty());
}

#[tokio::test]
async fn names_that_are_not_utf8_are_refused() {
    // The export's name, in place.
    let mut upload = allowing("no text");
    let name = b"network-hub:module/chat@1.0.0#filter";
    let at = upload.windows(name.len()).position(|bytes| bytes == name).unwrap();
    upload[at] = 0xff;
    let why = refused(upload).await;
    assert!(why.contains("UTF-8"), "{why}");
}
