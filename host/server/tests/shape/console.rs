//! Rules of the console: its pages have no other way to the hub than the routes that all callers have.

use std::collections::{BTreeMap, BTreeSet};
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
fn the_console_offers_all_events_of_webhooks() {
    let document = hub::router::document();
    let known: BTreeSet<_> = document["components"]["schemas"]["WebhookEvent"]["enum"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event.as_str().unwrap().to_owned())
        .collect();
    let text = fs::read_to_string(folder().join("src/pages/webhooks.rs")).unwrap();
    let (_, list) = text.split_once("const EVENTS: &[&str] = &[").unwrap();
    let offered: BTreeSet<_> = strings(list.split(']').next().unwrap()).into_iter().collect();
    assert_eq!(offered, known);
}

#[test]
fn the_console_shows_all_extension_points() {
    let text = fs::read_to_string(folder().join("src/pages/modules.rs")).unwrap();
    let (_, list) = text.split_once("const POINTS: [&str; 9] =").unwrap();
    let shown: BTreeSet<_> = strings(list.split(';').next().unwrap()).into_iter().collect();
    assert_eq!(shown, hub_sandbox::contract::Point::ALL.map(|point| point.name().to_owned()).into());
}

/// Texts between quotes.
fn strings(text: &str) -> Vec<String> {
    text.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// A file of pages.
struct Source {
    name: String,
    text: String,
}

impl Source {
    /// The value of a text, or of a constant of this file.
    fn value(&self, argument: &str) -> String {
        let argument = argument.trim();
        if let Some(text) = argument.strip_prefix('"') {
            return text.trim_end_matches('"').to_owned();
        }
        let found = self.text.split_once(&format!("const {argument}: &str ="));
        found.and_then(|(_, rest)| strings(rest.split(';').next().unwrap()).into_iter().next()).unwrap_or_default()
    }

    /// Routes that a function reads, by itself or by other functions of its file.
    fn routes_of(&self, function: &str, seen: &mut BTreeSet<String>) -> BTreeSet<String> {
        let Some((_, body)) = self.text.split_once(&format!("fn {function}(")) else { return BTreeSet::new() };
        if !seen.insert(function.to_owned()) {
            return BTreeSet::new();
        }
        let body = body.split("\n}\n").next().unwrap();
        let mut routes: BTreeSet<_> = strings(body).into_iter().filter(|text| text.starts_with("/api/")).collect();
        let words =
            body.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| !word.is_empty());
        for word in words {
            if word.len() > 1 && word.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_') {
                routes.extend(Some(self.value(word)).filter(|value| value.starts_with("/api/")));
            } else if self.text.contains(&format!("fn {word}(")) {
                routes.extend(self.routes_of(word, seen));
            }
        }
        routes
    }
}

/// A route as the list shows it.
fn shown(route: &str) -> String {
    route.split('?').next().unwrap().to_owned()
}

/// All pages and forms, with the routes behind them.
fn pages() -> String {
    let folder = folder().join("src/pages");
    let mut files: Vec<_> = super::rust_files(&folder);
    files.sort();
    let sources: Vec<_> = files
        .iter()
        .map(|file| {
            let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
            let text = fs::read_to_string(file).unwrap();
            Source { name, text: text.split("#[cfg(test)]").next().unwrap().to_owned() }
        })
        .collect();
    // By page: what it reads, and what its forms send.
    let mut rows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in &sources {
        for (_, rest) in source.text.match_indices("page!(").map(|(at, _)| source.text[at..].split_once('(').unwrap()) {
            let parts: Vec<_> = rest.split(')').next().unwrap().split(',').map(str::trim).collect();
            let [at, _, load] = parts[..] else { continue };
            let (module, function) = load.split_once("::").unwrap_or((source.name.as_str(), load));
            let Some(own) = sources.iter().find(|one| one.name == module) else { continue };
            let routes = own.routes_of(function, &mut BTreeSet::new());
            rows.entry(source.value(at))
                .or_default()
                .extend(routes.iter().map(|route| format!("GET {}", shown(route))));
        }
        for part in source.text.split("Action::post(").skip(1) {
            let parts: Vec<_> = part.split(',').map(str::trim).collect();
            let Some([_, route, _, page]) = parts.get(..4) else { continue };
            let row = rows.entry(source.value(page)).or_default();
            let verb = part.split_once(".verb(Verb::").map_or("POST", |(_, verb)| verb.split(')').next().unwrap());
            row.insert(format!("{} {}", verb.to_uppercase(), shown(&source.value(route))));
            // A second request, once the first was accepted.
            if let Some((_, also)) = part.split_once(".also(") {
                let parts: Vec<_> = also.split(',').map(str::trim).collect();
                let verb = parts[1].trim_start_matches("Verb::").to_uppercase();
                row.insert(format!("{verb} {}", shown(&source.value(parts[2]))));
            }
        }
        // Pages with handlers of their own.
        for (at, _) in source.text.match_indices(".route(\"/console/") {
            let address = strings(&source.text[at..]).into_iter().next().unwrap();
            let routes = strings(&source.text).into_iter().filter(|text| text.starts_with("/api/"));
            let row = rows.entry(address.trim_start_matches("/console").to_owned()).or_default();
            row.extend(routes.map(|route| shown(&route)));
        }
    }
    let row = |(page, routes): (&String, &BTreeSet<String>)| {
        let routes = routes.iter().map(|route| format!("`{route}`")).collect::<Vec<_>>().join("<br>");
        format!("| `/console{page}` | {routes} |\n")
    };
    rows.iter().map(row).collect()
}

#[test]
fn the_list_of_pages_is_up_to_date() {
    const HEAD: &str = "# Pages of the console and their routes\n\nWhat each page reads and its forms send: nothing is only in the \
                        [console](console.md). Made from the sources by a test; `RECORD_PAGES=1` writes it anew.\n\n\
                        | page | routes |\n|---|---|\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operate/console-pages.md");
    let made = format!("{HEAD}{}", pages());
    if std::env::var_os("RECORD_PAGES").is_some() {
        fs::write(&path, &made).unwrap();
    }
    assert!(made.lines().count() > 60, "{made}");
    assert_eq!(fs::read_to_string(&path).unwrap_or_default(), made, "set RECORD_PAGES=1 to write it");
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
