//! Secrets of a network, with which signatures are checked. Modules name them, and never see them.
//!
//! Invariants: the database has them sealed; no answer has a value; a replaced value is good until the end of its own overlap;
//! none that an active module names is deleted. Table: `module_secrets`.

pub(in crate::modules) mod routes;
mod service;
mod store;

use crate::component::column::{any_text, text};
use crate::component::{Sealed, TableRule};
use crate::limits::{Limit, LimitRow};

pub use service::address_hash;
pub(super) use service::{is_set, keep_uses, note_use, values};
pub(super) use store::SecretRow;

/// Secrets of a network.
pub(in crate::modules) const SECRETS: Limit = Limit::new(&LimitRow {
    name: "secrets",
    bound: 64,
    counted: "Secrets for signatures of requests to endpoints.",
    effect: None,
});
/// Declaration of the table.
pub(in crate::modules) const TABLE: TableRule = TableRule::moved("module_secrets")
    .without_players("secrets of the network")
    .columns(&[text::<64>("name"), any_text("value"), any_text("previous")])
    .sealed(&[Sealed::Text("value"), Sealed::Text("previous")]);
