//! Test cases of modules: files with inputs of a module and its expected answers.

mod answer;
mod file;
mod fixture;
mod host;
mod rewrite;
mod run;
mod store;

pub use answer::Answer;
pub use file::{Step, TestCase, TestCaseError};
pub use fixture::{FixtureHost, Fixtures, PastPunishment};
pub use host::TestCaseHost;
pub use rewrite::{NewAnswer, one_line, write_answers};
pub use run::SharedInstances;
