//! All SQL of worlds.

pub(super) mod leases;
pub(super) mod snapshots;
pub(super) mod sweep;
pub(super) mod worlds;
