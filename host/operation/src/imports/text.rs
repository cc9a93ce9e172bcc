//! Encodings of texts and bytes in files.

/// Encoding of a dump's texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Charset {
    /// Declared as UTF-8, or not declared.
    #[default]
    Utf8,
    /// Declared as Latin-1 or Windows-1252.
    Windows1252,
}

impl Charset {
    /// Charset by its name in a dump; none if it is not supported.
    pub(super) fn parse(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().replace(['-', '_'], "").as_str() {
            "utf8" | "utf8mb3" | "utf8mb4" | "unicode" | "binary" | "ascii" | "usascii" | "sqlascii" | "default" => {
                Some(Self::Utf8)
            }
            "latin1" | "win1252" | "windows1252" | "cp1252" | "iso88591" => Some(Self::Windows1252),
            _ => None,
        }
    }
}

/// Decodes Windows-1252, which is what MySQL calls Latin-1.
pub(super) fn decode_windows_1252(bytes: &[u8]) -> String {
    const HIGH: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘',
        '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
    ];
    let decode = |byte: &u8| match byte {
        0x80..=0x9F => HIGH[usize::from(byte - 0x80)],
        byte => char::from(*byte),
    };
    bytes.iter().map(decode).collect()
}

/// Bytes of hexadecimal digits; none if they are invalid.
pub(super) fn hexadecimal(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = digits.chunks(2).map(|pair| match pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_1252_has_its_signs() {
        assert_eq!(decode_windows_1252(b"gr\xFC\xDF 5\x80 \x93x\x94"), "grüß 5€ “x”");
    }
}
