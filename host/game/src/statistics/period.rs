//! The four periods and their first days.

use hub_sandbox::contract::players::Period as ModulePeriod;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::clock::Millis;

/// Period of a statistic. Case-insensitive in requests.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    ToSchema,
    strum::EnumString,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "UPPERCASE", try_from = "String")]
#[strum(serialize_all = "UPPERCASE", ascii_case_insensitive)]
#[schema(as = StatisticPeriod)]
pub enum Period {
    /// The day.
    Daily,
    /// The week from Monday.
    Weekly,
    /// The month.
    Monthly,
    /// All time.
    #[default]
    Lifetime,
}

impl Period {
    /// Form on the wire and in the database.
    pub(super) fn as_str(self) -> &'static str {
        self.into()
    }
}

impl TryFrom<String> for Period {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        text.parse().map_err(|_| "must be DAILY, WEEKLY, MONTHLY or LIFETIME")
    }
}

impl From<ModulePeriod> for Period {
    fn from(period: ModulePeriod) -> Self {
        match period {
            ModulePeriod::Daily => Self::Daily,
            ModulePeriod::Weekly => Self::Weekly,
            ModulePeriod::Monthly => Self::Monthly,
            ModulePeriod::Lifetime => Self::Lifetime,
        }
    }
}

/// A day of the calendar, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Day(Date);

impl Day {
    /// Day of a time; the first or last day if it is outside the calendar (some 10,000 years off).
    pub(super) fn of(at: Millis) -> Self {
        let time = Timestamp::from_millisecond(at).unwrap_or(if at < 0 { Timestamp::MIN } else { Timestamp::MAX });
        Self(TimeZone::UTC.to_datetime(time).date())
    }

    /// First day of the period of this day.
    pub(super) fn start_of(self, period: Period) -> Self {
        Self(match period {
            Period::Daily => self.0,
            Period::Weekly => {
                let since_monday = i64::from(self.0.weekday().to_monday_zero_offset());
                self.0.saturating_sub(jiff::Span::new().days(since_monday))
            }
            Period::Monthly => self.0.first_of_month(),
            Period::Lifetime => Date::constant(1970, 1, 1),
        })
    }

    /// Reads a stored day.
    pub(super) fn check(text: &str) -> Result<(), String> {
        serde_json::from_value::<Self>(text.into()).map(drop).map_err(|error| error.to_string())
    }

    /// Form on the wire and in the database.
    pub(super) fn to_text(self) -> String {
        self.0.to_string()
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let plain = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let day = if plain { text.parse().ok() } else { None };
        day.map(Self).ok_or_else(|| de::Error::custom("must be a day, as YYYY-MM-DD"))
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
    use proptest::prelude::*;

    use super::*;

    const ALL: [Period; 4] = [Period::Daily, Period::Weekly, Period::Monthly, Period::Lifetime];
    const DAY: i64 = 24 * 60 * 60 * 1_000;

    fn start(at: Millis, period: Period) -> String {
        Day::of(at).start_of(period).to_text()
    }

    /// Year, month and day of a number of days since 1970-01-01, by Howard Hinnant's arithmetic.
    fn civil(days: i64) -> (i64, i64, i64) {
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        (era * 400 + year_of_era + i64::from(month <= 2), month, day)
    }

    fn text((year, month, day): (i64, i64, i64)) -> String {
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// Random times of some centuries, and times around midnights, Mondays, ends of months and leap days.
    fn times() -> impl Strategy<Value = Millis> {
        let near = prop_oneof![-3_i64..=3, -DAY..=DAY];
        let leap = (0_i64..60, near.clone()).prop_map(|(years, off)| (years * 1_461 + 58) * DAY + off);
        prop_oneof![
            0_i64..200 * 366 * DAY,
            (0_i64..200 * 366, near.clone()).prop_map(|(days, off)| days * DAY + off),
            (0_i64..2_400, near).prop_map(|(months, off)| months * 30_436_875 * 86 + off),
            leap,
        ]
        .prop_map(|at| at.max(0))
    }

    proptest! {
        #[test]
        fn period_starts_match_the_arithmetic(at in times()) {
            let days = at.div_euclid(DAY);
            prop_assert_eq!(start(at, Period::Daily), text(civil(days)));
            // The day 0 was a Thursday.
            prop_assert_eq!(start(at, Period::Weekly), text(civil(days - (days + 3).rem_euclid(7))));
            let (year, month, _) = civil(days);
            prop_assert_eq!(start(at, Period::Monthly), text((year, month, 1)));
            prop_assert_eq!(start(at, Period::Lifetime), "1970-01-01");
        }

        #[test]
        fn a_day_is_read_as_it_is_written(at in times(), period in prop::sample::select(&ALL)) {
            let day = Day::of(at).start_of(period);
            let read: Day = serde_json::from_value(day.to_text().into()).unwrap();
            prop_assert_eq!(read, day);
            prop_assert_eq!(read.start_of(period), day);
        }
    }

    #[test]
    fn a_day_has_one_spelling() {
        let read = |text: &str| serde_json::from_value::<Day>(text.into());
        assert_eq!(read("2028-02-29").unwrap().to_text(), "2028-02-29");
        for wrong in
            ["", "2027-02-29", "2027-13-01", "20270301", "2027-3-1", "2027-03-01T00:00", "+02027-03-01", "today"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn extreme_times_have_a_day() {
        for at in [Millis::MIN, Millis::MAX, -1] {
            for period in ALL {
                assert!(!start(at, period).is_empty());
            }
        }
        assert_eq!(start(-1, Period::Daily), "1969-12-31");
    }
}
