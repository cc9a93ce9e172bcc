//! A module with schedules and timers for the tests, assembled from text.

use std::fmt::Write as _;

use hub_sandbox::manifest::embed;
use serde_json::{Value, json};

use super::handler::{BASE, Effect, Field, Image, count, impossible};
use crate::modules::wasm::{component, module_of_worlds};

/// Sets the timer `one` to a minute after the call, which is filled in.
fn set() -> Effect {
    let fields = vec![(0, Field::Text("one")), (8, Field::Number(0)), (16, Field::Text("{\"step\":2}"))];
    Effect { case: 17, optional: false, fields }
}

/// Sets a timer of a player that fails, in the same way.
fn set_failing() -> Effect {
    let key = "player:069a79f4-44e9-4726-a5be-000000000001";
    let fields = vec![(0, Field::Text(key)), (8, Field::Number(0)), (16, Field::Text("{\"step\":\"X\"}"))];
    Effect { case: 17, optional: false, fields }
}

/// Cancels the timer `one`.
fn cancel() -> Effect {
    Effect { case: 18, optional: false, fields: vec![(0, Field::Text("one"))] }
}

/// Manifest with schedules: name, times and rule for missed ticks.
pub fn manifest(schedules: &[(&str, &str, &str)]) -> Value {
    let schedule =
        |(name, cron, catch_up): &(&str, &str, &str)| json!({"name": name, "cron": cron, "catchUp": catch_up});
    json!({"manifest": 1, "contract": "1.1.0", "name": "ticker", "timers": true, "scopes": ["economy:write"],
        "schedules": schedules.iter().map(schedule).collect::<Vec<_>>()})
}

/// A module whose ticks and timers add 1 to the statistic `handled` of `farm/f1`. A tick acts on the first letter of its
/// schedule's name: `T` traps, `R` asks for a retry at the first attempt, `X` adds a refused effect, `S` sets the timer
/// `one` for a minute later, `P` one of player 1 whose effect is refused, `C` cancels `one`.
/// `version` tells apart modules that do the same.
pub fn ticker(version: u32, manifest: &Value) -> Vec<u8> {
    let mut image = Image(vec![]);
    let usual = image.effects(&[count()]);
    let refused = image.effects(&[count(), impossible(false)]);
    let setting = image.effects(&[set(), count()]);
    let of_player = image.effects(&[set_failing(), count()]);
    let cancelling = image.effects(&[count(), cancel()]);
    let reason = image.text("not now");
    image.text(&format!("version {version}"));
    let reason_at = u32::from_le_bytes(reason[..4].try_into().unwrap());
    let mut data = String::new();
    for byte in &image.0 {
        let _ = write!(data, "\\{byte:02x}");
    }
    let choose = |letter: char, (at, count): (u32, usize)| {
        format!(
            "(if (i32.eq (local.get $letter) (i32.const {})) (then
                (local.set $list (i32.const {at})) (local.set $count (i32.const {count}))))",
            u32::from(letter)
        )
    };
    // The time of the first effect is at 8 + 8.
    let later = |at: u32| {
        format!("(i64.store (i32.const {}) (i64.add (i64.load offset=16 (local.get $in)) (i64.const 60000)))", at + 16)
    };
    let answer = "(i32.store8 (i32.const 16) (i32.const 0))
                  (i32.store (i32.const 20) (local.get $list))
                  (i32.store (i32.const 24) (local.get $count))
                  (i32.const 16)";
    let text = format!(
        r#"(module
            (memory (export "memory") 16)
            (global $free (mut i32) (i32.const 131072))
            (func (export "cabi_realloc") (param $old i32) (param $old_size i32) (param $align i32)
                (param $size i32) (result i32)
                (local $at i32)
                (local.set $at (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
                (global.set $free (i32.add (local.get $at) (local.get $size)))
                (local.get $at))
            (data (i32.const {BASE}) "{data}")
            (func (export "network-hub:module/schedules@1.1.0#tick") (param $in i32) (result i32)
                (local $letter i32) (local $list i32) (local $count i32)
                (local.set $letter (i32.load8_u (i32.load offset=96 (local.get $in))))
                (if (i32.eq (local.get $letter) (i32.const 84)) (then unreachable))
                (if (i32.and (i32.eq (local.get $letter) (i32.const 82))
                        (i32.eq (i32.load offset=44 (local.get $in)) (i32.const 1))) (then
                    (i32.store8 (i32.const 16) (i32.const 1))
                    (i32.store8 (i32.const 20) (i32.const 0))
                    (i32.store (i32.const 24) (i32.const {reason_at}))
                    (i32.store (i32.const 28) (i32.const 7))
                    (return (i32.const 16))))
                {set_time} {player_time}
                (local.set $list (i32.const {usual_at})) (local.set $count (i32.const 1))
                {refuse} {set} {of_player} {cancel}
                {answer})
            (func (export "network-hub:module/timers@1.1.0#fire") (param $in i32) (result i32)
                (local $letter i32) (local $list i32) (local $count i32)
                ;; The tenth byte of the payload's text.
                (if (i32.gt_u (i32.load offset=116 (local.get $in)) (i32.const 9)) (then
                    (local.set $letter (i32.load8_u offset=9 (i32.load offset=112 (local.get $in))))))
                (local.set $list (i32.const {usual_at})) (local.set $count (i32.const 1))
                {refuse}
                {answer}))"#,
        usual_at = usual.0,
        set_time = later(setting.0),
        player_time = later(of_player.0),
        refuse = choose('X', refused),
        set = choose('S', setting),
        of_player = choose('P', of_player),
        cancel = choose('C', cancelling),
    );
    embed(component(&module_of_worlds(&["schedules-module", "timers-module"], &text)), manifest.to_string().as_bytes())
}
