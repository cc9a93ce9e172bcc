//! Rules of modules. Other components call their network's modules through [`call`].

mod breakers;
mod calls;
pub(super) mod chains;
pub(super) mod dry_run;
pub(super) mod error;
pub(super) mod key_value;
pub(super) mod links;
pub(super) mod replay;
mod storing;
pub(super) mod uploads;

pub use crate::modules::handlers::recount as recount_state;
pub use breakers::breakers;
pub use calls::{CallTrace, call, has_chain, traced_call};
pub(super) use calls::{meter, record_alone, report_opening, take_sample};
pub use error::ModulesError;
pub use hub_sandbox::Ranking;
pub use hub_sandbox::contract::Point;
pub use key_value::recount_store;
