//! The contract's bounds for arguments of host calls and for answers.

pub(crate) mod effects;
pub(crate) mod response;

use crate::host::HostCall;
use crate::limits::{MAX_DURATION_MS, MAX_LINE_CHARS, MAX_REASON_CHARS};

const MAX_KEY_BYTES: usize = 256;
const MAX_VALUE_BYTES: usize = 64 << 10;
const MAX_KEYS: usize = 32;
const MAX_ENTRIES: u32 = 100;
const MAX_PLAYERS: usize = 100;
const MAX_PUNISHMENTS: u32 = 100;
const MAX_ONLINE: u32 = 200;
/// Largest amount of a currency, in ten-thousandths: 900 trillion.
const MAX_AMOUNT: u64 = 9_000_000_000_000_000_000;
/// Bytes of any other argument, which the host checks further.
const MAX_TEXT_BYTES: usize = 256;

/// Checks the arguments of a host call; the error describes the first invalid one.
pub(crate) fn check(call: &HostCall) -> Result<(), String> {
    match call {
        HostCall::StoreGet { key } | HostCall::StoreDelete { key } => check_key(key),
        HostCall::StoreSet { key, value, ttl_ms } => {
            check_key(key)?;
            check_value(value)?;
            check_ttl(*ttl_ms)
        }
        HostCall::StoreIncrement { key, ttl_ms, .. } => {
            check_key(key)?;
            check_ttl(*ttl_ms)
        }
        HostCall::Statistics { players, name, game_mode, .. } => {
            if players.len() > MAX_PLAYERS {
                return Err(format!("{} players exceed the limit of {MAX_PLAYERS}", players.len()));
            }
            check_texts(players.iter().chain([name, game_mode]))
        }
        HostCall::Balance { player, currency } => check_texts([player, currency]),
        HostCall::Permission { player, node, context, world } => {
            check_texts([player, node].into_iter().chain(context).chain(world))
        }
        HostCall::Punishments { player, filter } => {
            if !(1..=MAX_PUNISHMENTS).contains(&filter.limit) {
                return Err(format!("the limit must be 1 to {MAX_PUNISHMENTS}"));
            }
            check_texts([player])
        }
        HostCall::Online { player } => check_texts([player]),
        HostCall::OnlinePlayers { after, limit } => {
            if !(1..=MAX_ONLINE).contains(limit) {
                return Err(format!("the limit must be 1 to {MAX_ONLINE}"));
            }
            check_texts(after)
        }
        // Made by the sandbox, not by the module; those of `state` are checked before its own writes are counted in.
        HostCall::PlayersOn { .. } | HostCall::StateGet { .. } | HostCall::StateList { .. } => Ok(()),
    }
}

/// Checks the keys of one read of `state`.
pub(crate) fn check_state_keys(keys: &[String]) -> Result<(), String> {
    if !(1..=MAX_KEYS).contains(&keys.len()) {
        return Err(format!("a call reads 1 to {MAX_KEYS} keys, not {}", keys.len()));
    }
    keys.iter().try_for_each(|key| check_key(key))
}

/// Checks a list of `state`.
pub(crate) fn check_state_list(prefix: &str, after: Option<&str>, limit: u32) -> Result<(), String> {
    if !(1..=MAX_ENTRIES).contains(&limit) {
        return Err(format!("the limit must be 1 to {MAX_ENTRIES}"));
    }
    match [Some(prefix), after].into_iter().flatten().find(|text| text.len() > MAX_KEY_BYTES) {
        Some(text) => Err(format!("an argument has {} bytes, more than {MAX_KEY_BYTES}", text.len())),
        None => Ok(()),
    }
}

/// Checks a write of `state`.
pub(crate) fn check_state_write(key: &str, value: &str, ttl_ms: Option<u64>) -> Result<(), String> {
    check_key(key)?;
    check_value(value)?;
    check_ttl(ttl_ms)
}

fn check_value(value: &str) -> Result<(), String> {
    if value.len() > MAX_VALUE_BYTES {
        return Err(format!("the value has {} bytes, more than {MAX_VALUE_BYTES}", value.len()));
    }
    Ok(())
}

fn check_key(key: &str) -> Result<(), String> {
    if (1..=MAX_KEY_BYTES).contains(&key.len()) {
        Ok(())
    } else {
        Err(format!("a key must have 1 to {MAX_KEY_BYTES} bytes, this one has {}", key.len()))
    }
}

fn check_ttl(ttl_ms: Option<u64>) -> Result<(), String> {
    match ttl_ms {
        Some(0) => Err("a ttl must be 1 ms or more".into()),
        Some(ttl) if ttl > MAX_DURATION_MS => Err("a ttl must be 10 years or less".into()),
        _ => Ok(()),
    }
}

fn check_texts<'a>(texts: impl IntoIterator<Item = &'a String>) -> Result<(), String> {
    match texts.into_iter().find(|text| text.len() > MAX_TEXT_BYTES) {
        Some(text) => Err(format!("an argument has {} bytes, more than {MAX_TEXT_BYTES}", text.len())),
        None => Ok(()),
    }
}

/// Checks a duration given by a module.
pub(crate) fn check_duration(duration_ms: u64) -> Result<(), String> {
    if (1..=MAX_DURATION_MS).contains(&duration_ms) {
        Ok(())
    } else {
        Err(format!("a duration of {duration_ms} ms is not between 1 ms and 10 years"))
    }
}

/// Checks an amount of a currency, in ten-thousandths.
pub(crate) fn check_amount(amount: i64) -> Result<(), String> {
    if amount.unsigned_abs() > MAX_AMOUNT {
        return Err("an amount must be from -900 trillion to 900 trillion".into());
    }
    Ok(())
}

/// Checks a chat line a module wrote.
pub(crate) fn check_line(line: &str) -> Result<(), String> {
    let chars = line.chars().count();
    if !(1..=MAX_LINE_CHARS).contains(&chars) {
        return Err(format!("a rewritten line must have 1 to {MAX_LINE_CHARS} characters, this one has {chars}"));
    }
    if line.chars().any(char::is_control) {
        return Err("a rewritten line must not have control characters".into());
    }
    Ok(())
}

/// Checks a reason a module gives; a required one may not be empty.
pub(crate) fn check_reason(reason: &str, required: bool) -> Result<(), String> {
    let chars = reason.chars().count();
    if chars > MAX_REASON_CHARS {
        return Err(format!("a reason must have at most {MAX_REASON_CHARS} characters, this one has {chars}"));
    }
    if required && reason.trim().is_empty() {
        return Err("a refusal needs a reason".into());
    }
    if reason.chars().any(char::is_control) {
        return Err("a reason must not have control characters".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_1_to_256_bytes() {
        for (len, fine) in [(0, false), (1, true), (256, true), (257, false)] {
            let call = HostCall::StoreGet { key: "k".repeat(len) };
            assert_eq!(check(&call).is_ok(), fine, "{len}");
        }
    }

    #[test]
    fn a_ttl_is_at_least_a_millisecond() {
        for (ttl_ms, fine) in [(None, true), (Some(0), false), (Some(1), true), (Some(u64::MAX), false)] {
            let call = HostCall::StoreIncrement { key: "k".into(), by: 1, ttl_ms };
            assert_eq!(check(&call).is_ok(), fine, "{ttl_ms:?}");
        }
    }

    #[test]
    fn lines_and_reasons_are_bounded_in_characters() {
        assert!(check_line(&"ä".repeat(1024)).is_ok());
        assert!(check_line(&"ä".repeat(1025)).is_err());
        assert!(check_line("").is_err());
        assert!(check_line("a\nb").is_err());
        assert!(check_reason(&"ä".repeat(256), true).is_ok());
        assert!(check_reason(&"ä".repeat(257), false).is_err());
        assert!(check_reason(" ", true).is_err());
        assert!(check_reason("", false).is_ok());
    }

    #[test]
    fn durations_are_positive_and_at_most_ten_years() {
        assert!(check_duration(0).is_err());
        assert!(check_duration(1).is_ok());
        assert!(check_duration(MAX_DURATION_MS).is_ok());
        assert!(check_duration(MAX_DURATION_MS + 1).is_err());
    }
}
