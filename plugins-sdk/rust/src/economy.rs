//! The extension point `economy`: changes of balances that connectors ask for, before they are made.

pub use crate::bindings::economy::exports::network_hub::module::economy::{Change, ChangeKind, Decision, Operation};

use crate::CallContext;
use crate::bindings::economy::exports::network_hub::module::economy::Guest;
use crate::entry::{Exported, start};

/// Decides about changes of balances. Export it with [`export`](crate::export).
pub trait Economy {
    /// Decides about one request, original or amended by the previous module of the chain.
    fn review(context: &CallContext, change: &Change) -> Decision;
}

impl Change {
    /// The operation of a [`ChangeKind::Modify`], which alone may be amended; none of a transaction.
    pub fn single(&self) -> Option<&Operation> {
        self.operations.first().filter(|_| self.kind == ChangeKind::Modify)
    }
}

impl Decision {
    /// Refuses the change for this reason: 1 to 256 characters.
    pub fn refuse(reason: impl Into<String>) -> Self {
        Self::Refuse(reason.into())
    }
}

impl<T: Economy> Guest for Exported<T> {
    fn review(context: CallContext, change: Change) -> Decision {
        start();
        T::review(&context, &change)
    }
}
