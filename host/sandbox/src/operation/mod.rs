//! The functions that modules export, one type per function: its input and answer, valid answers, and the combination
//! of a chain's answers.

mod answer;
mod any;
pub(crate) mod candidates;
mod chat;
mod economy;
mod handle;
mod login;
mod matchmaking;
mod memory;
mod punishment;
mod queue;
mod schedules;

pub use answer::{AnswerRequest, Answered, EndpointAnswer};
pub use any::{AnyAnswer, AnyInput};
pub use candidates::{Candidate, Candidates, RankAnswer};
pub use chat::FilterChat;
pub use economy::ReviewChange;
pub use handle::{HandleEvent, Handled, HandlerAnswer};
pub use login::CheckLogin;
pub use matchmaking::{Rank, RankServers, RankWorlds, Ranking};
pub use punishment::ReviewPunishment;
pub use queue::PlaceTicket;
pub use schedules::{FireTimer, RunTick};

use crate::contract::Point;
use crate::texts::CandidateTexts;
use crate::versions::Running;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A function of an extension point: [`RankServers`], [`RankWorlds`], [`FilterChat`], [`ReviewPunishment`],
/// [`CheckLogin`], [`ReviewChange`], [`PlaceTicket`], [`HandleEvent`], [`AnswerRequest`], [`RunTick`] or [`FireTimer`].
pub trait Operation: 'static {
    /// The extension point it belongs to.
    const POINT: Point;
    /// The exported function's name.
    const NAME: &'static str;
    /// Maximum bytes passed to the host in one host call, or in a module's answer.
    #[doc(hidden)]
    const HANDOVER_BYTES: usize = 256 << 10;
    /// True if a module that must not be skipped refuses also if it is late.
    #[doc(hidden)]
    const REFUSES_LATE: bool = false;
    /// Input of a module beside the context.
    type Input: Send + Sync + 'static;
    /// Answer of a module.
    type Answer: Clone + Into<AnyAnswer> + Into<Self::Ruling> + Send + 'static;
    /// Decision of a chain. The default is that of a chain without modules.
    type Ruling: Default + Send + 'static;

    /// Converts the input to that of any point.
    fn any_input(input: &Arc<Self::Input>) -> AnyInput;

    /// The answer of a module that alone would lead to this ruling; `None` for the default if no answer does.
    fn ruling_answer(ruling: &Self::Ruling) -> Option<AnyAnswer>;

    /// Answer in place of a module that failed and must not be skipped.
    fn unavailable() -> Self::Answer;

    /// Applies the next module's answer to the ruling, and to the input of the module after it. A break ends the chain.
    #[doc(hidden)]
    fn apply(ruling: &mut Self::Ruling, input: &mut Arc<Self::Input>, answer: Self::Answer) -> ControlFlow<()>;

    /// Calls the exported function.
    #[doc(hidden)]
    fn invoke(running: Running<'_>, input: &Self::Input) -> wasmtime::Result<Self::Answer>;

    /// Checks the answer against the bounds of the contract; the error describes the invalid part.
    #[doc(hidden)]
    fn check(input: &Self::Input, answer: &Self::Answer) -> Result<(), String>;

    /// Player of the call, by UUID, otherwise by name.
    #[doc(hidden)]
    fn player(input: &Self::Input) -> Option<&str>;

    /// Texts for host functions.
    #[doc(hidden)]
    fn texts(_input: &Self::Input) -> Option<Arc<dyn CandidateTexts>> {
        None
    }
}
