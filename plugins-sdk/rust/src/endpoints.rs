//! The extension point `endpoints`: requests to the network's own routes.
//!
//! ```
//! use network_hub_module::CallContext;
//! use network_hub_module::effects;
//! use network_hub_module::endpoints::{Endpoints, Failure, Request, Response};
//!
//! struct Votes;
//!
//! #[derive(serde::Deserialize)]
//! struct Vote {
//!     player: String,
//! }
//!
//! #[network_hub_module::export]
//! impl Endpoints for Votes {
//!     fn answer(_: &CallContext, request: &Request) -> Result<Response, Failure> {
//!         let vote: Vote = match request.json() {
//!             Ok(vote) => vote,
//!             Err(answer) => return Ok(answer),
//!         };
//!         let reward = effects::modify_currency(&vote.player, "coins", 10.0, "vote");
//!         Ok(Response::json(200, &serde_json::json!({"ok": true})).with(vec![reward]))
//!     }
//! }
//! ```
//!
//! `module.toml` beside `Cargo.toml` lists the endpoints, and what the module needs:
//!
//! ```toml
//! scopes = ["economy:write"]
//! secrets = ["VOTES"]
//!
//! [[endpoints]]
//! name = "vote"
//! method = "POST"
//! path = "vote"
//! public = true
//! signature = { kind = "HMAC_SHA256", secret = "VOTES", header = "x-signature", encoding = "HEX" }
//! dedupe = { json = "/id" }
//! ```

pub use crate::bindings::endpoints::exports::network_hub::module::endpoints::{Caller, CallerKind, Request, Response};
pub use crate::events::Failure;

use crate::CallContext;
use crate::bindings::endpoints::exports::network_hub::module::endpoints::Guest;
use crate::effects::Effect;
use crate::entry::{Exported, start};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Answers requests. Export it with [`export`](crate::export).
pub trait Endpoints {
    /// Answers a request to one of the endpoints that `module.toml` lists.
    ///
    /// # Errors
    /// A [`Failure`]: nothing of the call is kept, and the caller gets 502 `module_failed`. What is wrong with a request is an
    /// answer, such as [`Response::error`] with 400.
    fn answer(context: &CallContext, request: &Request) -> Result<Response, Failure>;
}

impl Request {
    /// The body, read as JSON.
    ///
    /// # Errors
    /// The answer to a body that does not fit `T`: 400, with the reason.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Response> {
        serde_json::from_slice(&self.body).map_err(|error| Response::error(400, "invalid_request", &error.to_string()))
    }

    /// A parameter of the path.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        find(&self.parameters, name)
    }

    /// The first value of a name in the query.
    pub fn query(&self, name: &str) -> Option<&str> {
        find(&self.query, name)
    }

    /// A header that `module.toml` lists, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }
}

fn find<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
}

impl Response {
    /// An answer without a body, such as 204.
    pub fn empty(status: u16) -> Self {
        Self { status, headers: vec![], body: vec![], effects: vec![] }
    }

    /// An answer in JSON.
    ///
    /// # Panics
    /// If the value can't be written as JSON: a map whose keys are no texts.
    pub fn json(status: u16, value: &impl Serialize) -> Self {
        Self { body: crate::effects::json(value).into_bytes(), ..Self::empty(status) }
            .header("content-type", "application/json")
    }

    /// An answer in plain text.
    pub fn text(status: u16, text: impl Into<String>) -> Self {
        Self { body: text.into().into_bytes(), ..Self::empty(status) }
            .header("content-type", "text/plain; charset=utf-8")
    }

    /// An error in the form of the hub's own: `{"error": message, "code": code}`.
    pub fn error(status: u16, code: &str, message: &str) -> Self {
        Self::json(status, &serde_json::json!({"error": message, "code": code}))
    }

    /// With one more header: `content-type`, `cache-control`, `etag`, `location` or `x-…`.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// With these effects, which are committed before the answer is sent.
    #[must_use]
    pub fn with(mut self, effects: Vec<Effect>) -> Self {
        self.effects.extend(effects);
        self
    }
}

impl<T: Endpoints> Guest for Exported<T> {
    fn answer(context: CallContext, request: Request) -> Result<Response, Failure> {
        start();
        T::answer(&context, &request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[derive(Debug, serde::Deserialize)]
    struct Vote {
        player: String,
    }

    #[test]
    fn a_body_is_read_or_answered_with_its_fault() {
        let request = testing::endpoint_request("vote", r#"{"player": "Notch"}"#);
        assert_eq!(request.json::<Vote>().unwrap().player, "Notch");
        let answer = testing::endpoint_request("vote", "{}").json::<Vote>().unwrap_err();
        assert_eq!((answer.status, answer.headers[0].1.as_str()), (400, "application/json"));
        assert!(String::from_utf8_lossy(&answer.body).contains("missing field `player`"));
    }

    #[test]
    fn parts_of_a_request_are_found_by_name() {
        let mut request = testing::endpoint_request("history", "");
        request.parameters = vec![("uuid".into(), "p".into())];
        request.query = vec![("page".into(), "1".into()), ("page".into(), "2".into())];
        assert_eq!(
            (request.parameter("uuid"), request.query("page"), request.header("x-a")),
            (Some("p"), Some("1"), None)
        );
        assert_eq!(request.header("content-type"), Some("application/json"));
    }

    #[test]
    fn an_answer_has_its_effects() {
        let answer = Response::text(200, "ok").with(vec![crate::effects::announce("a")]).header("x-votes", "1");
        assert_eq!((answer.effects.len(), answer.headers.len()), (1, 2));
    }
}
