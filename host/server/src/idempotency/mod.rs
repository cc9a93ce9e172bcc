//! Safe retries: a POST with an `Idempotency-Key` has one effect, however often it is sent.
//!
//! Invariants: the first final response under a key is the response to every repeat for 24 hours; where the effect is in the
//! database (routes that are `transactional`), the key is written in the same transaction, so that neither is ever there
//! without the other; a repeat is checked like a first request (key, scopes, bindings) before it gets the response; a
//! response to a temporary failure (5xx, a missing permission, too many requests) is not stored, and the request may be
//! tried again; a route that is `read_only` stores nothing, and of a response over 64 KiB only that it was given (a repeat
//! is 409).
//! Table: `idempotency_keys`. A response of a route that is `secret` is never in it: a repeat by the same API key gets it from
//! the memory of this process; one by another key, after a restart or at another node gets 409 `answer_not_kept`.

mod buffered_body;
mod layer;
mod store;
mod stored_response;

pub(crate) use layer::{LayerState, layer};

use std::time::Duration;

use crate::app::App;
use crate::background::every;
use crate::clock::{Millis, millis};

/// What is stored instead of an answer that told of a player who is forgotten: status, error code and message.
pub(crate) fn forgotten_answer() -> (i64, String, Vec<u8>) {
    let response = stored_response::StoredResponse::forgotten();
    (response.status, response.error_code.unwrap_or_default(), response.body)
}

/// How long a response is stored.
const TTL: Duration = Duration::from_hours(24);
const SWEEP_INTERVAL: Duration = Duration::from_mins(10);

/// A key used at this time or before counts as never used.
fn expired_at(now: Millis) -> Millis {
    now.saturating_sub(millis(TTL))
}

/// Starts the background work.
pub(crate) fn start(app: &App) {
    every(app, SWEEP_INTERVAL, "delete old idempotency keys", async |app| {
        store::delete_expired(&app.db, expired_at(app.clock.now())).await
    });
}
