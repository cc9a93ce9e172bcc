//! Modules that tests assemble, at the path that they have for it.

#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "../it/modules/wasm.rs"]
pub mod wasm;
