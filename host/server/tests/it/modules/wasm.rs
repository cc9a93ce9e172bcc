//! Small modules for the tests, hostile ones among them, assembled from text.

use std::path::Path;

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// A core module that carries the type of a world of the contract, in the format of toolchains.
pub fn module(world: &str, text: &str) -> Vec<u8> {
    module_of("1.0", world, text)
}

/// The same of a version of the contract.
pub fn module_of(version: &str, world: &str, text: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let contract = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins-sdk/wit").join(version);
    let (package, _) = resolve.push_path(contract).unwrap();
    let world = resolve.select_world(&[package], Some(world)).unwrap();
    let mut bytes = wat::parse_str(text).unwrap();
    embed_component_metadata(&mut bytes, &resolve, world, StringEncoding::UTF8).unwrap();
    bytes
}

/// Variant of [`module_of`] for several worlds of the newest version.
pub fn module_of_worlds(worlds: &[&str], text: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let contract = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins-sdk/wit/1.1");
    resolve.push_path(contract).unwrap();
    let included = worlds.iter().map(|world| format!("include network-hub:module/{world}@1.1.0;"));
    let world = format!("package test:module; world module {{ {} }}", included.collect::<Vec<_>>().concat());
    let package = resolve.push_str("test.wit", &world).unwrap();
    let world = resolve.select_world(&[package], Some("module")).unwrap();
    let mut bytes = wat::parse_str(text).unwrap();
    embed_component_metadata(&mut bytes, &resolve, world, StringEncoding::UTF8).unwrap();
    bytes
}

/// A core module that carries its type, as a component.
pub fn component(core: &[u8]) -> Vec<u8> {
    ComponentEncoder::default().module(core).unwrap().encode().unwrap()
}

/// A component that asks for a host interface, and nothing else.
pub fn importing(interface: &str) -> Vec<u8> {
    wat::parse_str(format!(r#"(component (import "{interface}" (instance)))"#)).unwrap()
}

/// Parts of every module: memory, and an allocator for its arguments. `data` is for its own texts.
pub fn text(imports: &str, data: &str, body: &str) -> String {
    format!(
        r#"(module
            {imports}
            (memory (export "memory") 4)
            (global $free (mut i32) (i32.const 65536))
            (func (export "cabi_realloc") (param $old i32) (param $old_size i32) (param $align i32) (param $size i32)
                (result i32)
                (local $at i32)
                (local.set $at (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
                (global.set $free (i32.add (local.get $at) (local.get $size)))
                (local.get $at))
            (func $loop_for_ever (loop $again (br $again)))
            {data}
            {body})"#
    )
}

/// Prefers the last candidate and omits all others; refuses requests for a type that begins with `R`, loops for ever
/// for one that begins with `L` and gives an invalid answer for one that begins with `N`.
pub fn last_first() -> Vec<u8> {
    let rank = |name: &str| {
        format!(
            r#"(func (export "network-hub:module/matchmaking@1.0.0#{name}") (param $in i32) (result i32)
                (local $first i32)
                (local.set $first (i32.load8_u (i32.load offset=68 (local.get $in))))
                (if (i32.eq (local.get $first) (i32.const 76)) (then (call $loop_for_ever)))
                (i32.store (i32.const 32) (i32.sub (i32.load offset=128 (local.get $in)) (i32.const 1)))
                (if (i32.eq (local.get $first) (i32.const 78)) (then (i32.store (i32.const 32) (i32.const 4000))))
                ;; ok([last])
                (i32.store8 (i32.const 16) (i32.const 0))
                (i32.store (i32.const 20) (i32.const 32))
                (i32.store (i32.const 24) (i32.const 1))
                (if (i32.eq (local.get $first) (i32.const 82)) (then
                    ;; err("closed")
                    (i32.store8 (i32.const 16) (i32.const 1))
                    (i32.store (i32.const 20) (i32.const 64))
                    (i32.store (i32.const 24) (i32.const 6))))
                (i32.const 16))"#
        )
    };
    let body = rank("rank-servers") + &rank("rank-worlds");
    module("matchmaking-module", &text("", r#"(data (i32.const 64) "closed")"#, &body))
}

/// Acts on the first letter of a line: `W` rewrites it to `polite`, `R` refuses it with `rude`, `U` refuses it and mutes
/// its sender for a minute, `L` loops for ever, `T` traps, `M` takes memory until there is no more, `D` recurses for
/// ever, `N` gives an invalid answer, `G` logs the line. All else is allowed. `version` tells apart modules that do the same.
pub fn moody(version: u32) -> Vec<u8> {
    let imports = r#"(import "network-hub:module/log@1.0.0" "write" (func $log (param i32 i32 i32)))"#;
    let data = format!(
        r#"(data (i32.const 64) "polite") (data (i32.const 80) "rude") (data (i32.const 96) "version {version}")"#
    );
    let body = r#"
        (func $recurse (param i32) (result i32) (i32.add (call $recurse (local.get 0)) (i32.const 1)))
        (func $grow (loop $again
            (if (i32.eq (memory.grow (i32.const 64)) (i32.const -1)) (then unreachable))
            (br $again)))
        (func $say (param $decision i32) (param $at i32) (param $length i32)
            (i32.store8 (i32.const 16) (local.get $decision))
            (i32.store (i32.const 20) (local.get $at))
            (i32.store (i32.const 24) (local.get $length)))
        (func (export "network-hub:module/chat@1.0.0#filter") (param $in i32) (result i32)
            (local $first i32)
            (local.set $first (i32.load8_u (i32.load offset=56 (local.get $in))))
            (call $say (i32.const 0) (i32.const 0) (i32.const 0))
            (i32.store8 (i32.const 32) (i32.const 0))
            (if (i32.eq (local.get $first) (i32.const 87))
                (then (call $say (i32.const 1) (i32.const 64) (i32.const 6))))
            (if (i32.eq (local.get $first) (i32.const 82))
                (then (call $say (i32.const 2) (i32.const 80) (i32.const 4))))
            (if (i32.eq (local.get $first) (i32.const 85)) (then
                (call $say (i32.const 2) (i32.const 80) (i32.const 4))
                (i32.store8 (i32.const 32) (i32.const 1))
                (i64.store (i32.const 40) (i64.const 60000))
                (i32.store (i32.const 48) (i32.const 80))
                (i32.store (i32.const 52) (i32.const 4))))
            (if (i32.eq (local.get $first) (i32.const 76)) (then (call $loop_for_ever)))
            (if (i32.eq (local.get $first) (i32.const 84)) (then unreachable))
            (if (i32.eq (local.get $first) (i32.const 77)) (then (call $grow)))
            (if (i32.eq (local.get $first) (i32.const 68)) (then (drop (call $recurse (i32.const 1)))))
            (if (i32.eq (local.get $first) (i32.const 78))
                (then (call $say (i32.const 1) (i32.const 64) (i32.const 0))))
            (if (i32.eq (local.get $first) (i32.const 71)) (then
                (call $log (i32.const 1) (i32.load offset=56 (local.get $in)) (i32.load offset=60 (local.get $in)))))
            (i32.const 16))"#;
    module("chat-module", &text(imports, &data, body))
}

/// Allows the first line its memory knows of and refuses those after it; traps on one that begins with `T`.
pub fn forgetful() -> Vec<u8> {
    let body = r#"
        (global $seen (mut i32) (i32.const 0))
        (func (export "network-hub:module/chat@1.0.0#filter") (param $in i32) (result i32)
            (if (i32.eq (i32.load8_u (i32.load offset=56 (local.get $in))) (i32.const 84)) (then unreachable))
            (i32.store8 (i32.const 16) (i32.mul (global.get $seen) (i32.const 2)))
            (i32.store (i32.const 20) (i32.const 80))
            (i32.store (i32.const 24) (i32.const 2))
            (i32.store8 (i32.const 32) (i32.const 0))
            (global.set $seen (i32.const 1))
            (i32.const 16))"#;
    module("chat-module", &text("", r#"(data (i32.const 80) "no")"#, body))
}

/// Traps on every configuration but `{}`, and logs `no thanks` before.
pub fn picky() -> Vec<u8> {
    let imports = r#"(import "network-hub:module/log@1.0.0" "write" (func $log (param i32 i32 i32)))"#;
    let body = r#"
        (func (export "network-hub:module/chat@1.0.0#filter") (param $in i32) (result i32)
            (if (i32.ne (i32.load offset=36 (local.get $in)) (i32.const 2)) (then
                (call $log (i32.const 2) (i32.const 80) (i32.const 9))
                unreachable))
            (i32.store8 (i32.const 16) (i32.const 0))
            (i32.store8 (i32.const 32) (i32.const 0))
            (i32.const 16))"#;
    module("chat-module", &text(imports, r#"(data (i32.const 80) "no thanks")"#, body))
}

/// Refuses every line with `no`, and traps on one that begins with `T`.
pub fn rude() -> Vec<u8> {
    let body = r#"
        (func (export "network-hub:module/chat@1.0.0#filter") (param $in i32) (result i32)
            (if (i32.eq (i32.load8_u (i32.load offset=56 (local.get $in))) (i32.const 84)) (then unreachable))
            (i32.store8 (i32.const 16) (i32.const 2))
            (i32.store (i32.const 20) (i32.const 80))
            (i32.store (i32.const 24) (i32.const 2))
            (i32.store8 (i32.const 32) (i32.const 0))
            (i32.const 16))"#;
    module("chat-module", &text("", r#"(data (i32.const 80) "no")"#, body))
}

const STORE: &str = r#"
    (import "network-hub:module/store@1.0.0" "increment"
        (func $increment (param i32 i32 i64 i32 i64 i32)))
    (import "network-hub:module/store@1.0.0" "set" (func $set (param i32 i32 i32 i32 i32 i64 i32)))"#;

/// Counts each sender's lines in its store, for a minute from the first, and refuses the third.
pub fn counting() -> Vec<u8> {
    let data = r#"(data (i32.const 80) "slow down") (data (i32.const 96) "no number")"#;
    let body = r#"
        (func (export "network-hub:module/chat@1.0.0#filter") (param $in i32) (result i32)
            (i32.store8 (i32.const 16) (i32.const 0))
            (i32.store8 (i32.const 32) (i32.const 0))
            ;; increment(player.uuid, 1, some(60000))
            (call $increment (i32.load offset=40 (local.get $in)) (i32.load offset=44 (local.get $in)) (i64.const 1)
                (i32.const 1) (i64.const 60000) (i32.const 128))
            (if (i64.gt_s (i64.load (i32.const 136)) (i64.const 2)) (then
                (i32.store8 (i32.const 16) (i32.const 2))
                (i32.store (i32.const 20) (i32.const 80))
                (i32.store (i32.const 24) (i32.const 9))))
            (if (i32.load8_u (i32.const 128)) (then
                (i32.store8 (i32.const 16) (i32.const 2))
                (i32.store (i32.const 20) (i32.const 96))
                (i32.store (i32.const 24) (i32.const 9))))
            (i32.const 16))"#;
    module("chat-module", &text(STORE, data, body))
}

/// Stores 60,000 bytes under each line it sees, for a minute; refuses the line with `full` when there is no room.
pub fn hoarding() -> Vec<u8> {
    let data = r#"(data (i32.const 80) "full")"#;
    let body = r#"
        (func (export "network-hub:module/chat@1.0.0#filter") (param $in i32) (result i32)
            (i32.store8 (i32.const 16) (i32.const 0))
            (i32.store8 (i32.const 32) (i32.const 0))
            ;; set(message, 60,000 zero bytes, some(60000))
            (call $set (i32.load offset=56 (local.get $in)) (i32.load offset=60 (local.get $in))
                (i32.const 200000) (i32.const 60000) (i32.const 1) (i64.const 60000) (i32.const 128))
            (if (i32.load8_u (i32.const 128)) (then
                (i32.store8 (i32.const 16) (i32.const 2))
                (i32.store (i32.const 20) (i32.const 80))
                (i32.store (i32.const 24) (i32.const 4))))
            (i32.const 16))"#;
    module("chat-module", &text(STORE, data, body))
}

/// Refuses the lines of players who are not online.
pub fn only_online() -> Vec<u8> {
    let imports = r#"(import "network-hub:module/players@1.0.0" "online" (func $online (param i32 i32 i32)))"#;
    let data = r#"(data (i32.const 80) "who are you")"#;
    let body = r#"
        (func (export "network-hub:module/chat@1.0.0#filter") (param $in i32) (result i32)
            (i32.store8 (i32.const 16) (i32.const 0))
            (i32.store8 (i32.const 32) (i32.const 0))
            (call $online (i32.load offset=40 (local.get $in)) (i32.load offset=44 (local.get $in)) (i32.const 128))
            (if (i32.or (i32.load8_u (i32.const 128)) (i32.eqz (i32.load8_u (i32.const 132)))) (then
                (i32.store8 (i32.const 16) (i32.const 2))
                (i32.store (i32.const 20) (i32.const 80))
                (i32.store (i32.const 24) (i32.const 11))))
            (i32.const 16))"#;
    module("chat-module", &text(imports, data, body))
}

/// Refuses the lines of players who may not `chat.speak` on the server `lobby`.
pub fn only_speakers() -> Vec<u8> {
    let imports = r#"(import "network-hub:module/players@1.0.0" "permission"
        (func $permission (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))"#;
    let data = r#"(data (i32.const 80) "may not speak") (data (i32.const 96) "chat.speak")
        (data (i32.const 112) "server=lobby")"#;
    let body = r#"
        (func (export "network-hub:module/chat@1.0.0#filter") (param $in i32) (result i32)
            (i32.store8 (i32.const 16) (i32.const 0))
            (i32.store8 (i32.const 32) (i32.const 0))
            ;; permission(player.uuid, "chat.speak", some("server=lobby"), none)
            (call $permission (i32.load offset=40 (local.get $in)) (i32.load offset=44 (local.get $in))
                (i32.const 96) (i32.const 10) (i32.const 1) (i32.const 112) (i32.const 12)
                (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 128))
            ;; anything but ok(granted)
            (if (i32.or (i32.load8_u (i32.const 128)) (i32.load8_u (i32.const 132))) (then
                (i32.store8 (i32.const 16) (i32.const 2))
                (i32.store (i32.const 20) (i32.const 80))
                (i32.store (i32.const 24) (i32.const 13))))
            (i32.const 16))"#;
    module("chat-module", &text(imports, data, body))
}

/// Refuses the lines of players who have less than 100 coins, or no three kills today.
pub fn rich_and_busy() -> Vec<u8> {
    let imports = r#"
        (import "network-hub:module/players@1.0.0" "balance" (func $balance (param i32 i32 i32 i32 i32)))
        (import "network-hub:module/players@1.0.0" "statistics"
            (func $statistics (param i32 i32 i32 i32 i32 i32 i32 i32 i32)))"#;
    let data = r#"(data (i32.const 64) "coins") (data (i32.const 72) "kills")
        (data (i32.const 80) "poor") (data (i32.const 96) "idle")"#;
    let body = r#"
        (func $refuse (param $at i32)
            (i32.store8 (i32.const 16) (i32.const 2))
            (i32.store (i32.const 20) (local.get $at))
            (i32.store (i32.const 24) (i32.const 4)))
        (func (export "network-hub:module/chat@1.0.0#filter") (param $in i32) (result i32)
            (i32.store8 (i32.const 16) (i32.const 0))
            (i32.store8 (i32.const 32) (i32.const 0))
            ;; statistics([player.uuid], "kills", none, daily) is ok([some(3 or more)])
            (i32.store (i32.const 256) (i32.load offset=40 (local.get $in)))
            (i32.store (i32.const 260) (i32.load offset=44 (local.get $in)))
            (call $statistics (i32.const 256) (i32.const 1) (i32.const 72) (i32.const 5)
                (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 192))
            (if (i32.or (i32.load8_u (i32.const 192)) (i32.ne (i32.load (i32.const 200)) (i32.const 1)))
                (then unreachable))
            (if (i32.or (i32.eqz (i32.load8_u (i32.load (i32.const 196))))
                        (f64.lt (f64.load offset=8 (i32.load (i32.const 196))) (f64.const 3)))
                (then (call $refuse (i32.const 96))))
            ;; balance(player.uuid, "coins") is ok(some(1000000 or more))
            (call $balance (i32.load offset=40 (local.get $in)) (i32.load offset=44 (local.get $in))
                (i32.const 64) (i32.const 5) (i32.const 128))
            (if (i32.load8_u (i32.const 128)) (then unreachable))
            (if (i32.or (i32.eqz (i32.load8_u (i32.const 136)))
                        (i64.lt_s (i64.load (i32.const 144)) (i64.const 1000000)))
                (then (call $refuse (i32.const 80))))
            (i32.const 16))"#;
    module("chat-module", &text(imports, data, body))
}

/// Takes the first candidate that has exactly one player on it, and refuses if there is none.
pub fn lonely_first() -> Vec<u8> {
    let imports = r#"(import "network-hub:module/candidates@1.0.0" "players" (func $players (param i32 i32)))"#;
    let data = r#"(data (i32.const 64) "nobody")"#;
    let rank = |name: &str| {
        format!(
            r#"(func (export "network-hub:module/matchmaking@1.0.0#{name}") (param $in i32) (result i32)
                (local $at i32)
                (block $none (loop $next
                    (br_if $none (i32.ge_u (local.get $at) (i32.load offset=128 (local.get $in))))
                    (call $players (local.get $at) (i32.const 128))
                    (if (i32.and (i32.eqz (i32.load8_u (i32.const 128)))
                                 (i32.eq (i32.load (i32.const 136)) (i32.const 1))) (then
                        (i32.store (i32.const 32) (local.get $at))
                        (i32.store8 (i32.const 16) (i32.const 0))
                        (i32.store (i32.const 20) (i32.const 32))
                        (i32.store (i32.const 24) (i32.const 1))
                        (return (i32.const 16))))
                    (local.set $at (i32.add (local.get $at) (i32.const 1)))
                    (br $next)))
                (i32.store8 (i32.const 16) (i32.const 1))
                (i32.store (i32.const 20) (i32.const 64))
                (i32.store (i32.const 24) (i32.const 6))
                (i32.const 16))"#
        )
    };
    let body = rank("rank-servers") + &rank("rank-worlds");
    module("matchmaking-module", &text(imports, data, &body))
}

/// Traps whenever it is called, so that its trial fails.
pub fn trapping() -> Vec<u8> {
    let body = r#"(func (export "network-hub:module/chat@1.0.0#filter") (param i32) (result i32) unreachable)"#;
    module("chat-module", &text("", "", body))
}

/// The same module, padded to that size by an ignored section.
pub fn padded(mut module: Vec<u8>, bytes: usize) -> Vec<u8> {
    let leb = |number: usize| (0..5).map(move |at| (number >> (7 * at)) as u8 & 0x7f | if at < 4 { 0x80 } else { 0 });
    // Section 0: its size in five bytes, its name in two, and zeros.
    let zeros = bytes - module.len() - 8;
    module.push(0);
    module.extend(leb(zeros + 2));
    module.extend([1, b'x']);
    module.resize(bytes, 0);
    module
}

/// Imports WASI, like a program built for the wrong target.
pub fn wasi() -> Vec<u8> {
    let text = r#"(module
        (import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))
        (memory (export "memory") 1)
        (func (export "_start")))"#;
    wat::parse_str(text).unwrap()
}

/// Refuses every kick with `too harsh`; after a warning it requests a mute for a minute (`be quiet`) and a ban for
/// ever.
pub fn strict() -> Vec<u8> {
    let data = r#"(data (i32.const 64) "too harsh") (data (i32.const 80) "be quiet")"#;
    let body = r#"
        (func (export "network-hub:module/punishment@1.0.0#review") (param $in i32) (result i32)
            (local $kind i32)
            (local.set $kind (i32.load8_u offset=64 (local.get $in)))
            (i32.store8 (i32.const 512) (i32.const 0))
            (i32.store (i32.const 552) (i32.const 640))
            (i32.store (i32.const 556) (i32.const 0))
            (if (i32.eq (local.get $kind) (i32.const 3)) (then
                (i32.store8 (i32.const 512) (i32.const 2))
                (i32.store (i32.const 520) (i32.const 64))
                (i32.store (i32.const 524) (i32.const 9))))
            (if (i32.eq (local.get $kind) (i32.const 2)) (then
                (i32.store (i32.const 556) (i32.const 2))
                ;; {mute, some(60000), "be quiet"}
                (i32.store8 (i32.const 640) (i32.const 1))
                (i32.store8 (i32.const 648) (i32.const 1))
                (i64.store (i32.const 656) (i64.const 60000))
                (i32.store (i32.const 664) (i32.const 80))
                (i32.store (i32.const 668) (i32.const 8))
                ;; {ban, none, ""}
                (i32.store8 (i32.const 672) (i32.const 0))
                (i32.store8 (i32.const 680) (i32.const 0))
                (i32.store (i32.const 696) (i32.const 80))
                (i32.store (i32.const 700) (i32.const 0))))
            (i32.const 512))"#;
    module("punishment-module", &text("", data, body))
}
