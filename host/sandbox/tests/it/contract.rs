//! The contract is frozen.

use crate::support::root;
use hub_sandbox::Sha256Sum;

/// What a module built today relies on for as long as version 1.0 is supported. A change of meaning needs a
/// new folder; there is no other reason for this to change.
const FROZEN: &str = "f20d7a5b877044aba6d1e54c1f1067ff2a2052f9a5798b164c274d8b3430a1d1";

#[test]
fn version_1_0_of_the_contract_never_changes() {
    let folder = root().join("plugins-sdk/wit/1.0");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let mut whole = Vec::new();
    for file in files {
        whole.extend(file.file_name().unwrap().as_encoded_bytes());
        whole.push(0);
        whole.extend(std::fs::read(file).unwrap());
        whole.push(0);
    }
    assert_eq!(Sha256Sum::of(&whole).to_string(), FROZEN);
}
