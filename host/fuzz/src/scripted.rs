//! A module scripted by its configuration: its host calls and their words, the addresses that its allocator returns,
//! and the position of its answer. The configuration is the script's bytes as text, two letters each.

use std::fmt::Write;

/// Address of the script in the module's memory.
pub const SCRIPT: u32 = 0x1_0000;
/// Byte of the script at which the host calls begin.
pub const CALLS: usize = 16;
/// Size of a host call in bytes: its number, and ten words.
pub const CALL_BYTES: usize = 48;
/// Maximum length of the script. Allocated memory comes after it.
pub const SCRIPT_BYTES: usize = 0x4000;

/// Every host function, with its parameters in core WebAssembly.
const FUNCTIONS: &[(&str, &str, &str)] = &[
    ("log", "write", "i32 i32 i32"),
    ("store", "get", "i32 i32 i32"),
    ("store", "set", "i32 i32 i32 i32 i32 i64 i32"),
    ("store", "increment", "i32 i32 i64 i32 i64 i32"),
    ("store", "delete", "i32 i32 i32"),
    ("players", "statistics", "i32 i32 i32 i32 i32 i32 i32 i32 i32"),
    ("players", "balance", "i32 i32 i32 i32 i32"),
    ("players", "permission", "i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32"),
    ("players", "punishments", "i32 i32 i32 i64 i32 i32 i32 i32"),
    ("players", "online", "i32 i32 i32"),
    ("candidates", "server-id", "i32 i32"),
    ("candidates", "server-type", "i32 i32"),
    ("candidates", "display-name", "i32 i32"),
    ("candidates", "world-id", "i32 i32"),
    ("candidates", "world-type", "i32 i32"),
    ("candidates", "state-name", "i32 i32"),
    ("candidates", "region-name", "i32 i32"),
    ("candidates", "region-number", "i32 i32 i32"),
    ("candidates", "players", "i32 i32"),
];

/// The functions it exports.
const EXPORTS: &[&str] = &[
    "matchmaking@1.0.0#rank-servers",
    "matchmaking@1.0.0#rank-worlds",
    "chat@1.0.0#filter",
    "punishment@1.0.0#review",
];

/// The script in the text form that the module reads.
pub fn config(script: &[u8]) -> String {
    let letter = |nibble: u8| char::from(b'a' + nibble);
    script.iter().take(SCRIPT_BYTES).flat_map(|byte| [letter(byte >> 4), letter(byte & 15)]).collect()
}

/// The module. Without a script, as in its trial call, it answers zeros.
pub fn text() -> String {
    let (mut imports, mut calls, mut exports) = (String::new(), String::new(), String::new());
    for (number, (interface, name, params)) in FUNCTIONS.iter().enumerate() {
        writeln!(
            imports,
            r#"(import "network-hub:module/{interface}@1.0.0" "{name}" (func $f{number} (param {params})))"#
        )
        .unwrap();
        write!(calls, "(if (i32.eq (local.get $number) (i32.const {number})) (then (call $f{number}").unwrap();
        let mut offset = 4;
        for kind in params.split(' ') {
            write!(calls, " ({kind}.load offset={offset} (local.get $at))").unwrap();
            offset += if kind == "i64" { 8 } else { 4 };
        }
        calls.push_str(")))\n");
    }
    for export in EXPORTS {
        writeln!(
            exports,
            r#"(func (export "network-hub:module/{export}") (param i32) (result i32)
                (call $run (i32.load offset=32 (local.get 0)) (i32.load offset=36 (local.get 0))))"#
        )
        .unwrap();
    }
    let functions = FUNCTIONS.len();
    format!(
        r#"(module
        {imports}
        (memory (export "memory") 8)
        (global $next (mut i32) (i32.const 0x20000))
        (global $fault (mut i32) (i32.const 0))

        ;; Correct until the script is read; then as its byte 4 says.
        (func (export "cabi_realloc") (param $old i32) (param $old_size i32) (param $align i32) (param $size i32) (result i32)
            (local $at i32)
            (local.set $at (i32.and
                (i32.add (global.get $next) (i32.const 7))
                (i32.const -8)))
            (global.set $next (i32.add (local.get $at) (local.get $size)))
            (if (i32.eq (global.get $fault) (i32.const 1)) (then (return (i32.const 0))))
            (if (i32.eq (global.get $fault) (i32.const 2)) (then (return (i32.load (i32.const {lie})))))
            (if (i32.eq (global.get $fault) (i32.const 3)) (then (return (i32.add (local.get $at) (i32.const 1)))))
            (if (i32.eq (global.get $fault) (i32.const 4)) (then (return (i32.const {script}))))
            (if (i32.eq (global.get $fault) (i32.const 5)) (then (unreachable)))
            (local.get $at))

        (func $letter (param $at i32) (result i32)
            (i32.and (i32.sub (i32.load8_u (local.get $at)) (i32.const 97)) (i32.const 15)))

        (func $run (param $text i32) (param $length i32) (result i32)
            (local $byte i32) (local $number i32) (local $at i32) (local $left i32)
            (if (i32.lt_u (local.get $length) (i32.const 16)) (then (return (i32.const 64))))
            (loop $more
                (i32.store8
                    (i32.add (i32.const {script}) (local.get $byte))
                    (i32.or
                        (i32.shl (call $letter (local.get $text)) (i32.const 4))
                        (call $letter (i32.add (local.get $text) (i32.const 1)))))
                (local.set $text (i32.add (local.get $text) (i32.const 2)))
                (local.set $byte (i32.add (local.get $byte) (i32.const 1)))
                (br_if $more (i32.lt_u (i32.shl (local.get $byte) (i32.const 1)) (local.get $length))))
            (global.set $fault (i32.load8_u (i32.const {mode})))
            (local.set $left (i32.rem_u (i32.load8_u (i32.const {count})) (i32.const 12)))
            (local.set $at (i32.const {calls_at}))
            (block $done (loop $next_call
                (br_if $done (i32.eqz (local.get $left)))
                (local.set $number (i32.rem_u (i32.load8_u (local.get $at)) (i32.const {functions})))
                {calls}
                (local.set $left (i32.sub (local.get $left) (i32.const 1)))
                (local.set $at (i32.add (local.get $at) (i32.const {CALL_BYTES})))
                (br $next_call)))
            ;; Its answer: anywhere, or in the script.
            (if (i32.and (i32.load8_u (i32.const {anywhere})) (i32.const 1)) (then (return (i32.load (i32.const {script})))))
            (i32.add (i32.const {script}) (i32.and (i32.load (i32.const {script})) (i32.const 0x3ff8))))

        {exports})"#,
        lie = SCRIPT + 8,
        script = SCRIPT,
        mode = SCRIPT + 4,
        count = SCRIPT + 5,
        anywhere = SCRIPT + 6,
        calls_at = SCRIPT + CALLS as u32,
    )
}
