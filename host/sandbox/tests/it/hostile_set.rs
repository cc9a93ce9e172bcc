//! Modules that misbehave once they are called, each with its expected failure. They pass their trial call: it has a
//! short line to filter, and theirs is long; or two candidates to rank, and theirs are more.

use super::wat::{self, chat_module, hex, ranking};
use hub_sandbox::contract::Point;

/// A hostile module.
pub(crate) struct Hostile {
    pub(crate) name: &'static str,
    pub(crate) point: Point,
    pub(crate) upload: Vec<u8>,
    /// Code of its calls' failure; `None` if they don't fail.
    pub(crate) failure: Option<&'static str>,
}

/// A line that is long enough.
pub(crate) const LINE: &str = "a line to misbehave upon";

pub(crate) const FOREVER: &str = "(loop $again (br $again))";

/// A chat module that runs this with a long line.
pub(crate) fn chatting(body: &str, more: &str) -> Vec<u8> {
    // The message's length is the sixth pair of words of the arguments.
    let body =
        format!("(if (i32.gt_u (i32.load (i32.add (local.get 0) (i32.const 60))) (i32.const 16)) (then {body}))");
    chat_module(&body, more)
}

/// A matchmaking module whose answer for many candidates is a list at this address with this length, in the string
/// syntax of WebAssembly text.
fn listing(address: &str, length: u32, data: &str) -> Vec<u8> {
    // The number of candidates is the last word of the arguments.
    let body = format!(
        "(drop (memory.grow (i32.const 200)))
        (if (i32.gt_u (i32.load (i32.add (local.get 0) (i32.const 128))) (i32.const 2))
            (then (i32.store (i32.const 68) (i32.const {address})) (i32.store (i32.const 72) (i32.const {length}))))"
    );
    ranking(&format!(r#"(data (i32.const 64) "{}") {data}"#, hex(&[0; 12])), &body)
}

/// A chat module whose allocator begins to lie with a long line, when the answer of a host call is allocated: the error
/// for its empty key.
fn lying(allocator: &str) -> Vec<u8> {
    let module = format!(
        r#"(module
            (import "network-hub:module/store@1.0.0" "get" (func $get (param i32 i32 i32)))
            (memory (export "memory") 1)
            (global $next (mut i32) (i32.const 4096))
            (global $lies (mut i32) (i32.const 0))
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
                (local $at i32)
                (if (global.get $lies) (then (return {allocator})))
                (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
                (global.set $next (i32.add (local.get $at) (local.get 3)))
                (local.get $at))
            (func (export "network-hub:module/chat@1.0.0#filter") (param i32) (result i32)
                (if (i32.gt_u (i32.load (i32.add (local.get 0) (i32.const 60))) (i32.const 16)) (then
                    (global.set $lies (i32.const 1))
                    (call $get (i32.const 512) (i32.const 0) (i32.const 256))))
                (i32.const 64))
            (data (i32.const 512) "key"))"#
    );
    wat::core("chat-module", &module)
}

/// The set.
pub(crate) fn hostile_set() -> Vec<Hostile> {
    let chat = |name, failure, upload| Hostile { name, point: Point::Chat, upload, failure };
    let ranks = |name, upload| Hostile { name, point: Point::Matchmaking, upload, failure: Some("invalid_answer") };
    let log = |level, at, length| format!("(call $log (i32.const {level}) (i32.const {at}) (i32.const {length}))");
    let increment =
        "(call $increment (i32.const 600) (i32.const 1) (i64.const 1) (i32.const 0) (i64.const 0) (i32.const 256))";
    let grow = "(loop $again (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) (unreachable)";
    let fill = "(memory.fill (i32.const 65536) (i32.const 1) (i32.const 0x1e00000))";
    let take_all = format!("(drop (memory.grow (i32.const 1000))) {fill} (unreachable)");
    let table = r"(table $t 1 funcref)";
    let grow_table = "(loop $again (br_if $again (i32.ne (table.grow $t (ref.null func) (i32.const 1000))
        (i32.const -1)))) (unreachable)";
    let compute = "(func $compute (local $i i32) (loop $again
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br_if $again (i32.lt_u (local.get $i) (i32.const 2000000)))))";
    let text_answer = "(i32.store (i32.const 64) (i32.const 2)) (i32.store (i32.const 68) (i32.const 600))
        (i32.store (i32.const 72) (i32.const 4))";
    let no_text = r#"(data (i32.const 600) "\ff\fe\80\80")"#;
    let calls = "(func $deeper (param i64 i64 i64 i64) (result i64)
        (i64.add (call $deeper (local.get 1) (local.get 2) (local.get 3) (local.get 0)) (local.get 0)))";
    let deeper = "(drop (call $deeper (i64.const 1) (i64.const 2) (i64.const 3) (i64.const 4)))";
    vec![
        chat("infinite loop", Some("timed_out"), chatting(FOREVER, "")),
        chat("slow, but answers", None, chatting("(call $compute)", compute)),
        chat("deep recursion", Some("trap"), chatting(deeper, calls)),
        chat("memory growth", Some("out_of_memory"), chatting(grow, "")),
        chat("memory filled", Some("trap"), chatting(&take_all, "")),
        chat("table growth", Some("trap"), chatting(grow_table, table)),
        chat("log flood", Some("timed_out"), chatting(&format!("(loop $again {} (br $again))", log(1, 0, 3000)), "")),
        chat(
            "host-call flood",
            Some("host_call_limit"),
            chatting(&format!("(loop $again {increment} (br $again))"), ""),
        ),
        chat(
            "huge log line",
            Some("invalid_answer"),
            chatting(&format!("(drop (memory.grow (i32.const 16))) {}", log(1, 0, 500_000)), ""),
        ),
        chat("log line outside of memory", Some("invalid_answer"), chatting(&log(1, 65000, 65000), "")),
        chat("log line that is no text", Some("invalid_answer"), chatting(&log(1, 600, 4), no_text)),
        chat("log level that is none", Some("invalid_answer"), chatting(&log(9, 600, 1), "")),
        chat("answer that is no text", Some("invalid_answer"), chatting(text_answer, no_text)),
        chat("answer outside of memory", Some("invalid_answer"), chatting("(return (i32.const 0x7ffffff8))", "")),
        chat("answer that is not aligned", Some("invalid_answer"), chatting("(return (i32.const 65))", "")),
        chat("allocator: 0", None, lying("(i32.const 0)")),
        chat("allocator: outside of memory", Some("invalid_answer"), lying("(i32.const 0xfffff0)")),
        chat("allocator: at the very end", Some("invalid_answer"), lying("(i32.const -1)")),
        chat("allocator: over its arguments", None, lying("(i32.const 512)")),
        chat("allocator: traps", Some("trap"), lying("(unreachable)")),
        chat(
            "allocator: loops",
            Some("timed_out"),
            lying("(block (result i32) (loop $again (br $again)) (i32.const 0))"),
        ),
        ranks("huge list", listing("512", 2_000_000, "")),
        ranks("list whose length lies", listing("512", 0x4000_0000, "")),
        ranks("list at the end of the address space", listing("-4", u32::MAX, "")),
        ranks("list that is not aligned", listing("513", 1, "")),
        ranks("indices out of range", listing("512", 2, r#"(data (i32.const 512) "\ff\ff\ff\ff\00\00\00\80")"#)),
        ranks("an index twice", listing("512", 2, "")),
    ]
}
