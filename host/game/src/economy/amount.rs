//! Amounts: exact decimals.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::value::RawValue;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

const DECIMALS: i64 = 4;
/// Number of smallest parts in a unit: ten-thousandths.
const SCALE: i64 = 10_000;

/// Amount of a currency: whole ten-thousandths, from -900 trillion to 900 trillion units. Converted directly from and
/// to the digits of a JSON number, never through floating point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, sqlx::Type)]
#[sqlx(transparent)]
pub struct Amount(i64);

/// Reason for rejecting a text as an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseAmountError {
    #[error("must be a number")]
    NotANumber,
    #[error("must have at most 4 decimal places")]
    TooPrecise,
    #[error("must be from -900 trillion to 900 trillion")]
    OutOfRange,
}

impl Amount {
    pub const MAX: Self = Self(900_000_000_000_000 * SCALE);
    pub const MIN: Self = Self(-Self::MAX.0);

    pub const fn ten_thousandths(self) -> i64 {
        self.0
    }

    /// Amount of this many ten-thousandths; none if out of range.
    pub(crate) fn of_ten_thousandths(ten_thousandths: i64) -> Option<Self> {
        (Self::MIN.0..=Self::MAX.0).contains(&ten_thousandths).then_some(Self(ten_thousandths))
    }

    /// Parses a decimal number from another tool, truncated after four decimal places. The flag tells if digits were
    /// cut off.
    pub fn parse_cut(text: &str) -> Result<(Self, bool), ParseAmountError> {
        match text.parse() {
            Err(ParseAmountError::TooPrecise) => {}
            parsed => return parsed.map(|amount| (amount, false)),
        }
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let exponent = parse_exponent(exponent)?;
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        // New position of the decimal point.
        let kept = exponent.saturating_add(DECIMALS);
        let cut = if let Ok(kept) = usize::try_from(kept) {
            format!("{whole}.{}e{exponent}", part.get(..kept.min(part.len())).unwrap_or_default())
        } else {
            let sign = whole.starts_with('-');
            let left = i64::try_from(whole.len()).unwrap_or(i64::MAX).saturating_add(kept);
            let left = usize::try_from(left).unwrap_or(0).max(usize::from(sign));
            let digits = whole.get(..left).filter(|digits| !matches!(*digits, "" | "-")).unwrap_or("0");
            format!("{digits}e-{DECIMALS}")
        };
        cut.parse().map(|amount| (amount, true))
    }
}

/// Writes the shortest decimal.
fn write_decimal(f: &mut fmt::Formatter<'_>, ten_thousandths: i128) -> fmt::Result {
    let size = ten_thousandths.unsigned_abs();
    let (whole, part) = (size / SCALE as u128, size % SCALE as u128);
    let sign = if ten_thousandths < 0 { "-" } else { "" };
    if part == 0 {
        return write!(f, "{sign}{whole}");
    }
    let digits = format!("{part:04}");
    write!(f, "{sign}{whole}.{}", digits.trim_end_matches('0'))
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_decimal(f, self.0.into())
    }
}

/// Parses a JSON number.
impl FromStr for Amount {
    type Err = ParseAmountError;

    fn from_str(text: &str) -> Result<Self, ParseAmountError> {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = [whole, part].concat();
        if whole.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(ParseAmountError::NotANumber);
        }
        let digits = all.trim_start_matches('0');
        let significant = digits.trim_end_matches('0');
        if significant.is_empty() {
            return Ok(Self(0));
        }
        // The number is `significant` times ten to this power.
        let exponent = parse_exponent(exponent)?;
        let power =
            exponent.saturating_sub(part.len() as i64).saturating_add((digits.len() - significant.len()) as i64);
        let zeros = power.saturating_add(DECIMALS);
        if zeros < 0 {
            return Err(ParseAmountError::TooPrecise);
        }
        let zeros = u32::try_from(zeros).map_err(|_| ParseAmountError::OutOfRange)?;
        let size = significant.parse::<i64>().ok().and_then(|number| number.checked_mul(10_i64.checked_pow(zeros)?));
        let size = size.filter(|size| *size <= Self::MAX.0).ok_or(ParseAmountError::OutOfRange)?;
        Ok(Self(if negative { -size } else { size }))
    }
}

/// Clamps exponents beyond `i64`.
fn parse_exponent(text: &str) -> Result<i64, ParseAmountError> {
    let (sign, digits) = match text.as_bytes().first() {
        Some(b'-') => (-1, &text[1..]),
        Some(b'+') => (1, &text[1..]),
        _ => (1, text),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ParseAmountError::NotANumber);
    }
    Ok(digits.parse::<i64>().unwrap_or(i64::MAX) * sign)
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer)?.get().parse().map_err(de::Error::custom)
    }
}

fn write_number<S: Serializer>(text: String, serializer: S) -> Result<S::Ok, S::Error> {
    RawValue::from_string(text).map_err(ser::Error::custom)?.serialize(serializer)
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_number(self.to_string(), serializer)
    }
}

fn number_schema(example: f64) -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::Number).examples([example]).into()
}

impl PartialSchema for Amount {
    fn schema() -> RefOr<Schema> {
        number_schema(12.5)
    }
}
impl ToSchema for Amount {}

/// Difference of two amounts, which may be larger than any amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Difference(i128);

impl Difference {
    pub(super) fn between(from: Amount, to: Amount) -> Self {
        Self(i128::from(to.0) - i128::from(from.0))
    }
}

impl From<Amount> for Difference {
    fn from(amount: Amount) -> Self {
        Self(amount.0.into())
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_decimal(f, self.0)
    }
}

impl Serialize for Difference {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_number(self.to_string(), serializer)
    }
}

impl PartialSchema for Difference {
    fn schema() -> RefOr<Schema> {
        number_schema(-12.5)
    }
}
impl ToSchema for Difference {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rust_decimal::Decimal;

    use super::*;

    fn read(text: &str) -> Result<i64, ParseAmountError> {
        text.parse().map(Amount::ten_thousandths)
    }

    #[test]
    fn every_json_number_is_read_exactly() {
        for (text, ten_thousandths) in [
            ("0", 0),
            ("-0", 0),
            ("-0.0000000", 0),
            ("0e999999999999999999999", 0),
            ("1", 10_000),
            ("-12.5", -125_000),
            ("0.1", 1_000),
            ("0.0001", 1),
            ("1.50000000000000000000000000000000000000", 15_000),
            ("1e3", 10_000_000),
            ("1E+3", 10_000_000),
            ("1500e-3", 15_000),
            ("10000000000000000000000000000000000e-34", 10_000),
            ("0.00000000000000000000000000000000000012e36", 1_200),
            ("900000000000000", 9_000_000_000_000_000_000),
            ("-900000000000000", -9_000_000_000_000_000_000),
            ("899999999999999.9999", 8_999_999_999_999_999_999),
        ] {
            assert_eq!(read(text), Ok(ten_thousandths), "{text}");
        }
        for text in ["0.00001", "1.23456", "1e-5", "1e-99999999999999999999", "123.45e-3"] {
            assert_eq!(read(text), Err(ParseAmountError::TooPrecise), "{text}");
        }
        for text in ["900000000000000.0001", "-900000000000001", "1e15", "1e400", "1e99999999999999999999", "9e18"] {
            assert_eq!(read(text), Err(ParseAmountError::OutOfRange), "{text}");
        }
        for text in ["", "-", "\"1\"", "null", "true", "[1]", "{}", "1e", "1e+", "é", ".5", "e5", "--1", "1.2.3"] {
            assert_eq!(read(text), Err(ParseAmountError::NotANumber), "{text}");
        }
    }

    #[test]
    fn an_amount_is_written_in_the_shortest_form() {
        for (ten_thousandths, text) in
            [(0, "0"), (1, "0.0001"), (-1, "-0.0001"), (15_000, "1.5"), (-120_000, "-12"), (10_010, "1.001")]
        {
            assert_eq!(Amount(ten_thousandths).to_string(), text);
            assert_eq!(serde_json::to_string(&Amount(ten_thousandths)).unwrap(), text);
        }
        assert_eq!(Difference::between(Amount::MIN, Amount::MAX).to_string(), "1800000000000000");
        assert_eq!(serde_json::to_string(&Some(Amount::MAX)).unwrap(), "900000000000000");
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_decimal_library(
            digits in -99_999_999_999_999_999_i64..=99_999_999_999_999_999, scale in 0_u32..=12, shift in -4_i32..=4,
        ) {
            let decimal = Decimal::new(digits, scale);
            let text = format!("{decimal}e{shift}");
            let ten = Decimal::from(10);
            let value = (0..shift.abs()).fold(decimal, |value, _| if shift > 0 { value * ten } else { value / ten });
            let exact = value * Decimal::from(SCALE);
            let expected = if !exact.fract().is_zero() {
                Err(ParseAmountError::TooPrecise)
            } else if exact.abs() > Decimal::from(Amount::MAX.0) {
                Err(ParseAmountError::OutOfRange)
            } else {
                Ok(i64::try_from(exact).unwrap())
            };
            prop_assert_eq!(read(&text), expected, "{}", text);
            if let Ok(read) = expected {
                prop_assert_eq!(Amount(read).to_string(), value.normalize().to_string());
            }
        }
    }
}
