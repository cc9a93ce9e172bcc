//! Endpoints: modules at the point `endpoints`, which answer requests to the network's own routes.
//!
//! The hub checks a request before the module runs: its route, rate, size, signature, key of repeats and schema. The effects
//! of the call, the writes to the module's state and the answer under the key of the request are one transaction, which
//! checks the owner's lease; the answer is sent after it.
//!
//! Invariants: a request with a key has its effects once, and its repeats get the same answer; nothing of a call that
//! fails, or one of whose effects is refused, is kept; a call commits only if all that it read of its state is as it read
//! it; no module sees a secret; whoever has no key learns nothing about networks, modules and paths that are not public.
//! Tables: `endpoint_answers`, and those of `secrets`.

mod call;
mod document;
mod key;
mod links;
mod message;
pub(super) mod routes;
pub(super) mod secrets;
mod serve;
mod signature;
mod state;
mod store;
mod table;

use std::time::Duration;

use crate::app::App;
use crate::background::{every, every_settled};
use crate::clock::Settled;

pub use document::HubDocument;
pub(super) use links::check;
pub use message::protect_answers;
pub use secrets::address_hash;
pub(super) use secrets::{SECRETS, TABLE as SECRETS_TABLE};
pub(super) use state::EndpointState;
pub(super) use store::{ANSWERS, TABLE as ANSWERS_TABLE};

const SWEEP_INTERVAL: Duration = Duration::from_mins(10);
const USES_INTERVAL: Duration = Duration::from_secs(10);

/// Starts the background work.
pub(super) fn start(app: &App) {
    every(app, USES_INTERVAL, "store the last uses of secrets", secrets::keep_uses);
    every_settled(app, SWEEP_INTERVAL, "delete old answers of endpoints", async |app: App, settled: Settled| {
        store::delete_expired(&app.db, settled.before(0)).await
    });
}
