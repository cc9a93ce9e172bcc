//! Escapes in texts of the dialects. Invalid ones are kept as they are.

/// Code point of the first `digits` characters, and the rest.
fn code_point(text: &str, digits: usize) -> Option<(char, &str)> {
    let (code, rest) = text.split_at_checked(digits)?;
    Some((char::from_u32(u32::from_str_radix(code, 16).ok()?)?, rest))
}

/// Character of one or two UTF-16 units, each of four digits behind `\u`, after the first `\u`.
fn utf16(text: &str) -> Option<(char, &str)> {
    if let Some(found) = code_point(text, 4) {
        return Some(found);
    }
    let (high, rest) = text.split_at_checked(4)?;
    let (low, rest) = rest.strip_prefix("\\u")?.split_at_checked(4)?;
    let units = [u16::from_str_radix(high, 16).ok()?, u16::from_str_radix(low, 16).ok()?];
    let character = char::decode_utf16(units).next()?.ok()?;
    Some((character, rest))
}

/// Replaces each backslash and what `escape` reads of the text after it.
fn decode(text: &str, escape: impl Fn(&str) -> Option<(char, &str)>) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        decoded.push_str(before);
        let (character, after) = escape(after).unwrap_or(('\\', after));
        decoded.push(character);
        rest = after;
    }
    decoded + rest
}

/// Decodes standard SQL's escapes: `\00e4`, `\+01f600` and `\\`.
pub(super) fn decode_unicode(text: &str) -> String {
    decode(text, |after| match after.strip_prefix('+') {
        Some(after) => code_point(after, 6),
        None => after.strip_prefix('\\').map(|after| ('\\', after)).or_else(|| code_point(after, 4)),
    })
}

/// Decodes the escapes of SQLite's `unistr`: those of standard SQL, `\u00e4` and `\U0001f600`.
pub(super) fn decode_unistr(text: &str) -> String {
    decode(text, |after| match after.chars().next() {
        Some('\\') => Some(('\\', &after[1..])),
        Some('u') => code_point(&after[1..], 4),
        Some('U') => code_point(&after[1..], 8),
        Some('+') => code_point(&after[1..], 6),
        _ => code_point(after, 4),
    })
}

/// Decodes Java's escapes: `\u00e4`, `\n`, `\\` and so on.
pub(super) fn decode_java(text: &str) -> String {
    decode(text, |after| {
        let mut characters = after.chars();
        match characters.next()? {
            'u' => utf16(characters.as_str()),
            'n' => Some(('\n', characters.as_str())),
            'r' => Some(('\r', characters.as_str())),
            't' => Some(('\t', characters.as_str())),
            character => Some((character, characters.as_str())),
        }
    })
}

/// Decodes the escapes of HSQLDB's scripts: `\u00e4` alone.
pub(super) fn decode_hsqldb(text: &str) -> String {
    decode(text, |after| utf16(after.strip_prefix('u')?))
}

/// Decodes PostgreSQL's escapes of COPY and of `E'…'`.
pub(super) fn decode_copy(text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        rest = after;
        let (b'\\', [escaped, after @ ..]) = (*byte, rest) else {
            decoded.push(*byte);
            continue;
        };
        rest = after;
        decoded.push(match escaped {
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'0'..=b'7' => number(*escaped, &mut rest, 8, 2),
            b'x' if rest.first().is_some_and(u8::is_ascii_hexdigit) => number(b'0', &mut rest, 16, 2),
            escaped => *escaped,
        });
    }
    decoded
}

/// Byte of a first digit and at most `more` further ones.
fn number(first: u8, rest: &mut &[u8], radix: u32, more: usize) -> u8 {
    let mut value = char::from(first).to_digit(radix).unwrap_or(0);
    for _ in 0..more {
        let Some(digit) = rest.first().and_then(|byte| char::from(*byte).to_digit(radix)) else { break };
        value = value * radix + digit;
        *rest = &rest[1..];
    }
    (value & 0xFF) as u8
}
