//! Modules made of WebAssembly text.

use std::path::Path;
use wit_component::StringEncoding;
use wit_parser::Resolve;

/// A core module, from WebAssembly text, that carries the type of one of the contract's worlds.
pub(crate) fn core(world: &str, text: &str) -> Vec<u8> {
    typed(world, wat::parse_str(text).unwrap())
}

/// A core module with the type of one of the contract's worlds.
pub(crate) fn typed(world: &str, module: Vec<u8>) -> Vec<u8> {
    typed_as("1.0", world, module)
}

/// A core module with the type of a world of a version of the contract.
fn typed_as(version: &str, world: &str, mut module: Vec<u8>) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins-sdk/wit").join(version);
    let (package, _) = resolve.push_path(folder).unwrap();
    let world = resolve.select_world(&[package], Some(world)).unwrap();
    wit_component::embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    module
}

/// A chat module whose `filter` has this body; its answer lies at address 64. The body may call `$log`.
pub(crate) fn chat_module(body: &str, more: &str) -> Vec<u8> {
    core(
        "chat-module",
        &format!(
            r#"(module
                (import "network-hub:module/log@1.0.0" "write" (func $log (param i32 i32 i32)))
                (import "network-hub:module/store@1.0.0" "increment"
                    (func $increment (param i32 i32 i64 i32 i64 i32)))
                {PRELUDE}
                (func (export "network-hub:module/chat@1.0.0#filter") (param i32) (result i32)
                    {body}
                    (i32.const 64))
                {more})"#
        ),
    )
}

/// A module of version 1.1, without a manifest, whose function of this name has this body; its answer lies at address
/// 64. The body may call `$get`, `$set`, `$increment` and `$list` of `state`, and `$store_get`.
pub(crate) fn later_module(world: &str, function: &str, body: &str, more: &str) -> Vec<u8> {
    let text = format!(
        r#"(module
            (import "network-hub:module/state@1.1.0" "get" (func $get (param i32 i32 i32)))
            (import "network-hub:module/state@1.1.0" "set" (func $set (param i32 i32 i32 i32 i32 i64 i32)))
            (import "network-hub:module/state@1.1.0" "increment" (func $increment (param i32 i32 i64 i32 i64 i32)))
            (import "network-hub:module/state@1.1.0" "list" (func $list (param i32 i32 i32 i32 i32 i32 i32)))
            (import "network-hub:module/store@1.1.0" "get" (func $store_get (param i32 i32 i32)))
            {PRELUDE}
            (func (export "network-hub:module/{function}") (param i32) (result i32)
                (local $count i32)
                {body}
                (i32.const 64))
            {more})"#
    );
    typed_as("1.1", world, wat::parse_str(text).unwrap())
}

/// A chat module that allows every line, and is unlike any with another name.
pub(crate) fn allowing(name: &str) -> Vec<u8> {
    chat_module("", &format!(r#"(data (i32.const 512) "{name}")"#))
}

/// A matchmaking module that answers both functions with the bytes at address 64.
pub(crate) fn ranking(data: &str, body: &str) -> Vec<u8> {
    core(
        "matchmaking-module",
        &format!(
            r#"(module
                {PRELUDE}
                (func (export "network-hub:module/matchmaking@1.0.0#rank-servers") (param i32) (result i32)
                    {body}
                    (i32.const 64))
                (func (export "network-hub:module/matchmaking@1.0.0#rank-worlds") (param i32) (result i32)
                    (i32.const 48))
                {data})"#
        ),
    )
}

/// Bytes in the string syntax of WebAssembly text.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("\\{byte:02x}"))
}

/// A matchmaking module that lists these indices, except when worlds are ranked.
pub(crate) fn ranks(indices: &[u32]) -> Vec<u8> {
    let list: Vec<_> = indices.iter().flat_map(|index| index.to_le_bytes()).collect();
    let count = u32::try_from(indices.len()).unwrap();
    // A result: ok, and the list's address 512 and length.
    let data = format!(
        r#"(data (i32.const 64) "\00\00\00\00\00\02\00\00{}") (data (i32.const 512) "{}")"#,
        hex(&count.to_le_bytes()),
        hex(&list)
    );
    ranking(&data, "")
}

const PRELUDE: &str = r#"
    (memory (export "memory") 1)
    (global $next (mut i32) (i32.const 4096))
    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
        (local $at i32)
        (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
        (global.set $next (i32.add (local.get $at) (local.get 3)))
        (local.get $at))"#;

/// A verdict at address 64: the decision, then a mute.
pub(crate) fn verdict(decision: u8, length: u32, mute_ms: Option<u64>) -> String {
    let mute = mute_ms.map_or(String::new(), |ms| {
        format!(
            r#"(data (i32.const 80) "\01") (data (i32.const 88) "{}\00\03\00\00\04\00\00\00") (data (i32.const 768) "rude")"#,
            hex(&ms.to_le_bytes())
        )
    });
    format!(
        r#"(data (i32.const 64) "\{decision:02x}\00\00\00\00\04\00\00{}") (data (i32.const 1024) "{}") {mute}"#,
        hex(&length.to_le_bytes()),
        "x".repeat(2000)
    )
}

/// A punishment module that accepts (0) or refuses (2), and asks for this many warnings.
pub(crate) fn reviewing(decision: u8, follow_ups: u8) -> Vec<u8> {
    // At address 64 the decision, with the reason "no" if it refuses; at 104 the list, whose elements are at 1024.
    core(
        "punishment-module",
        &format!(
            r#"(module
                (memory (export "memory") 1)
                (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 8192))
                (func (export "network-hub:module/punishment@1.0.0#review") (param i32) (result i32)
                    (i32.const 64))
                (data (i32.const 64) "\{decision:02x}")
                (data (i32.const 72) "\00\03\00\00\02\00\00\00")
                (data (i32.const 768) "no")
                (data (i32.const 104) "\00\04\00\00\{follow_ups:02x}")
                (data (i32.const 1024) "{}"))"#,
            format!(r"\02{}", r"\00".repeat(31)).repeat(follow_ups.into())
        ),
    )
}
