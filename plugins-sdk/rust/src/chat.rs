//! The extension point `chat`: every line of the network's chat, before anybody sees it.

pub use crate::bindings::chat::exports::network_hub::module::chat::{Decision, Line, Mute, Verdict};

use crate::CallContext;
use crate::bindings::chat::exports::network_hub::module::chat::Guest;
use crate::entry::{Exported, start};

/// Judges chat lines. Export it with [`export`](crate::export).
pub trait Chat {
    /// Judges one line, as it was sent or as the module before this one in the chain rewrote it.
    fn filter(context: &CallContext, line: &Line) -> Verdict;
}

impl Verdict {
    /// The line goes out as it is.
    pub fn allow() -> Self {
        Self { decision: Decision::Allow, mute: None }
    }

    /// The line goes out as this text: 1 to 1,024 characters without control characters.
    pub fn rewrite(message: impl Into<String>) -> Self {
        Self { decision: Decision::Rewrite(message.into()), mute: None }
    }

    /// The line reaches nobody, and its sender is told the reason: 1 to 256 characters.
    pub fn refuse(reason: impl Into<String>) -> Self {
        Self { decision: Decision::Refuse(reason.into()), mute: None }
    }

    /// Also mutes the sender from now on, for 1 ms to 10 years.
    #[must_use]
    pub fn and_mute(mut self, duration_ms: u64, reason: impl Into<String>) -> Self {
        self.mute = Some(Mute { duration_ms, reason: reason.into() });
        self
    }
}

impl<T: Chat> Guest for Exported<T> {
    fn filter(context: CallContext, line: Line) -> Verdict {
        start();
        T::filter(&context, &line)
    }
}
