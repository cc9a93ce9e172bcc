//! Operations of the compiling process, seen from inside.

use serde_json::{Value, json};
use std::process::Command;

/// Possible operations in a process confined by this layer.
fn probe(layer: &str) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hub-compile-module"));
    let output = command.args(["compile-module", "--probe", layer]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn possible(layer: &str) -> Vec<String> {
    let probed = probe(layer);
    let possible = probed.as_object().unwrap().iter().filter(|(_, result)| **result == json!(true));
    possible.map(|(what, _)| what.clone()).collect()
}

#[test]
fn a_confined_compiler_can_start_threads_and_nothing_else() {
    assert_eq!(possible("all"), ["start a thread"]);
    // System calls alone are enough for that.
    assert_eq!(possible("seccomp"), ["start a thread"]);
    let errors = probe("all");
    for (what, error) in errors.as_object().unwrap().iter().filter(|(what, _)| *what != "start a thread") {
        assert!(error.as_str().unwrap().contains("Function not implemented"), "{what}: {error}");
    }
}

#[test]
fn landlock_alone_denies_files_and_tcp() {
    let (denied, unconfined) = (probe("landlock"), possible("none"));
    for what in ["read a file", "list a folder", "create a file", "connect by TCP", "listen", "start a process"] {
        // Unconfined it is possible, so that the probe does try it.
        assert!(unconfined.iter().any(|possible| possible == what), "{what}: {unconfined:?}");
        assert!(denied[what].as_str().is_some_and(|error| error.contains("denied")), "{what}: {denied}");
    }
}
