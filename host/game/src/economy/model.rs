//! Currencies, balances and ledger entries.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::auth::KeyId;
use crate::clock::Millis;
use crate::economy::amount::{Amount, Difference};
use crate::owner::Owner;
use crate::values::Identifier;

/// An owner's balance of a currency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema, sqlx::FromRow)]
#[serde(rename_all = "camelCase")]
#[schema(as = CurrencyBalance)]
pub struct Balance {
    /// Name of the currency.
    #[schema(example = "coins")]
    pub currency_name: String,
    /// Exact amount, with at most 4 decimal places.
    pub balance: Amount,
}

impl Balance {
    /// Parses the column `player_balances`, ordered by currency.
    pub(crate) fn list_from_json(json: &str) -> Result<Vec<Self>, hub_db::Error> {
        let rows: Vec<(String, i64)> = serde_json::from_str(json).map_err(|error| sqlx::Error::Decode(error.into()))?;
        let of_row =
            |(currency_name, balance)| Some(Self { currency_name, balance: Amount::of_ten_thousandths(balance)? });
        let balances: Option<Vec<_>> = rows.into_iter().map(of_row).collect();
        let mut balances = balances.ok_or_else(|| sqlx::Error::Decode("a balance is out of range".into()))?;
        balances.sort_by(|a, b| a.currency_name.cmp(&b.currency_name));
        Ok(balances)
    }
}

/// Bounds of a currency; none is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, sqlx::FromRow)]
pub(super) struct Bounds {
    pub(super) minimum: Option<Amount>,
    pub(super) maximum: Option<Amount>,
    pub(super) starting_balance: Option<Amount>,
}

impl Bounds {
    /// Bounds of a currency created on first use.
    pub(super) fn undefined() -> Self {
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

    /// Initial balance of a new account: the starting balance, or else the value nearest to 0 inside the bounds.
    pub(super) fn opening_balance(&self) -> Amount {
        self.clamp(self.starting_balance.unwrap_or_default())
    }

    pub(super) fn clamp(&self, amount: Amount) -> Amount {
        let least = self.minimum.unwrap_or(Amount::MIN);
        amount.min(self.maximum.unwrap_or(Amount::MAX)).max(least)
    }
}

/// Currency of a network.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Currency {
    pub(super) name: String,
    #[sqlx(flatten)]
    pub(super) bounds: Bounds,
}

/// Change of a balance.
#[derive(Clone, Debug)]
pub(super) struct BalanceChange {
    pub(super) owner: Owner,
    pub(super) currency: Identifier,
    /// May be negative.
    pub(super) amount: Amount,
}

/// Ledger data of changes besides their amounts.
#[derive(Clone, Debug)]
pub(super) struct LedgerNote {
    pub(super) reason: Option<String>,
    pub(super) key: KeyId,
    /// Transaction of the changes.
    pub(super) transaction: Option<Uuid>,
    /// Amount that was asked for, if the network's modules amended it.
    pub(super) asked: Option<Amount>,
}

/// A completed change.
#[derive(Clone, Copy, Debug, sqlx::FromRow)]
pub(super) struct AppliedChange {
    pub(super) previous: Amount,
    pub(super) balance: Amount,
    #[sqlx(rename = "last_entry")]
    pub(super) ledger_id: i64,
}

impl AppliedChange {
    pub(super) fn applied(&self) -> Difference {
        Difference::between(self.previous, self.balance)
    }
}

/// Balance after a change.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangedBalance {
    #[schema(example = "player")]
    owner_type: String,
    #[schema(example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")]
    owner_key: String,
    #[schema(example = "coins")]
    currency_name: String,
    /// New balance.
    balance: Amount,
    /// Applied amount.
    applied: Difference,
    /// Id of the change's ledger entry.
    #[schema(example = 1_804_680_000_000_000_i64)]
    ledger_id: i64,
}

/// Event data known before the change.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UncutChangeEvent<'a> {
    pub(super) owner_type: &'a str,
    pub(super) owner_key: &'a str,
    pub(super) currency_name: &'a Identifier,
    pub(super) applied: Amount,
}

impl ChangedBalance {
    pub(super) fn new(change: &BalanceChange, applied: AppliedChange) -> Self {
        Self {
            owner_type: change.owner.owner_type().to_owned(),
            owner_key: change.owner.key().to_owned(),
            currency_name: change.currency.as_str().to_owned(),
            balance: applied.balance,
            applied: applied.applied(),
            ledger_id: applied.ledger_id,
        }
    }
}

/// Ledger entry of a balance change.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct LedgerRow {
    pub(super) id: i64,
    pub(super) currency: String,
    pub(super) asked: Amount,
    pub(super) amended: Option<Amount>,
    pub(super) balance_before: Amount,
    pub(super) balance: Amount,
    pub(super) reason: Option<String>,
    pub(super) key_id: String,
    pub(super) at: Millis,
    pub(super) transaction_id: Option<Uuid>,
}
