//! `/api/plugin/economy` and `/api/manage/economy`, except the statistics.

mod balances;
mod currencies;
mod ledger;
mod transactions;

use crate::endpoints::Endpoints;

/// Routes of the component.
pub(super) fn router() -> Endpoints {
    balances::router().merge(currencies::router()).merge(ledger::router()).merge(transactions::router())
}
