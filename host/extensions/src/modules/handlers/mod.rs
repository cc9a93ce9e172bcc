//! Handlers: modules at the point `events`, which are handed each event of the types that they name, and answer with
//! effects.
//!
//! An event is queued for each handler in the transaction that deletes it from the outbox. The network's owner hands
//! the queued events over: those of one key one after the other, those of different keys side by side. A call's effects,
//! the writes to the module's state and the deletion of the queue's row are one transaction, which checks the owner's
//! lease.
//!
//! Invariants: each event of a committed change is handled exactly once by each handler that was subscribed, or is its
//! dead letter; two events of one key are handled in their order, the second after the first is committed, is a dead
//! letter or is deleted; a call commits only if all that it read of its state is as it read it; nothing is written for
//! networks without handlers.

mod attempt;
mod backlog;
mod call_id;
mod commit;
mod dead_letters;
mod effects;
mod emitted;
mod fan_out;
mod key_queues;
mod lagging;
mod links;
mod model;
mod pauses;
mod registry;
mod schedules;
mod state;
mod store;
mod subject;
mod sweep;
mod turn;
mod watch;

use crate::component::Term;

pub use dead_letters::{LetterPile, letter_piles};
pub use effects::{HandledEvent, ModuleActor, ModuleEffects, Prepared, read_field, read_text};
pub(super) use registry::Handlers;
pub use state::recount;

pub(super) use dead_letters::DeadLetterEvent;
pub use emitted::ModuleEvent;
pub(super) use lagging::LaggingEvent;
pub use lagging::{Backlog, collect_metrics, lagging};

pub(super) use dead_letters::{delete, letter_id, list, retry, retry_all};
pub(super) use emitted::publish as publish_emitted;
pub(super) use fan_out::FanOut;
pub(super) use links::{
    Activation, CheckedLink, HandlerStats, authorize, begin, check, end_kept, end_of_module, follow, kept, stats,
};
pub(super) use model::EventCause;
pub(super) use model::{DeadLetterRow, KeptHandler, LetterKind};
pub(super) use registry::restore;
pub(super) use schedules::{
    CheckedSchedules, Outcome, Run, ScheduleRow, TimerRow, cancel_timer, check as check_schedules, delete_timer,
    follow as follow_schedules, list as list_schedules, list_timers, run_now, set_timer,
};
pub(super) use state::answer as answer_state;
pub(super) use state::{StateConflict, commit as commit_state, is_unchanged};
pub(super) use watch::start;

/// Pauses that end when the clock is set back.
pub(super) const PAUSES: &[Term] = &[store::queue::PAUSES, store::schedules::PAUSES, store::timers::PAUSES];
