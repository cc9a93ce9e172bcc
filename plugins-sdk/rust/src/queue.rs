//! The extension point `queue`: each new ticket of a waiting line.

pub use crate::bindings::queue::exports::network_hub::module::queue::{Decision, Ticket};

use crate::CallContext;
use crate::bindings::queue::exports::network_hub::module::queue::Guest;
use crate::entry::{Exported, start};

/// Decides about new tickets. Export it with [`export`](crate::export).
pub trait Queue {
    /// Decides about one ticket. The priorities of a chain's modules add up; its first refusal ends it.
    fn place(context: &CallContext, ticket: &Ticket) -> Decision;
}

impl Decision {
    /// Refuses the ticket for this reason: 1 to 256 characters.
    pub fn refuse(reason: impl Into<String>) -> Self {
        Self::Refuse(reason.into())
    }
}

impl<T: Queue> Guest for Exported<T> {
    fn place(context: CallContext, ticket: Ticket) -> Decision {
        start();
        T::place(&context, &ticket)
    }
}
