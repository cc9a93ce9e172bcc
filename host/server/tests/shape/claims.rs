//! SECURITY.md says only what a test shows: each of its sentences is in the list of claims, with tests that exist.

use std::fs;
use std::path::{Path, PathBuf};

/// Words of the list for claims without a test, which it explains.
const REASONS: [&str; 3] = ["conceded", "advice", "the system's"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text without emphasis, targets of links and line breaks.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        plain += before;
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    plain += rest;
    plain.replace("**", "").replace(['`', '['], "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cells of a table's rows, without the head.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let is_row = |line: &&str| line.starts_with("| ") && !line.starts_with("| claim") && !line.starts_with("| party");
    text.lines().filter(is_row).map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
}

/// Claims of SECURITY.md: the cells of the threat model but for the parties, and the items below it.
fn claimed() -> String {
    let text = fs::read_to_string(root().join("SECURITY.md")).unwrap();
    let (_, text) = text.split_once("\n## Threat model\n").expect("a threat model");
    let cells: Vec<_> = rows(text).map(|row| row[1..].join(" ")).collect();
    assert!(cells.len() > 15, "{cells:?}");
    let items = text.lines().filter(|line| !line.starts_with(['|', '#'])).map(|line| line.trim_start_matches("- "));
    plain(&(cells.join("\n") + "\n" + &items.collect::<Vec<_>>().join("\n")))
}

/// True if the file of `path::function` has this function.
fn exists(test: &str) -> bool {
    let Some((file, function)) = test.split_once("::") else { return root().join(test).exists() };
    let file = format!("{file}.rs");
    let folders = ["host/server/tests", "host"];
    let texts = folders.iter().filter_map(|folder| fs::read_to_string(root().join(folder).join(&file)).ok());
    texts.into_iter().any(|text| text.contains(&format!("fn {function}(")))
}

#[test]
fn each_claim_of_the_security_page_has_its_test() {
    let list = fs::read_to_string(root().join("docs/develop/security-claims.md")).unwrap();
    let mut claims = vec![];
    for row in rows(&list) {
        let [claim, shown] = row[..] else { panic!("{row:?}") };
        claims.push(plain(claim));
        if REASONS.contains(&shown) {
            continue;
        }
        let tests: Vec<_> = shown.split('`').skip(1).step_by(2).collect();
        assert!(!tests.is_empty(), "{claim}: neither a test nor one of {REASONS:?}");
        for test in tests {
            assert!(exists(test), "{claim}: there is no {test}");
        }
    }
    // Longer ones first, which may contain shorter ones.
    claims.sort_by_key(|claim| std::cmp::Reverse(claim.len()));
    let mut rest = claimed();
    for claim in claims {
        assert!(rest.contains(&claim), "SECURITY.md does not say, or the list says twice: {claim}\nleft: {rest}");
        rest = rest.replacen(&claim, "|", 1);
    }
    let left: Vec<_> = rest.split('|').filter(|part| part.contains(char::is_alphanumeric)).collect();
    assert!(left.is_empty(), "docs/develop/security-claims.md has no test for: {left:#?}");
}

/// Files of commands that reach the terminal by themselves, with nothing that others wrote.
const TO_TERMINAL: [&str; 9] = [
    "cli/completions.rs",
    "cli/demo/",
    "cli/import/mod.rs",
    "cli/log.rs",
    "cli/login.rs",
    "cli/mod.rs",
    "cli/output.rs",
    "cli/progress.rs",
    "cli/serve.rs",
];

#[test]
fn commands_print_without_control_characters() {
    let mut commands = 0;
    for (name, file) in crate::all_files() {
        let text = fs::read_to_string(&file).unwrap();
        let is_command = name.starts_with("cli/");
        commands += usize::from(is_command);
        if !is_command || TO_TERMINAL.iter().any(|known| name.starts_with(known)) {
            continue;
        }
        for around in ["stdout()", "stderr()", "std::print", "std::eprint"] {
            assert!(!text.contains(around), "{name} prints by {around}, and not by `cli/output.rs`");
        }
    }
    assert!(commands > 40, "{commands}");
    let output = fs::read_to_string(root().join("host/server/src/cli/output.rs")).unwrap();
    for name in ["println", "print", "eprintln"] {
        assert!(output.contains(&format!("macro_rules! {name} ")), "{name}! is the standard one in commands");
    }
}
