//! What a document puts into its collection's indexes.
//!
//! An entry's value is bytes that compare as the values do, on both databases alike: a text's own UTF-8; a number's
//! eight bytes, turned so that greater numbers have greater bytes; one byte for a bool.

use std::fmt::Write as _;

use serde_json::Value;

use crate::collections::model::{DocumentId, FieldPath, IndexDefinition, IndexType};

/// The longest text an index takes, in bytes: an entry must fit into a page of the database's.
pub(super) const LONGEST_TEXT: usize = 1_024;

/// A value as an index keeps it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(Vec<u8>);

impl Key {
    /// Before every value.
    pub(super) const LEAST: Self = Self(Vec::new());

    /// After every value: no text begins with this byte, and no other value is as long.
    pub(super) fn beyond_all() -> Self {
        Self(vec![0xff; 9])
    }

    /// Right after this one.
    pub(super) fn beyond(&self) -> Self {
        let mut next = self.0.clone();
        next.push(0);
        Self(next)
    }

    pub(super) fn of_text(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }

    pub(super) fn of_number(number: f64) -> Self {
        // -0 is 0. The sign of a positive number is set and a negative one's bits are turned over.
        let bits = (number + 0.0).to_bits();
        let turned = if bits >> 63 == 0 { bits | 1 << 63 } else { !bits };
        Self(turned.to_be_bytes().to_vec())
    }

    pub(super) fn of_bool(value: bool) -> Self {
        Self(vec![u8::from(value)])
    }

    /// From the database's bytes.
    pub(super) fn stored(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(super) fn to_hex(&self) -> String {
        self.0.iter().fold(String::with_capacity(2 * self.0.len()), |mut hex, byte| {
            // Writing to a text cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }

    pub(super) fn of_hex(hex: &str) -> Option<Self> {
        let pairs = hex.as_bytes().chunks(2).map(|pair| {
            let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2 && !pair.contains('+'))?;
            u8::from_str_radix(pair, 16).ok()
        });
        pairs.collect::<Option<_>>().map(Self)
    }

    /// Reads what a query asks for in an index of this type.
    pub(super) fn parse(text: &str, kind: IndexType) -> Result<Self, &'static str> {
        match kind {
            IndexType::String => Ok(Self::of_text(text)),
            IndexType::Number => {
                let number = text.parse().ok().filter(|number: &f64| number.is_finite());
                number.map(Self::of_number).ok_or("must be a number: the field is indexed as `number`")
            }
            IndexType::Bool => {
                text.parse().map(Self::of_bool).map_err(|_| "must be true or false: the field is indexed as `bool`")
            }
        }
    }
}

/// The value of a field, where the document has it.
pub(super) fn field<'a>(doc: &'a Value, path: &FieldPath) -> Option<&'a Value> {
    path.as_str().split('.').try_fold(doc, |value, name| value.as_object()?.get(name))
}

/// A text that no index takes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong(pub(super) FieldPath);

/// One entry: which index, and the value there.
pub(super) type Entry = (FieldPath, Key);

/// What a document puts into these indexes: nothing where it lacks the field or has another type there.
pub(super) fn entries(doc: &Value, indexes: &[IndexDefinition]) -> Result<Vec<Entry>, TooLong> {
    let mut entries = vec![];
    for index in indexes {
        let key = match (index.r#type, field(doc, &index.field)) {
            (IndexType::String, Some(Value::String(text))) if text.len() > LONGEST_TEXT => {
                return Err(TooLong(index.field.clone()));
            }
            (IndexType::String, Some(Value::String(text))) => Key::of_text(text),
            (IndexType::Number, Some(Value::Number(number))) => {
                let Some(number) = number.as_f64() else { continue };
                Key::of_number(number)
            }
            (IndexType::Bool, Some(Value::Bool(value))) => Key::of_bool(*value),
            _ => continue,
        };
        entries.push((index.field.clone(), key));
    }
    Ok(entries)
}

/// Whether a document may have this id: the key field holds it, or is not there.
pub(super) fn agrees(doc: &Value, key: Option<&FieldPath>, id: &DocumentId) -> bool {
    match key.and_then(|key| field(doc, key)) {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text == id.as_str(),
        Some(Value::Number(number)) => number.to_string() == id.as_str(),
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn path(text: &str) -> FieldPath {
        text.to_owned().try_into().unwrap()
    }

    proptest! {
        #[test]
        fn numbers_compare_as_their_keys(a in proptest::num::f64::NORMAL | proptest::num::f64::ZERO,
                                         b in proptest::num::f64::NORMAL | proptest::num::f64::ZERO) {
            prop_assert_eq!(a.partial_cmp(&b).unwrap(), Key::of_number(a).cmp(&Key::of_number(b)));
        }

        #[test]
        fn texts_lie_between_the_ends_and_survive_hex(text in ".*", number in proptest::num::f64::NORMAL) {
            for key in [Key::of_text(&text), Key::of_number(number), Key::of_bool(true)] {
                prop_assert!(Key::LEAST <= key && key < key.beyond() && key < Key::beyond_all());
                prop_assert_eq!(Key::of_hex(&key.to_hex()), Some(key));
            }
        }
    }

    #[test]
    fn zero_has_one_key_and_hex_one_spelling() {
        assert_eq!(Key::of_number(-0.0), Key::of_number(0.0));
        for wrong in ["0", "zz", "+1", "é", "0011é"] {
            assert_eq!(Key::of_hex(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_document_is_in_the_indexes_whose_type_it_has() {
        let doc = json!({"name": "Red", "level": 7, "owner": {"name": "Alex", "vip": true}, "a.b": 1});
        let index = |field, r#type| IndexDefinition { field: path(field), r#type };
        let indexes = [
            index("name", IndexType::String),
            index("level", IndexType::String),
            index("owner.name", IndexType::String),
            index("owner.vip", IndexType::Bool),
            index("a.b", IndexType::Number),
            index("owner.name.x", IndexType::String),
        ];
        let found: Vec<_> = entries(&doc, &indexes).unwrap().into_iter().map(|(field, _)| field).collect();
        assert_eq!(found, [path("name"), path("owner.name"), path("owner.vip")]);
        let long = json!({"name": "x".repeat(LONGEST_TEXT + 1)});
        assert_eq!(entries(&long, &indexes), Err(TooLong(path("name"))));
    }

    #[test]
    fn the_key_field_holds_the_id_or_nothing() {
        let id: DocumentId = "5".to_owned().try_into().unwrap();
        for (doc, agreed) in [
            (json!({"id": "5"}), true),
            (json!({"id": 5}), true),
            (json!({"id": null}), true),
            (json!({}), true),
            (json!([1]), true),
            (json!({"id": "6"}), false),
            (json!({"id": [5]}), false),
        ] {
            assert_eq!(agrees(&doc, Some(&path("id")), &id), agreed, "{doc}");
            assert!(agrees(&doc, None, &id));
        }
    }
}
