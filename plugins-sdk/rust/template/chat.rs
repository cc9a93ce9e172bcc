//! Polite: masks words, and refuses a line that its sender repeats.

use network_hub_module::chat::{Chat, Line, Verdict};
use network_hub_module::{CallContext, HostError, config, info, store, warn};
use serde::Deserialize;

/// The configuration.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Config {
    /// Masked with stars where they stand alone; a to z in any case.
    words: Vec<String>,
    /// Time for which a line may not be repeated; 0 allows it at once.
    repeat_ms: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self { words: Vec::new(), repeat_ms: 5000 }
    }
}

struct Polite;

#[network_hub_module::export]
impl Chat for Polite {
    fn filter(context: &CallContext, line: &Line) -> Verdict {
        let config: Config = config(context);
        let name = &line.player.name;
        let repeated = config.repeat_ms > 0
            && is_repeated(line, config.repeat_ms).unwrap_or_else(|error| {
                warn!("the store can't be reached: {error:?}");
                false
            });
        if repeated {
            info!("refused a repeated line of {name}");
            return Verdict::refuse("You said that already.");
        }
        let polite = mask(&line.message, &config.words);
        if polite == line.message {
            return Verdict::allow();
        }
        info!("masked words of {name}");
        Verdict::rewrite(polite)
    }
}

/// True if the line repeats the last one; if not, remembers it.
fn is_repeated(line: &Line, repeat_ms: u64) -> Result<bool, HostError> {
    let key = format!("last:{}", line.player.uuid);
    if store::get(&key)?.is_some_and(|last| last == line.message) {
        return Ok(true);
    }
    store::set(&key, &line.message, Some(repeat_ms))?;
    Ok(false)
}

/// ASCII letters and digits, and all other characters.
fn is_in_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || !character.is_ascii()
}

fn mask(message: &str, words: &[String]) -> String {
    let mut masked = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(first) = rest.chars().next() {
        let in_word = is_in_word(first);
        let end = rest.find(|character| is_in_word(character) != in_word).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        if in_word && words.iter().any(|word| word.eq_ignore_ascii_case(piece)) {
            masked.extend(piece.chars().map(|_| '*'));
        } else {
            masked.push_str(piece);
        }
        rest = after;
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;
    use network_hub_module::PlayerRef;
    use network_hub_module::chat::Decision;
    use network_hub_module::testing;

    fn say(at_ms: u64, message: &str) -> Decision {
        let line = Line {
            player: PlayerRef { uuid: "069a79f4-44e9-4726-a5be-fca90e38aaf5".into(), name: "Notch".into() },
            message: message.into(),
            server_id: "lobby-1".into(),
            server_type: "lobby".into(),
            world: None,
            rank: None,
        };
        let context = testing::context_at(at_ms, r#"{"words": ["darn"], "repeatMs": 1000}"#);
        Polite::filter(&context, &line).decision
    }

    #[test]
    fn words_are_masked_where_they_stand_alone() {
        assert_eq!(say(0, "Darn! darned"), Decision::Rewrite("****! darned".into()));
    }

    #[test]
    fn a_line_may_be_repeated_after_a_while() {
        assert_eq!(say(0, "hello"), Decision::Allow);
        assert!(matches!(say(999, "hello"), Decision::Refuse(_)));
        assert_eq!(say(1000, "hello"), Decision::Allow);
    }
}
