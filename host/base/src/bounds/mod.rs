//! The bounds that this hub applies: those of the table, or lower ones of its operator. They depend on nothing, so that the
//! settings can hold them.

mod limit;

pub use limit::{Limit, LimitRow};

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The most bytes of JSON that an answer has.
pub const ANSWER_LIMIT: usize = 4 * 1024 * 1024;

/// Bounds lower than those of the table, by the names of limits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds(Arc<BTreeMap<String, i64>>);

impl Bounds {
    /// Maximum for any network of this hub.
    pub fn of(&self, limit: Limit) -> i64 {
        self.0.get(limit.name()).map_or(limit.bound(), |bound| limit.bound().min(*bound))
    }

    /// The same with a lower bound.
    #[must_use]
    pub fn with(self, limit: Limit, bound: i64) -> Self {
        let mut bounds = (*self.0).clone();
        bounds.insert(limit.name().to_owned(), bound);
        Self(Arc::new(bounds))
    }

    /// Fails for a bound of none of these limits, or one that is no lower than theirs.
    pub fn check(&self, limits: impl IntoIterator<Item = Limit>) -> Result<(), String> {
        let limits: Vec<_> = limits.into_iter().collect();
        for (name, bound) in self.0.iter() {
            let Some(limit) = limits.iter().find(|limit| limit.name() == name) else {
                return Err(format!("there is no limit `{name}`"));
            };
            let most = limit.bound();
            if !(0..=most).contains(bound) {
                return Err(format!("the limit `{name}` can only be lowered: 0 to {most}"));
            }
        }
        Ok(())
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
        assert_eq!(bounds.check(Limit::CONFIGURABLE.iter().copied()), Ok(()));
        for wrong in [r#"{"servers": 1001}"#, r#"{"servers": -1}"#, r#"{"nothing": 1}"#, r#"{"nodeBytesPerPlayer": 1}"#]
        {
            let bounds: Bounds = serde_json::from_str(wrong).unwrap();
            assert!(bounds.check(Limit::CONFIGURABLE.iter().copied()).is_err(), "{wrong}");
        }
        // Unchecked limits are no higher either.
        assert_eq!(Bounds::default().with(Limit::Servers, 1_001).of(Limit::Servers), Limit::Servers.bound());
    }
}
