//! Currencies: exact balances of owners, and the ledger of their changes.
//!
//! Invariants: amounts are whole ten-thousandths, never floating point; a balance changes only together with a ledger
//! entry, in one transaction; after a change it is inside its currency's bounds; a transaction makes all of its
//! changes exactly, or none. An undefined currency is created on first use.
//! Tables: `currencies`, `balances`, `currency_ledger`.

mod amount;
pub mod effects;
mod import;
mod model;
mod review;
mod routes;
pub mod service;
mod store;

use crate::component::column::{ColumnRule, any_text, number, read, text};
use crate::component::{Aging, Component, ErrorCode, EventSchema, Now, TableRule, Tag, Undo, UndoBy};
use crate::events::EventKind;
use crate::http::json::WrittenJson;
use crate::shared_reads::SharedReads;
use crate::values::{Identifier, NetworkId};

pub use amount::Amount;
pub use import::{BalanceImport, PlannedBalance, check_new_balances, plan_balances, write_balances};
pub use model::Balance;
pub(crate) use store::{player_balances, select_balances};

/// Column with an amount.
const fn amount(name: &'static str) -> ColumnRule {
    number(name, Amount::MIN.ten_thousandths(), Amount::MAX.ten_thousandths())
}

/// Changes that can be undone.
const UNDOS: &[Undo] = &[Undo {
    action: "currency.put",
    target: &["name"],
    fields: &["minimum", "maximum", "startingBalance"],
    route: "/api/manage/economy/currencies/{name}",
    changes: UndoBy::Put,
    deletes: false,
    now: Now::among("/api/manage/economy/currencies?limit=200", "currencyName", "name"),
}];

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "exact balances of owners, and the ledger of their changes",
    tags: &[
        Tag("Economy", "Balances, transactions, statistics and leaderboards of players and any other owner."),
        Tag("Manage: economy", "Define currencies and read the ledger."),
    ],
    routes: || routes::router().database_only(),
    events: || vec![EventSchema::of::<model::ChangedBalance>(EventKind::BalanceChanged)],
    tables: &[
        TableRule::moved("currencies").columns(&[
            read::<Identifier>("name"),
            amount("minimum"),
            amount("maximum"),
            amount("starting_balance"),
            amount("begins_at"),
        ]),
        TableRule::moved("balances").columns(&[
            read::<Identifier>("owner_type"),
            read::<Identifier>("owner_key"),
            read::<Identifier>("currency"),
            amount("balance"),
            amount("previous"),
        ]),
        TableRule::moved("currency_ledger")
            .prose(&["reason"])
            .aging(Aging { at: "at", days: |days| days.ledger, except: None })
            .columns(&[
                read::<Identifier>("owner_type"),
                read::<Identifier>("owner_key"),
                read::<Identifier>("currency"),
                amount("asked"),
                amount("amended"),
                amount("balance_before"),
                amount("balance"),
                any_text("reason"),
                text::<255>("key_id"),
            ]),
    ],
    errors: &[
        ErrorCode::new(
            "insufficient_funds",
            &[400],
            "An exact change would leave less than the currency's minimum; nothing was changed.",
        ),
        ErrorCode::new(
            "over_maximum",
            &[400],
            "An exact change would leave more than the currency's maximum; nothing was changed.",
        ),
        ErrorCode::new("change_rejected", &[400], "The network's modules refused the change; nothing was changed."),
    ],
    register: |states, _| {
        states.insert(Leaderboards::default());
        Ok(())
    },
    undos: UNDOS,
    ..Component::new(module_path!())
};

/// Leaderboards that are being read, by network and request.
#[derive(Debug, Default)]
pub struct Leaderboards(SharedReads<(NetworkId, String), WrittenJson>);
