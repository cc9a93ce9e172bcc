//! Schedules and timers: modules at the point `schedules`, which run at times that their manifests list, and at times that
//! their effects set.
//!
//! A schedule's row has the next tick, the tick under way and the last one. The network's owner begins a tick that is due,
//! and ends it in the transaction with the effects of its call, which checks the owner's lease; so does it end a timer.
//!
//! Invariants: a tick and a timer are committed once, and two ticks of a schedule, or two timers of a key, never run at the
//! same time; no tick begins before its time is proven; `next_at` never goes back, so that a clock that is set back repeats
//! no tick.

mod due;
mod links;
mod model;
mod serve;
mod service;
mod ticks;
mod timers;

pub(super) use links::handler;
pub(super) use serve::find_due;
pub(super) use ticks::{TickEnd, end_tick, fail_tick};

pub(in crate::modules) use links::{CheckedSchedules, check, follow};
pub(in crate::modules) use model::{Outcome, Run, ScheduleRow, TimerRow};
pub(in crate::modules) use service::{list, run_now};
pub(in crate::modules) use timers::{cancel_timer, delete as delete_timer, list as list_timers, set_timer};

pub(super) use timers::end_of_module;
