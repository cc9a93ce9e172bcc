//! Safe retries: a POST with an `Idempotency-Key` has one effect, regardless of the number of attempts.
//!
//! Invariants: the first final response under a key answers every repetition for 24 hours; if the effect is in the
//! database (`transactional` routes), the key is written in the same transaction, so that neither exists without the
//! other; a repetition is checked like a first request (key, scopes, bindings) before it gets the response; a response
//! to a temporary failure (5xx, a missing permission, too many requests) is not stored, and the request may be
//! retried; a `read_only` route stores nothing; of a response over 64 KiB only its existence is stored (a repetition
//! is 409). Table: `idempotency_keys`. Responses of `secret` routes are never in it: the same API key gets them from
//! the memory of this process; another key, or a repetition after a restart or at another node, gets 409
//! `answer_not_kept`. Codes in other responses are sealed there.

mod buffered_body;
mod layer;
mod store;
mod stored_response;

pub use layer::{LayerState, layer};

use std::time::Duration;

use crate::app::App;
use crate::background::every_settled;
use crate::clock::{Cutoff, Settled, millis};
use crate::component::column::{number, text};
use crate::component::{Component, ErrorCode, Sealed, TableRule};

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "gives a POST that is sent again its first answer",
    tables: &[TableRule::moved("idempotency_keys")
        .columns(&[
            text::<255>("idempotency_key"),
            text::<1_024>("rights"),
            number("status", 200, 599),
            text::<255>("content_type"),
            text::<64>("error_code"),
        ])
        .sealed(&[Sealed::Fields("body")])],
    errors: &[
        ErrorCode::new("idempotency_mismatch", &[400], "The `Idempotency-Key` was used for another path or body."),
        ErrorCode::new(
            "answer_not_kept",
            &[409],
            "The request took effect when it was first sent; its response is not available to this caller.",
        ),
    ],
    background: start,
    ..Component::new(module_path!())
};

/// Stored form of a response about an erased player: status, error code and message.
pub fn forgotten_answer() -> (i64, String, Vec<u8>) {
    let response = stored_response::StoredResponse::forgotten();
    (response.status, response.error_code.unwrap_or_default(), response.body)
}

/// Storage time of a response.
const TTL: Duration = Duration::from_hours(24);
const SWEEP_INTERVAL: Duration = Duration::from_mins(10);

/// A key last used at this time or before counts as unused; none does while the time is doubtful, since the request
/// would have its effect once more.
fn expired_at(app: &App) -> Cutoff {
    app.clock.settled().map_or(Cutoff::NEVER, |settled| settled.before(millis(TTL)))
}

/// Starts the background work.
fn start(app: &App) {
    every_settled(app, SWEEP_INTERVAL, "delete old idempotency keys", async |app: App, settled: Settled| {
        store::delete_expired(&app.db, settled.before(millis(TTL))).await
    });
}
