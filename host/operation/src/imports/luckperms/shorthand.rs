//! LuckPerms' shorthand: `essentials.{fly,god}`, `kit.(a-d)` and `perk.{1-5}` stand for several nodes. The rules are those
//! of `common/node/utils/ShorthandParser.java` in `LuckPerms/LuckPerms`.

use std::collections::BTreeSet;

use crate::budget::{Budget, Exhausted};

/// Maximum number of nodes from one shorthand; larger expansions are ignored.
const MOST: usize = 1_000;
const WIDEST_RANGE: u32 = 250;
/// Maximum length of a shorthand, number of its groups, and length of what it stands for in all.
const LONGEST: usize = 4_096;
const MOST_GROUPS: usize = 32;
const MOST_BYTES: usize = 512 * 1024;

/// Expansion of a node's name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Expanded {
    /// The names it stands for; none without shorthand, or where LuckPerms has too many.
    Names(BTreeSet<String>),
    /// It is too long to be expanded here.
    TooLong,
}

/// Expands a node's name. The number of the results and their lengths are known before any is made.
pub(super) fn expand(name: &str, budget: &Budget) -> Result<Expanded, Exhausted> {
    let nothing = || Ok(Expanded::Names(BTreeSet::new()));
    if !name.contains(['{', '(']) {
        return nothing();
    }
    if name.len() > LONGEST {
        return Ok(Expanded::TooLong);
    }
    let mut results = BTreeSet::from([name.to_owned()]);
    for _ in 0..MOST_GROUPS {
        let mut groups = vec![];
        let (mut count, mut bytes) = (0_usize, 0_usize);
        for text in &results {
            let group = Group::find(text);
            let Some(alternatives) = group.as_ref().map_or(Some(1), Group::count) else { return nothing() };
            count = count.saturating_add(alternatives);
            bytes = bytes.saturating_add(alternatives.saturating_mul(text.len()));
            groups.push((text, group));
        }
        if count > MOST {
            return nothing();
        }
        if bytes > MOST_BYTES {
            return Ok(Expanded::TooLong);
        }
        if groups.iter().all(|(_, group)| group.is_none()) {
            results.remove(name);
            return Ok(Expanded::Names(results));
        }
        budget.bytes(bytes as u64)?;
        let mut next = BTreeSet::new();
        for (text, group) in groups {
            match group {
                Some(group) => next.extend(group.expand()),
                None => drop(next.insert(text.clone())),
            }
        }
        results = next;
    }
    Ok(Expanded::TooLong)
}

/// First group of a text, with what is before and after it.
struct Group<'t> {
    before: &'t str,
    between: &'t str,
    after: &'t str,
}

impl<'t> Group<'t> {
    fn find(text: &'t str) -> Option<Self> {
        let open = text.find('{').or_else(|| text.find('('))?;
        let close = text.find('}').or_else(|| text.find(')'))?;
        let between = text.get(open + 1..close)?;
        Some(Self { before: &text[..open], between, after: &text[close + 1..] })
    }

    /// Number of its alternatives; none if LuckPerms refuses it.
    fn count(&self) -> Option<usize> {
        let widest = |(from, to): (u32, u32)| (to - from <= WIDEST_RANGE).then_some((to - from) as usize + 1);
        if let Some((a, b)) = numbers(self.between) {
            return if a.abs_diff(b) > WIDEST_RANGE { None } else { Some(a.abs_diff(b) as usize + 1) };
        }
        if let Some((a, b)) = letters(self.between) {
            return widest((u32::from(a.min(b)), u32::from(a.max(b))));
        }
        Some(self.between.bytes().filter(|byte| matches!(byte, b',' | b'|')).count() + 1)
    }

    /// The text with each of the alternatives.
    fn expand(&self) -> Vec<String> {
        let Self { before, between, after } = self;
        let with = |part: &str| format!("{before}{part}{after}");
        if let Some((a, b)) = numbers(between) {
            return (a.min(b)..=a.max(b)).map(|number| with(&number.to_string())).collect();
        }
        if let Some((a, b)) = letters(between) {
            return (a.min(b)..=a.max(b)).map(|letter| with(letter.encode_utf8(&mut [0; 4]))).collect();
        }
        if !between.contains([',', '|']) {
            return vec![with(between)];
        }
        between.split([',', '|']).filter(|part| !part.is_empty()).map(with).collect()
    }
}

/// `1-4`
fn numbers(text: &str) -> Option<(i32, i32)> {
    let (a, b) = text.split_once('-').filter(|(a, b)| !a.is_empty() && !b.is_empty())?;
    Some((a.parse().ok()?, b.parse().ok()?))
}

/// `a-d`
fn letters(text: &str) -> Option<(char, char)> {
    let mut characters = text.chars();
    match (characters.next(), characters.next(), characters.next(), characters.next()) {
        (Some(a), Some('-'), Some(b), None) => Some((a, b)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::budget::Allowance;

    fn budget(bytes: u64) -> Budget {
        let allowance = Allowance { bytes, steps: 0, memory: 0, time: Duration::from_secs(600) };
        Budget::begin(allowance)
    }

    fn names(name: &str) -> Vec<String> {
        match expand(name, &budget(1 << 30)).unwrap() {
            Expanded::Names(names) => names.into_iter().collect(),
            Expanded::TooLong => vec!["too long".to_owned()],
        }
    }

    #[test]
    fn a_name_stands_for_what_luckperms_says() {
        let expanded = |name: &str| names(name).join(" ");
        assert_eq!(expanded("essentials.fly"), "");
        assert_eq!(expanded("essentials.{fly,god}"), "essentials.fly essentials.god");
        assert_eq!(expanded("a.(b|c).x"), "a.b.x a.c.x");
        assert_eq!(expanded("kit.{1-3}"), "kit.1 kit.2 kit.3");
        assert_eq!(expanded("kit.{c-a}"), "kit.a kit.b kit.c");
        assert_eq!(expanded("{a,b}.{1-2}"), "a.1 a.2 b.1 b.2");
        assert_eq!(expanded("kit.{x}"), "kit.x");
        assert_eq!(expanded("kit.{1-400}"), "");
        assert_eq!(expanded("kit.}a{"), "");
        assert_eq!(expanded("kit.{ä,ö}"), "kit.ä kit.ö");
        assert_eq!(expanded(&format!("{0}{0}{0}", "{1-100}")), "");
        assert_eq!(expanded(&format!("{}{{a,b}}", "x".repeat(5_000))), "too long");
        assert_eq!(expanded(&"{a}".repeat(100)), "too long");
    }

    #[test]
    fn lengths_and_counts_are_multiplied_before_anything_is_made() {
        let name = format!("{}{{{}}}", "x".repeat(2_000), "a,b,".repeat(240));
        assert_eq!(expand(&name, &budget(1 << 30)), Ok(Expanded::TooLong));
        assert!(matches!(expand("kit.{1-200}", &budget(100)), Err(Exhausted::Bytes(100))));
    }

    /// A shorthand, and the product of its alternatives.
    fn shorthand() -> impl Strategy<Value = (String, usize)> {
        let list = prop::collection::btree_set("[a-z]{1,3}", 1..6)
            .prop_map(|parts| (parts.iter().cloned().collect::<Vec<_>>().join(","), parts.len()));
        let range = (0_usize..50, 0_usize..60).prop_map(|(from, more)| (format!("{from}-{}", from + more), more + 1));
        let part = ("[a-z.]{0,8}", prop_oneof![list, range])
            .prop_map(|(text, (group, count))| (format!("{text}.{{{group}}}"), count));
        prop::collection::vec(part, 1..5).prop_map(|parts| {
            let product = parts.iter().map(|(_, count)| count).product();
            (parts.into_iter().map(|(text, _)| text).collect(), product)
        })
    }

    proptest! {
        #[test]
        fn a_shorthand_has_as_many_names_as_its_groups_multiplied((name, product) in shorthand()) {
            let expanded = names(&name);
            if product > MOST {
                prop_assert!(expanded.is_empty());
            } else {
                // Of one alternative the name may be itself; two groups may make the same name.
                prop_assert!(expanded.len() <= product && !expanded.is_empty(), "{} {:?}", name, expanded);
            }
        }

        #[test]
        fn no_name_costs_more_than_its_bound(name in "[a-c{}()|,1-9-]{0,300}") {
            prop_assert!(expand(&name, &budget(MOST_BYTES as u64 * MOST_GROUPS as u64)).is_ok());
        }
    }
}
