//! Rules of webhooks' URLs.

use std::net::{IpAddr, Ipv4Addr};

use reqwest::Url;

use crate::webhooks::addresses::AddressPolicy;

const MAX_LENGTH: usize = 2_048;
const HTTPS: u16 = 443;
const HTTP: u16 = 80;
/// Lower ports belong to services that do not speak HTTP.
const FIRST_FREE_PORT: u16 = 1_024;

/// Parses a URL, or returns the reason against it. Names are looked up when something is sent.
pub(super) fn parse(text: &str, policy: &AddressPolicy, may_be_plain: bool) -> Result<Url, String> {
    let wrong = |why: &str| Err(why.to_owned());
    if text.len() > MAX_LENGTH {
        return Err(format!("must have at most {MAX_LENGTH} characters"));
    }
    let Ok(url) = Url::parse(text) else { return wrong("must be a URL, such as https://example.org/hooks") };
    match url.scheme() {
        "https" => {}
        "http" if may_be_plain => {}
        _ => return wrong("must begin with https://"),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return wrong("must not hold a user or a password");
    }
    if url.fragment().is_some() {
        return wrong("must not have a fragment");
    }
    match url.port_or_known_default() {
        Some(HTTPS | HTTP | FIRST_FREE_PORT..) => {}
        _ => return wrong("must have the port 443, 80, or one from 1024 on"),
    }
    match literal_address(&url).or_else(|| own_machine(&url)) {
        Some(address) if !policy.allows(address) => wrong(
            "must not lead to an address that is not public, unless the hub's operator allows it by --webhook-networks; \
             `hub webhook listen` brings events to a machine of your own",
        ),
        _ => Ok(url),
    }
}

/// Address of a name that is the hub's own machine at every hub.
fn own_machine(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?.trim_end_matches('.');
    (host == "localhost" || host.ends_with(".localhost")).then_some(IpAddr::V4(Ipv4Addr::LOCALHOST))
}

/// Reads a stored URL. The hub that takes it over has a policy of its own, which holds when something is sent.
pub(super) fn check_stored(text: &str) -> Result<(), String> {
    let is_fit = text.len() <= MAX_LENGTH && Url::parse(text).is_ok_and(|url| url.has_host());
    is_fit.then_some(()).ok_or_else(|| format!("must be a URL of at most {MAX_LENGTH} characters"))
}

/// Address in the URL itself, without a look-up.
pub(super) fn literal_address(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host).parse().ok()
}

/// The reason against a URL for messages of Discord, if there is one: what follows the token makes Discord expect events
/// of GitHub or messages of Slack.
pub(super) fn check_discord(url: &Url) -> Result<(), String> {
    let after_token = token_place(url).and_then(|place| segments(url).nth(place + 1));
    match after_token {
        None => Ok(()),
        Some(after) => Err(format!("must end with the webhook's token, without `/{after}`")),
    }
}

/// Letters of a path's first part that is no secret.
const MAX_LETTERS: usize = 15;

/// A URL without a secret: Discord's have it after `webhooks` and the webhook's id, others may have it anywhere but in a
/// short word at the beginning of their path.
pub(super) fn without_token(url: &str) -> String {
    let Ok(mut url) = Url::parse(url) else { return String::new() };
    url.set_query(None);
    let is_word = |part: &str| part.len() <= MAX_LETTERS && part.bytes().all(|byte| byte.is_ascii_alphabetic());
    let begins_with_word = segments(&url).next().is_some_and(is_word) && segments(&url).count() > 1;
    let kept = token_place(&url).unwrap_or_else(|| usize::from(begins_with_word));
    let kept: Vec<_> = segments(&url).take(kept).chain(["***"]).collect();
    let path = kept.join("/");
    url.set_path(&path);
    url.into()
}

fn segments(url: &Url) -> impl Iterator<Item = &str> {
    url.path().split('/').filter(|segment| !segment.is_empty())
}

/// Place of the token in a path such as `/api/webhooks/ID/TOKEN`.
fn token_place(url: &Url) -> Option<usize> {
    let webhooks = segments(url).position(|segment| segment == "webhooks")?;
    let is_id = segments(url).nth(webhooks + 1)?.bytes().all(|byte| byte.is_ascii_digit());
    is_id.then_some(webhooks + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_must_be_public() {
        let policy = AddressPolicy::PublicAnd(vec!["10.0.0.0/8".parse().unwrap()]);
        for good in [
            "https://example.org/h?a=b",
            "https://example.org:8443",
            "https://1.1.1.1/",
            "https://10.1.1.1/",
            "https://[2606:4700::1111]/x",
        ] {
            assert!(parse(good, &policy, false).is_ok(), "{good}");
        }
        for bad in [
            "",
            "example.org",
            "ftp://example.org",
            "http://example.org",
            "https://u@example.org",
            "https://u:p@example.org",
            "https://example.org/#x",
            "https://example.org:22",
            "https://example.org:25/",
            "https://127.0.0.1/",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://017700000001/",
            "https://[::1]/",
            "https://[::ffff:127.0.0.1]/",
            "https://[64:ff9b::7f00:1]/",
            "https://192.168.0.1:8080/",
        ] {
            assert!(parse(bad, &policy, false).is_err(), "{bad}");
        }
        assert!(parse("http://example.org/", &policy, true).is_ok());
        assert!(parse(&format!("https://example.org/{}", "x".repeat(2_048)), &policy, true).is_err());
    }

    #[test]
    fn a_token_is_not_shown() {
        let shown = without_token("https://discord.com/api/webhooks/123/secret-Token_1?thread_id=5");
        assert_eq!(shown, "https://discord.com/api/webhooks/123/***");
        assert_eq!(without_token("https://example.org/secret/"), "https://example.org/***");
        assert_eq!(without_token("https://example.org/a/secret/x"), "https://example.org/a/***");
        assert_eq!(without_token("https://api.telegram.org/bot12:AA/sendMessage"), "https://api.telegram.org/***");
        assert_eq!(without_token("https://webhook.site/abcdefghijklmnop/x"), "https://webhook.site/***");
        for tail in ["github", "slack", "github/", "/slack", "messages/1"] {
            let url = format!("https://discord.com/api/v10/webhooks/123/secret/{tail}");
            assert_eq!(without_token(&url), "https://discord.com/api/v10/webhooks/123/***");
            assert!(check_discord(&url.parse().unwrap()).is_err(), "{url}");
        }
        for good in ["https://discord.com/api/webhooks/123/secret/", "https://relay.example.org/x/slack"] {
            assert!(check_discord(&good.parse().unwrap()).is_ok(), "{good}");
        }
        assert_eq!(without_token("https://example.org"), "https://example.org/***");
    }
}
