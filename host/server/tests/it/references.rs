//! The generated parts of the documentation are current.

use std::process::Command;

#[test]
fn generated_references_are_current() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    let output = Command::new(env!("CARGO_BIN_EXE_hub")).args(["reference", "--check", docs]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
