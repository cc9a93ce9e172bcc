//! Statistics in requests and answers.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::clock::Millis;
use crate::statistics::period::Period;
use crate::values::{Identifier, Label};

/// A number from -1e300 to 1e300, so that sums of two stay finite.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, sqlx::Type)]
#[sqlx(transparent)]
pub(super) struct FiniteNumber(pub(super) f64);

impl FiniteNumber {
    /// Maximum amount and value: the database refuses a larger sum.
    pub(super) const MAX: f64 = 1e300;
}

impl TryFrom<f64> for FiniteNumber {
    type Error = &'static str;

    fn try_from(number: f64) -> Result<Self, &'static str> {
        if !number.is_finite() || number.abs() > Self::MAX {
            return Err("must be from -1e300 to 1e300");
        }
        // Turns -0 into 0.
        Ok(Self(number + 0.0))
    }
}

impl<'de> Deserialize<'de> for FiniteNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
    }
}

/// Integers are written without a decimal point.
impl Serialize for FiniteNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// Up to here every integer is exact.
        const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
        if self.0.fract() == 0.0 && self.0.abs() <= MAX_EXACT {
            return serializer.serialize_i64(self.0 as i64);
        }
        serializer.serialize_f64(self.0)
    }
}

impl PartialSchema for FiniteNumber {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Number)
            .minimum(Some(-Self::MAX))
            .maximum(Some(Self::MAX))
            .examples([3])
            .into()
    }
}
impl ToSchema for FiniteNumber {
    fn name() -> Cow<'static, str> {
        "Figure".into()
    }
}

/// Key of an owner's statistic.
#[derive(Clone, Debug)]
pub(super) struct StatisticKey {
    pub(super) game_mode: Label,
    pub(super) name: Identifier,
}

/// The value of a statistic in a period.
#[derive(Clone, Debug, sqlx::FromRow)]
#[allow(clippy::struct_field_names, reason = "as the table names its columns")]
pub(super) struct StatisticRow {
    pub(super) name: String,
    #[sqlx(try_from = "String")]
    pub(super) period: Period,
    pub(super) period_start: String,
    pub(super) value: FiniteNumber,
    pub(super) updated_at: Millis,
}
