//! Certificate expiry.

use jiff::civil;

use crate::clock::Millis;

const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// Reads the end of a certificate's validity from its DER (RFC 5280, section 4.1). None if it cannot be read.
pub(super) fn not_after(der: &[u8]) -> Option<Millis> {
    let (certificate, _) = read(der, SEQUENCE)?;
    let (mut rest, _) = read(certificate, SEQUENCE)?;
    if let Some((_, after)) = read(rest, VERSION) {
        rest = after;
    }
    // Skips serial number, algorithm and issuer.
    for _ in 0..3 {
        rest = element(rest)?.2;
    }
    let (validity, _) = read(rest, SEQUENCE)?;
    let (_, _, after_first) = element(validity)?;
    let (tag, end, _) = element(after_first)?;
    time(tag, std::str::from_utf8(end).ok()?)
}

/// Splits off the first element: its tag, its contents and the rest.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
        let add = |sum: usize, byte: &u8| sum.checked_mul(256)?.checked_add(usize::from(*byte));
        (length.iter().try_fold(0, add)?, rest)
    };
    let (contents, rest) = rest.split_at_checked(length)?;
    Some((tag, contents, rest))
}

/// Contents of the first element if it has this tag, and the rest.
fn read(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    element(bytes).filter(|(found, _, _)| *found == tag).map(|(_, contents, rest)| (contents, rest))
}

fn time(tag: u8, text: &str) -> Option<Millis> {
    let digits = text.strip_suffix('Z')?;
    let (year, rest) = match tag {
        UTC_TIME => {
            let (year, rest) = digits.split_at_checked(2)?;
            let year: i16 = year.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = digits.split_at_checked(4)?;
            (year.parse().ok()?, rest)
        }
        _ => return None,
    };
    let part = |index: usize| rest.get(2 * index..2 * index + 2)?.parse::<i8>().ok();
    let date = civil::DateTime::new(year, part(0)?, part(1)?, part(2)?, part(3)?, part(4)?, 0).ok()?;
    Some(date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fields of a certificate up to and including its validity.
    fn certificate(tag: u8, end: &str) -> Vec<u8> {
        let wrap = |tag: u8, contents: &[u8]| [&[tag, u8::try_from(contents.len()).unwrap()], contents].concat();
        let time = wrap(UTC_TIME, b"200101000000Z");
        let validity = wrap(SEQUENCE, &[time, wrap(tag, end.as_bytes())].concat());
        let version = wrap(VERSION, &wrap(0x02, &[2]));
        let (serial, algorithm, issuer) = (wrap(0x02, &[7; 16]), wrap(SEQUENCE, &[5, 0]), wrap(SEQUENCE, &[]));
        wrap(SEQUENCE, &wrap(SEQUENCE, &[version, serial, algorithm, issuer, validity].concat()))
    }

    #[test]
    fn the_end_is_read_in_both_forms() {
        assert_eq!(not_after(&certificate(UTC_TIME, "270310120000Z")), Some(1_804_680_000_000));
        assert_eq!(not_after(&certificate(GENERALIZED_TIME, "20270310120000Z")), Some(1_804_680_000_000));
    }

    #[test]
    fn what_is_no_certificate_has_no_end() {
        let whole = certificate(UTC_TIME, "270310120000Z");
        for length in 0..whole.len() {
            assert_eq!(not_after(&whole[..length]), None, "{length}");
        }
        assert_eq!(not_after(&certificate(UTC_TIME, "279910120000Z")), None);
        assert_eq!(not_after(&certificate(0x04, "270310120000Z")), None);
        assert_eq!(not_after(&[0x30, 0xff, 0xff, 0xff]), None);
    }
}
