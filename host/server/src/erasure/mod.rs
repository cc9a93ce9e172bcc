//! Players who want their data, or want to be forgotten: the export and the deletion of all that a network keeps of one.
//!
//! Both read every table of the network, row by row: a player's UUID may be in any of them, in a document as in a key.
//! Rows about the player are deleted; in rows about others a random UUID takes the place of the player's, as in the
//! ledger, whose rows stay. How long data stays that nobody asks to delete is the plan's (`retention`).
//!
//! Invariants: what is to be forgotten is recorded, with an entry in the audit log, before anything is deleted, and the
//! record stays, so that a deletion that was interrupted is gone on with and one that a restore took back is done again;
//! what tells the player's names and addresses goes last; no row is changed but in a transaction that read it.
//! Table: `forgotten_players`; reads and changes all of `archive::TABLES`.

mod erase;
mod export;
mod memory;
mod retention;
mod routes;
mod rules;
pub(crate) mod service;
mod store;
mod subject;

pub(crate) use erase::Eraser;
pub(crate) use export::export;
pub(crate) use routes::{router, to_line};
pub(crate) use service::start;
