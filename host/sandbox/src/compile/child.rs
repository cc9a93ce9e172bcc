//! The child's side.

use super::protocol::{self, Header};
use crate::confined::{restrict_objects, restrict_system_calls};
use crate::engine;
use std::io::{self, Read, Write};

/// Compiles the one module on standard input. This is all that `hub compile-module` does; only the hub itself should
/// call it.
///
/// # Errors
/// The pipes break, a limit can't be set, or the process can't be confined. A module that does not compile is an
/// answer, not an error.
pub fn child_main(mut stdin: impl Read, mut stdout: impl Write) -> io::Result<()> {
    let header = Header::read(&mut stdin)?;
    header.limits.set()?;
    let confinement = restrict_objects(None)?;
    restrict_system_calls()?;
    let mut upload = Vec::new();
    upload.try_reserve_exact(usize::try_from(header.upload_bytes).unwrap_or(usize::MAX))?;
    stdin.read_to_end(&mut upload)?;
    let outcome = engine::compiling()
        .map_err(|error| format!("the compiler could not start: {error:#}"))
        .and_then(|engine| super::compile(&engine, &upload));
    protocol::write(confinement, &outcome, &mut stdout)
}
