//! The modules of one network at one point, run one after the other.

mod breaker;
mod choice;
mod fold;
mod link;
mod run;
mod shadow;
mod stats;

pub use breaker::BreakerState;
pub use fold::Ranking;
pub use link::{Instances, Link, LinkConfig, Mode, OnFailure};
pub use run::{Call, Outcome, Step};
pub use shadow::{Shadow, ShadowExample, ShadowStats};
pub use stats::LinkStats;

use std::sync::Arc;
use tokio::sync::Semaphore;

/// Calls of one network at one point that run at once, where a plan says nothing else.
pub const CALLS_AT_ONCE: usize = 8;

/// The modules of one network at one point, in their order. Immutable: to change it, put another in its
/// place; calls that run go on with the one they began with. A [`Link`] may be in both, and then keeps its
/// statistics and its breaker.
#[derive(Debug, Default)]
pub struct Chain {
    links: Vec<Arc<Link>>,
    /// Bounds this network's calls at this point, so that it can't take all places. None while it is empty.
    gate: Option<Arc<Semaphore>>,
    has_canaries: bool,
    /// Bounds what runs beside. None where there are no shadows.
    shadow_gate: Option<Arc<Semaphore>>,
}

impl Chain {
    /// A chain that runs up to `calls_at_once` calls at once.
    pub fn new(links: Vec<Arc<Link>>, calls_at_once: usize) -> Self {
        let gate = (!links.is_empty()).then(|| Arc::new(Semaphore::new(calls_at_once.max(1))));
        let has_canaries = links.iter().any(|link| matches!(link.config.mode, Mode::Canary { .. }));
        let has_shadows = links.iter().any(|link| link.config.mode == Mode::Shadow);
        let shadow_gate = has_shadows.then(|| Arc::new(Semaphore::new(shadow::AT_ONCE)));
        Self { links, gate, has_canaries, shadow_gate }
    }

    /// Whether there is nothing to run, so that the built-in behaviour decides.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// The links, in the order they run.
    pub fn links(&self) -> &[Arc<Link>] {
        &self.links
    }
}
