//! The address under which callers reach the hub.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::header::HOST;
use axum::http::request::Parts;
use axum::http::uri::Authority;

use crate::app::App;

/// Where this caller has reached the hub. Only good for links that go back to who asked, or to who obeys them: whoever
/// calls can write anything into the header.
#[derive(Clone, Debug)]
pub struct Origin(Option<Authority>);

impl<S: Send + Sync> FromRequestParts<S> for Origin {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let sent = parts.headers.get(HOST).and_then(|host| host.to_str().ok()?.parse().ok());
        Ok(Self(parts.uri.authority().cloned().or(sent)))
    }
}

impl Origin {
    /// A whole address for a path: under `--public-url` where that is set, else under what the caller named.
    pub fn url(&self, app: &App, path: &str) -> String {
        match (&app.settings.public_url, &self.0) {
            (None, Some(authority)) => format!("http://{authority}{path}"),
            _ => app.settings.url(path),
        }
    }
}
