//! A player's sessions, as far as their data matters: a session is opened with the player's profile, saves whole or not at
//! all, and leaves a snapshot of what it changed.

pub(super) mod restore;
pub(super) mod save;
pub(super) mod snapshots;

pub(super) use snapshots::SnapshotKeeper;
