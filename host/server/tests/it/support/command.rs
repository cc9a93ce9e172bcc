//! The hub's commands on a database.

use std::path::Path;
use std::process::{Command, Output};

use super::Backend;

/// `hub …` on a database.
pub fn command(backend: &Backend, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hub"));
    command.args(arguments).args(backend.options());
    command
}

pub fn run(backend: &Backend, arguments: &[&str]) -> Output {
    command(backend, arguments).output().unwrap()
}

#[track_caller]
pub fn succeed(backend: &Backend, arguments: &[&str]) -> String {
    let output = run(backend, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The error message of a command that fails without a panic.
#[track_caller]
pub fn fail(backend: &Backend, arguments: &[&str]) -> String {
    let output = run(backend, arguments);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {message}");
    message
}

pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
