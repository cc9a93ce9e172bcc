//! Help for tests.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "for tests")]

pub mod instruction_counts;
pub mod ports;
pub mod query_plan;
