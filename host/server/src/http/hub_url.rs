//! The URL of the hub as its callers reach it, for links in responses and mails.

use axum::extract::FromRequestParts;
use axum::http::header::HOST;
use axum::http::request::Parts;
use axum::http::uri::Authority;

use crate::app::App;
use crate::http::error::ApiError;

/// The hub's base URL without a trailing slash: `--public-url`, or else the one the caller used.
#[derive(Clone, Debug)]
pub(crate) struct HubUrl(pub(crate) String);

impl FromRequestParts<App> for HubUrl {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        if let Some(url) = &app.settings.public_url {
            return Ok(Self(url.trim_end_matches('/').to_owned()));
        }
        let header = |name| parts.headers.get(name).and_then(|value: &axum::http::HeaderValue| value.to_str().ok());
        let host = header(HOST).and_then(|host| host.parse::<Authority>().ok());
        let host = host.or_else(|| parts.uri.authority().cloned()).map(|authority| authority.to_string());
        // Set by a proxy that terminates TLS.
        let https = parts.headers.get("x-forwarded-proto").is_some_and(|proto| proto == "https");
        let scheme = if https { "https" } else { "http" };
        Ok(Self(format!("{scheme}://{}", host.unwrap_or_else(|| app.settings.listen.to_string()))))
    }
}
