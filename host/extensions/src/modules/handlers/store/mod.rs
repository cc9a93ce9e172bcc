//! All SQL of handlers.

pub(super) mod cascades;
pub(super) mod dead_letters;
pub(super) mod handlers;
pub(super) mod queue;
pub(super) mod schedules;
pub(super) mod state;
pub(super) mod timers;
