//! The hub's URL for callers, used in links.

use std::convert::Infallible;
use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::HeaderValue;
use axum::http::header::HOST;
use axum::http::request::Parts;
use axum::http::uri::Authority;

use crate::app::App;
use crate::http::error::ApiError;

/// Base URL of the hub without a trailing slash: `--public-url`, or else the URL used by a caller on the hub's own
/// machine. Other `Host` headers are not trusted: their sender would choose the target of other servers' data.
#[derive(Clone, Debug)]
pub struct HubUrl(pub Option<String>);

impl HubUrl {
    /// Returns the URL for a response that requires it.
    pub fn required(self) -> Result<String, ApiError> {
        self.0.ok_or_else(|| {
            ApiError::bad_request(
                "no_public_url",
                "The response requires a link to the hub, whose public URL is not configured; the operator must \
                 set --public-url (HUB_PUBLIC_URL).",
            )
        })
    }
}

impl FromRequestParts<App> for HubUrl {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        if let Some(url) = &app.settings.public_url {
            return Ok(Self(Some(url.trim_end_matches('/').to_owned())));
        }
        let header = |name| parts.headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let host = header(HOST).and_then(|host| host.parse::<Authority>().ok());
        let host = host.or_else(|| parts.uri.authority().cloned()).filter(|host| is_loopback(host.host()));
        // Set by a proxy that terminates TLS.
        let is_https = parts.headers.get("x-forwarded-proto").is_some_and(|proto| proto == "https");
        let scheme = if is_https { "https" } else { "http" };
        Ok(Self(host.map(|host| format!("{scheme}://{host}"))))
    }
}

/// True for a host name of the hub's own machine.
pub fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.map_or_else(
        |_| host.eq_ignore_ascii_case("localhost") || host.to_ascii_lowercase().ends_with(".localhost"),
        |address| address.to_canonical().is_loopback(),
    )
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn only_the_own_machine_is_loopback() {
        for host in
            ["localhost", "LocalHost", "hub.localhost", "127.0.0.1", "127.8.9.10", "[::1]", "[::ffff:127.0.0.1]"]
        {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["hub.example", "localhost.example", "10.0.0.1", "[::2]", "0.0.0.0", "127.0.0.1.example", ""] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
