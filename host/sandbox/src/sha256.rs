//! SHA-256 sums of modules.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;

/// A SHA-256 of a module's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sha256Sum(pub [u8; 32]);

impl Sha256Sum {
    /// Computes the sum of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Parses 64 hex digits.
    pub fn from_hex(hex: &str) -> Option<Self> {
        let digits = hex.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut sum = [0; 32];
        for (byte, pair) in sum.iter_mut().zip(digits.chunks_exact(2)) {
            let text = std::str::from_utf8(pair).ok().filter(|text| !text.starts_with('+'))?;
            *byte = u8::from_str_radix(text, 16).ok()?;
        }
        Some(Self(sum))
    }
}

impl fmt::Display for Sha256Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sha256Sum({self})")
    }
}

impl Serialize for Sha256Sum {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Sha256Sum {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::from_hex(&text).ok_or_else(|| serde::de::Error::custom("not a SHA-256 in hex"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displayed_sum_parses_back() {
        let sum = Sha256Sum::of(b"module");
        assert_eq!(Sha256Sum::from_hex(&sum.to_string()), Some(sum));
        assert_eq!(Sha256Sum::from_hex("abc"), None);
        assert_eq!(Sha256Sum::from_hex(&"zz".repeat(32)), None);
        assert_eq!(Sha256Sum::from_hex(&"+1".repeat(32)), None);
    }
}
