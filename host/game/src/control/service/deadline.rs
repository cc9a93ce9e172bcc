//! Deadlines of requests that wait for a reply.

use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::clock::{Clock, Millis, Moment};
use crate::control::service::error::ControlError;
use crate::values::Identifier;

/// Deadline of a request that waits for a reply.
pub(super) struct Deadline {
    clock: Clock,
    /// The same in time of day, for other nodes.
    pub(super) at: Millis,
    moment: Moment,
    stopping: CancellationToken,
}

impl Deadline {
    pub(super) fn new(app: &App, within: Millis) -> Self {
        let at = app.clock.now().saturating_add(within);
        Self { clock: app.clock.clone(), at, moment: app.clock.moment_of(at), stopping: app.stopping() }
    }

    /// Waits for the reply, or returns the reason for its absence.
    pub(super) async fn wait<T>(
        &self,
        server: &Identifier,
        reply: impl Future<Output = Option<T>>,
    ) -> Result<T, ControlError> {
        tokio::select! {
            // A reply that has arrived counts, regardless of other events.
            biased;
            reply = reply => reply.ok_or_else(|| ControlError::NoAnswer(server.clone())),
            () = self.stopping.cancelled() => Err(ControlError::Stopping),
            () = self.clock.sleep_until(self.moment) => Err(ControlError::NoAnswer(server.clone())),
        }
    }
}
