//! Calls as JSON, for dry runs, recorded calls and test cases.

mod answer;
mod answered;
mod call;
mod handled;
mod input;
mod ranking;
mod read;

pub(crate) use read::read;
