//! Where a page ended: opaque to callers.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::collections::index::Key;
use crate::collections::model::{CollectionName, DocumentId, FieldPath, Order};

/// Which list is paged through.
#[derive(Clone, Copy, Debug)]
pub(super) struct List<'a> {
    pub(super) collection: &'a CollectionName,
    pub(super) field: &'a FieldPath,
    pub(super) order: Order,
}

/// The last document of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) key: Key,
    pub(super) id: DocumentId,
}

impl Place {
    /// As callers hand it back.
    pub(super) fn to_cursor(&self, list: List<'_>) -> String {
        let parts = (list.collection, list.field, list.order, self.key.to_hex(), &self.id);
        // Five texts always have a JSON.
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&parts).unwrap_or_default())
    }

    /// Reads a cursor of the same list.
    pub(super) fn of_cursor(cursor: &str, list: List<'_>) -> Option<Self> {
        let json = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let parts: (CollectionName, FieldPath, Order, String, DocumentId) = serde_json::from_slice(&json).ok()?;
        let (collection, field, order, key, id) = parts;
        let same = collection == *list.collection && field == *list.field && order == list.order;
        // PostgreSQL's text can't hold U+0000, and no id has one: it is a control character.
        Some(Self { key: Key::of_hex(&key)?, id }).filter(|_| same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_for_its_own_list_alone() {
        let (collection, field) = ("guilds".to_owned().try_into().unwrap(), "level".to_owned().try_into().unwrap());
        let list = List { collection: &collection, field: &field, order: Order::Asc };
        let place = Place { key: Key::of_number(-7.5), id: "é".to_owned().try_into().unwrap() };
        let cursor = place.to_cursor(list);
        assert_eq!(Place::of_cursor(&cursor, list), Some(place));
        assert_eq!(Place::of_cursor(&cursor, List { order: Order::Desc, ..list }), None);
        let other = "name".to_owned().try_into().unwrap();
        assert_eq!(Place::of_cursor(&cursor, List { field: &other, ..list }), None);
        for wrong in ["", "!", "e30", &cursor[1..]] {
            assert_eq!(Place::of_cursor(wrong, list), None, "{wrong}");
        }
    }
}
