//! A handler for the tests, assembled from text. Its effects are lowered here.

use std::fmt::Write as _;

use hub_sandbox::manifest::embed;
use serde_json::{Value, json};

use crate::modules::wasm::{component, module_of};

/// Address of the lowered effects and of the texts.
pub(super) const BASE: u32 = 4096;

/// Memory with lowered values.
pub(super) struct Image(pub(super) Vec<u8>);

impl Image {
    fn add(&mut self, bytes: &[u8]) -> u32 {
        while !self.0.len().is_multiple_of(8) {
            self.0.push(0);
        }
        let at = BASE + u32::try_from(self.0.len()).unwrap();
        self.0.extend_from_slice(bytes);
        at
    }

    pub(super) fn text(&mut self, text: &str) -> [u8; 8] {
        let at = self.add(text.as_bytes());
        let mut lowered = [0; 8];
        lowered[..4].copy_from_slice(&at.to_le_bytes());
        lowered[4..].copy_from_slice(&u32::try_from(text.len()).unwrap().to_le_bytes());
        lowered
    }

    /// Lowers effects: each is 128 bytes, with its case, its fields from 8 on, and `optional` at 120.
    pub(super) fn effects(&mut self, effects: &[Effect]) -> (u32, usize) {
        let mut list = vec![];
        for effect in effects {
            let mut bytes = [0; 128];
            bytes[0] = effect.case;
            for (at, field) in &effect.fields {
                match field {
                    Field::Text(text) => bytes[8 + at..16 + at].copy_from_slice(&self.text(text)),
                    Field::OptionText(text) => {
                        bytes[8 + at] = 1;
                        bytes[12 + at..20 + at].copy_from_slice(&self.text(text));
                    }
                    Field::Number(number) => bytes[8 + at..16 + at].copy_from_slice(&number.to_le_bytes()),
                    Field::Float(number) => bytes[8 + at..16 + at].copy_from_slice(&number.to_le_bytes()),
                    Field::Byte(number) => bytes[8 + at] = *number,
                    Field::True => bytes[8 + at] = 1,
                }
            }
            bytes[120] = u8::from(effect.optional);
            list.extend_from_slice(&bytes);
        }
        (self.add(&list), effects.len())
    }
}

pub(super) enum Field {
    Text(&'static str),
    OptionText(&'static str),
    Number(i64),
    Float(f64),
    Byte(u8),
    True,
}

pub(super) struct Effect {
    pub(super) case: u8,
    pub(super) optional: bool,
    pub(super) fields: Vec<(usize, Field)>,
}

/// Adds 1 to the statistic `handled` of `farm/f1`.
pub(super) fn count() -> Effect {
    let fields =
        vec![(0, Field::Text("farm")), (8, Field::Text("f1")), (16, Field::Text("handled")), (40, Field::Float(1.0))];
    Effect { case: 2, optional: false, fields }
}

/// Takes 1,000 coins that `farm/f1` does not have.
pub(super) fn impossible(optional: bool) -> Effect {
    let fields = vec![
        (0, Field::Text("farm")),
        (8, Field::Text("f1")),
        (16, Field::Text("coins")),
        (24, Field::Number(-10_000_000)),
        (44, Field::True),
    ];
    Effect { case: 0, optional, fields }
}

/// Emits `again`, for the module itself.
fn emit() -> Effect {
    let fields = vec![(0, Field::Text("again")), (8, Field::OptionText("k")), (20, Field::Text("{\"note\":\"E\"}"))];
    Effect { case: 12, optional: false, fields }
}

/// Runs a command.
fn command() -> Effect {
    let fields = vec![(0, Field::Text("lobby-1")), (8, Field::Text("say hello"))];
    Effect { case: 14, optional: false, fields }
}

/// Sends a player to `lobby-2`.
fn transfer() -> Effect {
    let fields = vec![(0, Field::Text("069a79f4-44e9-4726-a5be-000000000001")), (8, Field::Text("lobby-2"))];
    Effect { case: 15, optional: false, fields }
}

/// Calls a webhook.
fn call(webhook: &'static str) -> Effect {
    let fields = vec![(0, Field::Text(webhook)), (8, Field::Text("purchase")), (16, Field::Text("{\"id\":\"8812\"}"))];
    Effect { case: 16, optional: false, fields }
}

/// Shows a message to all players.
fn message() -> Effect {
    let fields = vec![(12, Field::Text("Thank you for the vote!")), (20, Field::OptionText("[Vote]"))];
    Effect { case: 11, optional: false, fields }
}

/// Shows a message to the players on lobbies.
fn message_to_lobbies() -> Effect {
    let fields = vec![(0, Field::Byte(1)), (4, Field::Text("lobby")), (12, Field::Text("The lobby closes."))];
    Effect { case: 11, optional: false, fields }
}

/// Mutes a player.
fn punish() -> Effect {
    let player = Field::OptionText("069a79f4-44e9-4726-a5be-000000000001");
    Effect { case: 9, optional: false, fields: vec![(0, player), (24, Field::Byte(1)), (48, Field::Text("Reported"))] }
}

/// Sets a timer, which nothing runs.
fn timer() -> Effect {
    let fields = vec![(0, Field::Text("k")), (8, Field::Number(1_900_000_000_000)), (16, Field::Text("{}"))];
    Effect { case: 17, optional: false, fields }
}

const SCOPES: [&str; 6] =
    ["events:read", "economy:write", "servers:control", "chat:send", "matchmaking", "webhooks:call"];

/// Manifest of the handler.
pub fn manifest(order: &str, types: &[&str]) -> Value {
    json!({"manifest": 1, "contract": "1.1.0", "name": "counter",
        "events": {"types": types, "order": order, "own": true},
        "scopes": SCOPES, "commands": ["say"],
        "config": {"type": "object", "properties": {"goal": {"type": "integer"}}}})
}

/// Grants of all that the handler asks for.
pub fn grants() -> Value {
    json!({"scopes": SCOPES, "commands": ["say"]})
}

/// Chooses effects for a letter.
fn answer(letter: char, (at, count): (u32, usize)) -> String {
    format!(
        "(if (i32.eq (local.get $letter) (i32.const {})) (then
            (local.set $list (i32.const {at})) (local.set $count (i32.const {count}))))",
        u32::from(letter)
    )
}

/// Fails for a letter, with the text of 7 bytes at `reason`.
fn fail(letter: char, case: u32, reason: u32, condition: &str) -> String {
    format!(
        "(if (i32.and (i32.eq (local.get $letter) (i32.const {})) {condition}) (then
            (i32.store8 (i32.const 16) (i32.const 1))
            (i32.store8 (i32.const 20) (i32.const {case}))
            (i32.store (i32.const 24) (i32.const {reason}))
            (i32.store (i32.const 28) (i32.const 7))
            (return (i32.const 16))))",
        u32::from(letter)
    )
}

/// A handler that counts each event in a statistic, and appends its id to the state's entry of its key. It acts on the first
/// letter after `Key":"`, `note":"` or `reason":"` in the event's data: `T` traps, `R` asks for a retry at the first attempt,
/// `J` rejects, `X` adds a refused effect, `O` adds a refused optional effect, `E` emits an event that it handles, `C` appends
/// to one entry for all keys, `M` sends a message to all and `B` one to lobbies, `P` mutes a player, `N` runs a command on
/// `lobby-1`, `S` sends player 1 to `lobby-2`, `K` sets a timer.
/// `version` tells apart modules that do the same.
pub fn handler(version: u32, manifest: &Value) -> Vec<u8> {
    handler_calling(version, manifest, "none")
}

/// A handler that calls this webhook for the letter `W`, besides.
pub fn handler_calling(version: u32, manifest: &Value, webhook: &str) -> Vec<u8> {
    let webhook: &'static str = Box::leak(webhook.into());
    let mut image = Image(vec![]);
    let usual = image.effects(&[count()]);
    // Effects for each letter.
    let others = [
        ('X', vec![count(), impossible(false)]),
        ('O', vec![impossible(true), count()]),
        ('E', vec![count(), emit()]),
        ('N', vec![count(), command()]),
        ('S', vec![count(), transfer()]),
        ('W', vec![count(), call(webhook)]),
        ('M', vec![count(), message()]),
        ('B', vec![count(), message_to_lobbies()]),
        ('P', vec![count(), punish()]),
        ('K', vec![count(), timer()]),
    ];
    let others: String = others.iter().map(|(letter, effects)| answer(*letter, image.effects(effects))).collect();
    let reason = image.text("not now");
    let all = image.text("all");
    image.text(&format!("version {version}"));
    let word = |bytes: [u8; 8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let (reason_at, all_at) = (word(reason, 0), word(all, 0));
    let mut data = String::new();
    for byte in &image.0 {
        let _ = write!(data, "\\{byte:02x}");
    }
    let mark = |text: &str| i64::from_le_bytes(text.as_bytes().try_into().unwrap());
    let text = format!(
        r#"(module
            (import "network-hub:module/state@1.1.0" "get" (func $get (param i32 i32 i32)))
            (import "network-hub:module/state@1.1.0" "set" (func $set (param i32 i32 i32 i32 i32 i64 i32)))
            (memory (export "memory") 16)
            (global $free (mut i32) (i32.const 131072))
            (func $alloc (export "cabi_realloc") (param $old i32) (param $old_size i32) (param $align i32)
                (param $size i32) (result i32)
                (local $at i32)
                (local.set $at (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
                (global.set $free (i32.add (local.get $at) (local.get $size)))
                (local.get $at))
            (data (i32.const {BASE}) "{data}")
            ;; The letter after `Key":"`, `note":"` or `reason":"`.
            (func $letter (param $at i32) (param $length i32) (result i32)
                (local $end i32)
                (local.set $end (i32.sub (i32.add (local.get $at) (local.get $length)) (i32.const 9)))
                (block $done (loop $next
                    (br_if $done (i32.gt_s (local.get $at) (local.get $end)))
                    (if (i64.eq (i64.load (local.get $at)) (i64.const {owner_key})) (then
                        (return (i32.load8_u offset=8 (local.get $at)))))
                    (if (i64.eq (i64.load (local.get $at)) (i64.const {note})) (then
                        (return (i32.load8_u offset=8 (local.get $at)))))
                    (if (i64.eq (i64.load (local.get $at)) (i64.const {because})) (then
                        (return (i32.load8_u offset=8 (local.get $at)))))
                    (local.set $at (i32.add (local.get $at) (i32.const 1)))
                    (br $next)))
                (i32.const 0))
            (func (export "network-hub:module/events@1.1.0#handle") (param $in i32) (result i32)
                (local $letter i32) (local $list i32) (local $count i32)
                (local $key i32) (local $key_length i32) (local $old_length i32) (local $new i32) (local $id_length i32)
                (local.set $letter
                    (call $letter (i32.load offset=164 (local.get $in)) (i32.load offset=168 (local.get $in))))
                (if (i32.eq (local.get $letter) (i32.const 84)) (then unreachable))
                {retry}
                {reject}
                ;; Appends the event's id to the entry of its key.
                (local.set $key (i32.load offset=120 (local.get $in)))
                (local.set $key_length (i32.load offset=124 (local.get $in)))
                (if (i32.eq (local.get $letter) (i32.const 67)) (then
                    (local.set $key (i32.const {all_at})) (local.set $key_length (i32.const 3))))
                (call $get (local.get $key) (local.get $key_length) (i32.const 64))
                (if (i32.load8_u (i32.const 64)) (then unreachable))
                (if (i32.load8_u (i32.const 68)) (then (local.set $old_length (i32.load (i32.const 76)))))
                (local.set $id_length (i32.load offset=100 (local.get $in)))
                (local.set $new (call $alloc (i32.const 0) (i32.const 0) (i32.const 1)
                    (i32.add (i32.add (local.get $old_length) (local.get $id_length)) (i32.const 1))))
                (if (local.get $old_length) (then
                    (memory.copy (local.get $new) (i32.load (i32.const 72)) (local.get $old_length))))
                (memory.copy (i32.add (local.get $new) (local.get $old_length)) (i32.load offset=96 (local.get $in))
                    (local.get $id_length))
                (i32.store8 (i32.add (i32.add (local.get $new) (local.get $old_length)) (local.get $id_length))
                    (i32.const 59))
                (call $set (local.get $key) (local.get $key_length) (local.get $new)
                    (i32.add (i32.add (local.get $old_length) (local.get $id_length)) (i32.const 1))
                    (i32.const 0) (i64.const 0) (i32.const 64))
                (if (i32.load8_u (i32.const 64)) (then unreachable))
                (local.set $list (i32.const {usual_at})) (local.set $count (i32.const 1))
                {others}
                (i32.store8 (i32.const 16) (i32.const 0))
                (i32.store (i32.const 20) (local.get $list))
                (i32.store (i32.const 24) (local.get $count))
                (i32.const 16)))"#,
        owner_key = mark("erKey\":\""),
        note = mark("\"note\":\""),
        because = mark("eason\":\""),
        retry = fail('R', 0, reason_at, "(i32.eq (i32.load offset=44 (local.get $in)) (i32.const 1))"),
        reject = fail('J', 1, reason_at, "(i32.const 1)"),
        usual_at = usual.0,
    );
    embed(component(&module_of("1.1", "events-module", &text)), manifest.to_string().as_bytes())
}
