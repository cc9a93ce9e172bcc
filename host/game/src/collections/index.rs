//! Index entries of a document.
//!
//! An entry's value is a byte string that sorts like the values, on both databases: UTF-8 of a text; eight bytes of a
//! number, encoded so that greater numbers have greater bytes; one byte for a bool.

use serde_json::Value;

use crate::collections::model::{DocumentId, FieldPath, IndexDefinition, IndexType};
use crate::values::hex;

/// Maximum size of a text: an entry must fit into one page of the database.
pub(super) const MAX_TEXT_BYTES: usize = 1_024;

/// Indexed value, encoded so that keys sort like their values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, sqlx::Type)]
#[sqlx(transparent)]
pub(super) struct IndexKey(Vec<u8>);

impl IndexKey {
    /// Lower than every value.
    pub(super) const MIN: Self = Self(Vec::new());

    /// Higher than every value: no text begins with this byte, and no other value is as long.
    pub(super) fn upper_bound() -> Self {
        Self(vec![0xff; 9])
    }

    /// Lowest key after this one.
    pub(super) fn successor(&self) -> Self {
        Self([self.0.as_slice(), &[0]].concat())
    }

    pub(super) fn from_text(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }

    pub(super) fn from_number(number: f64) -> Self {
        // -0 is 0. A positive number's sign bit is set; all bits of a negative one are flipped.
        let bits = (number + 0.0).to_bits();
        let ordered = if bits >> 63 == 0 { bits | 1 << 63 } else { !bits };
        Self(ordered.to_be_bytes().to_vec())
    }

    pub(super) fn from_bool(value: bool) -> Self {
        Self(vec![u8::from(value)])
    }

    pub(super) fn to_hex(&self) -> String {
        hex(&self.0)
    }

    pub(super) fn from_hex(hex: &str) -> Option<Self> {
        let pairs = hex.as_bytes().chunks(2).map(|pair| {
            let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2 && !pair.contains('+'))?;
            u8::from_str_radix(pair, 16).ok()
        });
        pairs.collect::<Option<_>>().map(Self)
    }

    /// Parses a query's value for an index of this type.
    pub(super) fn parse(text: &str, kind: IndexType) -> Result<Self, &'static str> {
        match kind {
            IndexType::String => Ok(Self::from_text(text)),
            IndexType::Number => {
                let number = text.parse().ok().filter(|number: &f64| number.is_finite());
                number.map(Self::from_number).ok_or("must be a number: the field is indexed as `number`")
            }
            IndexType::Bool => {
                text.parse().map(Self::from_bool).map_err(|_| "must be true or false: the field is indexed as `bool`")
            }
        }
    }
}

/// Value of a field, if the document has it.
pub(super) fn field<'a>(doc: &'a Value, path: &FieldPath) -> Option<&'a Value> {
    path.as_str().split('.').try_fold(doc, |value, name| value.as_object()?.get(name))
}

/// Field whose text is longer than [`MAX_TEXT_BYTES`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong(pub(super) FieldPath);

/// Entry: the index and the value in it.
pub(super) type Entry = (FieldPath, IndexKey);

/// Entries of a document in these indexes: none if the field is missing or has another type.
pub(super) fn entries(doc: &Value, indexes: &[IndexDefinition]) -> Result<Vec<Entry>, TooLong> {
    let mut entries = vec![];
    for index in indexes {
        let key = match (index.r#type, field(doc, &index.field)) {
            (IndexType::String, Some(Value::String(text))) if text.len() > MAX_TEXT_BYTES => {
                return Err(TooLong(index.field.clone()));
            }
            (IndexType::String, Some(Value::String(text))) => IndexKey::from_text(text),
            (IndexType::Number, Some(Value::Number(number))) => {
                let Some(number) = number.as_f64() else { continue };
                IndexKey::from_number(number)
            }
            (IndexType::Bool, Some(Value::Bool(value))) => IndexKey::from_bool(*value),
            _ => continue,
        };
        entries.push((index.field.clone(), key));
    }
    Ok(entries)
}

/// True if a document may have this id: the key field contains it or is missing.
pub(super) fn id_matches(doc: &Value, key: Option<&FieldPath>, id: &DocumentId) -> bool {
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
        text.parse().unwrap()
    }

    proptest! {
        #[test]
        fn numbers_compare_as_their_keys(a in proptest::num::f64::NORMAL | proptest::num::f64::ZERO,
                                         b in proptest::num::f64::NORMAL | proptest::num::f64::ZERO) {
            prop_assert_eq!(a.partial_cmp(&b).unwrap(), IndexKey::from_number(a).cmp(&IndexKey::from_number(b)));
        }

        #[test]
        fn keys_lie_between_the_bounds_and_read_back_from_hex(text in ".*", number in proptest::num::f64::NORMAL) {
            for key in [IndexKey::from_text(&text), IndexKey::from_number(number), IndexKey::from_bool(true)] {
                prop_assert!(IndexKey::MIN <= key && key < key.successor() && key < IndexKey::upper_bound());
                prop_assert_eq!(IndexKey::from_hex(&key.to_hex()), Some(key));
            }
        }
    }

    #[test]
    fn zero_has_one_key_and_hex_one_spelling() {
        assert_eq!(IndexKey::from_number(-0.0), IndexKey::from_number(0.0));
        for wrong in ["0", "zz", "+1", "é", "0011é"] {
            assert_eq!(IndexKey::from_hex(wrong), None, "{wrong}");
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
        let long = json!({"name": "x".repeat(MAX_TEXT_BYTES + 1)});
        assert_eq!(entries(&long, &indexes), Err(TooLong(path("name"))));
    }

    #[test]
    fn the_key_field_holds_the_id_or_nothing() {
        let id: DocumentId = "5".parse().unwrap();
        for (doc, matches) in [
            (json!({"id": "5"}), true),
            (json!({"id": 5}), true),
            (json!({"id": null}), true),
            (json!({}), true),
            (json!([1]), true),
            (json!({"id": "6"}), false),
            (json!({"id": [5]}), false),
        ] {
            assert_eq!(id_matches(&doc, Some(&path("id")), &id), matches, "{doc}");
            assert!(id_matches(&doc, None, &id));
        }
    }
}
