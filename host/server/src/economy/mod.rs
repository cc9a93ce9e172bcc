//! Currencies: what owners have of them, exactly, and the books.
//!
//! Invariants: amounts are whole ten-thousandths, never floating point; a balance changes only together with an entry of
//! its ledger, in one transaction; after a change it is inside its currency's bounds. A currency nobody defined is made
//! on first use.
//! Tables: `currencies`, `balances`, `currency_ledger`.

mod amount;
mod model;
mod routes;
pub mod service;
mod store;

pub use amount::Amount;
pub use model::Balance;
pub(crate) use routes::router;
