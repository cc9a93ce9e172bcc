//! Contexts and worlds of nodes and players.

use std::collections::{BTreeMap, BTreeSet};

use crate::text_type::text_type;

/// Maximum length of a context or world, in characters.
const MAX_CHARACTERS: usize = 255;
/// Alone, it means everywhere, like an absent context.
const EVERYWHERE: &str = "global";

fn check(text: &str) -> Result<(), &'static str> {
    if text.chars().count() > MAX_CHARACTERS {
        return Err("must be at most 255 characters");
    }
    if text.chars().any(char::is_control) {
        return Err("must not contain control characters");
    }
    Ok(())
}

text_type! {
    /// Scope as `key=value` pairs separated by commas, such as `server=lobby,gamemode=skyblock`. A word without `=` is
    /// a server. Compared without case. Blank or `global` is everywhere.
    pub struct PermissionContext;
    check: |text| {
        check(text)?;
        if pairs(text).any(|(key, value)| key.is_empty() || value.is_empty()) {
            return Err("must be `key=value` pairs separated by commas, such as `server=lobby`");
        }
        Ok(())
    };
    schema: |text| text.max_length(Some(MAX_CHARACTERS));
}

text_type! {
    /// Name of a world. Compared without case. Blank or `global` is everywhere.
    pub struct PermissionWorld;
    check: check;
    schema: |text| text.max_length(Some(MAX_CHARACTERS));
}

fn pairs(text: &str) -> impl Iterator<Item = (String, String)> {
    let everywhere = text.trim().eq_ignore_ascii_case(EVERYWHERE);
    text.split(',').filter(move |pair| !everywhere && !pair.trim().is_empty()).map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or(("server", pair));
        (key.trim().to_lowercase(), value.trim().to_lowercase())
    })
}

fn world_pair(world: &PermissionWorld) -> Option<(String, String)> {
    let name = world.as_str().trim().to_lowercase();
    (!name.is_empty() && name != EVERYWHERE).then(|| ("world".to_owned(), name))
}

/// Values by key, required by a node or held by a player.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ContextSet(BTreeMap<String, BTreeSet<String>>);

impl ContextSet {
    pub(super) fn new(context: Option<&PermissionContext>, world: Option<&PermissionWorld>) -> Self {
        let mut all = Self::default();
        let context = context.into_iter().flat_map(|context| pairs(context.as_str()));
        for (key, value) in context.chain(world.and_then(world_pair)) {
            all.0.entry(key).or_default().insert(value);
        }
        all
    }

    /// Number of pairs.
    pub(super) fn len(&self) -> usize {
        self.0.values().map(BTreeSet::len).sum()
    }

    /// True if it means everywhere.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Pairs by key and value.
    pub(super) fn into_pairs(self) -> Vec<(String, String)> {
        self.0.into_iter().flat_map(|(key, values)| values.into_iter().map(move |value| (key.clone(), value))).collect()
    }

    pub(super) fn contains_key(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// True if `current` has one of the values of each key required here.
    pub(super) fn is_satisfied_by(&self, current: &Self) -> bool {
        self.0.iter().all(|(key, values)| current.0.get(key).is_some_and(|has| !has.is_disjoint(values)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contexts(context: &str, world: &str) -> ContextSet {
        ContextSet::new(Some(&context.parse().unwrap()), Some(&world.parse().unwrap()))
    }

    #[test]
    fn a_context_is_parsed_leniently() {
        assert_eq!(contexts("lobby", ""), contexts(" Server = LOBBY ,", "global"));
        assert_eq!(contexts("", "Nether"), contexts("world=nether", ""));
        assert!(contexts("Global", "").is_empty() && contexts(" ", " ").is_empty());
        assert_eq!(contexts("server=a,server=b,server=A", "w").len(), 3);
        for wrong in ["=", "server=", "=lobby", "a,b=", "x\u{7}", &"x".repeat(256)] {
            assert!(wrong.parse::<PermissionContext>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn one_value_of_each_key_is_enough() {
        let node = contexts("server=a,server=b", "nether");
        assert!(node.is_satisfied_by(&contexts("server=b,gamemode=x", "Nether")));
        assert!(!node.is_satisfied_by(&contexts("server=b", "end")));
        assert!(!node.is_satisfied_by(&contexts("", "nether")));
        assert!(ContextSet::default().is_satisfied_by(&ContextSet::default()));
    }
}
