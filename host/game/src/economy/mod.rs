//! Currencies: exact balances of owners, and the ledger of their changes.
//!
//! Invariants: amounts are whole ten-thousandths, never floating point; a balance changes only together with a ledger
//! entry, in one transaction; after a change it is inside its currency's bounds; a transaction makes all of its
//! changes exactly, or none. An undefined currency is created on first use.
//! Tables: `currencies`, `balances`, `currency_ledger`.

mod amount;
mod import;
mod model;
mod routes;
pub mod service;
mod store;

use crate::events::{EventKind, EventSchema};
use crate::http::json::WrittenJson;
use crate::shared_reads::SharedReads;
use crate::values::NetworkId;

pub use amount::Amount;
pub use import::{BalanceImport, PlannedBalance, check_new_balances, plan_balances, write_balances};
pub use model::Balance;
pub use routes::router;
pub(crate) use store::{player_balances, select_balances};

/// Leaderboards that are being read, by network and request.
#[derive(Debug, Default)]
pub struct Leaderboards(SharedReads<(NetworkId, String), WrittenJson>);

/// Events of this component, for the API document.
pub fn events() -> Vec<EventSchema> {
    vec![EventSchema::of::<model::ChangedBalance>(EventKind::BalanceChanged)]
}
