//! The floors of the hub with their components, and the table of components.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::cell;
use crate::component::{Component, Components};
use crate::components::components;

/// Crates from above, each of which uses only those below it.
const FLOORS: [(&str, &str); 10] = [
    ("server", "command line, connections, router, lifecycle, the list of components"),
    ("book", "the documentation and the reference of the API as web pages, in the console's look"),
    ("console", "web pages for people, by the routes of the floors below"),
    ("operation", "work of operators and owners around the game"),
    ("game", "everything that game servers call"),
    ("extensions", "the networks' own modules"),
    ("platform", "services that components stand on"),
    ("gate", "stations that a request passes"),
    ("core", "settings, App, HTTP, limits, keys: what a component is made of"),
    ("base", "values, time, ids and helpers that know nothing of the hub"),
];
/// Characters of a line between its borders.
const WIDTH: usize = 96;
/// Parts of the API whose routes are told apart by one more segment.
const AUDIENCES: [&str; 4] = ["plugin", "manage", "admin", "public"];

/// A picture of all crates with their components.
pub(super) fn floors() -> String {
    let mut text = String::from("```\n");
    for (number, (floor, content)) in FLOORS.iter().enumerate() {
        let title = format!("─ {floor}: {content} ");
        let rule = "─".repeat(WIDTH.saturating_sub(title.chars().count()));
        let (left, right) = if number == 0 { ("┌", "┐") } else { ("├", "┤") };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{left}{title}{rule}{right}");
        for line in lines(names_in(components(), floor)) {
            let _ = writeln!(text, "│ {line:<width$}│", width = WIDTH - 1);
        }
    }
    let _ = writeln!(text, "└{}┘\n```", "─".repeat(WIDTH));
    text
}

fn names_in<'a>(components: &'a Components, floor: &'a str) -> impl Iterator<Item = &'static str> + 'a {
    let in_floor = components.list().iter().filter(move |component| component.crate_folder() == floor);
    in_floor.map(|component| component.name())
}

/// The names in as few lines as they fit into.
fn lines(names: impl Iterator<Item = &'static str>) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for name in names {
        match lines.last_mut().filter(|line| line.len() + name.len() + 4 <= WIDTH) {
            Some(line) => line.extend(["  ", name]),
            None => lines.push(name.to_owned()),
        }
    }
    lines
}

/// A table of all components.
pub(super) fn table() -> String {
    let mut text = String::from("| component | purpose | routes | tables |\n|---|---|---|---|\n");
    let mut all: Vec<_> = components().list().to_vec();
    all.sort_by_key(|component| component.name());
    for component in all {
        let tables: Vec<_> = component.tables.iter().map(|table| format!("`{}`", table.name)).collect();
        let (name, purpose) = (component.name(), cell(component.purpose));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| `{name}` | {purpose} | {} | {} |", routes(component), tables.join(", "));
    }
    text
}

/// The beginnings of a component's paths.
fn routes(component: &Component) -> String {
    let (router, _) = (component.routes)().into_parts();
    let beginnings: BTreeSet<_> = router.get_openapi().paths.paths.keys().map(|path| beginning(path)).collect();
    beginnings.into_iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ")
}

/// The beginning of a path, which tells its component: `/api/plugin/chat`, `/api/people`, `/healthz`.
fn beginning(path: &str) -> String {
    let segments: Vec<_> = path.split('/').skip(1).collect();
    let count = match segments[..] {
        ["api", audience, ..] if AUDIENCES.contains(&audience) => 3,
        _ => 2,
    };
    format!("/{}", segments[..count.min(segments.len())].join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_path_ends_after_its_subject() {
        let paths = ["/api/plugin/config/{group}/{namespace}", "/api/people/sign-in", "/healthz"];
        assert_eq!(paths.map(beginning), ["/api/plugin/config", "/api/people", "/healthz"]);
    }

    #[test]
    fn every_component_is_in_the_picture() {
        let picture = floors();
        for component in components().list() {
            assert!(picture.split_whitespace().any(|word| word == component.name()), "{}", component.name());
        }
        assert!(picture.lines().count() < 35 && picture.lines().all(|line| line.chars().count() <= 100), "{picture}");
    }
}
