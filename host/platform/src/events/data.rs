//! Data of events, in JSON.

use serde::Serialize;

use crate::clock::Millis;
use crate::events::EventKind;

#[derive(Serialize)]
struct Envelope<P> {
    r#type: &'static str,
    at: Millis,
    #[serde(flatten)]
    payload: P,
}

/// Data of an event.
pub(super) fn data(kind: EventKind, at: Millis, payload: impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string(&Envelope { r#type: kind.name(), at, payload })
}

/// Name and data of an event that asks all clients to reload everything.
pub(super) fn resync(at: Millis) -> (&'static str, String) {
    ("RESYNC", format!(r#"{{"type":"RESYNC","at":{at}}}"#))
}
