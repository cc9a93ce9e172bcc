//! The extension point `punishment`: every punishment, before it is made.

pub use crate::bindings::punishment::exports::network_hub::module::punishment::{Decision, Proposal, Terms, Verdict};

use crate::CallContext;
use crate::bindings::punishment::exports::network_hub::module::punishment::Guest;
use crate::entry::{Exported, start};

/// Reviews punishments. Export it with [`export`](crate::export).
pub trait Punishment {
    /// Reviews one proposal, original or amended by the previous module of the chain.
    fn review(context: &CallContext, proposal: &Proposal) -> Verdict;
}

impl Verdict {
    /// Accepts the punishment as proposed.
    pub fn accept() -> Self {
        Self { decision: Decision::Accept, follow_ups: Vec::new() }
    }

    /// Accepts the punishment on these terms instead.
    pub fn amend(terms: Terms) -> Self {
        Self { decision: Decision::Amend(terms), follow_ups: Vec::new() }
    }

    /// Refuses the punishment and shows its issuer the reason: 1 to 256 characters.
    pub fn refuse(reason: impl Into<String>) -> Self {
        Self { decision: Decision::Refuse(reason.into()), follow_ups: Vec::new() }
    }

    /// Adds a further punishment for the same player, made after this one and not reviewed again. At most 8.
    #[must_use]
    pub fn and_then(mut self, terms: Terms) -> Self {
        self.follow_ups.push(terms);
        self
    }
}

impl<T: Punishment> Guest for Exported<T> {
    fn review(context: CallContext, proposal: Proposal) -> Verdict {
        start();
        T::review(&context, &proposal)
    }
}
