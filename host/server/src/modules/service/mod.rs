//! The rules of modules. Other rooms ask their network's modules through the functions of [`calls`].

mod calls;
pub(super) mod chains;
pub(super) mod dry_run;
mod error;
pub(super) mod key_value;
pub(super) mod key_value_move;
pub(super) mod replay;
mod storing;
pub(super) mod uploads;

pub use calls::{
    ChatDecision, Ranking, Review, filter_chat, has_chain, note_built_in, rank_servers, rank_worlds, review_punishment,
    samples,
};
pub use error::ModulesError;
pub use hub_sandbox::contract::Point;
