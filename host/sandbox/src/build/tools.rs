//! Running the programs that build modules.

use super::error::BuildError;
use std::io::{self, Write as _};
use std::process::{Command, Output, Stdio};

/// Runs a program to its end, its standard error passed through. `needs` tells what to install where it is missing.
pub(super) fn run(command: &mut Command, needs: &str) -> Result<Output, BuildError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => BuildError::Tool(format!("`{program}` was not found: {needs}")),
        _ => BuildError::Tool(format!("`{program}` did not start: {error}")),
    })?;
    if output.status.success() {
        return Ok(output);
    }
    // Some tools print their errors there.
    let _ = io::stderr().write_all(&output.stdout);
    Err(BuildError::Tool(format!("`{program}` failed ({})", output.status)))
}

/// Fails where a program is missing.
pub(super) fn require(program: &str, needs: &str) -> Result<(), BuildError> {
    if is_installed(program) { Ok(()) } else { Err(BuildError::Tool(format!("`{program}` was not found: {needs}"))) }
}

/// Whether a program can be started by its name.
pub(super) fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}
