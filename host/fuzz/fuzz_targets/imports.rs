//! Files of other tools: each is read, or refused with a reason for its owner. Nothing panics or takes long.
//!
//! The first byte chooses the kind of the file, the rest is its content.
#![no_main]

use std::io::Write as _;

use hub::imports::{FILE_KINDS, read_fuzzed};
use hub_fuzz::NOW;
use libfuzzer_sys::fuzz_target;
use tempfile::NamedTempFile;

fuzz_target!(|data: &[u8]| {
    let [choice, content @ ..] = data else { return };
    let kind = FILE_KINDS[usize::from(*choice) % FILE_KINDS.len()];
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(content).expect("it is written");
    if let Err(reason) = read_fuzzed(kind, file.path(), NOW) {
        assert!(!reason.trim().is_empty());
        assert!(!reason.contains("stopped"), "nothing stops it");
    }
});
