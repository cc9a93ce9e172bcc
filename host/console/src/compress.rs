//! Compression of pages and assets.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Bytes as gzip.
pub fn gzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 3), Compression::default());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok()
}
