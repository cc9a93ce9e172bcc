//! Pages of lists, and their parameters.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

/// Page of a list.
#[derive(Debug, Serialize, ToSchema)]
#[allow(clippy::struct_field_names, reason = "as on the wire")]
pub struct Page<T> {
    /// Rows of this page.
    pub items: Vec<T>,
    /// Number of this page, from 0.
    pub page: i64,
    /// Maximum number of rows per page.
    pub limit: i64,
    /// Number of rows on all pages.
    pub total: i64,
}

/// Integer of a query: `DEFAULT` if absent, reduced to `MAX` if larger; an error below `MIN`.
#[derive(Clone, Copy, Debug)]
pub struct BoundedInt<const MIN: i64, const MAX: i64, const DEFAULT: i64>(pub i64);

/// `limit`: maximum number of rows.
pub type Limit = BoundedInt<1, 200, 50>;

/// `limit` of a leaderboard: maximum number of ranks.
pub type LeaderboardLimit = BoundedInt<1, 100, 10>;

/// `page`: page number, from 0.
pub type PageNumber = BoundedInt<0, { i64::MAX }, 0>;

/// `offset`: number of rows to skip.
pub type Offset = BoundedInt<0, { i64::MAX }, 0>;

/// Query of a list without other parameters.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// Maximum number of rows (default 50, at most 200).
    #[serde(default)]
    #[param(inline, required = false)]
    pub limit: Limit,
    /// Page number, from 0.
    #[serde(default)]
    #[param(inline, required = false)]
    pub page: PageNumber,
}

impl PageNumber {
    /// Number of rows before this page.
    pub fn offset(self, limit: Limit) -> i64 {
        self.0.saturating_mul(limit.0)
    }
}

impl<T> Page<T> {
    /// Page of `limit` rows at `page`, of `total` rows.
    pub fn new(items: Vec<T>, page: PageNumber, limit: Limit, total: i64) -> Self {
        Self { items, page: page.0, limit: limit.0, total }
    }

    /// Cuts the page out of a complete list in memory.
    pub fn paginate(all: Vec<T>, page: PageNumber, limit: Limit) -> Self {
        let total = all.len() as i64;
        let skip = usize::try_from(page.offset(limit)).unwrap_or(usize::MAX);
        let items = all.into_iter().skip(skip).take(limit.0 as usize).collect();
        Self::new(items, page, limit, total)
    }

    /// The same page with every row converted.
    pub fn map<U>(self, into: impl FnMut(T) -> U) -> Page<U> {
        Page {
            items: self.items.into_iter().map(into).collect(),
            page: self.page,
            limit: self.limit,
            total: self.total,
        }
    }
}

/// Parses the text of an integer; values too large for `i64` are clamped.
struct IntegerVisitor;

impl Visitor<'_> for IntegerVisitor {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<i64, E> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(E::custom("must be an integer"));
        }
        Ok(text.parse().unwrap_or(if text.starts_with('-') { i64::MIN } else { i64::MAX }))
    }
}

impl<const MIN: i64, const MAX: i64, const DEFAULT: i64> Default for BoundedInt<MIN, MAX, DEFAULT> {
    fn default() -> Self {
        Self(DEFAULT)
    }
}

impl<'de, const MIN: i64, const MAX: i64, const DEFAULT: i64> Deserialize<'de> for BoundedInt<MIN, MAX, DEFAULT> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = deserializer.deserialize_str(IntegerVisitor)?;
        if number < MIN {
            return Err(de::Error::custom(format_args!("must be at least {MIN}")));
        }
        Ok(Self(number.min(MAX)))
    }
}

// Without a maximum or format (which implies one): larger numbers are reduced, not refused.
impl<const MIN: i64, const MAX: i64, const DEFAULT: i64> PartialSchema for BoundedInt<MIN, MAX, DEFAULT> {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(MIN)).default(Some(DEFAULT.into())).into()
    }
}
impl<const MIN: i64, const MAX: i64, const DEFAULT: i64> ToSchema for BoundedInt<MIN, MAX, DEFAULT> {}
