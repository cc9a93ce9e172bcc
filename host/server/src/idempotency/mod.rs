//! Retries that are safe: a POST with an `Idempotency-Key` has one effect, however often it is sent.
//!
//! Invariants: an answer that was given once under a key is the answer to every repeat for 24 hours; where the effect is
//! in the database, the key is written in the same transaction ([`ONE_TRANSACTION`]), so that neither is ever there without
//! the other; a repeat needs the same permission as the first; what failed for a passing reason (5xx, a missing
//! permission, too many requests) is not kept and may be tried again.
//! Table: `idempotency_keys`. No secret is ever in it ([`SECRET`]).

mod answer;
mod body;
mod layer;
mod store;
mod turns;

pub(crate) use layer::{Guard, layer};

use std::time::Duration;

use crate::app::App;
use crate::clock::{Millis, millis};

/// The beginnings of the paths whose POSTs have their effect in the database alone: all of it is one transaction with
/// the key. For the others, whose effect is in memory, with an agent or may be repeated without harm, the answer is written
/// down when it is given; a hub that dies in between does them again.
///
/// What is listed here must not wait, after its first write, for anything but the database.
const ONE_TRANSACTION: [&str; 8] = [
    "/api/plugin/economy/",
    "/api/plugin/players/",
    "/api/plugin/punishments/",
    "/api/plugin/permissions/",
    "/api/plugin/localization/",
    "/api/plugin/config/",
    "/api/plugin/collections/",
    "/api/manage/keys",
];

/// The beginning of the paths whose answers hold a secret that is shown once: they are never written down. A repeat gets
/// them from this process's memory; after a restart, or at another node, it is told that they are gone.
const SECRET: &str = "/api/manage/keys";

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

/// Starts the room's background work.
pub(crate) fn start(app: &App) {
    app.spawn(sweep(app.clone()));
}

async fn sweep(app: App) {
    loop {
        app.clock.sleep(SWEEP_EVERY).await;
        if let Err(error) = store::forget(&app.db, forgotten(app.clock.now())).await {
            tracing::warn!(%error, "could not throw old idempotency keys away; will try again");
        }
    }
}
