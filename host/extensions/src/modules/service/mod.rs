//! Rules of modules. Other components call their network's modules through [`call`].

pub(in crate::modules) mod activation;
mod breakers;
mod calls;
pub(super) mod chains;
mod dry_call;
pub(super) mod dry_run;
pub(super) mod error;
pub(super) mod key_value;
pub(super) mod links;
pub(super) mod replay;
pub(super) mod revisions;
mod storing;
pub(super) mod uploads;

pub use crate::modules::endpoints::address_hash;
pub use crate::modules::handlers::{
    Backlog, LetterPile, collect_metrics, lagging, letter_piles, recount as recount_state,
};
pub use breakers::{SkippedModule, breakers, skipped};
pub use calls::{CallTrace, call, has_chain, traced_call};
pub(super) use calls::{meter, record_alone, report_opening, take_sample};
pub use chains::pause_restored;
pub use dry_call::{DryStep, dry_call};
pub use error::ModulesError;
pub use hub_sandbox::Ranking;
pub use hub_sandbox::contract::Point;
pub use key_value::recount_store;
pub use uploads::{names, version_count};
