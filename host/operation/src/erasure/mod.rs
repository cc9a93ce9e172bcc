//! Players' rights to their data: export and erasure of all data that a network stores about a player.
//!
//! Both read every table of the network, row by row: a player's UUID may be in any of them, in documents as well as
//! keys. Rows about the player are deleted; in rows about others a random UUID replaces the player's, for example in
//! the ledger, whose rows stay. The network's plan limits the age of other data (`retention`).
//!
//! Invariants: an erasure is recorded, with an entry in the audit log, before anything is deleted, and the record
//! stays, so that an interrupted erasure is resumed and one undone by a restore is repeated; data that identifies the
//! player is deleted last; rows are changed only in the transaction that read them.
//! Table: `forgotten_players`; reads and changes the tables of networks.

mod erase;
mod export;
mod memory;
mod retention;
mod routes;
mod rules;
pub mod service;
mod store;
mod subject;

use crate::component::{Component, TableRule, Tag};

pub use erase::Eraser;
pub use export::export;
pub use routes::to_line;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "export and erasure of all that is stored about a player ([erasure](../operate/erasure.md)); reads and changes all tables of networks",
    tags: &[Tag("Privacy", "Export and erasure of players' data.")],
    routes: routes::router,
    tables: &[
        TableRule::moved("forgotten_players").without_players("the record of erasures, to repeat them after a restore")
    ],
    background: service::start,
    ..Component::new(module_path!())
};
