//! Amounts as people and programs write them: with a decimal point or comma, with or without groups of thousands.
//!
//! A text says by itself what it means, or the file's other amounts do: `1,234` is a thousand in a file with `0.5`, and
//! little more than one in a file with `0,5`. Without either it is not read.

use crate::economy::Amount;
use crate::imports::findings::NumberFormat;

/// An amount as a text tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Number {
    /// Format that the text alone shows.
    pub(super) shows: NumberFormat,
    /// Amount, and true if digits were cut off.
    pub(super) amount: Result<(Amount, bool), String>,
}

/// Reads an amount in a file of a format.
pub(super) fn parse(text: &str, format: NumberFormat) -> Number {
    let text = text.trim();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let read = |text: &str, shows: NumberFormat| Number { shows, amount: amount(text) };
    let wrong = || Number { shows: NumberFormat::Unknown, amount: Err(not_a_number(text)) };
    let (points, commas) = (digits.matches('.').count(), digits.matches(',').count());
    let with_point = |text: &str| text.replace('.', "").replace(',', ".");
    match (points, commas) {
        (0, 0) => read(text, NumberFormat::Unknown),
        (1, 0) | (0, 1) => {
            let (whole, part) = digits.split_once(['.', ',']).unwrap_or((digits, ""));
            let is_point = points == 1;
            let is_group = part.len() == 3 && is_plain(part) && is_first_group(whole);
            if !is_group {
                let shows = if is_point { NumberFormat::Point } else { NumberFormat::Comma };
                if whole.is_empty() || !is_plain(whole) || (!is_point && !is_plain(part)) || part.is_empty() {
                    return wrong();
                }
                return read(&text.replace(',', "."), shows);
            }
            let without = || text.replace(['.', ','], "");
            match (format, is_point) {
                (NumberFormat::Comma, true) | (NumberFormat::Point, false) => read(&without(), NumberFormat::Unknown),
                (_, true) | (NumberFormat::Comma, false) => read(&text.replace(',', "."), NumberFormat::Unknown),
                (NumberFormat::Unknown, false) => Number {
                    shows: NumberFormat::Unknown,
                    amount: Err(format!(
                        "The amount `{}` may be {} or {}; write amounts with a decimal point and without groups.",
                        cut(text),
                        cut(&without()),
                        cut(&text.replace(',', "."))
                    )),
                },
            }
        }
        (points, 0 | 1) if points >= 1 && is_grouped(digits, '.', ',') => read(&with_point(text), NumberFormat::Comma),
        (0 | 1, commas) if commas >= 1 && is_grouped(digits, ',', '.') => {
            read(&text.replace(',', ""), NumberFormat::Point)
        }
        _ => wrong(),
    }
}

/// True for one to three digits without a leading zero.
fn is_first_group(text: &str) -> bool {
    matches!(text.len(), 1..=3) && text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0')
}

/// True for `1.234.567,89` with these separators.
fn is_grouped(digits: &str, group: char, decimal: char) -> bool {
    let (whole, part) = digits.split_once(decimal).unwrap_or((digits, "0"));
    let mut groups = whole.split(group);
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    groups.next().is_some_and(is_first_group)
        && groups.all(|group| group.len() == 3 && is_digits(group))
        && is_digits(part)
}

fn amount(text: &str) -> Result<(Amount, bool), String> {
    Amount::parse_cut(text.strip_prefix('+').unwrap_or(text)).map_err(|reason| format!("The amount {reason}."))
}

fn not_a_number(text: &str) -> String {
    format!("The amount must be a number, not `{}`.", cut(text))
}

fn cut(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str, format: NumberFormat) -> Option<String> {
        parse(text, format).amount.ok().map(|(amount, _)| amount.to_string())
    }

    #[test]
    fn formats_of_numbers_are_told_apart() {
        use NumberFormat::{Comma, Point, Unknown};
        for (text, format, expected, shows) in [
            ("1234", Unknown, Some("1234"), Unknown),
            ("1234.56", Unknown, Some("1234.56"), Point),
            ("1234,56", Unknown, Some("1234.56"), Comma),
            ("0,99", Unknown, Some("0.99"), Comma),
            ("-0,5", Unknown, Some("-0.5"), Comma),
            ("1.234,56", Unknown, Some("1234.56"), Comma),
            ("1,234.56", Unknown, Some("1234.56"), Point),
            ("1,234,567", Unknown, Some("1234567"), Point),
            ("1.234.567", Unknown, Some("1234567"), Comma),
            ("1.234", Unknown, Some("1.234"), Unknown),
            ("1.234", Comma, Some("1234"), Unknown),
            ("1.234", Point, Some("1.234"), Unknown),
            ("1,234", Unknown, None, Unknown),
            ("1,234", Point, Some("1234"), Unknown),
            ("1,234", Comma, Some("1.234"), Unknown),
            ("0,234", Unknown, Some("0.234"), Comma),
            ("1234,567", Unknown, Some("1234.567"), Comma),
            ("12,34,567", Unknown, None, Unknown),
            ("1.2.3", Unknown, None, Unknown),
            ("1 234", Unknown, None, Unknown),
            ("$5", Unknown, None, Unknown),
            ("5,", Unknown, None, Unknown),
            (",5", Unknown, None, Unknown),
            ("1,234.56,7", Unknown, None, Unknown),
            ("1.5E3", Unknown, Some("1500"), Point),
            ("1,5E3", Unknown, None, Unknown),
            ("", Unknown, None, Unknown),
        ] {
            let number = parse(text, format);
            assert_eq!((read(text, format).as_deref(), number.shows), (expected, shows), "{text} {format:?}");
        }
    }

    proptest! {
        #[test]
        fn every_way_of_writing_an_amount_is_read_or_refused(whole in 0_u64..10_000_000_000, part in 0_u32..100, grouped: bool, comma: bool) {
            let (group, decimal) = if comma { ('.', ',') } else { (',', '.') };
            let digits = whole.to_string();
            let whole_text: String = if grouped {
                digits.chars().enumerate().fold(String::new(), |mut text, (at, digit)| {
                    if at > 0 && (digits.len() - at).is_multiple_of(3) {
                        text.push(group);
                    }
                    text.push(digit);
                    text
                })
            } else {
                digits.clone()
            };
            let text = format!("{whole_text}{decimal}{part:02}");
            let expected: Amount = format!("{digits}.{part:02}").parse().unwrap();
            prop_assert_eq!(parse(&text, NumberFormat::Unknown).amount, Ok((expected, false)), "{}", text);
        }

        #[test]
        fn no_text_makes_it_panic(text in "[-+0-9.,eE €]{0,14}") {
            for format in [NumberFormat::Unknown, NumberFormat::Point, NumberFormat::Comma] {
                let _ = parse(&text, format);
            }
        }
    }
}
