//! Days in UTC.

use jiff::civil::Date;
use serde::{Serialize, Serializer};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::clock::Millis;

/// Length of a day.
pub(super) const DAY: Millis = 24 * 60 * 60 * 1000;
const EPOCH: Date = Date::constant(1970, 1, 1);

/// A day, as its number from 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, sqlx::Type)]
#[sqlx(transparent)]
pub(super) struct Day(pub(super) i64);

impl Day {
    /// Day of a time.
    pub(super) fn of(at: Millis) -> Self {
        Self(at.div_euclid(DAY))
    }

    /// Its first millisecond.
    pub(super) fn start(self) -> Millis {
        self.0.saturating_mul(DAY)
    }

    /// Day that is so many days later.
    pub(super) fn plus(self, days: i64) -> Self {
        Self(self.0.saturating_add(days))
    }

    fn date(self) -> Date {
        EPOCH.saturating_add(jiff::Span::new().days(self.0.clamp(-719_528, 2_900_000)))
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.date())
    }
}

impl TryFrom<String> for Day {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let plain = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let date: Option<Date> = if plain { text.parse().ok() } else { None };
        let days = date.and_then(|date| EPOCH.until(date).ok()).map(|span| span.get_days());
        Ok(Self(days.ok_or("must be a day, as YYYY-MM-DD")?.into()))
    }
}

impl PartialSchema for Day {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .pattern(Some(r"^\d{4}-\d{2}-\d{2}$"))
            .examples(["2027-03-08"])
            .into()
    }
}

impl ToSchema for Day {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_read_as_it_is_written() {
        for (number, text) in [(0, "1970-01-01"), (-1, "1969-12-31"), (20_887, "2027-03-10"), (19_782, "2024-02-29")] {
            assert_eq!(serde_json::to_value(Day(number)).unwrap(), text);
            assert_eq!(Day::try_from(text.to_owned()), Ok(Day(number)));
        }
        assert_eq!(Day::of(1_804_680_000_000), Day(20_887));
        for extreme in [Day::of(Millis::MIN), Day::of(Millis::MAX)] {
            assert!(serde_json::to_value(extreme).is_ok());
        }
    }
}
