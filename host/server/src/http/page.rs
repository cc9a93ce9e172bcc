//! Pages of lists and their parameters.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

/// One page of a list.
#[derive(Debug, Serialize, ToSchema)]
#[allow(clippy::struct_field_names, reason = "as on the wire")]
pub(crate) struct Page<T> {
    /// The rows of this page.
    pub(crate) items: Vec<T>,
    /// Which page this is; the first is 0.
    pub(crate) page: i64,
    /// The most rows a page has.
    pub(crate) limit: i64,
    /// How many rows there are on all pages.
    pub(crate) total: i64,
}

/// An integer of a query: `DEFAULT` when absent, cut to `MAX` when larger; below `MIN` is an error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundedInt<const MIN: i64, const MAX: i64, const DEFAULT: i64>(pub(crate) i64);

/// `limit`: the most rows to answer.
pub(crate) type Limit = BoundedInt<1, 200, 50>;

/// `limit` of a leaderboard: the most ranks to answer.
pub(crate) type LeaderboardLimit = BoundedInt<1, 100, 10>;

/// `page`: which page to answer, counted from 0.
pub(crate) type PageNumber = BoundedInt<0, { i64::MAX }, 0>;

/// `offset`: how many rows to skip.
pub(crate) type Offset = BoundedInt<0, { i64::MAX }, 0>;

/// The query of a list that takes nothing else.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageQuery {
    /// How many rows are wanted: 50 when absent, 200 at most.
    #[serde(default)]
    #[param(inline, required = false)]
    pub(crate) limit: Limit,
    /// Which page is wanted, counted from 0.
    #[serde(default)]
    #[param(inline, required = false)]
    pub(crate) page: PageNumber,
}

impl PageNumber {
    /// How many rows lie before this page.
    pub(crate) fn offset(self, limit: Limit) -> i64 {
        self.0.saturating_mul(limit.0)
    }
}

impl<T> Page<T> {
    /// The page of `limit` rows at `page`, of `total`.
    pub(crate) fn new(items: Vec<T>, page: PageNumber, limit: Limit, total: i64) -> Self {
        Self { items, page: page.0, limit: limit.0, total }
    }

    /// Takes the page out of a whole list in memory.
    pub(crate) fn paginate(all: Vec<T>, page: PageNumber, limit: Limit) -> Self {
        let total = all.len() as i64;
        let skip = usize::try_from(page.offset(limit)).unwrap_or(usize::MAX);
        let items = all.into_iter().skip(skip).take(limit.0 as usize).collect();
        Self::new(items, page, limit, total)
    }

    /// The same page with every row turned into another shape.
    pub(crate) fn map<U>(self, into: impl FnMut(T) -> U) -> Page<U> {
        Page {
            items: self.items.into_iter().map(into).collect(),
            page: self.page,
            limit: self.limit,
            total: self.total,
        }
    }
}

/// Reads the text of an integer; one too large for `i64` is cut to it.
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

// Without a maximum, and without a format, which implies one: a larger number is cut, not refused.
impl<const MIN: i64, const MAX: i64, const DEFAULT: i64> PartialSchema for BoundedInt<MIN, MAX, DEFAULT> {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(MIN)).default(Some(DEFAULT.into())).into()
    }
}
impl<const MIN: i64, const MAX: i64, const DEFAULT: i64> ToSchema for BoundedInt<MIN, MAX, DEFAULT> {}
