//! The player to erase or export, and the detection of mentions.

use std::borrow::Cow;

use serde_json::Value;
use uuid::Uuid;

use crate::values::PlayerId;

/// Shorter names are ordinary words in too many texts.
const SHORTEST_NAME: usize = 3;
/// Replacement for the names of erased players in texts.
const REMOVED_NAME: &str = "(forgotten)";

/// A player with the names and addresses known to the network.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) player: PlayerId,
    /// UUID with and without hyphens, in lower case.
    ids: [String; 2],
    /// Names, each in original and folded form.
    names: Vec<String>,
    addresses: Vec<String>,
}

impl Subject {
    pub(super) fn new(player: PlayerId, names: Vec<String>, addresses: Vec<String>) -> Self {
        let ids = [player.0.hyphenated().to_string(), player.0.simple().to_string()];
        Self { player, ids, names, addresses }
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// True if a folded name is one of the player's.
    pub(super) fn has_name(&self, folded: &str) -> bool {
        self.names.iter().any(|name| name == folded)
    }

    /// True if the UUID occurs in a text, in any case.
    pub(super) fn is_named_by_id(&self, text: &str) -> bool {
        if text.len() < self.ids[1].len() {
            return false;
        }
        let text = text.to_ascii_lowercase();
        self.ids.iter().any(|id| text.contains(id.as_str()))
    }

    /// The same for bytes, which need not be text.
    pub(super) fn is_named_by_id_in(&self, bytes: &[u8]) -> bool {
        self.ids.iter().any(|id| positions(bytes, id.as_bytes(), |_, _| true).next().is_some())
    }

    /// True if a text mentions the player, by UUID, name or address.
    pub(crate) fn is_mentioned(&self, text: &str) -> bool {
        let words = self.names.iter().filter(|name| name.chars().count() >= SHORTEST_NAME).chain(&self.addresses);
        self.is_named_by_id(text)
            || words.into_iter().any(|word| positions(text.as_bytes(), word.as_bytes(), is_word).next().is_some())
    }

    /// Replaces the player's UUID in the bytes with another of the same length and form; none if it does not occur.
    pub(super) fn replace_id(&self, bytes: &[u8], replacement: Uuid) -> Option<Vec<u8>> {
        let forms = [replacement.hyphenated().to_string(), replacement.simple().to_string()];
        let mut replaced = bytes.to_vec();
        for (id, form) in self.ids.iter().zip(&forms) {
            for at in positions(bytes, id.as_bytes(), |_, _| true) {
                replaced[at..at + form.len()].copy_from_slice(form.as_bytes());
            }
        }
        (replaced != bytes).then_some(replaced)
    }

    /// Removes the player's names, addresses and UUID from a text. In JSON, field names stay.
    pub(super) fn redact(&self, text: &str, replacement: Uuid) -> Option<String> {
        if !self.is_mentioned(text) {
            return None;
        }
        if text.starts_with(['{', '[', '"'])
            && let Ok(mut json) = serde_json::from_str(text)
        {
            self.redact_json(&mut json);
            let text = json.to_string();
            return Some(self.with_id_replaced(&text, replacement).into_owned());
        }
        Some(self.with_id_replaced(&self.without_words(text), replacement).into_owned())
    }

    fn redact_json(&self, json: &mut Value) {
        match json {
            Value::String(text) => *text = self.without_words(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_json(item)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.redact_json(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn with_id_replaced<'t>(&self, text: &'t str, replacement: Uuid) -> Cow<'t, str> {
        let replaced = self.replace_id(text.as_bytes(), replacement);
        replaced.and_then(|bytes| String::from_utf8(bytes).ok()).map_or(Cow::Borrowed(text), Cow::Owned)
    }

    fn without_words(&self, text: &str) -> String {
        let mut text = text.to_owned();
        let names = self.names.iter().filter(|name| name.chars().count() >= SHORTEST_NAME);
        for word in names.chain(&self.addresses) {
            let found: Vec<_> = positions(text.as_bytes(), word.as_bytes(), is_word).collect();
            for at in found.into_iter().rev() {
                text.replace_range(at..at + word.len(), REMOVED_NAME);
            }
        }
        text
    }
}

/// Positions of `word` in `text`, in any case, without overlaps.
fn positions<'a>(
    text: &'a [u8],
    word: &'a [u8],
    fits: fn(Option<&u8>, Option<&u8>) -> bool,
) -> impl Iterator<Item = usize> + 'a {
    let mut next = 0;
    let last = if word.is_empty() { None } else { text.len().checked_sub(word.len()) };
    std::iter::from_fn(move || {
        while next <= last? {
            let (at, end) = (next, next + word.len());
            let before = at.checked_sub(1).and_then(|index| text.get(index));
            if text[at..end].eq_ignore_ascii_case(word) && fits(before, text.get(end)) {
                next = end;
                return Some(at);
            }
            next += 1;
        }
        None
    })
}

/// True if the text between these two bytes is a separate word.
fn is_word(before: Option<&u8>, after: Option<&u8>) -> bool {
    let continues =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii());
    !continues(before) && !continues(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject() -> Subject {
        let player = PlayerId(Uuid::from_u128(0x069a_79f4_44e9_4726_a5be_fca9_0e38_aaf5));
        Subject::new(
            player,
            vec!["Notch".to_owned(), "notch".to_owned(), "al".to_owned()],
            vec!["203.0.113.7".to_owned()],
        )
    }

    const OTHER: Uuid = Uuid::from_u128(7);

    #[test]
    fn the_uuid_is_found_in_every_form() {
        let subject = subject();
        for text in [
            "069a79f4-44e9-4726-a5be-fca90e38aaf5",
            "island:069A79F444E94726A5BEFCA90E38AAF5!",
            "{\"owner\":\"069a79f4-44E9-4726-a5be-fca90e38aaf5\"}",
        ] {
            assert!(subject.is_named_by_id(text) && subject.is_named_by_id_in(text.as_bytes()), "{text}");
            let replaced = subject.replace_id(text.as_bytes(), OTHER).unwrap();
            assert_eq!(replaced.len(), text.len());
            assert!(!subject.is_named_by_id_in(&replaced), "{text}");
        }
        let others = "069a79f4-44e9-4726-a5be-fca90e38aaf6 069a79f4";
        assert!(!subject.is_mentioned(others) && subject.replace_id(others.as_bytes(), OTHER).is_none());
    }

    #[test]
    fn names_and_addresses_are_words_of_their_own() {
        let subject = subject();
        for text in ["NOTCH joined", "<notch> hi", "notch[/203.0.113.7:5] logged in", "from 203.0.113.7"] {
            assert!(subject.is_mentioned(text), "{text}");
        }
        for text in ["topnotch", "notch_2", "notché", "al is a short name", "203.0.113.70"] {
            assert!(!subject.is_mentioned(text), "{text}");
        }
        let redacted = subject.redact("Notch (069a79f4-44e9-4726-a5be-fca90e38aaf5) hit topnotch", OTHER).unwrap();
        assert_eq!(redacted, format!("(forgotten) ({OTHER}) hit topnotch"));
    }

    #[test]
    fn fields_of_json_keep_their_names() {
        let redacted = subject().redact(r#"{"notch": "notch", "list": ["say hi Notch", 7]}"#, OTHER).unwrap();
        let json: Value = serde_json::from_str(&redacted).unwrap();
        assert_eq!(json, serde_json::json!({"notch": "(forgotten)", "list": ["say hi (forgotten)", 7]}));
    }
}
