//! Bytes of archives that this process has read and written, for commands that show their progress.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};

static MOVED: AtomicU64 = AtomicU64::new(0);

/// Bytes read and written so far. A file that is checked before it is imported is read twice.
pub fn bytes_moved() -> u64 {
    MOVED.load(Ordering::Relaxed)
}

/// A file whose bytes count.
#[derive(Debug)]
pub(super) struct Counted<T>(pub(super) T);

fn count(moved: usize) -> usize {
    MOVED.fetch_add(moved as u64, Ordering::Relaxed);
    moved
}

impl<T: Read> Read for Counted<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map(count)
    }
}

impl<T: Write> Write for Counted<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
