//! The modules of one network at one point, run one after the other.

mod breaker;
mod call;
mod canary;
mod link;
mod run;
mod shadow;
mod shadow_stats;
mod single;
mod stats;
mod window;

pub use breaker::{BreakerOpening, BreakerState};
pub use call::Call;
pub use link::{Instances, Link, LinkConfig, Mode, OnFailure};
pub use run::{Outcome, Step};
pub use shadow::{Shadow, ShadowRun};
pub use shadow_stats::{ShadowExample, ShadowStats};
pub use stats::LinkStats;

use parking_lot::Mutex;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Default number of concurrent calls of one network at one point.
pub const MAX_CHAIN_CALLS: usize = 8;
/// Concurrent shadow calls of one chain.
const MAX_SHADOW_CALLS: usize = 4;

/// The modules of one network at one point, in their order. Immutable: to change it, replace it; running calls continue
/// with the old one. A [`Link`] may be in both, and then keeps its statistics and its breaker.
#[derive(Debug, Default)]
pub struct Chain {
    links: Vec<Arc<Link>>,
    /// Bounds this network's calls at this point, so that it can't take all permits. `None` while the chain is empty.
    limiter: Option<Mutex<Limiter>>,
    has_canaries: bool,
    /// Bounds the shadow calls. `None` without shadows.
    shadow_limiter: Option<Arc<Semaphore>>,
}

/// One permit per concurrent call.
#[derive(Debug)]
struct Limiter {
    max_calls: usize,
    permits: Arc<Semaphore>,
}

impl Limiter {
    fn new(max_calls: usize) -> Self {
        let max_calls = max_calls.clamp(1, Semaphore::MAX_PERMITS);
        Self { max_calls, permits: Arc::new(Semaphore::new(max_calls)) }
    }
}

impl Chain {
    /// A chain with up to `max_calls` concurrent calls.
    pub fn new(links: Vec<Arc<Link>>, max_calls: usize) -> Self {
        let limiter = (!links.is_empty()).then(|| Mutex::new(Limiter::new(max_calls)));
        let has_canaries = links.iter().any(|link| matches!(link.config.mode, Mode::Canary { .. }));
        let has_shadows = links.iter().any(|link| link.config.mode == Mode::Shadow);
        let shadow_limiter = has_shadows.then(|| Arc::new(Semaphore::new(MAX_SHADOW_CALLS)));
        Self { links, limiter, has_canaries, shadow_limiter }
    }

    /// Allows up to `max_calls` concurrent calls from the next call on. Calls that run or wait now are not counted.
    pub fn set_max_calls(&self, max_calls: usize) {
        let Some(limiter) = &self.limiter else { return };
        let mut limiter = limiter.lock();
        if limiter.max_calls != max_calls {
            *limiter = Limiter::new(max_calls);
        }
    }

    /// The permits of its calls.
    fn permits(&self) -> Option<Arc<Semaphore>> {
        self.limiter.as_ref().map(|limiter| Arc::clone(&limiter.lock().permits))
    }

    /// True if there is nothing to run, so that the built-in behaviour decides.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// The links, in the order they run.
    pub fn links(&self) -> &[Arc<Link>] {
        &self.links
    }
}
