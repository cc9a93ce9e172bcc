//! The bounds that this hub applies: those of the table, or lower ones of its operator. They depend on nothing, so that the
//! settings can hold them.

mod limit;

pub use limit::Limit;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The most bytes of JSON that an answer has.
pub const ANSWER_LIMIT: usize = 4 * 1024 * 1024;

/// Bounds lower than those of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds(Arc<BTreeMap<Limit, i64>>);

impl Bounds {
    /// Maximum for any network of this hub.
    pub fn of(&self, limit: Limit) -> i64 {
        self.0.get(&limit).copied().unwrap_or(limit.bound())
    }

    /// The same with a lower bound.
    #[must_use]
    pub fn with(self, limit: Limit, bound: i64) -> Self {
        let mut bounds = (*self.0).clone();
        bounds.insert(limit, bound.min(limit.bound()));
        Self(Arc::new(bounds))
    }
}

impl Serialize for Bounds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(limit, bound)| (limit.name(), bound)))
    }
}

impl<'de> Deserialize<'de> for Bounds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut bounds = BTreeMap::new();
        for (name, bound) in BTreeMap::<String, i64>::deserialize(deserializer)? {
            let limit = Limit::CONFIGURABLE.iter().copied().find(|limit| limit.name() == name);
            let limit = limit.ok_or_else(|| de::Error::custom(format_args!("there is no limit `{name}`")))?;
            if !(0..=limit.bound()).contains(&bound) {
                let most = limit.bound();
                return Err(de::Error::custom(format_args!("the limit `{name}` can only be lowered: 0 to {most}")));
            }
            bounds.insert(limit, bound);
        }
        Ok(Self(Arc::new(bounds)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_can_lower_a_bound_and_never_raise_it() {
        let bounds: Bounds = serde_json::from_str(r#"{"servers": 5}"#).unwrap();
        assert_eq!((bounds.of(Limit::Servers), bounds.of(Limit::Keys)), (5, Limit::Keys.bound()));
        assert_eq!(serde_json::to_string(&bounds).unwrap(), r#"{"servers":5}"#);
        for wrong in [r#"{"servers": 1001}"#, r#"{"servers": -1}"#, r#"{"nothing": 1}"#, r#"{"nodeBytesPerPlayer": 1}"#]
        {
            assert!(serde_json::from_str::<Bounds>(wrong).is_err(), "{wrong}");
        }
    }
}
