//! The contract is frozen.

use crate::support::root;
use hub_sandbox::Sha256Sum;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const ADVICE: &str = "A released version of the contract never changes, not even in a comment: modules that were built against \
    it rely on every word. What a later version needs goes into a folder of its own; plugins-sdk/wit/README.md says how.";

/// The sums of a folder's files, by name.
fn sums(folder: &Path) -> BTreeMap<String, String> {
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let sum = |path: &Path| Sha256Sum::of(&fs::read(path).unwrap()).to_string();
    files.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), sum(&path))).collect()
}

/// Sums of a released version, in the format of `sha256sum`.
fn released(path: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| line.split_once("  ")).map(|(sum, name)| (name.into(), sum.into())).collect()
}

#[test]
fn a_released_version_of_the_contract_never_changes() {
    let wit = root().join("plugins-sdk/wit");
    let entries = fs::read_dir(&wit).unwrap().map(|entry| entry.unwrap().path());
    let versions: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    assert!(versions.contains(&wit.join("1.0")), "{ADVICE}");
    for folder in versions {
        let version = folder.file_name().unwrap().to_str().unwrap();
        let pinned = released(&wit.join(format!("{version}.sha256")));
        assert_eq!(sums(&folder), pinned, "{version} is not as it was released. {ADVICE}");
    }
}
