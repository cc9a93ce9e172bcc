//! Reader that hashes the data it reads.

use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

use crate::values::hex;

pub(super) struct HashingReader<R> {
    inner: R,
    hash: Sha256,
    /// Bytes read so far.
    pub(super) size: u64,
}

impl<R: Read> HashingReader<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, hash: Sha256::new(), size: 0 }
    }

    pub(super) fn sha256(self) -> String {
        hex(&self.hash.finalize())
    }
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.hash.update(&buffer[..read]);
        self.size += read as u64;
        Ok(read)
    }
}
