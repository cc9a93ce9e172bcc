//! The sandbox through its public interface, with real modules: hostile ones written in WebAssembly text, and the
//! checked-in starter modules.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod answers;
mod cache;
mod chain;
mod confinement;
mod contract;
mod events;
mod hostile;
mod hostile_calls;
mod hostile_set;
mod hostile_uploads;
mod instance_pool;
mod languages;
mod modes;
mod overrides;
mod permits;
mod starters;
mod support;
mod test_cases;
mod time;
mod uploads;
mod wat;
