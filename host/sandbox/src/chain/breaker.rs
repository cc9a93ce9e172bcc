//! Stops calling a module that fails a large share of its calls, and tries it again later.

use super::window::Window;
use parking_lot::Mutex;
use serde::Serialize;
use std::fmt;

/// Minimum number of calls before it may open.
const MIN_CALLS: u32 = 20;
/// Initial time for which it is open; each failed trial doubles that …
const FIRST_RETRY_MS: u64 = 1_000;
/// … up to this.
const MAX_RETRY_MS: u64 = 30_000;

/// State of a link's breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum BreakerState {
    /// The module is called.
    Closed,
    /// The module is not called: it failed too often.
    Open,
    /// A single call tries it: the next one, or one under way.
    HalfOpen,
}

/// Opening of a breaker, for the module's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerOpening {
    /// Calls of the last ten seconds, and the failed ones; `None` after a failed trial.
    pub share: Option<(u32, u32)>,
    /// Milliseconds until the module is tried again.
    pub retry_ms: u64,
}

impl fmt::Display for BreakerOpening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.retry_ms / 1000;
        match self.share {
            Some((calls, failures)) => write!(
                f,
                "The breaker opens: {failures} of the {calls} calls of the last 10 s failed by the module's own fault. \
                 The module is left out and tried again in {seconds} s."
            ),
            None => write!(
                f,
                "The breaker stays open: the call that tried the module again failed. It is tried again in {seconds} s."
            ),
        }
    }
}

/// Effect of a call on the breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Succeeded,
    /// The module failed by its own fault.
    Failed,
    /// The call does not reflect on the module.
    NotCounted,
}

/// Times are the `now_ms` of the calls.
#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    window: Window,
    open: Option<Open>,
    /// Number of openings, to recognise a trial of an earlier one.
    openings: u64,
}

#[derive(Debug)]
struct Open {
    retry_at: u64,
    retry_ms: u64,
    /// A trial is under way.
    is_tried: bool,
}

/// Admission of a call. Dropped without a verdict, such as when its caller is gone, it does not count.
#[derive(Debug)]
pub(super) struct Admission<'a> {
    breaker: &'a Breaker,
    /// The opening for which this call is the trial.
    trial_of: Option<u64>,
}

impl Breaker {
    /// Admits a call, or returns `None`.
    pub(super) fn admit(&self, now_ms: u64) -> Option<Admission<'_>> {
        let mut inner = self.0.lock();
        let openings = inner.openings;
        let Some(open) = &mut inner.open else { return Some(Admission { breaker: self, trial_of: None }) };
        // It does not stay open for longer if the clock was set back.
        open.retry_at = open.retry_at.min(now_ms.saturating_add(open.retry_ms));
        if open.is_tried || now_ms < open.retry_at {
            return None;
        }
        open.is_tried = true;
        Some(Admission { breaker: self, trial_of: Some(openings) })
    }

    /// Closes it and forgets all failures.
    pub(super) fn close(&self) {
        let mut inner = self.0.lock();
        (inner.window, inner.open) = (Window::default(), None);
    }

    /// State at a time.
    pub(super) fn state(&self, now_ms: u64) -> BreakerState {
        match &self.0.lock().open {
            None => BreakerState::Closed,
            Some(open) if open.is_tried || now_ms >= open.retry_at => BreakerState::HalfOpen,
            Some(_) => BreakerState::Open,
        }
    }
}

impl Inner {
    fn count(&mut self, verdict: Verdict, now_ms: u64) -> Option<BreakerOpening> {
        if verdict == Verdict::NotCounted || self.open.is_some() {
            return None;
        }
        self.window.add(now_ms, verdict == Verdict::Failed);
        let (calls, failures) = self.window.sum(now_ms);
        if calls < MIN_CALLS || failures * 2 < calls {
            return None;
        }
        self.window = Window::default();
        self.open(now_ms, FIRST_RETRY_MS);
        Some(BreakerOpening { share: Some((calls, failures)), retry_ms: FIRST_RETRY_MS })
    }

    fn open(&mut self, now_ms: u64, retry_ms: u64) {
        self.openings += 1;
        self.open = Some(Open { retry_at: now_ms.saturating_add(retry_ms), retry_ms, is_tried: false });
    }

    fn end_trial(&mut self, verdict: Verdict, now_ms: u64) -> Option<BreakerOpening> {
        let open = self.open.as_mut()?;
        match verdict {
            Verdict::Succeeded => self.open = None,
            // The next call is the trial instead.
            Verdict::NotCounted => open.is_tried = false,
            Verdict::Failed => {
                let retry_ms = open.retry_ms.saturating_mul(2).min(MAX_RETRY_MS);
                self.open(now_ms, retry_ms);
                return Some(BreakerOpening { share: None, retry_ms });
            }
        }
        None
    }
}

impl Admission<'_> {
    /// Records the outcome of the call; returns the opening if the breaker has opened by it.
    pub(super) fn record(mut self, verdict: Verdict, now_ms: u64) -> Option<BreakerOpening> {
        let mut inner = self.breaker.0.lock();
        match self.trial_of.take() {
            Some(opening) if opening == inner.openings => inner.end_trial(verdict, now_ms),
            _ => inner.count(verdict, now_ms),
        }
    }
}

impl Drop for Admission<'_> {
    fn drop(&mut self) {
        if let Some(opening) = self.trial_of {
            let mut inner = self.breaker.0.lock();
            if opening == inner.openings {
                inner.end_trial(Verdict::NotCounted, 0);
            }
        }
    }
}

#[cfg(test)]
#[path = "breaker_tests.rs"]
mod tests;
