//! Secrets in the middle of a JSON text: sealed one by one, so that the rest can still be read and changed.

use crate::secrets::sealing_key::{SEALED, SealingKey};
use crate::values::NetworkId;

/// Beginnings of fields whose values are secrets, wherever they occur in events and answers.
const FIELDS: [&str; 2] = ["\"appealCode\":\"", "\"signingSecret\":\""];

/// Context of the fields, which no other network's text opens.
fn context(network: NetworkId) -> String {
    format!("field of {network}")
}

impl SealingKey {
    /// The text with its secret fields sealed.
    pub fn seal_fields(&self, network: NetworkId, text: &str) -> Result<String, hub_db::Error> {
        let context = context(network);
        replace(text, |value| {
            // Others' JSON may have a field of that name with anything in it.
            if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                return Ok(None);
            }
            Ok(Some(format!("\"{}\"", self.seal_text(&context, value)?)))
        })
    }

    /// The text with its secret fields as they were; null if another key sealed them.
    pub fn open_fields(&self, network: NetworkId, text: &str) -> String {
        let context = context(network);
        let open = |value: &str| {
            let is_sealed = value.starts_with(SEALED);
            let opened = self.unseal_text(&context, value).map(|value| format!("\"{value}\""));
            Ok::<_, std::convert::Infallible>(is_sealed.then(|| opened.unwrap_or_else(|| "null".to_owned())))
        };
        match replace(text, open) {
            Ok(text) => text,
            Err(never) => match never {},
        }
    }

    /// False if another key sealed one of the text's secret fields.
    pub fn opens_fields(&self, network: NetworkId, text: &str) -> bool {
        let context = context(network);
        let opened = replace(text, |value| {
            let is_lost = value.starts_with(SEALED) && self.unseal_text(&context, value).is_none();
            if is_lost { Err(()) } else { Ok(None) }
        });
        opened.is_ok()
    }

    /// The text with its fields sealed by the newest generation.
    pub fn reseal_fields(&self, network: NetworkId, text: &str) -> Result<String, hub_db::Error> {
        let context = context(network);
        replace(text, |value| {
            let resealed = self.reseal_text(&context, value)?;
            Ok(resealed.map(|value| format!("\"{value}\"")))
        })
    }
}

/// True if the text has a secret field.
pub(super) fn has_fields(text: &str) -> bool {
    FIELDS.iter().any(|field| text.contains(field))
}

/// Replaces the values of secret fields that are texts. Quotes inside a JSON text are escaped, so that no text looks like a
/// field.
fn replace<E>(text: &str, mut with: impl FnMut(&str) -> Result<Option<String>, E>) -> Result<String, E> {
    let (mut done, mut rest) = (String::new(), text);
    loop {
        let found = FIELDS.iter().filter_map(|field| rest.find(field).map(|at| at + field.len()));
        let Some(begin) = found.min() else { break };
        let Some(length) = rest[begin..].find('"') else { break };
        let (before, value) = (&rest[..begin - 1], &rest[begin..begin + length]);
        done.push_str(before);
        match with(value)? {
            Some(replaced) => done.push_str(&replaced),
            None => done.push_str(&rest[begin - 1..=begin + length]),
        }
        rest = &rest[begin + length + 1..];
    }
    done.push_str(rest);
    Ok(done)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::secrets::sealing_key::LENGTH;

    #[test]
    fn fields_are_sealed_and_the_rest_is_as_it_was() {
        let (key, network) = (SealingKey::new(&[7; LENGTH]).unwrap(), NetworkId(Uuid::from_u128(1)));
        let text =
            r#"{"reason":"\"appealCode\":\"no\"","appealCode":"K7QM","list":[{"appealCode":null},{"appealCode":"A"}]}"#;
        let sealed = key.seal_fields(network, text).unwrap();
        assert!(has_fields(text) && !sealed.contains("K7QM") && sealed.contains(r#"\"no\""#), "{sealed}");
        assert_eq!(key.seal_fields(network, &sealed).unwrap(), sealed);
        assert_eq!(key.open_fields(network, &sealed), text);
        assert_eq!(key.open_fields(network, text), text);
        assert!(key.opens_fields(network, &sealed) && key.opens_fields(network, text));
        let other = NetworkId(Uuid::from_u128(2));
        assert!(key.open_fields(other, &sealed).contains(r#""appealCode":null,"list""#));
        assert!(!key.opens_fields(other, &sealed));
        let next = key.with_next().unwrap();
        let resealed = next.reseal_fields(network, &sealed).unwrap();
        assert!(resealed != sealed && next.open_fields(network, &resealed) == text);
        assert_eq!(next.reseal_fields(network, &resealed).unwrap(), resealed);
        let none = r#"{"appealCode":null,"a":"appealCode"}"#;
        assert!(!has_fields(none) && key.seal_fields(network, none).unwrap() == none);
        assert_eq!(key.open_fields(network, r#"{"appealCode":"sealed:"#), r#"{"appealCode":"sealed:"#);
    }
}
