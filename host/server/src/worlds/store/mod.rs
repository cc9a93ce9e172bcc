//! All SQL of the room.

pub(super) mod leases;
pub(super) mod snapshots;
pub(super) mod sweep;
pub(super) mod worlds;
