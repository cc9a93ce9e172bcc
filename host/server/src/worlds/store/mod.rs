//! All SQL of the room.

pub(super) mod blobs;
pub(super) mod leases;
pub(super) mod sweep;
pub(super) mod worlds;
