//! Addresses without a port.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::text_type::text_type;

/// Longest name of the domain name system, in characters.
const MAX_NAME: usize = 253;
const MAX_LABEL: usize = 63;

text_type! {
    /// A host name or an IP address, without a port.
    pub struct Host;
    check: |text| {
        let fits = address(text.trim()).is_some() || is_name(text.trim());
        fits.then_some(()).ok_or("must be a host name or an IP address, without a port")
    };
    // A blank one may stand for an absent one.
    schema: |text| text.max_length(Some(255)).examples(["10.0.0.7"]);
}

impl Host {
    /// The address, if it is none that must be looked up.
    pub fn address(&self) -> Option<IpAddr> {
        address(self.0.trim())
    }

    /// The host without spaces around it, and without the brackets that an address has in a URL.
    pub fn plain(&self) -> &str {
        let host = self.0.trim();
        without_brackets(host).unwrap_or(host)
    }
}

fn without_brackets(text: &str) -> Option<&str> {
    text.strip_prefix('[')?.strip_suffix(']')
}

/// An address of IPv4, or of IPv6 with or without brackets and a zone, such as `fe80::1%eth0`.
fn address(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse::<Ipv4Addr>() {
        return Some(address.into());
    }
    let inside = without_brackets(text).unwrap_or(text);
    let (address, zone) = inside.split_once('%').map_or((inside, None), |(address, zone)| (address, Some(zone)));
    let is_zone =
        |zone: &str| !zone.is_empty() && zone.bytes().all(|it| it.is_ascii_alphanumeric() || b"._-".contains(&it));
    zone.is_none_or(is_zone).then(|| address.parse::<Ipv6Addr>().ok())?.map(Into::into)
}

/// Names as of RFC 1123, and those of containers, which may hold `_`. One that ends with a number is a wrong address.
fn is_name(text: &str) -> bool {
    let name = text.strip_suffix('.').unwrap_or(text);
    let is_label = |label: &str| {
        (1..=MAX_LABEL).contains(&label.len())
            && label.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_'))
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let ends_with_number = name.rsplit('.').next().is_some_and(|label| label.bytes().all(|it| it.is_ascii_digit()));
    name.len() <= MAX_NAME && name.split('.').all(is_label) && !ends_with_number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_names_or_addresses() {
        for good in [
            "1.2.3.4",
            "::1",
            "[2001:db8::7]",
            "fe80::1%eth0",
            " 10.0.0.1 ",
            "localhost",
            "lobby_1",
            "a-b.example.org",
            "example.org.",
            "xn--bcher-kva.example",
            "3com.example",
            "::ffff:1.2.3.4",
        ] {
            assert!(good.parse::<Host>().is_ok(), "{good}");
        }
        let long = format!("{}.org", "a".repeat(64));
        for bad in [
            "",
            " ",
            "1.2.3.4:25565",
            "lobby.example.org:25566",
            ":",
            "[::1",
            "::1]",
            "[1.2.3.4]",
            "[::1]:25565",
            "x..y",
            "-x",
            "x-",
            ".x",
            "1.2.3",
            "256.1.1.1",
            "1.2.3.4.",
            "a b",
            "a/b",
            "user@host",
            "http://x",
            "bücher.de",
            "fe80::1%",
            "1.2.3.4%eth0",
            "x\ny",
            "%",
            &long,
            &"a.".repeat(128),
        ] {
            assert!(bad.parse::<Host>().is_err(), "{bad}");
        }
        assert_eq!("[2001:db8::7]".parse::<Host>().unwrap().plain(), "2001:db8::7");
        assert_eq!(" 10.0.0.1 ".parse::<Host>().unwrap().address(), Some(IpAddr::from([10, 0, 0, 1])));
    }
}
