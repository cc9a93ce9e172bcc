//! The contract's bounds of an endpoint's answer.

use super::effects::check_effects;
use crate::contract::endpoints::{Request, Response};

const MAX_BODY_BYTES: usize = 256 << 10;
const MAX_HEADERS: usize = 16;
const MAX_HEADER_BYTES: usize = 4 << 10;
/// Headers that a module sets, beside `x-…`.
const HEADERS: [&str; 4] = ["content-type", "cache-control", "etag", "location"];

/// Checks an answer; the error describes the first invalid part.
pub(crate) fn check_response(request: &Request, response: &Response, writes_state: bool) -> Result<(), String> {
    let status = response.status;
    let is_allowed = matches!(status, 200..=299 | 303 | 400..=422) && ![401, 403, 413].contains(&status);
    if !is_allowed {
        return Err(format!(
            "the status must be 200 to 299, 303, or 400 to 422 except 401, 403 and 413, this one is {status}"
        ));
    }
    if response.body.len() > MAX_BODY_BYTES {
        return Err(format!("the body has {} bytes, more than {MAX_BODY_BYTES}", response.body.len()));
    }
    if [204, 205].contains(&status) && !response.body.is_empty() {
        return Err(format!("an answer with the status {status} has no body"));
    }
    check_headers(&response.headers)?;
    if request.method == "GET" && (writes_state || !response.effects.is_empty()) {
        return Err("GET changes nothing: it has no effects, and writes no `state`".into());
    }
    check_effects(&response.effects)
}

fn check_headers(headers: &[(String, String)]) -> Result<(), String> {
    if headers.len() > MAX_HEADERS {
        return Err(format!("{} headers are more than {MAX_HEADERS}", headers.len()));
    }
    let bytes: usize = headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    if bytes > MAX_HEADER_BYTES {
        return Err(format!("the headers have {bytes} bytes, more than {MAX_HEADER_BYTES}"));
    }
    for (at, (name, value)) in headers.iter().enumerate() {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let of_module = name.strip_prefix("x-").is_some_and(|rest| !rest.is_empty()) && name.bytes().all(plain);
        // Of the hub, or read by browsers and proxies as an order.
        let of_others = [
            "x-hub-",
            "x-forwarded-",
            "x-request-id",
            "x-content-type-options",
            "x-frame-options",
            "x-accel-",
            "x-sendfile",
            "x-lighttpd-",
            "x-reproxy-",
        ];
        if !(HEADERS.contains(&name.as_str()) || of_module) || of_others.iter().any(|other| name.starts_with(other)) {
            return Err(format!("the header `{name}` is none of {} and x-…", HEADERS.join(", ")));
        }
        if headers[..at].iter().any(|(before, _)| before == name) {
            return Err(format!("the header `{name}` is there twice"));
        }
        if !value.bytes().all(|byte| (b' '..=b'~').contains(&byte)) || value.trim() != value {
            return Err(format!("the header `{name}` must be printable ASCII, without spaces around it"));
        }
        if name == "location" && !is_location(value) {
            return Err("the header `location` must begin with https:// or with one /".into());
        }
    }
    Ok(())
}

/// True for an address of https, or a path of this host.
fn is_location(value: &str) -> bool {
    let path = value.strip_prefix('/').is_some_and(|rest| !rest.starts_with(['/', '\\']));
    path || value.strip_prefix("https://").is_some_and(|rest| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::effects::{Action, CancelTimer, Effect};

    fn check(method: &str, change: impl FnOnce(&mut Response)) -> Result<(), String> {
        let request = Request { method: method.into(), ..Request::default() };
        let mut response = Response { status: 200, ..Response::default() };
        change(&mut response);
        check_response(&request, &response, false)
    }

    fn header(name: &str, value: &str) -> Result<(), String> {
        check("POST", |it| it.headers = vec![(name.into(), value.into())])
    }

    #[test]
    fn statuses_that_are_not_kept_are_refused() {
        for status in [200, 204, 299, 303, 400, 409, 422] {
            assert_eq!(check("POST", |it| it.status = status), Ok(()), "{status}");
        }
        for status in [0, 101, 301, 302, 401, 403, 413, 429, 500] {
            assert!(check("POST", |it| it.status = status).is_err(), "{status}");
        }
    }

    #[test]
    fn a_body_is_bounded() {
        assert_eq!(check("POST", |it| it.body = vec![0; 256 << 10]), Ok(()));
        assert!(check("POST", |it| it.body = vec![0; (256 << 10) + 1]).unwrap_err().contains("262145"));
        assert!(check("POST", |it| (it.status, it.body) = (204, vec![0])).unwrap_err().contains("no body"));
    }

    #[test]
    fn headers_of_the_hub_are_not_the_modules() {
        for (name, value) in
            [("content-type", "text/plain"), ("x-votes", "3"), ("location", "/a"), ("location", "https://a.example")]
        {
            assert_eq!(header(name, value), Ok(()), "{name}");
        }
        for (name, value) in [
            ("set-cookie", "a=b"),
            ("x-hub-not-here", "1"),
            ("x-content-type-options", "none"),
            ("X-Votes", "3"),
            ("x-votes", "a\r\nb"),
            ("x-", "1"),
            ("location", "//a.example"),
            ("location", "http://a.example"),
            ("location", "javascript:alert(1)"),
        ] {
            assert!(header(name, value).is_err(), "{name}: {value}");
        }
        let twice = vec![("etag".to_owned(), "a".to_owned()); 2];
        assert!(check("POST", |it| it.headers = twice).unwrap_err().contains("twice"));
    }

    #[test]
    fn get_changes_nothing() {
        let action = Action::CancelTimer(CancelTimer { key: "k".into() });
        let effects = vec![Effect { action, optional: false }];
        assert_eq!(check("POST", |it| it.effects.clone_from(&effects)), Ok(()));
        assert!(check("GET", |it| it.effects = effects).unwrap_err().contains("GET"));
        let get = Request { method: "GET".into(), ..Request::default() };
        assert!(check_response(&get, &Response::default(), true).is_err());
    }
}
