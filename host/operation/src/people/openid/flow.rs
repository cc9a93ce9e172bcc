//! A sign-in in progress, kept by the browser in a cookie until it returns from the provider.
//!
//! The values for the provider (state, nonce, PKCE challenge) are derived from the whole cookie, so that a modified
//! cookie no longer fits the provider's answer. The cookie reveals to its owner only their own input.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::clock::Millis;
use crate::ids::Ids;
use crate::text_type::text_type;

/// Time limit for signing in at the provider.
pub(in crate::people) const FLOW_TTL: Millis = 10 * 60 * 1000;
const SECRET_LENGTH: usize = 40;
/// Longer than any cookie of the hub.
const MAX_COOKIE_BYTES: usize = 4096;

text_type! {
    /// A path on this hub for a redirect: it begins with one `/`, and leads nowhere else.
    pub(in crate::people) struct ReturnPath;
    check: |text| match text.as_bytes() {
        // Browsers read `\` as `/`, and a host after two of them.
        [b'/', b'/' | b'\\', ..] => Err("must be a path on this hub"),
        [b'/', rest @ ..] if rest.iter().all(u8::is_ascii_graphic) => {
            (text.len() <= 1024).then_some(()).ok_or("must be at most 1024 characters")
        }
        _ => Err("must be a path on this hub that begins with /, in printable ASCII"),
    };
    schema: |text| text.max_length(Some(1024)).pattern(Some(r"^/([!-.0-\[\]-~][!-~]*)?$")).examples(["/console"]);
}

impl ReturnPath {
    /// Adds a parameter to the path's query.
    pub(in crate::people) fn with(&self, parameter: &str) -> String {
        let (path, fragment) = self.0.split_once('#').map_or((&*self.0, None), |(path, rest)| (path, Some(rest)));
        let separator = if path.contains('?') { '&' } else { '?' };
        let fragment = fragment.map_or(String::new(), |fragment| format!("#{fragment}"));
        format!("{path}{separator}{parameter}{fragment}")
    }
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Contents {
    secret: String,
    expires_at: Millis,
    return_to: Option<ReturnPath>,
    invitation: Option<String>,
}

/// A sign-in in progress.
pub(in crate::people) struct Flow {
    contents: Contents,
    cookie: String,
}

impl Flow {
    /// Begins a sign-in.
    pub(in crate::people) fn begin(
        ids: &Ids,
        now: Millis,
        return_to: Option<ReturnPath>,
        invitation: Option<String>,
    ) -> Result<Self, serde_json::Error> {
        let expires_at = now.saturating_add(FLOW_TTL);
        let contents = Contents { secret: ids.token(SECRET_LENGTH), expires_at, return_to, invitation };
        let cookie = BASE64.encode(serde_json::to_vec(&contents)?);
        Ok(Self { contents, cookie })
    }

    /// Reads a sign-in from a cookie, unless it has expired.
    pub(in crate::people) fn read(cookie: &str, now: Millis) -> Option<Self> {
        let bytes = BASE64.decode(cookie).ok().filter(|_| cookie.len() <= MAX_COOKIE_BYTES)?;
        let contents: Contents = serde_json::from_slice(&bytes).ok()?;
        (now < contents.expires_at).then(|| Self { contents, cookie: cookie.to_owned() })
    }

    /// Value of the cookie.
    pub(in crate::people) fn cookie(&self) -> &str {
        &self.cookie
    }

    pub(in crate::people) fn return_to(&self) -> Option<&ReturnPath> {
        self.contents.return_to.as_ref()
    }

    pub(in crate::people) fn invitation(&self) -> Option<&str> {
        self.contents.invitation.as_deref()
    }

    fn derive(&self, label: &str) -> String {
        BASE64.encode(Sha256::digest(format!("openid {label}\0{}", self.cookie)))
    }

    /// Proves that an answer belongs to this sign-in.
    pub(super) fn state(&self) -> String {
        self.derive("state")
    }

    /// Proves that an ID token was issued for this sign-in.
    pub(super) fn nonce(&self) -> String {
        self.derive("nonce")
    }

    /// Proves that the redeemer of a code began this sign-in.
    pub(super) fn verifier(&self) -> String {
        self.derive("verifier")
    }

    /// True if an answer with this state belongs to this sign-in.
    pub(in crate::people) fn is_answered_by(&self, state: &str) -> bool {
        self.state().as_bytes().ct_eq(state.as_bytes()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn return_paths_stay_on_this_hub() {
        for good in ["/", "/console", "/console/people?x=1#/a//b", "/a//b", "/a\\b", "/%2F%2Fevil.example"] {
            assert!(good.parse::<ReturnPath>().is_ok(), "{good}");
        }
        let long = format!("/{}", "a".repeat(1024));
        for bad in [
            "",
            "console",
            "//evil.example",
            "/\\evil.example",
            "/\t/evil.example",
            "/ü",
            "https://evil.example",
            &long,
        ] {
            assert!(bad.parse::<ReturnPath>().is_err(), "{bad}");
        }
        let with = |path: &str| path.parse::<ReturnPath>().unwrap().with("a=b");
        assert_eq!(
            (with("/x"), with("/x?y=1"), with("/x?y#z")),
            ("/x?a=b".into(), "/x?y=1&a=b".into(), "/x?y&a=b#z".into())
        );
    }

    #[test]
    fn changed_cookies_have_another_state() {
        let ids = Ids::seeded(1);
        let flow = Flow::begin(&ids, 7, Some("/console".parse().unwrap()), Some("token".to_owned())).unwrap();
        let (state, cookie) = (flow.state(), flow.cookie().to_owned());
        let read = Flow::read(&cookie, 7).unwrap();
        assert!(read.is_answered_by(&state));
        assert_eq!(read.contents, flow.contents);
        assert_eq!(state.len(), 43);
        assert!(state != flow.nonce() && flow.nonce() != flow.verifier() && flow.verifier() != state);
        assert!(Flow::read(&cookie, 7 + FLOW_TTL).is_none());
        for at in 0..cookie.len() {
            let mut changed = cookie.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert!(Flow::read(&changed, 7).is_none_or(|flow| !flow.is_answered_by(&state)), "at {at}");
        }
    }
}
