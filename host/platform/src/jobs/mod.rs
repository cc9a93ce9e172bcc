//! Jobs: work that outlives the request that asked for it, with leases, retries and a bound on what runs at once.
//!
//! A job is queued inside the caller's transaction and names its kind. Each kind has a loop at every node: it looks for
//! due jobs when one is queued at this node, and each second for those of others. It takes one job of each network in
//! turn, so that a network with many jobs delays no other's. A node leases a job and renews the lease while it works; a
//! killed node's leases run out, and another node takes the jobs. A long job gives its slot back after its turn, if
//! others wait for one.
//!
//! Invariants: a job has at most one lease; a job is queued once under its key, and runs once more if it was queued
//! again while it ran; a failed one is retried after a pause that its kind gives, and given up if the kind says so.
//! A job may run twice, after a kill, so that its work must be repeatable.
//! Table: `jobs`.

mod backoff;
mod kind;
mod lease;
mod model;
mod service;
mod slots;
mod state;
mod store;
mod unattended;
mod worker;

pub use backoff::Backoff;
pub use kind::{JobError, JobKind, JobOutcome, RunsAt};
pub use model::{Job, JobId, JobState, JobStats, NewJob, StoredJob};
pub use service::{cancel, enqueue, enqueue_and_wake, is_turn_over, kinds, list, reschedule, retry, stats, wake};
pub use state::Jobs;
pub use unattended::Unattended;
pub use worker::work;

use futures_util::FutureExt as _;

use crate::component::column::{any_json, any_text, text};
use crate::component::{Component, TableRule};

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "work that outlives a request, queued by other components; `hub admin jobs` ([jobs](../operate/jobs.md))",
    tables: &[TableRule::moved("jobs")
        .last()
        .without_players("names of work, and the replacement in a player's erasure, which ends with it")
        .columns(&[
            text::<64>("kind"),
            text::<1_024>("job_key"),
            any_json("payload"),
            any_text("last_error"),
            text::<255>("node"),
        ])],
    register: |states, opening| {
        states.insert(Jobs::new(opening.ids));
        Ok(())
    },
    start: |app| async { Ok(worker::end_leases(app).await?) }.boxed(),
    background: worker::start_sweep,
    terms: &[store::LEASES],
    ..Component::new(module_path!())
};
