//! The order of the pages: the groups and the rows of `docs/README.md`, and behind them the pages of folders that have a page.

use std::collections::{BTreeMap, BTreeSet};

/// Pages for one kind of reader.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Group {
    pub(crate) title: String,
    pub(crate) entries: Vec<Entry>,
}

/// A page in the contents.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Entry {
    /// Path of the file below `docs/`.
    pub(crate) file: String,
    /// Name in the navigation; blank for pages that the map does not name.
    pub(crate) name: String,
    /// Question that it answers, if the map has one.
    pub(crate) question: String,
    /// True for pages that only the page of their folder names.
    pub(crate) is_below: bool,
}

/// Name of the page that stands for its folder.
pub(crate) const MAP: &str = "README.md";

/// The groups of the map, with all `files`. A page is where it is named last; links to a part of it count where there are no others.
pub(crate) fn groups(map: &str, files: &BTreeSet<&str>) -> Vec<Group> {
    let mut groups: Vec<Group> = vec![];
    let mut mentions = vec![];
    let mut places: BTreeMap<String, usize> = BTreeMap::from([(MAP.to_owned(), usize::MAX)]);
    for line in map.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            groups.push(Group { title: title.trim().to_owned(), entries: vec![] });
        }
        if !line.starts_with('|') || groups.is_empty() {
            continue;
        }
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        let question = cells.next().unwrap_or_default().to_owned();
        for (name, target) in cells.next().into_iter().flat_map(links) {
            let (file, is_part) = target.split_once('#').map_or((target, false), |(file, _)| (file, true));
            if !files.contains(file) || file == MAP {
                continue;
            }
            if !is_part || !places.contains_key(file) {
                places.insert(file.to_owned(), mentions.len());
            }
            let (file, name, question) = (file.to_owned(), capitalized(name), question.clone());
            mentions.push((groups.len() - 1, Entry { file, name, question, is_below: false }));
        }
    }
    for (at, (group, entry)) in mentions.into_iter().enumerate() {
        if let (true, Some(group)) = (places.get(&entry.file) == Some(&at), groups.get_mut(group)) {
            group.entries.push(entry);
        }
    }
    add_others(&mut groups, files.iter().filter(|file| !places.contains_key(**file)).copied());
    groups
}

/// Texts and targets of the links in a cell.
fn links(cell: &str) -> impl Iterator<Item = (&str, &str)> {
    cell.split('[').skip(1).filter_map(|part| {
        let (text, rest) = part.split_once("](")?;
        Some((text, rest.split_once(')')?.0))
    })
}

fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn folder(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Adds files that the map does not name: behind the page of their folder, or else at the end of a group with pages of it.
fn add_others<'a>(groups: &mut Vec<Group>, files: impl Iterator<Item = &'a str>) {
    let mut by_folder: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in files {
        by_folder.entry(folder(file)).or_default().push(file);
    }
    for (of, files) in by_folder {
        let others = files.into_iter().map(|file| Entry { file: file.to_owned(), is_below: true, ..Entry::default() });
        let page = if of.is_empty() { MAP.to_owned() } else { format!("{of}/{MAP}") };
        let place = |matches: &dyn Fn(&Entry) -> bool| {
            groups.iter().enumerate().find_map(|(at, group)| Some((at, group.entries.iter().position(matches)?)))
        };
        let beside = place(&|entry| entry.file == page).map(|(group, at)| (group, Some(at + 1)));
        let place = beside.or_else(|| place(&|entry| folder(&entry.file) == of).map(|(group, _)| (group, None)));
        let Some((group, at)) = place else {
            groups.push(Group { title: "More".to_owned(), entries: others.collect() });
            continue;
        };
        if let Some(group) = groups.get_mut(group) {
            let at = at.unwrap_or(group.entries.len());
            group.entries.splice(at..at, others);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_in_the_order_of_the_map_and_none_is_left_out() {
        let map = "# All\n\n## First\n\n| question | page |\n|---|---|\n| Why? | [one](a/one.md), [Two](a/two.md#x) |\n\
                   ## Second\n| How? | [All of c](c/README.md); [one again](a/one.md) |\n| X? | [Y](../Y.md) |\n";
        let files =
            BTreeSet::from(["README.md", "a/one.md", "a/two.md", "a/three.md", "c/README.md", "c/1.md", "d/x.md"]);
        let groups = groups(map, &files);
        let titles: Vec<_> = groups.iter().map(|group| group.title.as_str()).collect();
        assert_eq!(titles, ["First", "Second", "More"]);
        let of = |at: usize| groups[at].entries.iter().map(|entry| entry.file.as_str()).collect::<Vec<_>>();
        assert_eq!(of(0), ["a/two.md", "a/three.md"]);
        assert_eq!(of(1), ["c/README.md", "c/1.md", "a/one.md"]);
        assert_eq!(of(2), ["d/x.md"]);
        assert_eq!((groups[0].entries[0].name.as_str(), groups[0].entries[0].question.as_str()), ("Two", "Why?"));
        assert!(groups[0].entries[1].is_below && !groups[1].entries[0].is_below);
    }
}
