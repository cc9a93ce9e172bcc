//! Passes of periodic work: each is measured, and one that does not end in time is a fault.

use std::collections::BTreeMap;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::fault::{Fault, FaultKind};

/// Passes may take this long whatever their period.
const PATIENCE: Duration = Duration::from_secs(30);

/// The passes that run now, by what they do.
#[derive(Debug, Default)]
pub struct Passes(Mutex<BTreeMap<&'static str, Pass>>);

#[derive(Clone, Copy, Debug)]
struct Pass {
    began: Instant,
    period: Duration,
}

impl Passes {
    /// Notes that a pass begins. Returns its beginning.
    pub(crate) fn begin(&self, what: &'static str, period: Duration) -> Instant {
        let began = Instant::now();
        self.0.lock().insert(what, Pass { began, period });
        began
    }

    /// Notes that it has ended.
    pub(crate) fn end(&self, what: &'static str) {
        self.0.lock().remove(what);
    }

    /// The fault, while a pass takes longer than the time to the next one.
    pub fn fault(&self) -> Option<Fault> {
        let late = |pass: &Pass| pass.began.elapsed().saturating_sub(pass.period.max(PATIENCE));
        let passes = self.0.lock();
        let (what, pass) =
            passes.iter().max_by_key(|(_, pass)| late(pass)).filter(|(_, pass)| !late(pass).is_zero())?;
        let (took, period) = (pass.began.elapsed().as_secs(), pass.period.as_secs());
        let message = format!("The attempt to {what} has taken {took} s; the next one was due after {period} s.");
        Some(Fault::tolerable(FaultKind::Passes, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_pass_that_does_not_end_is_a_fault_until_it_does() {
        let passes = Passes::default();
        passes.begin("save presence", Duration::from_secs(1));
        passes.begin("delete old things", Duration::from_mins(10));
        tokio::time::advance(PATIENCE).await;
        assert_eq!(passes.fault(), None);
        tokio::time::advance(Duration::from_secs(1)).await;
        let message = passes.fault().unwrap().message;
        assert_eq!(message, "The attempt to save presence has taken 31 s; the next one was due after 1 s.");
        passes.end("save presence");
        assert_eq!(passes.fault(), None);
        tokio::time::advance(Duration::from_mins(10)).await;
        assert!(passes.fault().unwrap().message.contains("delete old things"));
    }
}
