//! Calls as JSON: what a module is given and what it answers, as people write and read them. Dry runs, recorded calls
//! and test cases all speak it.

mod answer;
mod any;
mod file;
mod fixture;
mod input;
mod play;
mod ranking;
mod recorded;
mod size;
mod store;
mod text;

pub use answer::Answer;
pub use any::AnyAnswer;
pub use file::{Case, CaseError, Step};
pub use fixture::{FixtureHost, Fixtures, PastPunishment};
pub use input::Input;
pub use play::{CaseHub, SharedInstances};
pub use recorded::RecordedHost;
pub use text::{NewAnswer, one_line, write_answers};

use crate::call::Terms;
use crate::contract::CallContext;
use crate::host::Host;
use crate::limits::Limits;
use crate::module::ModuleHandle;
use crate::operation::{FilterChat, RankAnswer, RankServers, RankWorlds, ReviewPunishment};
use crate::report::CallReport;
use crate::sandbox::Sandbox;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;

impl Sandbox {
    /// Calls the function that takes the input, as [`Sandbox::call`] does. The answer is JSON: `{"order": […]}` or
    /// `{"refused": reason}` for matchmaking, else the verdict as the contract has it.
    pub async fn call_with(
        &self,
        module: &ModuleHandle,
        limits: Limits,
        host: Arc<dyn Host>,
        context: CallContext,
        input: &Input,
    ) -> CallReport<Value> {
        self.call_any(Terms::default(), module, limits, host, context, input).await
    }

    pub(crate) async fn call_any(
        &self,
        terms: Terms<'_>,
        module: &ModuleHandle,
        limits: Limits,
        host: Arc<dyn Host>,
        context: CallContext,
        input: &Input,
    ) -> CallReport<Value> {
        match input {
            Input::Servers(input) => {
                let report = self.call_on::<RankServers>(terms, module, limits, host, context, Arc::clone(input)).await;
                report.map(ranked)
            }
            Input::Worlds(input) => {
                let report = self.call_on::<RankWorlds>(terms, module, limits, host, context, Arc::clone(input)).await;
                report.map(ranked)
            }
            Input::Line(line) => {
                let report = self.call_on::<FilterChat>(terms, module, limits, host, context, Arc::clone(line)).await;
                report.map(|verdict| json!(verdict))
            }
            Input::Proposal(proposal) => {
                let report =
                    self.call_on::<ReviewPunishment>(terms, module, limits, host, context, Arc::clone(proposal)).await;
                report.map(|verdict| json!(verdict))
            }
        }
    }
}

/// A ranking as JSON.
pub fn ranked(answer: RankAnswer) -> Value {
    match answer {
        Ok(order) => json!({"order": order}),
        Err(refusal) => json!({"refused": refusal.reason}),
    }
}

/// Reads a value, and names the place of what is wrong with it.
fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let reason = error.into_inner();
        if path == "." { reason.to_string() } else { format!("`{path}`: {reason}") }
    })
}
