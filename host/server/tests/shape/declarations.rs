//! The components' declarations are complete: each component has one and is in the list, each table of the schema belongs to
//! one, and so does each error code in the source.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use axum::http::StatusCode;
use hub::component::Component;
use hub::components::{components, tables};

/// Crates whose modules are components.
const COMPONENT_CRATES: [&str; 5] = ["gate", "platform", "extensions", "game", "operation"];
/// Tables that no component declares: of the migrations themselves, and of SQLite's search index, which triggers maintain.
const INTERNAL_TABLES: [&str; 2] = ["player_search_networks", "network_player_search"];

fn host() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The values that occur more than once.
fn repeated<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    all.filter(|name| !seen.insert(*name)).collect()
}

fn declared<T: 'static>(part: impl Fn(&'static Component) -> &'static [T]) -> impl Iterator<Item = &'static T> {
    components().list().iter().flat_map(move |component| part(component))
}

#[test]
fn every_component_is_in_the_list() {
    let listed: BTreeSet<_> =
        components().list().iter().map(|component| (component.crate_folder(), component.name())).collect();
    assert_eq!(listed.len(), components().list().len(), "a component is twice in the list");
    for folder in COMPONENT_CRATES {
        let source = host().join(folder).join("src");
        for entry in fs::read_dir(&source).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            let has_module = path.join("mod.rs").exists() || (path.is_file() && name != "lib");
            assert!(
                !has_module || listed.contains(&(folder, name)),
                "{folder}/{name} is not in the list of host/server/src/components.rs"
            );
        }
    }
}

#[test]
fn a_declaration_says_its_purpose_and_repeats_no_other() {
    for component in components().list() {
        assert!(component.purpose.len() > 10, "{} declares no purpose", component.name());
    }
    assert_eq!(repeated(declared(|component| component.tags).map(|tag| tag.0)), Vec::<&str>::new());
    assert_eq!(repeated(declared(|component| component.errors).map(|error| error.code)), Vec::<&str>::new());
    let limits: Vec<_> = components().limits().collect();
    assert_eq!(repeated(limits.iter().map(|limit| limit.name())), Vec::<&str>::new());
    for error in components().errors() {
        assert!(error.meaning.ends_with('.') && error.meaning.len() < 130, "{error:?}");
        assert!(!error.statuses.is_empty(), "{error:?}");
    }
}

#[test]
fn every_table_of_the_schema_belongs_to_a_component() {
    let declared: BTreeSet<_> = components().tables().rules().iter().map(|rule| rule.name).collect();
    let mut count = 0;
    for (_, file) in super::migrations() {
        for line in fs::read_to_string(&file).unwrap().lines() {
            let Some(rest) = line.strip_prefix("CREATE TABLE ").or(line.strip_prefix("CREATE VIRTUAL TABLE ")) else {
                continue;
            };
            let name = rest.split_whitespace().next().unwrap_or_default();
            let is_declared = declared.contains(name) || INTERNAL_TABLES.contains(&name);
            assert!(is_declared, "no component declares the table {name} of {}", file.display());
            count += 1;
        }
    }
    assert!(count > 100, "found only {count} tables");
}

#[test]
fn tags_of_routes_are_declared_and_declared_tags_are_used() {
    let document = hub::router::document();
    let names = |list: &serde_json::Value, field: &str| -> BTreeSet<String> {
        let items = list.as_array().unwrap().iter();
        items.map(|item| item.get(field).unwrap_or(item).as_str().unwrap().to_owned()).collect()
    };
    let operations =
        document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values());
    let used: BTreeSet<_> = operations.flat_map(|operation| names(&operation["tags"], "")).collect();
    assert_eq!(names(&document["tags"], "name"), used);
    assert_eq!(declared(|component| component.tags).count(), used.len());
}

/// The codes in a source, each with the text before it.
fn quoted(source: &str) -> impl Iterator<Item = (&str, &str)> {
    source.match_indices('"').filter_map(|(at, _)| {
        let code = source[at + 1..].split('"').next()?;
        Some((source[..at].trim_end(), code))
    })
}

/// The status that the call before a code says.
fn status(before: &str) -> Option<u16> {
    let shorthands = [("bad_request(", 400), ("not_found(", 404), ("unavailable(", 503)];
    if let Some((_, status)) = shorthands.iter().find(|(call, _)| before.ends_with(call)) {
        return Some(*status);
    }
    let (_, name) = before.strip_suffix(',')?.rsplit_once("StatusCode::")?;
    let known = (400..600).filter_map(|status| StatusCode::from_u16(status).ok());
    let name = name.replace('_', " ");
    let mut named = known.filter(|status| status.canonical_reason().is_some_and(|it| it.to_uppercase() == name));
    named.next().map(|status| status.as_u16())
}

/// Imported rows are read with the types that serve them. Numbers have a reader of their own accord, texts need one each.
#[test]
fn every_text_of_a_moved_table_has_a_reader() {
    let mut unread = vec![];
    for table in tables().moved() {
        unread.extend(table.unread_texts().map(|column| format!("{}.{column}", table.name)));
    }
    assert!(
        unread.is_empty(),
        "no reader is declared for {unread:?}: name them in `.columns(&[…])` of the table's rule, by the type that their rows \
         are read as (docs/develop/adding-a-component.md, part 2)"
    );
}

#[test]
fn every_error_code_in_the_source_is_declared_with_its_statuses() {
    let known: BTreeMap<_, _> = components().errors().map(|error| (error.code, error.statuses)).collect();
    let mut count = 0;
    for (name, file) in super::all_files() {
        let source = fs::read_to_string(&file).unwrap();
        let source = source.split("#[cfg(test)]").next().unwrap_or_default();
        for (before, code) in quoted(source) {
            let Some(status) = status(before).filter(|_| !code.is_empty()) else { continue };
            let statuses = known.get(code).unwrap_or_else(|| panic!("no component declares {code} of {name}"));
            assert!(statuses.contains(&status), "the declaration of {code} lacks {status}, which {name} has");
            count += 1;
        }
    }
    assert!(count > 80, "found only {count} codes");
}
