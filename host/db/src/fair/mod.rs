//! Fair shares: queues and permits that are shared among tenants.

mod permits;
mod queue;

pub use permits::{FairPermit, FairPermits};
pub(crate) use queue::FairQueue;
