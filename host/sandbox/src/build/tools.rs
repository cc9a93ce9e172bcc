//! Running the programs that build modules.

use super::error::BuildError;
use std::io::{self, Write as _};
use std::process::{Command, Output, Stdio};

/// Runs a program to its end, its messages passed through. `needs` is the installation hint if it is missing.
pub(super) fn run(command: &mut Command, needs: &str) -> Result<(), BuildError> {
    let output = output(command, needs)?;
    if !output.status.success() {
        // Some tools print their errors there.
        let _ = io::stderr().write_all(&output.stdout);
    }
    check(command, &output)
}

/// Variant of [`run`] for a program whose standard output is read by this one.
pub(super) fn read(command: &mut Command, needs: &str) -> Result<Vec<u8>, BuildError> {
    let output = output(command, needs)?;
    check(command, &output)?;
    Ok(output.stdout)
}

fn output(command: &mut Command, needs: &str) -> Result<Output, BuildError> {
    command.stderr(Stdio::inherit()).output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => BuildError::Tool(format!("`{}` was not found: {needs}", name(command))),
        _ => BuildError::Tool(format!("`{}` did not start: {error}", name(command))),
    })
}

fn check(command: &Command, output: &Output) -> Result<(), BuildError> {
    if output.status.success() {
        return Ok(());
    }
    Err(BuildError::Tool(format!("`{}` failed ({})", name(command), output.status)))
}

fn name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

/// Fails if a program is missing.
pub(super) fn require(program: &str, needs: &str) -> Result<(), BuildError> {
    if is_installed(program) { Ok(()) } else { Err(BuildError::Tool(format!("`{program}` was not found: {needs}"))) }
}

/// True if a program can be started by its name.
pub(super) fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}
