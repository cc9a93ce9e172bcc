//! Rules of the source that no compiler checks: components have no circular dependencies and keep their SQL in their
//! stores, every query carries its network, nothing is deleted by a doubtful time, files stay short, comments start with their subject,
//! and the claims of SECURITY.md have tests.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod claims;
mod console;
mod declarations;
mod imports;
mod secrets;

use std::fs;
use std::path::{Path, PathBuf};

/// Statements about no network in particular, each with the reason in a comment beside it.
const CROSS_NETWORK_FILES: [&str; 8] = [
    "auth/store.rs",
    "cluster/store.rs",
    "identity/store.rs",
    "networks/store.rs",
    "people/store.rs",
    "people/store/devices.rs",
    "people/store/failures.rs",
    "timekeeping/store.rs",
];
const CRATES: [(&str, &str); 10] = [
    ("hub_base", "base"),
    ("hub_core", "core"),
    ("hub_gate", "gate"),
    ("hub_platform", "platform"),
    ("hub_extensions", "extensions"),
    ("hub_game", "game"),
    ("hub_operation", "operation"),
    ("hub_console", "console"),
    ("hub_book", "book"),
    ("hub", "server"),
];
const MOST_LINES: usize = 600;

/// The crates of the hub, which name each other so, with their sources.
fn sources() -> Vec<(String, PathBuf)> {
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    CRATES.iter().map(|(name, folder)| ((*name).to_owned(), host.join(folder).join("src"))).collect()
}

/// All files of these crates, under their paths below `src`.
fn all_files() -> Vec<(String, PathBuf)> {
    let mut all = vec![];
    for (_, source) in sources() {
        for file in rust_files(&source) {
            all.push((file.strip_prefix(&source).unwrap().to_str().unwrap().to_owned(), file));
        }
    }
    all
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = vec![];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("target") && !path.ends_with("node_modules") {
                files.extend(rust_files(&path));
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

fn components() -> Vec<String> {
    let sources = sources();
    let folders = sources.iter().flat_map(|(_, source)| fs::read_dir(source).unwrap());
    folders
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("mod.rs").exists() && !path.ends_with("http") && !path.ends_with("cli"))
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect()
}

#[test]
fn components_call_services_and_never_anothers_store() {
    let components = components();
    assert!(components.len() >= 7);
    for (name, file) in all_files() {
        let text = fs::read_to_string(&file).unwrap();
        for component in &components {
            let reaches_in = text.contains(&format!("{component}::store"));
            let is_own = name.starts_with(&format!("{component}/"));
            assert!(!reaches_in || is_own, "{name} reaches into the store of {component}");
        }
    }
}

#[test]
fn routes_leave_sql_to_the_store() {
    for (name, file) in all_files() {
        let text = fs::read_to_string(&file).unwrap();
        let has_sql =
            ["SELECT ", "INSERT INTO", "UPDATE ", "DELETE FROM"].iter().any(|verb| text.contains(&format!("\"{verb}")));
        assert!(!has_sql || name.contains("store"), "{name} holds SQL");
    }
}

/// Text up to the parenthesis that closes the one before it.
fn until_closed(text: &str) -> &str {
    let mut depth = 1;
    let end = text.find(|character| {
        depth += i32::from(character == '(') - i32::from(character == ')');
        depth == 0
    });
    &text[..end.unwrap_or(text.len())]
}

/// The text literals of a file that are SQL, with the comment lines above each.
fn statements(text: &str) -> Vec<(String, String)> {
    let mut found = vec![];
    let mut rest = text;
    let mut offset = 0;
    while let Some(start) = rest.find('"') {
        let literal = &rest[start + 1..];
        let end = literal.find('"').unwrap_or(literal.len());
        let body = literal[..end].trim_start();
        if ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].iter().any(|verb| body.starts_with(verb)) {
            let before = &text[..offset + start];
            // A statement of several literals is all of them.
            let body = if before.trim_end().ends_with("concat!(") { until_closed(&rest[start..]) } else { body };
            let context: String = before.lines().rev().take(8).collect::<Vec<_>>().join("\n");
            found.push((body.to_owned(), context));
        }
        offset += start + 1 + end + 1;
        rest = text.get(offset..).unwrap_or_default();
    }
    found
}

#[test]
fn every_query_carries_its_network() {
    let (mut seen, mut without) = (0, vec![]);
    for (name, file) in all_files() {
        if CROSS_NETWORK_FILES.contains(&name.as_str()) {
            continue;
        }
        for (statement, context) in statements(&fs::read_to_string(&file).unwrap()) {
            seen += 1;
            if !statement.contains("network_id") && !context.contains("Crosses networks:") {
                without.push(format!("{name}: {statement}"));
            }
        }
    }
    assert!(without.is_empty(), "without network_id or a comment `Crosses networks: …`: {without:#?}");
    assert!(seen > 30, "found only {seen} statements");
}

/// Changes of many networks' rows by one statement, which waits for a row that a network has locked.
fn waits_for_any_network(statement: &str) -> bool {
    let is_of_many = statement.starts_with("UPDATE") || statement.starts_with("\"UPDATE");
    let is_of_one = statement.contains("network_id = ");
    let skips = ["SKIP LOCKED", "$lock"].iter().any(|part| statement.contains(part));
    is_of_many && statement.contains("(network_id, ") && !is_of_one && !skips
}

#[test]
fn no_change_of_all_networks_waits_for_one_of_them() {
    let one = "UPDATE t SET a = 1 WHERE (network_id, id) IN (SELECT network_id, id FROM t";
    assert!(waits_for_any_network(&format!("{one} WHERE due_at <= $1)")));
    assert!(!waits_for_any_network(&format!("{one} WHERE due_at <= $1 FOR UPDATE SKIP LOCKED)")));
    assert!(!waits_for_any_network(&format!("{one} WHERE network_id = $1)")));
    for (name, file) in all_files() {
        for (statement, _) in statements(&fs::read_to_string(&file).unwrap()) {
            assert!(!waits_for_any_network(&statement), "{name}: lock the rows with SKIP LOCKED: {statement}");
        }
    }
}

/// True if a statement deletes or expires rows by a time that it gets.
fn ends_by_time(statement: &str) -> bool {
    let words: Vec<_> = statement.split_whitespace().collect();
    let is_time = |word: &str| word.ends_with("_at") || ["at", "hour"].contains(&word);
    let compares = words.windows(2).any(|pair| is_time(pair[0]) && ["<", "<="].contains(&pair[1]));
    compares && (statement.starts_with("DELETE") || statement.contains("= 'EXPIRED'"))
}

#[test]
fn nothing_ends_for_good_by_a_doubtful_time() {
    let (mut seen, mut without) = (0, vec![]);
    for (name, file) in all_files() {
        let found = statements(&fs::read_to_string(&file).unwrap());
        for (statement, context) in found.iter().filter(|(statement, _)| ends_by_time(statement)) {
            seen += 1;
            if !["Cutoff", "Settled", "Not for good:"].iter().any(|proof| context.contains(proof)) {
                without.push(format!("{name}: {statement}"));
            }
        }
    }
    assert!(without.is_empty(), "by neither a `Cutoff` nor with a comment `Not for good: …`: {without:#?}");
    assert!(seen > 10, "found only {seen} statements");
}

/// Loops over networks that wait for something in their body, as line numbers.
fn waiting_loops(text: &str) -> Vec<usize> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let mut offset = 0;
    let mut found = vec![];
    for (number, line) in code.split_inclusive('\n').enumerate() {
        let pattern = line.trim_start().strip_prefix("for ").and_then(|rest| rest.split_once(" in "));
        let is_over_networks = pattern.is_some_and(|(pattern, _)| {
            pattern.split(|character: char| !character.is_alphanumeric() && character != '_').any(|it| it == "network")
        });
        if is_over_networks {
            let indent = &line[..line.len() - line.trim_start().len()];
            let rest = &code[offset + line.len()..];
            let body = &rest[..rest.find(&format!("\n{indent}}}")).unwrap_or(0)];
            if body.contains(".await") {
                found.push(number);
            }
        }
        offset += line.len();
    }
    found
}

/// A network with locked rows would hold up all others behind it: `side_by_side` serves a few at once.
#[test]
fn no_loop_over_networks_waits_for_one_of_them() {
    assert_eq!(waiting_loops("    for (network, id) in all {\n        save(id).await;\n    }\n"), [0]);
    assert!(waiting_loops("    for network in all {\n        save(network);\n    }\n    x().await;\n").is_empty());
    let mut found = vec![];
    for (name, file) in all_files() {
        if ["cli/", "doctor/"].iter().any(|folder| name.starts_with(folder)) {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let lines: Vec<_> = text.lines().collect();
        for number in waiting_loops(&text) {
            let above = lines[number.saturating_sub(3)..number].join(" ");
            if !above.contains("In turn:") {
                found.push(format!("{name}:{}", number + 1));
            }
        }
    }
    assert!(found.is_empty(), "without `side_by_side` or a comment `In turn: …`: {found:#?}");
}

/// Work of a network that no request waits for runs within a budget, which its runners make: `side_by_side`, `jobs`.
#[test]
fn work_behind_requests_runs_within_a_budget() {
    const WITHOUT: [&str; 13] = [
        // A request, or its rest after its caller has gone.
        "appeals/service.rs",
        "artifacts/service.rs",
        "auth/layer.rs",
        "chat/history.rs",
        "erasure/export.rs",
        "imports/service.rs",
        "modules/endpoints/routes.rs",
        "modules/service/storing.rs",
        "modules/state.rs",
        "provisioning/bundles.rs",
        "worlds/service/snapshots.rs",
        // A module's call, with its own.
        "modules/handlers/dead_letters.rs",
        "modules/host.rs",
    ];
    /// All networks, of a hub that stops and of a command.
    const OF_ALL: [&str; 2] = ["jobs/unattended.rs", "presence/saving.rs"];
    let is_at_work = |text: &str| text.split("#[cfg(test)]").next().is_some_and(|text| text.contains("with_tenant("));
    assert!(is_at_work("app.spawn(with_tenant(network.0, work))") && !is_at_work("serve(network, WHAT, work)"));
    let all = all_files().into_iter().filter(|(_, file)| is_at_work(&fs::read_to_string(file).unwrap()));
    let mut found: Vec<_> = all.map(|(name, _)| name).collect();
    found.sort();
    let mut expected: Vec<_> = WITHOUT.into_iter().chain(OF_ALL).collect();
    expected.sort_unstable();
    assert_eq!(found, expected, "`side_by_side::serve` gives work its budget");
}

#[test]
fn files_stay_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for folder in ["host", "plugins-sdk", "plugins", "connectors/rust"] {
        for file in rust_files(&root.join(folder)) {
            let lines = fs::read_to_string(&file).unwrap().lines().count();
            assert!(lines <= MOST_LINES, "{} has {lines} lines", file.display());
        }
    }
}

/// A port that was bound and let go is any connection's: `hub_testing::ports` has those that no system gives away.
#[test]
fn tests_reserve_no_port_that_others_may_get() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let is_let_go = |line: &str| line.contains("TcpListener::bind(") && line.contains(".port()");
    assert!(is_let_go(r#"let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();"#));
    let mut found = vec![];
    for folder in ["host", "connectors/rust"] {
        for file in rust_files(&root.join(folder)) {
            let text = fs::read_to_string(&file).unwrap();
            if !file.ends_with("shape/main.rs") && text.lines().any(is_let_go) {
                found.push(file);
            }
        }
    }
    assert!(found.is_empty(), "{found:?}");
}

/// Readers look for the subject first; "What is kept" or "How long it lasts" hides it in a clause.
#[test]
fn comments_begin_with_a_noun_or_a_verb() {
    const CLAUSES: [&str; 13] = [
        "What", "Who", "Whose", "Whom", "How", "Whether", "Where", "As", "Which", "That", "Whatever", "Whoever",
        "Somebody",
    ];
    /// Lines that go on with a clause of the line above.
    const MOST: usize = 5;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut comments, mut found) = (0, vec![]);
    for folder in ["host", "plugins-sdk/rust", "plugins", "connectors/rust"] {
        for file in rust_files(&root.join(folder)) {
            let text = fs::read_to_string(&file).unwrap();
            for (number, line) in (1..).zip(text.lines()) {
                let Some(comment) = line.trim_start().strip_prefix("//") else { continue };
                comments += 1;
                let comment = comment.trim_start_matches(['/', '!', ' ']);
                let word = comment.split(|character: char| !character.is_alphanumeric()).next();
                if word.is_some_and(|word| CLAUSES.contains(&word)) {
                    found.push(format!("{}:{number}: {comment}", file.display()));
                }
            }
        }
    }
    let first = &found[..found.len().min(20)];
    assert!(found.len() <= MOST, "{} of {comments} comment lines, such as {first:#?}", found.len());
}

#[test]
fn the_host_crates_keep_their_walls() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (folder, forbidden) in [
        ("db", ["hub-bus", "hub-sandbox", "axum"]),
        ("bus", ["hub-db", "hub-sandbox", "axum"]),
        ("sandbox", ["hub-db", "hub-bus", "axum"]),
    ] {
        let manifest = fs::read_to_string(root.join(folder).join("Cargo.toml")).unwrap();
        for name in forbidden {
            assert!(!manifest.contains(&format!("\n{name}")), "{folder} depends on {name}");
        }
    }
}

/// The migrations of each database: the name of its folder, and a file.
fn migrations() -> Vec<(&'static str, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations");
    let files = |folder: &'static str| {
        let entries = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        let files = entries.filter(|path| path.extension().is_some_and(|extension| extension == "sql"));
        files.map(move |path| (folder, path))
    };
    files("sqlite").chain(files("postgres")).collect()
}

#[test]
fn migrations_come_in_pairs() {
    let names = |folder: &str| {
        let files = migrations().into_iter().filter(|(of, _)| *of == folder);
        let mut names: Vec<_> = files.map(|(_, path)| path.file_name().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(names("sqlite"), names("postgres"));
    assert!(!names("sqlite").is_empty());
}

/// The served document identifies a type by its bare name: of two with one name a reader would see only the first.
#[test]
fn documented_types_have_names_of_their_own() {
    let mut seen = std::collections::HashMap::new();
    for (name, file) in all_files() {
        let text = fs::read_to_string(&file).unwrap();
        let lines: Vec<_> = text.lines().map(str::trim).collect();
        for (at, line) in lines.iter().enumerate() {
            if !line.starts_with("#[derive(") || !line.contains("ToSchema") {
                continue;
            }
            let item = lines[at..].iter().find(|line| line.contains("struct ") || line.contains("enum ")).unwrap();
            let mut attributes = lines[at..].iter().take_while(|line| line.starts_with('#'));
            let renamed = attributes.find_map(|line| line.split_once("(as = "));
            let rest = match renamed {
                Some((_, rest)) => rest,
                None => item.split_once("struct ").or_else(|| item.split_once("enum ")).unwrap().1,
            };
            let kind: String = rest.chars().take_while(|character| character.is_alphanumeric()).collect();
            if let Some(other) = seen.insert(kind.clone(), name.clone()) {
                panic!("{kind} is in {other} and in {name}");
            }
        }
    }
    assert!(seen.len() > 40);
}
