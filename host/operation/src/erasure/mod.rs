//! Players' rights to their data: export and erasure of all data that a network stores about a player.
//!
//! Both read every table of the network, row by row: a player's UUID may be in any of them, in documents as well as
//! keys. Rows about the player are deleted; in rows about others a random UUID replaces the player's, for example in
//! the ledger, whose rows stay. The network's plan limits the age of other data (`retention`).
//!
//! Invariants: an erasure is recorded, with an entry in the audit log, before anything is deleted, and the record
//! stays, so that an interrupted erasure is resumed and one undone by a restore is repeated; data that identifies the
//! player is deleted last; rows are changed only in the transaction that read them.
//! Table: `forgotten_players`; reads and changes all of `archive::TABLES`.

mod erase;
mod export;
mod memory;
mod retention;
mod routes;
mod rules;
pub mod service;
mod store;
mod subject;

pub use erase::Eraser;
pub use export::export;
pub use routes::{router, to_line};
pub use service::start;
