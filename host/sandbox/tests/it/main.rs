//! The sandbox, by its public interface alone, with real modules: hostile ones written in WebAssembly text, and the
//! starter modules as they are checked in.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod answers;
mod cache;
mod cases;
mod chain;
mod contract;
mod hostile;
mod hostile_calls;
mod hostile_set;
mod hostile_uploads;
mod languages;
mod modes;
mod places;
mod reuse;
mod starters;
mod support;
mod uploads;
mod wat;
