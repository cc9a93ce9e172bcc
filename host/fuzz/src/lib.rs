//! Shared parts of the fuzz targets.

mod document;
mod fuzzed_json;
mod hub;
pub mod modules;
pub mod scripted;

pub use document::{Document, Location, Operation, Parameter};
pub use fuzzed_json::FuzzedJson;
pub use hub::{Answer, Hub, NOW, Network, percent_encode};
