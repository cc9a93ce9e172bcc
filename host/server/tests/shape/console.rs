//! Rules of the console: its pages have no other way to the hub than the routes that all callers have.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../console")
}

/// Sources without the tests at their end.
fn sources() -> Vec<(String, String)> {
    let files = super::rust_files(&folder().join("src"));
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).unwrap();
        (file.display().to_string(), text.split("#[cfg(test)]").next().unwrap_or_default().to_owned())
    };
    files.into_iter().map(read).collect()
}

#[test]
fn the_console_depends_on_no_component() {
    let manifest = fs::read_to_string(folder().join("Cargo.toml")).unwrap();
    let own: BTreeSet<_> = manifest.lines().filter_map(|line| line.strip_prefix("hub-")?.split('.').next()).collect();
    assert_eq!(own, BTreeSet::from(["base", "core"]));
    for (file, text) in sources() {
        for way in [".db.", "app.db", "hub_db", "bus.publish", "::store", "::service"] {
            assert!(!text.contains(way), "{file} reaches past the routes: {way}");
        }
    }
}

#[test]
fn every_route_that_a_page_uses_is_documented() {
    let document = hub::router::document();
    let known: BTreeSet<_> = document["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    // Parts that a page leaves out of a hub without them.
    let optional =
        ["/api/manage/punishments", "/api/manage/players/{uuid}/notes", "/api/manage/players/{uuid}/playtime"];
    let mut seen = 0;
    for (file, text) in sources() {
        for (at, _) in text.match_indices("\"/api/") {
            let route = text[at + 1..].split(['"', '?']).next().unwrap_or_default();
            // The beginning of routes, and none itself.
            if route.ends_with('/') {
                continue;
            }
            seen += 1;
            assert!(known.contains(route) || optional.contains(&route), "{file}: no route {route}");
        }
    }
    assert!(seen > 50, "found only {seen} routes");
}

#[test]
fn scripts_parse_html_in_one_place() {
    let scripts = folder().join("files/js");
    for entry in fs::read_dir(scripts).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        for sink in ["insertAdjacentHTML", "outerHTML =", "innerHTML =", "document.write", "eval(", "new Function"] {
            assert!(!text.contains(sink), "{name} has {sink}");
        }
        assert!(name == "swap.js" || !text.contains("parseFromString"), "{name} parses HTML");
    }
}
