//! The child's side.

use super::UPLOAD_BYTES;
use super::protocol::{self, Header};
use crate::engine;
use rlimit::Resource;
use std::io::{self, Read, Write};

/// Compiles the one module that standard input holds. This is all that `hub compile-module` does; it is meant
/// to be called by the hub itself.
///
/// # Errors
/// When the pipes break or a limit can't be set. A module that does not compile is an answer, not an error.
pub fn child_main(mut stdin: impl Read + Send, mut stdout: impl Write) -> io::Result<()> {
    let header = Header::read(&mut stdin)?;
    confine(&header)?;
    let bytes = receive(stdin)?;
    let outcome = engine::compiling()
        .map_err(|error| format!("the compiler could not start: {error:#}"))
        .and_then(|engine| super::compile(&engine, &bytes));
    protocol::write(&outcome, &mut stdout)
}

/// Reads the upload behind everything else: new memory page after page, which takes more from others than compiling does.
fn receive(mut stdin: impl Read + Send) -> io::Result<Vec<u8>> {
    // Memory that grows would be copied, and there twice as much of it.
    let upload_bytes = std::env::var(UPLOAD_BYTES).ok().and_then(|bytes| bytes.parse().ok()).unwrap_or_default();
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(upload_bytes)?;
    // There is no way back to this thread's priority, so it is another thread that gives way.
    let read = || {
        crate::priority::idle();
        stdin.read_to_end(&mut bytes)
    };
    std::thread::scope(|scope| scope.spawn(read).join()).map_err(|_| io::Error::other("the reader panicked"))??;
    Ok(bytes)
}

/// Takes from this process what compiling does not need.
fn confine(header: &Header) -> io::Result<()> {
    let Header { memory_bytes, cpu_seconds } = *header;
    // As its thread was when it was started, unless the hub is an older one.
    crate::priority::nice();
    Resource::AS.set(memory_bytes, memory_bytes)?;
    // The signal of the soft limit names the reason; the hard one follows where that did not end it.
    Resource::CPU.set(cpu_seconds, cpu_seconds.saturating_add(1))?;
    Resource::CORE.set(0, 0)?;
    Resource::FSIZE.set(0, 0)
}
