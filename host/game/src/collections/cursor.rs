//! End of a page, opaque to clients.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::collections::index::IndexKey;
use crate::collections::model::{CollectionName, DocumentId, FieldPath, Order};

/// List being paged through.
#[derive(Clone, Copy, Debug)]
pub(super) struct List<'a> {
    pub(super) collection: &'a CollectionName,
    pub(super) field: &'a FieldPath,
    pub(super) order: Order,
}

/// Position of a document in an index.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub(super) struct IndexPosition {
    #[sqlx(rename = "value")]
    pub(super) key: IndexKey,
    pub(super) id: DocumentId,
}

impl IndexPosition {
    /// Text for clients.
    pub(super) fn to_cursor(&self, list: List<'_>) -> String {
        let parts = (list.collection, list.field, list.order, self.key.to_hex(), &self.id);
        // Five texts can always be serialized.
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&parts).unwrap_or_default())
    }

    /// Parses a cursor of the same list.
    pub(super) fn from_cursor(cursor: &str, list: List<'_>) -> Option<Self> {
        let json = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let parts: (CollectionName, FieldPath, Order, String, DocumentId) = serde_json::from_slice(&json).ok()?;
        let (collection, field, order, key, id) = parts;
        let is_same = collection == *list.collection && field == *list.field && order == list.order;
        // PostgreSQL's text cannot hold U+0000; an id has none, since that is a control character.
        Some(Self { key: IndexKey::from_hex(&key)?, id }).filter(|_| is_same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_for_its_own_list_alone() {
        let (collection, field) = ("guilds".parse().unwrap(), "level".parse().unwrap());
        let list = List { collection: &collection, field: &field, order: Order::Asc };
        let position = IndexPosition { key: IndexKey::from_number(-7.5), id: "é".parse().unwrap() };
        let cursor = position.to_cursor(list);
        assert_eq!(IndexPosition::from_cursor(&cursor, list), Some(position));
        assert_eq!(IndexPosition::from_cursor(&cursor, List { order: Order::Desc, ..list }), None);
        let other = "name".parse().unwrap();
        assert_eq!(IndexPosition::from_cursor(&cursor, List { field: &other, ..list }), None);
        for wrong in ["", "!", "e30", &cursor[1..]] {
            assert_eq!(IndexPosition::from_cursor(wrong, list), None, "{wrong}");
        }
    }
}
