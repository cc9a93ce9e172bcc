//! Progress of commands that take long: a line on standard error, only at a terminal.

use std::io::IsTerminal as _;
use std::pin::pin;
use std::time::Duration;

use tokio::time::interval;

use crate::archive::bytes_moved;
use crate::cli::format;

const INTERVAL: Duration = Duration::from_millis(250);

/// Does some work on an archive, and meanwhile shows how much of it was moved.
pub(super) async fn with_bytes<T>(verb: &str, work: impl Future<Output = T>) -> T {
    if !std::io::stderr().is_terminal() {
        return work.await;
    }
    let mut work = pin!(work);
    let mut ticks = interval(INTERVAL);
    let done = loop {
        tokio::select! {
            done = &mut work => break done,
            _ = ticks.tick() => {
                let moved = usize::try_from(bytes_moved()).unwrap_or(usize::MAX);
                eprint!("\r\x1b[K{verb} {}", format::bytes(moved));
            }
        }
    };
    eprint!("\r\x1b[K");
    done
}
