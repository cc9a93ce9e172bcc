//! Amounts of money.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, Neg, Sub};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::value::RawValue;

const SCALE: i64 = 10_000;

/// An amount of a currency: an exact decimal with at most 4 digits behind the point, never floating point. `5.into()` is five
/// units, `"0.25".parse()` a quarter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(i64);

/// A text is not an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a decimal number with at most 4 digits behind the point, below 900 trillion")]
pub struct ParseAmountError;

impl Amount {
    /// Zero.
    pub const ZERO: Self = Self(0);

    /// An amount of this many ten-thousandths.
    pub const fn from_ten_thousandths(ten_thousandths: i64) -> Self {
        Self(ten_thousandths)
    }

    /// The amount in ten-thousandths.
    pub const fn ten_thousandths(self) -> i64 {
        self.0
    }
}

impl From<i32> for Amount {
    fn from(units: i32) -> Self {
        Self(i64::from(units) * SCALE)
    }
}

impl FromStr for Amount {
    type Err = ParseAmountError;

    fn from_str(text: &str) -> Result<Self, ParseAmountError> {
        let (is_negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
        let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
        let part = part.trim_end_matches('0');
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || part.len() > 4 || !is_number(whole) || !is_number(part) || digits.ends_with('.') {
            return Err(ParseAmountError);
        }
        let size = format!("{whole}{part:0<4}").parse::<i64>().map_err(|_| ParseAmountError)?;
        Ok(Self(if is_negative { -size } else { size }))
    }
}

/// Writes the shortest decimal.
impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.unsigned_abs();
        let (whole, part) = (size / SCALE.unsigned_abs(), size % SCALE.unsigned_abs());
        let sign = if self.0 < 0 { "-" } else { "" };
        let digits = format!("{sign}{whole}.{part:04}");
        f.pad(digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl Neg for Amount {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Add for Amount {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Amount {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Sum for Amount {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer)?.get().parse().map_err(de::Error::custom)
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.to_string()).map_err(ser::Error::custom)?.serialize(serializer)
    }
}
