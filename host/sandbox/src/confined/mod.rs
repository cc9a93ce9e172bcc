//! Child processes that read untrusted bytes.
//!
//! The hub starts its own executable with a hidden command. The child sets itself limits ([`ProcessLimits`]), gives up
//! files, the network and other processes ([`restrict_objects`], [`restrict_system_calls`]), and then reads the bytes.
//! Any end without an answer (killed, out of memory, crashed) is a [`ChildFailure`] and does not affect the hub.

mod limits;
mod probe;
mod process;
mod restrict;

pub use limits::ProcessLimits;
pub use probe::probe_main;
pub use process::{ChildFailure, command, read_errors, start};
pub use restrict::{Confinement, restrict_objects, restrict_system_calls};
