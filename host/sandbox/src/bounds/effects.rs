//! The contract's bounds of effects. The rules of the routes are the hub's.

use crate::contract::effects::{Action, ChatTarget, Effect, MAX_EFFECTS};
use crate::contract::events::Failure;
use crate::contract::state::{StateChanges, StateWrite};

/// Maximum size of all effects of a call, in bytes of their texts.
const MAX_EFFECT_BYTES: usize = 512 << 10;
/// Maximum size of what a call writes into `state`.
const MAX_STATE_BYTES: usize = 256 << 10;
/// Maximum size of an event's, a delivery's or a webhook's payload.
const MAX_PAYLOAD_BYTES: usize = 16 << 10;
/// Maximum size of a timer's payload.
const MAX_TIMER_BYTES: usize = 4 << 10;
/// Maximum size of a document, or of a player's data.
const MAX_DATA_BYTES: usize = 256 << 10;
/// Maximum size of any other text.
const MAX_TEXT_BYTES: usize = 4096;
const MAX_KEY_CHARS: usize = 128;
const MAX_NAME_CHARS: usize = 64;
const MAX_CHAT_CHARS: usize = 1024;
const MAX_PREFIX_CHARS: usize = 64;
const MAX_FAILURE_CHARS: usize = 1024;
/// Overhead that each effect counts with.
const EFFECT_BYTES: usize = 64;

/// Checks the effects of an answer; the error names the first invalid one by its index.
pub(crate) fn check_effects(effects: &[Effect]) -> Result<(), String> {
    if effects.len() > MAX_EFFECTS {
        return Err(format!("{} effects are more than {MAX_EFFECTS}", effects.len()));
    }
    let mut total = 0;
    for (index, effect) in effects.iter().enumerate() {
        let mut size = Size::default();
        check_action(&effect.action, &mut size)
            .map_err(|why| format!("effect {index} ({}): {why}", effect.action.name()))?;
        total += EFFECT_BYTES + size.0;
    }
    if total > MAX_EFFECT_BYTES {
        return Err(format!("the effects have {total} bytes, more than {MAX_EFFECT_BYTES}"));
    }
    Ok(())
}

/// Checks the total of what a call writes.
pub(crate) fn check_state(state: &StateChanges) -> Result<(), String> {
    let bytes: usize = state.writes.iter().map(StateWrite::bytes).sum();
    if bytes > MAX_STATE_BYTES {
        return Err(format!("the call writes {bytes} bytes into `state`, more than {MAX_STATE_BYTES}"));
    }
    Ok(())
}

/// Checks the reason of a handler's own failure.
pub(crate) fn check_failure(failure: &Failure) -> Result<(), String> {
    let chars = failure.reason().chars().count();
    if chars > MAX_FAILURE_CHARS {
        return Err(format!("a reason must have at most {MAX_FAILURE_CHARS} characters, this one has {chars}"));
    }
    Ok(())
}

/// Bytes of texts so far.
#[derive(Default)]
struct Size(usize);

impl Size {
    /// A text of up to `most` bytes.
    fn text(&mut self, field: &str, text: &str, most: usize) -> Result<(), String> {
        self.0 += text.len();
        if text.len() > most {
            return Err(format!("`{field}` has {} bytes, more than {most}", text.len()));
        }
        if text.contains('\0') {
            // PostgreSQL has no text with it; requests are refused, too.
            return Err(format!("`{field}` has the character U+0000"));
        }
        Ok(())
    }

    fn short(&mut self, fields: &[(&str, &str)]) -> Result<(), String> {
        fields.iter().try_for_each(|(field, text)| self.text(field, text, MAX_TEXT_BYTES))
    }

    fn optional(&mut self, fields: &[(&str, &Option<String>)]) -> Result<(), String> {
        let given = fields.iter().filter_map(|(field, text)| Some((*field, text.as_deref()?)));
        given.into_iter().try_for_each(|(field, text)| self.text(field, text, MAX_TEXT_BYTES))
    }

    /// The text of a JSON object.
    fn object(&mut self, field: &str, text: &str, most: usize) -> Result<(), String> {
        self.text(field, text, most)?;
        match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("`{field}` is not the text of a JSON object: {error}")),
        }
    }

    fn optional_object(&mut self, field: &str, text: Option<&String>) -> Result<(), String> {
        text.map_or(Ok(()), |text| self.object(field, text, MAX_DATA_BYTES))
    }

    /// A key of events or timers.
    fn key(&mut self, key: &str) -> Result<(), String> {
        self.text("key", key, MAX_TEXT_BYTES)?;
        if !(1..=MAX_KEY_CHARS).contains(&key.chars().count()) {
            return Err(format!("`key` must have 1 to {MAX_KEY_CHARS} characters"));
        }
        Ok(())
    }

    /// The name of an event.
    fn name(&mut self, name: &str) -> Result<(), String> {
        self.text("name", name, MAX_TEXT_BYTES)?;
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if !(1..=MAX_NAME_CHARS).contains(&name.len()) || !name.bytes().all(allowed) {
            return Err(format!("`name` must have 1 to {MAX_NAME_CHARS} of A-Z, a-z, 0-9, `.`, `_` and `-`"));
        }
        Ok(())
    }
}

/// A line that players see.
fn check_shown(field: &str, text: &str, least: usize, most: usize) -> Result<(), String> {
    let chars = text.chars().count();
    if !(least..=most).contains(&chars) {
        return Err(format!("`{field}` must have {least} to {most} characters, this one has {chars}"));
    }
    if text.chars().any(char::is_control) {
        return Err(format!("`{field}` must not have control characters"));
    }
    Ok(())
}

fn check_action(action: &Action, size: &mut Size) -> Result<(), String> {
    match action {
        Action::ModifyCurrency(it) => {
            size.short(&[("ownerType", &it.owner_type), ("ownerKey", &it.owner_key), ("currency", &it.currency)])?;
            size.optional(&[("reason", &it.reason)])
        }
        Action::Transaction(it) => {
            if it.operations.is_empty() {
                return Err("`operations` must not be empty".into());
            }
            for one in &it.operations {
                let fields =
                    [("ownerType", &*one.owner_type), ("ownerKey", &one.owner_key), ("currency", &one.currency)];
                size.short(&fields)?;
            }
            size.optional(&[("reason", &it.reason)])
        }
        Action::IncrementStatistic(it) => {
            if !it.amount.is_finite() {
                return Err("`amount` must be a finite number".into());
            }
            size.short(&[("ownerType", &it.owner_type), ("ownerKey", &it.owner_key), ("name", &it.name)])?;
            size.optional(&[("gameMode", &it.game_mode)])
        }
        Action::PutPlayerData(it) => {
            let place = [("playerUuid", &*it.player_uuid), ("gameMode", &it.game_mode), ("namespace", &it.namespace)];
            size.short(&place)?;
            size.text("data", &it.data, MAX_DATA_BYTES)
        }
        Action::DeletePlayerData(it) => {
            size.short(&[("playerUuid", &it.player_uuid), ("gameMode", &it.game_mode), ("namespace", &it.namespace)])
        }
        Action::PutDocument(it) => {
            size.short(&[("collection", &it.collection), ("id", &it.id)])?;
            size.object("document", &it.document, MAX_DATA_BYTES)?;
            size.optional_object("expected", it.expected.as_ref())
        }
        Action::DeleteDocument(it) => {
            size.short(&[("collection", &it.collection), ("id", &it.id)])?;
            size.optional_object("expected", it.expected.as_ref())
        }
        Action::PutPermission(it) => {
            size.short(&[("playerUuid", &it.player_uuid), ("node", &it.node)])?;
            size.optional(&[("context", &it.context), ("world", &it.world)])
        }
        Action::RemovePermission(it) => {
            size.short(&[("playerUuid", &it.player_uuid), ("node", &it.node)])?;
            size.optional(&[("context", &it.context), ("world", &it.world)])
        }
        Action::Punish(it) => {
            super::check_reason(&it.reason, false)?;
            it.duration_ms.map_or(Ok(()), super::check_duration)?;
            needs_player(it.player_uuid.as_ref(), it.player_name.as_ref())?;
            size.short(&[("reason", &it.reason)])?;
            size.optional(&[("playerUuid", &it.player_uuid), ("playerName", &it.player_name)])
        }
        Action::RevokePunishment(it) => size.optional(&[("reason", &it.reason)]),
        Action::SendChat(it) => {
            check_shown("text", &it.text, 1, MAX_CHAT_CHARS)?;
            check_shown("prefix", it.prefix.as_deref().unwrap_or_default(), 0, MAX_PREFIX_CHARS)?;
            size.short(&[("text", &it.text)])?;
            match &it.target {
                ChatTarget::Network => Ok(()),
                ChatTarget::ServerType(name) | ChatTarget::Server(name) | ChatTarget::Player(name) => {
                    size.short(&[("target", name)])
                }
            }
        }
        Action::Emit(it) => {
            size.name(&it.name)?;
            it.key.as_deref().map_or(Ok(()), |key| size.key(key))?;
            size.object("payload", &it.payload, MAX_PAYLOAD_BYTES)
        }
        Action::Deliver(it) => {
            needs_player(it.player_uuid.as_ref(), it.player_name.as_ref())?;
            size.short(&[("kind", &it.kind)])?;
            size.object("payload", &it.payload, MAX_PAYLOAD_BYTES)?;
            size.optional(&[
                ("playerUuid", &it.player_uuid),
                ("playerName", &it.player_name),
                ("serverType", &it.server_type),
                ("serverId", &it.server_id),
                ("reference", &it.reference),
            ])
        }
        Action::RunCommand(it) => size.short(&[("serverId", &it.server_id), ("command", &it.command)]),
        Action::Transfer(it) => {
            size.short(&[("playerUuid", &it.player_uuid), ("targetServerId", &it.target_server_id)])?;
            size.optional(&[("targetWorldId", &it.target_world_id)])
        }
        Action::CallWebhook(it) => {
            size.short(&[("webhookId", &it.webhook_id)])?;
            size.name(&it.name)?;
            size.object("payload", &it.payload, MAX_PAYLOAD_BYTES)
        }
        Action::SetTimer(it) => {
            size.key(&it.key)?;
            size.object("payload", &it.payload, MAX_TIMER_BYTES)
        }
        Action::CancelTimer(it) => size.key(&it.key),
    }
}

fn needs_player(uuid: Option<&String>, name: Option<&String>) -> Result<(), String> {
    if uuid.is_none() && name.is_none() {
        return Err("needs `playerUuid` or `playerName`".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effects(json: serde_json::Value) -> Vec<Effect> {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn all_effects_read_back_from_their_json() {
        let all = serde_json::json!([
            {"modifyCurrency": {"ownerType": "player", "ownerKey": "u", "currency": "coins", "amount": 2.5, "reason": "vote", "exact": false}},
            {"transaction": {"operations": [{"ownerType": "farm", "ownerKey": "f1", "currency": "coins", "amount": -10}], "reason": "rent"}},
            {"incrementStatistic": {"ownerType": "player", "ownerKey": "u", "name": "votes", "gameMode": null, "amount": 1.0}},
            {"putPlayerData": {"playerUuid": "u", "gameMode": "global", "namespace": "quests", "data": "{}", "version": 3}},
            {"deletePlayerData": {"playerUuid": "u", "gameMode": "global", "namespace": "quests", "version": null}},
            {"putDocument": {"collection": "friends", "id": "u", "document": {"friends": []}, "expected": {"friends": ["v"]}}},
            {"deleteDocument": {"collection": "friends", "id": "u", "expected": null}},
            {"putPermission": {"playerUuid": "u", "node": "rank.vip", "value": true, "context": null, "world": null, "expiresAt": 9}},
            {"removePermission": {"playerUuid": "u", "node": "rank.vip", "context": null, "world": null}},
            {"punish": {"playerUuid": "u", "playerName": null, "type": "MUTE", "durationMs": 600_000, "reason": "flood"}},
            {"revokePunishment": {"id": 91, "reason": "appeal"}},
            {"sendChat": {"target": {"playerUuid": "u"}, "text": "Thank you!", "prefix": "[Vote]"}},
            {"sendChat": {"target": "NETWORK", "text": "Hello", "prefix": null}},
            {"emit": {"name": "friend-added", "key": "u", "payload": {"friend": "v"}}},
            {"deliver": {"playerUuid": "u", "playerName": null, "kind": "kit", "payload": {"kit": "starter"}, "serverType": "survival",
                "serverId": null, "notBefore": null, "expiresAt": null, "reference": "tebex-8812", "onLost": "HOLD"}},
            {"runCommand": {"serverId": "lobby-1", "command": "say hello", "timeoutMs": 5000}, "optional": true},
            {"transfer": {"playerUuid": "u", "targetServerId": "lobby-1", "targetWorldId": null}},
            {"callWebhook": {"webhookId": "wh_3", "name": "purchase", "payload": {"id": "8812"}}},
            {"setTimer": {"key": "player:u", "at": 1_795_000_060_000_u64, "payload": {"step": 2}}},
            {"cancelTimer": {"key": "player:u"}},
        ]);
        let effects = effects(all.clone());
        assert_eq!(check_effects(&effects), Ok(()));
        assert!(effects[15].optional && !effects[0].optional);
        let Action::ModifyCurrency(it) = &effects[0].action else { panic!() };
        assert_eq!(it.amount, 25_000);
        let back = serde_json::to_value(&effects).unwrap();
        assert_eq!(back[0], all[0]);
        assert_eq!(back.as_array().unwrap().len(), 20);
        for (back, one) in back.as_array().unwrap().iter().zip(all.as_array().unwrap()).skip(3) {
            assert_eq!(back, one);
        }
    }

    #[test]
    fn effects_out_of_bounds_are_named() {
        let emit = |payload: &str| Effect {
            action: Action::Emit(crate::contract::effects::Emit {
                name: "n".into(),
                key: None,
                payload: payload.into(),
            }),
            optional: false,
        };
        assert!(check_effects(&vec![emit("{}"); 64]).is_ok());
        assert_eq!(check_effects(&vec![emit("{}"); 65]).unwrap_err(), "65 effects are more than 64");
        let why = check_effects(&[emit("{}"), emit("[1]")]).unwrap_err();
        assert!(why.starts_with("effect 1 (emit): `payload` is not the text of a JSON object"), "{why}");
        let long = format!(r#"{{"k": "{}"}}"#, "x".repeat(16 << 10));
        assert!(check_effects(&[emit(&long)]).unwrap_err().contains("more than 16384"));
        let full = format!(r#"{{"k": "{}"}}"#, "x".repeat((16 << 10) - 20));
        assert!(check_effects(&vec![emit(&full); 33]).unwrap_err().contains("more than 524288"));
    }

    #[test]
    fn amounts_have_four_decimals() {
        let amount = |amount: f64| {
            serde_json::from_value::<Effect>(serde_json::json!({"modifyCurrency":
                {"ownerType": "player", "ownerKey": "u", "currency": "coins", "amount": amount}}))
        };
        assert!(amount(0.0001).is_ok() && amount(-12.3456).is_ok());
        assert!(amount(0.00001).unwrap_err().to_string().contains("four decimals"));
        assert!(amount(1e300).unwrap_err().to_string().contains("too large"));
    }
}
