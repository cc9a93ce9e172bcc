//! Headers of all pages, and the refusal of forms that another site sent.

use axum::extract::{Request, State};
use axum::http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderName, ORIGIN, REFERRER_POLICY, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use hub_core::http::cookie;

use crate::Console;
use crate::refusal::Refusal;
use crate::visit::{LOCK_COOKIE, Visit};

/// Content security policy: nothing but the hub's own files; HTML becomes elements only by the policy in `js/swap.js`.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
                      trusted-types hub";
static FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
static OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// Adds the policy to all answers.
pub async fn headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(OPENER_POLICY.clone(), HeaderValue::from_static("same-origin"));
    headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("text/html; charset=utf-8"));
    response
}

/// Refuses a form that was not sent by a page of the hub. Browsers say the origin of every form; one that says none is
/// told from another site by the token of its session alone.
pub(crate) async fn own_origin(State(console): State<Console>, request: Request, next: Next) -> Response {
    if request.method().is_safe() {
        return next.run(request).await;
    }
    let is_own = is_own(request.headers(), console.app.settings.public_url.as_deref());
    let is_locked = cookie::find(request.headers(), LOCK_COOKIE).is_some() && changes_network(request.uri().path());
    let refusal = match (is_own, is_locked) {
        (true, false) => return next.run(request).await,
        (false, _) => {
            Refusal::new("other_origin", "This form was not sent by a page of this hub.", StatusCode::FORBIDDEN)
        }
        (true, true) => {
            let message = "This browser only reads. Switch that off first, at the top right.";
            Refusal::new("reading_only", message, StatusCode::LOCKED)
        }
    };
    let (parts, _) = request.into_parts();
    Visit::of(&parts, console).refused(&refusal).await
}

/// True if a form of this address may change a network. Simulations, replays and previews change none.
fn changes_network(path: &str) -> bool {
    let Some(rest) = path.strip_prefix("/console/n/") else { return false };
    // By place: names in addresses are anybody's, and may be these words.
    let parts: Vec<_> = rest.split('/').skip(1).collect();
    let reads = matches!(
        parts[..],
        ["find"]
            | ["modules", _, "replay"]
            | ["modules", "chains", _, "calls", _]
            | ["webhooks", _, "deliveries", _, "preview"]
    );
    // The chain of a point, whatever its name.
    !reads || matches!(parts[..], ["modules", "chains", _])
}

fn is_own(headers: &HeaderMap, public_url: Option<&str>) -> bool {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text(&FETCH_SITE) {
        return matches!(site, "same-origin" | "none");
    }
    let Some(origin) = text(&ORIGIN) else { return true };
    let host = |url: &str| url.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or_default().to_owned());
    let sent = host(origin);
    sent.is_some() && (sent.as_deref() == text(&HOST) || sent == public_url.and_then(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_holds_for_what_changes_a_network() {
        for held in [
            "/console/n/a/keys",
            "/console/n/find/keys",
            "/console/n/a/players/u/erase",
            "/console/n/a/modules/chains/chat",
            "/console/n/calls/modules/m/remove",
            "/console/n/modules/modules/chains/calls/order",
            "/console/n/a/groups/find",
            "/console/n/a/lines/preview",
            "/console/n/a/modules/replay",
            "/console/n/a/modules/chains/replay",
        ] {
            assert!(changes_network(held), "{held}");
        }
        for free in [
            "/console/n/a/find",
            "/console/n/a/modules/m/replay",
            "/console/n/a/modules/chains/chat/calls/c",
            "/console/n/a/webhooks/w/deliveries/1/preview",
            "/console/me/password",
            "/console/sign-out",
        ] {
            assert!(!changes_network(free), "{free}");
        }
    }

    #[test]
    fn only_pages_of_the_hub_send_forms() {
        let sent = |pairs: &[(&str, &str)]| {
            let headers = pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
            is_own(&headers, Some("https://hub.example/base"))
        };
        assert!(sent(&[("sec-fetch-site", "same-origin"), ("origin", "null")]));
        assert!(!sent(&[("sec-fetch-site", "same-site"), ("origin", "https://hub.example")]));
        assert!(sent(&[("origin", "https://hub.example"), ("host", "10.0.0.1:8080")]));
        assert!(sent(&[("origin", "http://127.0.0.1:8080"), ("host", "127.0.0.1:8080")]));
        assert!(!sent(&[("origin", "https://evil.example"), ("host", "hub.example")]));
        assert!(!sent(&[("origin", "null"), ("host", "hub.example")]));
        assert!(sent(&[]));
    }
}
