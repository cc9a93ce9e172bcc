//! Calls as JSON, as dry runs, recorded calls and test cases have them.

mod answer;
mod call;
mod input;
mod ranking;
mod read;

pub(crate) use read::read;
