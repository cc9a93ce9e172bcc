//! The points `login`, `economy` and `queue`, seen by connectors.

mod economy;
mod login;
mod queue;

use super::wasm;

/// A module whose only function has this body. Texts: `no` at 512, `test` at 520.
fn module(point: &str, function: &str, body: &str) -> Vec<u8> {
    let function = format!(
        r#"(func (export "network-hub:module/{point}@1.1.0#{function}") (param $in i32) (result i32)
            (local $first i32)
            {body}
            (i32.const 64))"#
    );
    let texts = r#"(data (i32.const 512) "no") (data (i32.const 520) "test")"#;
    wasm::module_of("1.1", &format!("{point}-module"), &wasm::text("", texts, &function))
}

/// Runs `then` if the first byte of the text at this address is the letter.
fn on(letter: char, then: &str) -> String {
    format!("(if (i32.eq (local.get $first) (i32.const {})) (then {then}))", u32::from(letter))
}

/// Answers with this case of a variant.
fn answer(case: u8) -> String {
    format!("(i32.store8 (i32.const 64) (i32.const {case})) (return (i32.const 64))")
}

/// Stores the text at this place of the answer.
fn text(place: u8, at: u32, length: u8) -> String {
    format!(
        "(i32.store (i32.const {place}) (i32.const {at})) (i32.store offset=4 (i32.const {place}) (i32.const {length}))"
    )
}
