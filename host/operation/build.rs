//! Stamps the build with the commit it was made from: that of the variable `HUB_STAMP`, as `scripts/release` sets it, or else of
//! the checkout. A tarball outside of one has neither, and its commit is unknown.

use std::path::Path;
use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").env("TZ", "UTC").args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    // A tarball may be unpacked inside a checkout of something else.
    let own = Path::new("../..").canonicalize().ok();
    let is_checkout =
        git(&["rev-parse", "--show-toplevel"]).is_some_and(|top| Path::new(&top).canonicalize().ok() == own);
    let git = |arguments: &[&str]| if is_checkout { git(arguments) } else { None };
    // Commit, number of commits before it, and its time.
    let given = std::env::var("HUB_STAMP").ok();
    let given: Vec<_> = given.iter().flat_map(|stamp| stamp.split_whitespace()).map(str::to_owned).collect();
    let (commit, build, time, dev) = if let [commit, build, time] = &given[..] {
        (Some(commit.clone()), Some(build.clone()), Some(time.clone()), false)
    } else {
        let commit = git(&["rev-parse", "--short", "HEAD"]);
        let is_changed = git(&["status", "--porcelain"]).is_none_or(|changes| !changes.is_empty());
        let time = git(&["show", "-s", "--format=%cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "HEAD"]);
        (commit, git(&["rev-list", "--count", "HEAD"]), time, is_changed)
    };
    let unknown = || "unknown".to_owned();
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let shown = match (&commit, &time) {
        (Some(commit), Some(time)) => format!("{version} ({commit} {})", time.split('T').next().unwrap_or_default()),
        _ => format!("{version} (unknown commit)"),
    };
    println!("cargo:rustc-env=HUB_VERSION={shown}");
    println!("cargo:rustc-env=HUB_COMMIT={}", commit.unwrap_or_else(unknown));
    println!("cargo:rustc-env=HUB_BUILD={}", build.unwrap_or_else(|| "0".to_owned()));
    println!("cargo:rustc-env=HUB_BUILD_TIME={}", time.unwrap_or_else(unknown));
    println!("cargo:rustc-env=HUB_DEV={dev}");
    // A commit moves HEAD; nothing else makes the stamp stale. Only a release must be exact: while developing, a commit
    // alone is no reason to build again.
    let release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if release && let Some(folder) = git(&["rev-parse", "--git-dir"]) {
        println!("cargo:rerun-if-changed={folder}/HEAD");
        println!("cargo:rerun-if-changed={folder}/logs/HEAD");
    }
    println!("cargo:rerun-if-env-changed=HUB_STAMP");
    println!("cargo:rerun-if-changed=build.rs");
}
