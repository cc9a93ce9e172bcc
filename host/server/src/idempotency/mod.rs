//! Retries that are safe: a POST with an `Idempotency-Key` has one effect, however often it is sent.
//!
//! Invariants: an answer that was given once under a key is the answer to every repeat for 24 hours; where the effect is
//! in the database (routes that are `transactional`), the key is written in the same transaction, so that neither is ever
//! there without the other; a repeat needs the same permission as the first; what failed for a passing reason (5xx, a missing
//! permission, too many requests) is not kept and may be tried again.
//! Table: `idempotency_keys`. An answer of a route that is `secret` is never in it:
//! a repeat gets it from this process's memory, and after a restart, or at another node, is told that it is gone.

mod answer;
mod body;
mod layer;
mod store;

pub(crate) use layer::{Guard, layer};

use std::time::Duration;

use crate::app::App;
use crate::background::every;
use crate::clock::{Millis, millis};

/// How many answers with a secret are remembered at most.
const SECRETS: u64 = 1_000;

/// How long an answer is kept.
const KEPT: Duration = Duration::from_hours(24);

/// How often what is older is thrown away.
const SWEEP_EVERY: Duration = Duration::from_mins(10);

/// The time before which a key counts as never used.
fn forgotten(now: Millis) -> Millis {
    now.saturating_sub(millis(KEPT))
}

/// Starts the background work.
pub(crate) fn start(app: &App) {
    every(app, SWEEP_EVERY, "delete old idempotency keys", delete_old);
}

async fn delete_old(app: App) -> Result<(), hub_db::Error> {
    store::delete_before(&app.db, forgotten(app.clock.now())).await
}
