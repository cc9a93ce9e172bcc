//! The versions of the contract that modules are written against.
//!
//! The hub itself works with one set of types, those of [`crate::contract`]. A [`Version`] gives a module its arguments
//! in that version's types, takes the answer out of them, and links the host functions it knows. A version whose
//! types are the hub's own passes references through; one that differs translates.

#[cfg(test)]
mod later;
mod v1_0;

use crate::contract::matchmaking::{ServerCandidate, WorldCandidate};
use crate::contract::{chat, punishment};
use crate::operation::sealed::Running;
use crate::operation::{Candidates, RankAnswer};
use crate::state::State;
use wasmtime::component::{ComponentNamedList, Lift, Linker, Lower};
use wasmtime::{Engine, Result};

/// How modules of one version of the contract are spoken with.
pub(crate) trait Version: Sync {
    /// Its number, such as `1.0.0`.
    fn number(&self) -> &'static str;

    /// Adds its host functions.
    fn link(&self, linker: &mut Linker<State>) -> Result<()>;

    /// `matchmaking.rank-servers`.
    fn rank_servers(&self, running: Running<'_>, input: &Candidates<ServerCandidate>) -> Result<RankAnswer>;

    /// `matchmaking.rank-worlds`.
    fn rank_worlds(&self, running: Running<'_>, input: &Candidates<WorldCandidate>) -> Result<RankAnswer>;

    /// `chat.filter`.
    fn filter(&self, running: Running<'_>, line: &chat::Line) -> Result<chat::Verdict>;

    /// `punishment.review`.
    fn review(&self, running: Running<'_>, proposal: &punishment::Proposal) -> Result<punishment::Verdict>;
}

/// The versions this hub speaks, newest first.
#[cfg(not(test))]
const SPOKEN: &[&dyn Version] = &[&v1_0::V1_0];
/// In unit tests also one that was made up, to see that two versions get along.
#[cfg(test)]
const SPOKEN: &[&dyn Version] = &[&later::Later, &v1_0::V1_0];

/// The version of that number, where this hub speaks it.
pub(crate) fn find(number: &str) -> Option<&'static dyn Version> {
    SPOKEN.iter().copied().find(|version| version.number() == number)
}

/// The numbers of the versions this hub speaks, newest first, for people to read.
pub(crate) fn numbers() -> String {
    let numbers: Vec<_> = SPOKEN.iter().map(|version| version.number()).collect();
    numbers.join(", ")
}

/// A linker with the host functions of every version, and nothing else.
pub(crate) fn linker(engine: &Engine) -> Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    SPOKEN.iter().try_for_each(|version| version.link(&mut linker))?;
    Ok(linker)
}

/// Calls the exported function with arguments in the version's own types.
fn call<Params, Answer>(running: Running<'_>, params: Params) -> Result<Answer>
where
    Params: ComponentNamedList + Lower,
    Answer: Send + Sync + Lift + 'static,
{
    let Running { store, instance, export, .. } = running;
    let function = instance.get_typed_func::<Params, (Answer,)>(&mut *store, export.index)?;
    Ok(function.call(store, params)?.0)
}
