//! The graph of imports: which files name which by `crate::`, `super::` and the crates' own names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

/// The most files that may reach each other in a circle.
const LARGEST_CIRCLE: usize = 4;

/// A module's path: `["auth", "layer"]`. The names of top-level modules are unique over all crates.
type Module = Vec<String>;
type Graph<T> = BTreeMap<T, BTreeSet<T>>;

/// A file without its comments and the tests at its end.
fn code(text: &str) -> String {
    let tests = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
    let lines: Vec<_> = text[..tests].lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    lines.join("\n")
}

fn module_of(file: &str) -> Module {
    let mut parts: Module = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| last == "mod") || parts == ["lib"] {
        parts.pop();
    }
    parts
}

/// The paths that a `use` tree or an expression names: `a::x` and `b` of `{a::x, b}`.
fn expand(prefix: &Module, path: &str, found: &mut Vec<Module>) {
    let path = path.trim_start();
    if let Some(group) = path.strip_prefix('{') {
        let (mut depth, mut start) = (0, 0);
        for (at, character) in group.char_indices() {
            match character {
                '{' => depth += 1,
                '}' if depth == 0 => return expand(prefix, &group[start..at], found),
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    expand(prefix, &group[start..at], found);
                    start = at + 1;
                }
                _ => {}
            }
        }
        return;
    }
    let end = path.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(path.len());
    let mut named = prefix.clone();
    match (&path[..end], path[end..].trim_start().strip_prefix("::")) {
        ("super", Some(rest)) => {
            named.pop();
            expand(&named, rest, found);
        }
        ("" | "self", _) => found.push(named),
        (name, rest) => {
            named.push(name.to_owned());
            match rest {
                Some(rest) => expand(&named, rest, found),
                None => found.push(named),
            }
        }
    }
}

/// The modules that a file names.
fn named(module: &Module, text: &str, crates: &BTreeSet<String>) -> Vec<Module> {
    let code = code(text);
    let mut found = vec![];
    let parent = module[..module.len().saturating_sub(1)].to_vec();
    for (at, _) in code.match_indices("::") {
        let start = code[..at].rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |before| before + 1);
        // Further along a path, or a text such as the target of a log's line.
        let is_inner = code[..start].ends_with("::") || code[..start].ends_with('"');
        match &code[start..at] {
            _ if is_inner => {}
            "crate" => expand(&vec![], &code[at + 2..], &mut found),
            "super" => expand(&parent, &code[at + 2..], &mut found),
            "self" => expand(module, &code[at + 2..], &mut found),
            name if crates.contains(name) => expand(&vec![], &code[at + 2..], &mut found),
            _ => {}
        }
    }
    found
}

/// Imports between files. An imported path counts as that of the deepest module in it.
fn files(sources: &[(String, PathBuf)]) -> Graph<Module> {
    let mut texts = BTreeMap::new();
    for (_, source) in sources {
        for file in super::rust_files(source) {
            let relative = file.strip_prefix(source).unwrap().to_str().unwrap().to_owned();
            let module = module_of(&relative);
            if relative != "main.rs" && !module.is_empty() {
                texts.insert(module, fs::read_to_string(&file).unwrap());
            }
        }
    }
    let crates = sources.iter().map(|(name, _)| name.clone()).collect();
    let deepest = |mut path: Module| {
        while !path.is_empty() && !texts.contains_key(&path) {
            path.pop();
        }
        path
    };
    let edges = texts.iter().map(|(module, text)| {
        let to = named(module, text, &crates).into_iter().map(deepest);
        (module.clone(), to.filter(|to| !to.is_empty() && to != module).collect())
    });
    edges.collect()
}

/// Imports between top-level modules.
fn components(files: &Graph<Module>) -> Graph<String> {
    let mut graph = Graph::<String>::new();
    for (from, to) in files {
        let entry = graph.entry(from[0].clone()).or_default();
        entry.extend(to.iter().map(|to| to[0].clone()).filter(|to| *to != from[0]));
    }
    graph
}

fn reached<T: Clone + Ord>(graph: &Graph<T>, from: &T) -> BTreeSet<T> {
    let (mut seen, mut next) = (BTreeSet::new(), vec![from.clone()]);
    while let Some(names) = next.pop().map(|name| graph.get(&name)) {
        next.extend(names.into_iter().flatten().filter(|name| seen.insert((*name).clone())).cloned());
    }
    seen
}

/// Sets of modules that each reach each other.
fn circles<T: Clone + Ord>(graph: &Graph<T>) -> BTreeSet<BTreeSet<T>> {
    let reached: BTreeMap<_, _> = graph.keys().map(|name| (name, reached(graph, name))).collect();
    let in_circle = |name: &&T| reached[name].contains(name);
    let circle = |name: &T| reached[name].iter().filter(|other| reached[other].contains(name)).cloned().collect();
    graph.keys().filter(in_circle).map(circle).collect()
}

#[test]
fn components_do_not_depend_on_each_other_in_circles() {
    let graph = components(&files(&super::sources()));
    assert_eq!(circles(&graph), BTreeSet::new());
    assert!(reached(&graph, &"matchmaking".to_owned()).contains("presence"), "the test reads no imports");
}

#[test]
fn circles_of_files_stay_small() {
    let files = files(&super::sources());
    assert!(files.values().map(BTreeSet::len).sum::<usize>() > 1_000, "the test reads no imports");
    let large: Vec<_> = circles(&files).into_iter().filter(|circle| circle.len() > LARGEST_CIRCLE).collect();
    assert!(large.is_empty(), "in circles: {large:#?}");
}

#[test]
fn only_commands_stand_above_the_router_and_the_lifecycle() {
    for (name, names) in components(&files(&super::sources())) {
        for top in ["router", "lifecycle", "serve"] {
            let may = ["cli", "serve"].contains(&name.as_str());
            assert!(may || !names.contains(top), "{name} imports {top}");
        }
    }
}

#[test]
fn paths_are_read_in_all_their_forms() {
    let text = "use crate::{a::{self, X}, b as c};\nlet y = super::d::Y;\n// crate::no\nhub::e::f();\n";
    let module = ["m".to_owned(), "n".to_owned()].to_vec();
    let found: Vec<_> =
        named(&module, text, &BTreeSet::from(["hub".to_owned()])).iter().map(|p| p.join("::")).collect();
    assert_eq!(found, ["a", "a::X", "b", "m::d::Y", "e::f"]);
    assert_eq!(module_of("auth/mod.rs"), ["auth"]);
}
