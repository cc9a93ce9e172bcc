//! LuckPerms' shorthand: `essentials.{fly,god}`, `kit.(a-d)` and `perk.{1-5}` stand for several nodes. The rules are those
//! of `common/node/utils/ShorthandParser.java` in `LuckPerms/LuckPerms`.

use std::collections::BTreeSet;

/// Maximum number of nodes from one shorthand; larger expansions are ignored.
const MOST: usize = 1_000;
const WIDEST_RANGE: u32 = 250;

/// Expands a node's name; empty without shorthand.
pub(super) fn expand(name: &str) -> BTreeSet<String> {
    let mut results = BTreeSet::from([name.to_owned()]);
    if !name.contains(['{', '(']) {
        return BTreeSet::new();
    }
    loop {
        let (mut next, mut is_done) = (BTreeSet::new(), true);
        for text in &results {
            match expand_group(text) {
                Some(Ok(expanded)) => {
                    is_done = false;
                    next.extend(expanded);
                }
                Some(Err(TooMany)) => return BTreeSet::new(),
                None => drop(next.insert(text.clone())),
            }
            if next.len() > MOST {
                return BTreeSet::new();
            }
        }
        results = next;
        if is_done {
            results.remove(name);
            return results;
        }
    }
}

struct TooMany;

/// Replaces the first group of the text with each of its alternatives; none without a group.
fn expand_group(text: &str) -> Option<Result<Vec<String>, TooMany>> {
    let open = text.find('{').or_else(|| text.find('('))?;
    let close = text.find('}').or_else(|| text.find(')'))?;
    let between = text.get(open + 1..close)?;
    let (before, after) = (&text[..open], &text[close + 1..]);
    let parts = match numbers(between).or_else(|| letters(between)) {
        Some(Ok(parts)) => parts,
        Some(Err(too_many)) => return Some(Err(too_many)),
        None => list(between),
    };
    Some(Ok(parts.into_iter().map(|part| format!("{before}{part}{after}")).collect()))
}

/// `1-4`
fn numbers(text: &str) -> Option<Result<Vec<String>, TooMany>> {
    let (a, b) = text.split_once('-').filter(|(a, b)| !a.is_empty() && !b.is_empty())?;
    let (a, b): (i32, i32) = (a.parse().ok()?, b.parse().ok()?);
    if a.abs_diff(b) > WIDEST_RANGE {
        return Some(Err(TooMany));
    }
    Some(Ok((a.min(b)..=a.max(b)).map(|number| number.to_string()).collect()))
}

/// `a-d`
fn letters(text: &str) -> Option<Result<Vec<String>, TooMany>> {
    let mut characters = text.chars();
    let (Some(a), Some('-'), Some(b), None) =
        (characters.next(), characters.next(), characters.next(), characters.next())
    else {
        return None;
    };
    if u32::from(a).abs_diff(u32::from(b)) > WIDEST_RANGE {
        return Some(Err(TooMany));
    }
    Some(Ok((a.min(b)..=a.max(b)).map(String::from).collect()))
}

/// `aa,bb|cc`, or a single word.
fn list(text: &str) -> Vec<String> {
    if !text.contains([',', '|']) {
        return vec![text.to_owned()];
    }
    text.split([',', '|']).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_what_luckperms_says() {
        let expanded = |name: &str| expand(name).into_iter().collect::<Vec<_>>().join(" ");
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
    }
}
