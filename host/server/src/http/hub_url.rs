//! Where the hub is for who calls it, for links that are answered or sent on.

use axum::extract::FromRequestParts;
use axum::http::header::HOST;
use axum::http::request::Parts;
use axum::http::uri::Authority;

use crate::app::App;
use crate::http::error::ApiError;

/// The hub's base URL without a slash at its end: `--public-url`, or else as the caller addressed the hub.
#[derive(Clone, Debug)]
pub struct HubUrl(pub String);

impl FromRequestParts<App> for HubUrl {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        if let Some(url) = &app.settings.public_url {
            return Ok(Self(url.trim_end_matches('/').to_owned()));
        }
        let header = |name| parts.headers.get(name).and_then(|value: &axum::http::HeaderValue| value.to_str().ok());
        let host = header(HOST).and_then(|host| host.parse::<Authority>().ok());
        let host = host.or_else(|| parts.uri.authority().cloned()).map(|authority| authority.to_string());
        // A proxy before the hub that speaks TLS says so.
        let https = parts.headers.get("x-forwarded-proto").is_some_and(|proto| proto == "https");
        let scheme = if https { "https" } else { "http" };
        Ok(Self(format!("{scheme}://{}", host.unwrap_or_else(|| app.settings.listen.to_string()))))
    }
}
