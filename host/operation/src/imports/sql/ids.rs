//! Ids of a table's rows, in little memory: dumps have them in order, so that most are in few ranges.

use std::collections::BTreeMap;

/// Maximum number of ranges. Ids beyond them are not known.
const MOST_RANGES: usize = 20_000;

/// Set of ids as ranges, by their first id.
#[derive(Debug, Default)]
pub(super) struct Ids(BTreeMap<i64, i64>);

impl Ids {
    /// Adds an id; false if it is known to be there.
    pub(super) fn insert(&mut self, id: i64) -> bool {
        let before = self.0.range(..=id).next_back().map(|(first, last)| (*first, *last));
        if before.is_some_and(|(_, last)| last >= id) {
            return false;
        }
        let after = id.checked_add(1).and_then(|next| self.0.remove(&next));
        let first = before.filter(|(_, last)| last.checked_add(1) == Some(id)).map_or(id, |(first, _)| first);
        if first != id || after.is_some() || self.0.len() < MOST_RANGES {
            self.0.insert(first, after.unwrap_or(id));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ids_in_order_are_one_range() {
        let mut ids = Ids::default();
        for id in (1..1_000).chain((1_001..2_000).rev()).chain([1_000, i64::MAX, i64::MIN]) {
            assert!(ids.insert(id), "{id}");
        }
        assert_eq!(ids.0.len(), 3);
        assert!(![1, 1_000, 1_999, i64::MAX, i64::MIN].into_iter().any(|id| ids.insert(id)));
        for id in (3_000..1_000_000).step_by(2) {
            assert!(ids.insert(id));
        }
        assert_eq!(ids.0.len(), MOST_RANGES);
    }

    proptest! {
        #[test]
        fn each_id_is_new_once(numbers in proptest::collection::vec(-9_i64..9, 0..40)) {
            let (mut ids, mut seen) = (Ids::default(), std::collections::BTreeSet::new());
            for id in numbers {
                prop_assert_eq!(ids.insert(id), seen.insert(id));
            }
        }
    }
}
