//! All SQL of modules.

pub(super) mod activations;
pub(super) mod chains;
pub(super) mod key_value;
pub(super) mod revisions;
pub(super) mod versions;
