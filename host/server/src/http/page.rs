//! Lists: the interface's page and its two parameters.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

/// One page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct Page<T> {
    /// The rows of this page.
    pub items: Vec<T>,
    /// Which page this is; the first is 0.
    pub page: i64,
    /// The most rows a page has.
    pub limit: i64,
    /// How many rows there are on all pages.
    pub total: i64,
}

/// A whole number of a query: `OR` when absent, cut to `MAX` when larger; below `MIN` is an error.
#[derive(Clone, Copy, Debug)]
pub struct Whole<const MIN: i64, const MAX: i64, const OR: i64>(pub i64);

/// `limit`: how many rows are wanted.
pub type Limit = Whole<1, 200, 50>;

/// `limit` of a leaderboard: how many places are wanted.
pub type LeaderboardLimit = Whole<1, 100, 10>;

/// `page`: which page is wanted, counted from 0.
pub type PageNumber = Whole<0, { i64::MAX }, 0>;

/// `offset`: how many rows to leave out before the first.
pub type Offset = Whole<0, { i64::MAX }, 0>;

/// The query of a list that takes nothing else.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// How many rows are wanted: 50 when absent, 200 at most.
    #[serde(default)]
    #[param(inline, required = false)]
    pub limit: Limit,
    /// Which page is wanted, counted from 0.
    #[serde(default)]
    #[param(inline, required = false)]
    pub page: PageNumber,
}

impl PageNumber {
    /// How many rows lie before this page.
    pub fn offset(self, limit: Limit) -> i64 {
        self.0.saturating_mul(limit.0)
    }
}

impl<T> Page<T> {
    /// The page of `limit` rows at `page`, of `total`.
    pub fn new(items: Vec<T>, page: PageNumber, limit: Limit, total: i64) -> Self {
        Self { items, page: page.0, limit: limit.0, total }
    }

    /// Cuts the page out of a list that is in memory as a whole.
    pub fn cut(all: Vec<T>, page: PageNumber, limit: Limit) -> Self {
        let total = all.len() as i64;
        let skip = usize::try_from(page.offset(limit)).unwrap_or(usize::MAX);
        let items = all.into_iter().skip(skip).take(limit.0 as usize).collect();
        Self::new(items, page, limit, total)
    }

    /// The same page with every row turned into another shape.
    pub fn map<U>(self, into: impl FnMut(T) -> U) -> Page<U> {
        Page {
            items: self.items.into_iter().map(into).collect(),
            page: self.page,
            limit: self.limit,
            total: self.total,
        }
    }
}

/// An integer as a query writes it. One too large for the machine is merely large.
struct Digits;

impl Visitor<'_> for Digits {
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

impl<const MIN: i64, const MAX: i64, const OR: i64> Default for Whole<MIN, MAX, OR> {
    fn default() -> Self {
        Self(OR)
    }
}

impl<'de, const MIN: i64, const MAX: i64, const OR: i64> Deserialize<'de> for Whole<MIN, MAX, OR> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = deserializer.deserialize_str(Digits)?;
        if number < MIN {
            return Err(de::Error::custom(format_args!("must be at least {MIN}")));
        }
        Ok(Self(number.min(MAX)))
    }
}

// Without a maximum and a format, which would be one: a larger number is cut, not refused.
impl<const MIN: i64, const MAX: i64, const OR: i64> PartialSchema for Whole<MIN, MAX, OR> {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(MIN)).default(Some(OR.into())).into()
    }
}
impl<const MIN: i64, const MAX: i64, const OR: i64> ToSchema for Whole<MIN, MAX, OR> {}
