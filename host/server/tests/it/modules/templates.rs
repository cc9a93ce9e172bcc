//! Modules made by `hub module new`.

use std::path::Path;
use std::process::{Command, Output};

use super::cli::succeed;
use super::{refused, say};
use crate::support::on_both;

fn hub_module(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hub"));
    command.arg("module").args(arguments).current_dir(folder).output().unwrap()
}

fn fails(folder: &Path, arguments: &[&str]) -> String {
    let output = hub_module(folder, arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

on_both! {
    async fn a_template_is_built_uploaded_and_decides(hub: Hub) {
        let owner = hub.network().await;
        let folder = tempfile::tempdir().unwrap();
        let module = folder.path().join("polite");
        let made = hub_module(folder.path(), &["new", "polite", "--lang", "c", "--point", "chat"]);
        assert!(made.status.success(), "{made:?}");
        let path = module.to_str().unwrap();
        let tested = succeed(&hub, &owner, &["test", path]).await;
        assert!(tested.lines().last().unwrap().contains("13"), "{tested}");
        let pushed = succeed(&hub, &owner, &["push", path, "--activate", "chat"]).await;
        assert_eq!(pushed, "polite version 1 is READY\nchat: polite 1\n");
        say(&hub, &owner, "hello").await;
        assert_eq!(refused(&say(&hub, &owner, "hello").await), "You said that already.");
    }
}

#[test]
fn an_invalid_new_module_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("taken")).unwrap();
    std::fs::write(folder.path().join("taken/notes.txt"), "mine").unwrap();
    for (arguments, expected) in [
        (&["new", "Polite"][..], "`Polite` can't be a module's name"),
        (&["new", "9-lives"], "beginning with a letter"),
        (&["new", "taken"], "taken: the folder is not empty"),
        (&["new", "taken/notes.txt"], "can't be a module's name"),
        (&["new", "polite", "--lang", "cobol"], "possible values: rust, js, ts, python, c"),
        (&["new", "polite", "--point", "weather"], "possible values: matchmaking, chat, punishment"),
    ] {
        let printed = fails(folder.path(), arguments);
        assert!(printed.contains(expected), "{arguments:?}: {printed}");
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["taken"]);
    // An empty folder will do.
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    assert!(hub_module(folder.path(), &["new", "polite", "--lang", "python", "--dir", "empty"]).status.success());
    assert!(folder.path().join("empty/sdk/network_hub_module/py.typed").exists());
}

#[test]
fn missing_tools_are_printed_with_their_debian_packages() {
    let folder = tempfile::tempdir().unwrap();
    for (language, expected) in [
        ("c", "(Debian: clang-14, lld-14)"),
        ("ts", "(Debian: nodejs, npm)"),
        ("js", "(Debian: nodejs, npm)"),
        ("python", "(Debian: python3, python3-venv)"),
        ("rust", "rustup"),
    ] {
        assert!(hub_module(folder.path(), &["new", language, "--lang", language]).status.success());
        let mut command = Command::new(env!("CARGO_BIN_EXE_hub"));
        // A machine with nothing on it.
        command.args(["module", "build", language]).current_dir(folder.path()).env("PATH", folder.path());
        let output = command.output().unwrap();
        let printed = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && printed.contains(expected), "{language}: {printed}");
        assert_eq!(printed.lines().count(), 1, "{printed}");
    }
}

#[test]
fn mistakes_in_a_manifest_are_printed() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = folder.path().join("hub-module.json");
    let printed = fails(folder.path(), &["build"]);
    assert!(printed.contains("neither a Cargo.toml nor a hub-module.json"), "{printed}");
    let good = r#"{"name": "a", "language": "c", "points": ["chat"], "contract": "1.0.0", "entry": "src/module.c"}"#;
    for (mistake, expected) in [
        (good.replace("chat", "chess"), "unknown variant `chess`"),
        (good.replace(r#"["chat"]"#, "[]"), "no `points`"),
        (good.replace("1.0.0", "7.0.0"), "this hub supports 1.1.0, 1.0.0"),
        (good.replace("chat", "events"), "has `contract` 1.0.0, which has no events: it needs 1.1.0"),
        (good.replace(r#""a""#, r#""../a""#), "1 to 64 of a-z"),
        (good.replace("\"c\"", "\"go\""), "unknown variant `go`"),
        (good.to_owned(), "has `entry` src/module.c, which does not exist"),
    ] {
        std::fs::write(&manifest, &mistake).unwrap();
        let printed = fails(folder.path(), &["build"]);
        assert!(printed.contains(expected), "{mistake}: {printed}");
    }
}

#[test]
fn a_component_is_kept_until_its_sources_change() {
    let folder = tempfile::tempdir().unwrap();
    assert!(hub_module(folder.path(), &["new", "a", "--lang", "c", "--point", "chat"]).status.success());
    let module = folder.path().join("a");
    let component = module.join("a.wasm");
    let build = || {
        let built = hub_module(folder.path(), &["build", "a", "--json"]);
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        (component.metadata().unwrap().modified().unwrap(), std::fs::read(&component).unwrap(), built.stdout)
    };
    let first = build();
    assert_eq!(build(), first);
    // A test case is no source.
    std::fs::write(module.join("cases.json"), "[]").unwrap();
    assert_eq!(build(), first);
    // Neither the options nor the sources may differ.
    assert!(hub_module(folder.path(), &["build", "a", "--debug"]).status.success());
    let again = build();
    assert!(again.0 > first.0 && again.1 == first.1);
    let source = module.join("src/module.c");
    let text = std::fs::read_to_string(&source).unwrap();
    std::fs::write(&source, text.replace("You said that already.", "Again?")).unwrap();
    let changed = build();
    assert!(changed.1 != first.1);
    // A file from elsewhere is not the sources' component.
    std::fs::write(&component, b"something else").unwrap();
    assert_eq!(build().1, changed.1);
    // Packages elsewhere may change unnoticed.
    std::fs::write(module.join("package.json"), r#"{"dependencies": {"a": "file:../b"}}"#).unwrap();
    let before = build().0;
    assert!(build().0 > before);
}

/// Cargo's messages, without its JSON for this program.
#[test]
fn a_rust_source_that_does_not_compile_is_shown_without_json() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("Cargo.toml", "[package]\nname = \"a\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\"]\n[workspace]\n");
    std::fs::create_dir(folder.path().join("src")).unwrap();
    write("src/lib.rs", "pub fn oops() -> u32 { hello }\n");
    let printed = fails(folder.path(), &["build"]);
    assert!(printed.contains("src/lib.rs:1") && printed.contains("cannot find value `hello`"), "{printed}");
    assert!(!printed.contains("\"reason\""), "{printed}");
    assert_eq!(printed.lines().last().unwrap(), "hub: `cargo` failed (exit status: 101)");
}

/// The compiler's messages reach the author.
#[test]
fn a_source_that_does_not_compile_is_shown_where() {
    let folder = tempfile::tempdir().unwrap();
    assert!(hub_module(folder.path(), &["new", "a", "--lang", "c", "--point", "chat"]).status.success());
    let source = folder.path().join("a/src/module.c");
    std::fs::write(&source, "#include \"hub_module.h\"\nint oops(void) { return hello; }\n").unwrap();
    let printed = fails(folder.path(), &["build", "a"]);
    assert!(printed.contains("src/module.c:2") && printed.contains("hello") && printed.contains("failed"), "{printed}");
}
