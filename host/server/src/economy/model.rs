//! Currencies, balances and entries of the books.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Millis;
use crate::economy::amount::Amount;
use crate::values::Identifier;

/// What an owner has of a currency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema, sqlx::FromRow)]
#[serde(rename_all = "camelCase")]
#[schema(as = CurrencyBalance)]
pub struct Balance {
    /// The currency.
    #[schema(example = "coins")]
    pub currency_name: String,
    /// Exact, with at most 4 digits behind the point.
    pub balance: Amount,
}

/// A currency's bounds; none where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, sqlx::FromRow)]
pub(super) struct Bounds {
    pub(super) minimum: Option<Amount>,
    pub(super) maximum: Option<Amount>,
    pub(super) starting_balance: Option<Amount>,
}

impl Bounds {
    /// Those of a currency that nobody defined.
    pub(super) fn of_first_use() -> Self {
        Self { minimum: Some(Amount::default()), ..Self::default() }
    }

    pub(super) fn check(&self) -> Result<(), &'static str> {
        if self.minimum.zip(self.maximum).is_some_and(|(minimum, maximum)| minimum > maximum) {
            return Err("In the body, `maximum`: must not be below the minimum.");
        }
        if self.starting_balance.is_some_and(|start| start != self.clamp(start)) {
            return Err("In the body, `startingBalance`: must be from the minimum to the maximum.");
        }
        Ok(())
    }

    /// What a new balance begins at: where nothing is said, at what is nearest to nothing.
    pub(super) fn begins_at(&self) -> Amount {
        self.clamp(self.starting_balance.unwrap_or_default())
    }

    fn clamp(&self, amount: Amount) -> Amount {
        let least = self.minimum.unwrap_or(Amount::MIN);
        amount.min(self.maximum.unwrap_or(Amount::MAX)).max(least)
    }
}

/// A currency of a network.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Currency {
    pub(super) name: String,
    #[sqlx(flatten)]
    pub(super) bounds: Bounds,
}

/// A change of a balance.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) currency: Identifier,
    /// May be negative.
    pub(super) asked: Amount,
    pub(super) reason: Option<String>,
}

/// A change of a balance as the books have it.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Entry {
    pub(super) id: i64,
    pub(super) currency: String,
    pub(super) asked: Amount,
    pub(super) balance_before: Amount,
    pub(super) balance: Amount,
    pub(super) reason: Option<String>,
    pub(super) key_id: String,
    pub(super) at: Millis,
}
