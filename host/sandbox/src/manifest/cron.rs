//! Times of a schedule, in UTC: five fields as cron has them.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;

const MONTHS: [&str; 12] = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const MINUTE_MS: u64 = 60_000;
const DAY_MS: u64 = 24 * 60 * MINUTE_MS;
/// The longest time between two ticks: 29 February on one weekday.
const MAX_DAYS: u64 = 366 * 41;

/// Minutes of a schedule. Each field is a set of numbers, as bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cron {
    text: String,
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Day of the month and weekday are both given: either will do.
    either_day: bool,
}

impl Cron {
    /// The first minute after a time, both in milliseconds since the Unix epoch.
    pub fn next_after(&self, after_ms: u64) -> Option<u64> {
        let mut at = (after_ms / MINUTE_MS + 1) * MINUTE_MS;
        let end = after_ms.saturating_add(MAX_DAYS * DAY_MS);
        while at < end {
            let day = at / DAY_MS;
            if !self.has_day(day) {
                at = (day + 1) * DAY_MS;
                continue;
            }
            let of_day = at % DAY_MS / MINUTE_MS;
            let (hour, minute) = (of_day / 60, of_day % 60);
            if self.hours >> hour & 1 == 0 {
                at = day * DAY_MS + (hour + 1) * 60 * MINUTE_MS;
            } else if self.minutes >> minute & 1 == 0 {
                at += MINUTE_MS;
            } else {
                return Some(at);
            }
        }
        None
    }

    fn has_day(&self, day: u64) -> bool {
        let (month, of_month) = month_and_day(day);
        // 1 January 1970 was a Thursday.
        let (in_month, in_week) = (self.days >> of_month & 1 == 1, self.weekdays >> ((day + 4) % 7) & 1 == 1);
        let is_day = if self.either_day { in_month || in_week } else { in_month && in_week };
        self.months >> month & 1 == 1 && is_day
    }
}

/// Month (1 to 12) and day of the month of a day since the Unix epoch.
fn month_and_day(day: u64) -> (u64, u64) {
    // Years begin in March here, so that the leap day is their last one.
    let shifted = day + 719_468;
    let of_era = shifted % 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    (if month < 10 { month + 3 } else { month - 9 }, of_month)
}

impl FromStr for Cron {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fields: Vec<_> = text.split_ascii_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields[..] else {
            return Err(format!("a cron has five fields (minute, hour, day, month, weekday), not {}", fields.len()));
        };
        let sundays = field(weekday, "weekday", 0..=7, &WEEKDAYS, 0)?;
        let cron = Self {
            text: fields.join(" "),
            minutes: field(minute, "minute", 0..=59, &[], 0)?,
            hours: field(hour, "hour", 0..=23, &[], 0)?,
            days: field(day, "day", 1..=31, &[], 0)?,
            months: field(month, "month", 1..=12, &MONTHS, 1)?,
            weekdays: (sundays | sundays >> 7) & 0x7f,
            either_day: !day.starts_with('*') && !weekday.starts_with('*'),
        };
        match cron.next_after(0) {
            Some(_) => Ok(cron),
            None => Err("no such day ever comes".into()),
        }
    }
}

/// The numbers of a field. Its names begin at the number `first`.
fn field(
    text: &str,
    name: &str,
    range: std::ops::RangeInclusive<u64>,
    names: &[&str],
    first: u64,
) -> Result<u64, String> {
    let (least, most) = (*range.start(), *range.end());
    let number = |text: &str| -> Result<u64, String> {
        let named = names.iter().position(|name| name.eq_ignore_ascii_case(text)).map(|at| at as u64 + first);
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = named.or_else(|| digits.then(|| text.parse().ok()).flatten());
        number
            .filter(|number| range.contains(number))
            .ok_or_else(|| format!("the {name} `{text}` is not between {least} and {most}"))
    };
    let mut bits = 0;
    for part in text.split(',') {
        let (span, step) = match part.split_once('/') {
            Some((span, step)) => {
                let step = step.parse().ok().filter(|step| (1..=most).contains(step));
                (span, step.ok_or_else(|| format!("the step of the {name} `{part}` is not between 1 and {most}"))?)
            }
            None => (part, 1),
        };
        let (from, to) = match span.split_once('-') {
            _ if span == "*" => (least, most),
            Some((from, to)) => (number(from)?, number(to)?),
            // `5/10` begins there and has no other end.
            None if part.contains('/') => (number(span)?, most),
            None => (number(span)?, number(span)?),
        };
        if from > to {
            return Err(format!("the {name} `{part}` ends before it begins"));
        }
        let mut at = from;
        while at <= to {
            bits |= 1 << at;
            at += step;
        }
    }
    Ok(bits)
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Cron {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Cron {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 January 2026, 00:00 UTC, a Thursday.
    const NEW_YEAR: u64 = 1_767_225_600_000;

    fn next(cron: &str, minutes: u64) -> u64 {
        let at = cron.parse::<Cron>().unwrap().next_after(NEW_YEAR + minutes * MINUTE_MS).unwrap();
        (at - NEW_YEAR) / MINUTE_MS
    }

    #[test]
    fn the_next_tick_is_the_first_minute_that_fits() {
        const HOUR: u64 = 60;
        const DAY: u64 = 24 * HOUR;
        assert_eq!(next("* * * * *", 0), 1);
        assert_eq!(next("0 3 * * *", 0), 3 * HOUR);
        assert_eq!(next("0 3 * * *", 3 * HOUR), DAY + 3 * HOUR);
        assert_eq!(next("*/20 * * * *", 1), 20);
        assert_eq!(next("5/25 1-2 * * *", 0), HOUR + 5);
        assert_eq!(next("0 0 * * MON", 0), 4 * DAY);
        assert_eq!(next("0 0 * * 0", 0), 3 * DAY);
        assert_eq!(next("0 0 * * 7", 0), 3 * DAY);
        assert_eq!(next("0 0 1 feb *", 0), 31 * DAY);
        // Either the day or the weekday.
        assert_eq!(next("0 0 13 * FRI", 0), DAY);
        assert_eq!(next("0 0 29 2 *", 0), (365 + 365 + 31 + 28) * DAY);
    }

    #[test]
    fn invalid_crons_have_a_reason() {
        for (cron, reason) in [
            ("* * * *", "five fields"),
            ("60 * * * *", "minute `60`"),
            ("* 24 * * *", "hour `24`"),
            ("* * 0 * *", "day `0`"),
            ("* * * 13 *", "month `13`"),
            ("* * * * fun", "weekday `fun`"),
            ("5-1 * * * *", "ends before"),
            ("*/0 * * * *", "step"),
            ("+1 * * * *", "minute `+1`"),
            ("0 0 30 2 *", "no such day"),
        ] {
            let error = cron.parse::<Cron>().unwrap_err();
            assert!(error.contains(reason), "{cron}: {error}");
        }
    }
}
