//! Rebuilds the crate when a migration is added or removed: `sqlx::migrate!` itself only notices changes in the files
//! it has already seen.

fn main() {
    println!("cargo::rerun-if-changed=../../migrations");
}
