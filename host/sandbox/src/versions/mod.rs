//! The versions of the contract.
//!
//! The hub itself works with one set of types, those of [`crate::contract`]. A [`Version`] passes a module's arguments
//! in that version's types, reads its answer, and links the host functions of the version. A version whose types are
//! the hub's own passes references through; one that differs translates.

#[cfg(test)]
mod later;
mod v1_0;
mod v1_1;
mod version;

pub(crate) use version::{Export, Running, Version};

use crate::state::CallState;
use wasmtime::component::Linker;
use wasmtime::{Engine, Result};

/// The supported versions, newest first.
#[cfg(not(test))]
const SUPPORTED: &[&dyn Version] = &[&v1_1::V1_1, &v1_0::V1_0];
/// In unit tests also a made-up one, to see that two versions run side by side.
#[cfg(test)]
const SUPPORTED: &[&dyn Version] = &[&later::Later, &v1_1::V1_1, &v1_0::V1_0];

/// The supported version of that number.
pub(crate) fn find(number: &str) -> Option<&'static dyn Version> {
    SUPPORTED.iter().copied().find(|version| version.number() == number)
}

/// The newest supported version.
pub(crate) fn newest() -> &'static dyn Version {
    &v1_1::V1_1
}

/// Numbers of the supported versions, newest first, for messages.
pub(crate) fn numbers() -> String {
    let numbers: Vec<_> = SUPPORTED.iter().map(|version| version.number()).collect();
    numbers.join(", ")
}

/// A linker with the host functions of every version, and nothing else.
pub(crate) fn linker(engine: &Engine) -> Result<Linker<CallState>> {
    let mut linker = Linker::new(engine);
    SUPPORTED.iter().try_for_each(|version| version.link(&mut linker))?;
    Ok(linker)
}
