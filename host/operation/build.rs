//! Stamps the build with the commit it was made from.

use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").env("TZ", "UTC").args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short", "HEAD"]);
    let dev = commit.is_none() || git(&["status", "--porcelain"]).is_none_or(|changes| !changes.is_empty());
    println!("cargo:rustc-env=HUB_COMMIT={}", commit.unwrap_or_else(|| "unknown".to_owned()));
    println!("cargo:rustc-env=HUB_BUILD={}", git(&["rev-list", "--count", "HEAD"]).unwrap_or_else(|| "0".to_owned()));
    let time = git(&["show", "-s", "--format=%cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "HEAD"]);
    println!("cargo:rustc-env=HUB_BUILD_TIME={}", time.unwrap_or_else(|| "unknown".to_owned()));
    println!("cargo:rustc-env=HUB_DEV={dev}");
    // A commit moves HEAD; nothing else makes the stamp stale. Only a release must be exact: while developing, a commit
    // alone is no reason to build again.
    let release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if release && let Some(folder) = git(&["rev-parse", "--git-dir"]) {
        println!("cargo:rerun-if-changed={folder}/HEAD");
        println!("cargo:rerun-if-changed={folder}/logs/HEAD");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
