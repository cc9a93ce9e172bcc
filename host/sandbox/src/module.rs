//! A module that can be called.

use crate::contract::{Point, interface_name};
use crate::host::BoxFuture;
use crate::inspect::contract_name;
use crate::state::State;
use crate::versions::{self, Version};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::Arc;
use wasmtime::component::{Component, ComponentExportIndex, InstancePre, Linker};

/// A SHA-256 of a module's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sha256Sum(pub [u8; 32]);

impl Sha256Sum {
    /// The sum of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The sum that 64 hex digits stand for.
    pub fn from_hex(hex: &str) -> Option<Self> {
        let digits = hex.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut sum = [0; 32];
        for (byte, pair) in sum.iter_mut().zip(digits.chunks_exact(2)) {
            let text = std::str::from_utf8(pair).ok().filter(|text| !text.starts_with('+'))?;
            *byte = u8::from_str_radix(text, 16).ok()?;
        }
        Some(Self(sum))
    }
}

impl fmt::Display for Sha256Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sha256Sum({self})")
    }
}

impl Serialize for Sha256Sum {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Sha256Sum {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::from_hex(&text).ok_or_else(|| serde::de::Error::custom("not a SHA-256 in hex"))
    }
}

/// Where a component's bytes are when its compiled code is not on this node (yet, or any more).
pub trait ComponentSource: Send + Sync {
    /// The component's bytes, as [`crate::Prepared::component`] gave them. The error is for the operator's log.
    fn component(&self) -> BoxFuture<'_, Result<Bytes, String>>;

    /// The network in whose turn it is compiled again.
    fn network(&self) -> String {
        String::new()
    }
}

/// A component that is at hand.
impl ComponentSource for Bytes {
    fn component(&self) -> BoxFuture<'_, Result<Bytes, String>> {
        Box::pin(std::future::ready(Ok(self.clone())))
    }
}

/// A module that [`crate::Sandbox::load`] made ready to be called. Cheap to clone. It does not hold the compiled code
/// itself: that is in a cache of bounded size, and comes back from disk, or from its source, when it is needed.
#[derive(Clone)]
pub struct ModuleHandle(pub(crate) Arc<Module>);

pub(crate) struct Module {
    pub(crate) id: Sha256Sum,
    pub(crate) points: Vec<Point>,
    pub(crate) source: Arc<dyn ComponentSource>,
    /// Held while its code is being brought back, so that a burst of calls brings it back once.
    pub(crate) loading: tokio::sync::Mutex<()>,
}

impl ModuleHandle {
    /// The SHA-256 of its component, by which it was loaded.
    pub fn id(&self) -> Sha256Sum {
        self.0.id
    }

    /// The points it serves.
    pub fn points(&self) -> &[Point] {
        &self.0.points
    }
}

impl fmt::Debug for ModuleHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ModuleHandle").field(&self.0.id).finish()
    }
}

/// Compiled code with its imports resolved: all that is left to do per call is to instantiate it.
pub(crate) struct Ready {
    pub(crate) pre: InstancePre<State>,
    version: &'static dyn Version,
    /// For each point it serves, the exported functions in the order of `Point::functions`.
    exports: Vec<(Point, Vec<ComponentExportIndex>)>,
}

/// An exported function, and the version of the contract it speaks.
#[derive(Clone, Copy)]
pub(crate) struct Export<'a> {
    pub(crate) version: &'static dyn Version,
    pub(crate) index: &'a ComponentExportIndex,
}

impl Ready {
    /// Resolves the imports and looks up the exports. Fails where they do not fit the contract's types.
    pub(crate) fn new(linker: &Linker<State>, component: &Component) -> wasmtime::Result<Self> {
        let pre = linker.instantiate_pre(component)?;
        let version = version(component).ok_or_else(|| {
            wasmtime::Error::msg(format!("it is of no version that this hub supports: {}", versions::numbers()))
        })?;
        let served = |point| Some((point, functions(component, point, version.number())?));
        Ok(Self { pre, version, exports: Point::ALL.into_iter().filter_map(served).collect() })
    }

    /// The points it serves.
    pub(crate) fn points(&self) -> Vec<Point> {
        self.exports.iter().map(|(point, _)| *point).collect()
    }

    /// An exported function of a point.
    pub(crate) fn export(&self, point: Point, function: usize) -> Option<Export<'_>> {
        let (_, functions) = self.exports.iter().find(|(served, _)| *served == point)?;
        Some(Export { version: self.version, index: functions.get(function)? })
    }

    /// Bytes of compiled code, for the cache's bound.
    pub(crate) fn size(&self) -> u32 {
        let image = self.pre.component().image_range();
        u32::try_from(image.end as usize - image.start as usize).unwrap_or(u32::MAX)
    }
}

/// The version a component is written against, by the full names of its exports: looked up by name, an interface of one
/// version is also found under the number of another that is compatible with it.
fn version(component: &Component) -> Option<&'static dyn Version> {
    let ty = component.component_type();
    let mut exports = ty.exports(component.engine());
    exports.find_map(|(name, _)| versions::find(contract_name(name)?.1))
}

fn functions(component: &Component, point: Point, version: &str) -> Option<Vec<ComponentExportIndex>> {
    let interface = component.get_export_index(None, interface_name(point.name(), version))?;
    let functions = point.functions().iter();
    functions.map(|name| component.get_export_index(Some(&interface), *name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_reads_back_what_it_shows() {
        let sum = Sha256Sum::of(b"module");
        assert_eq!(Sha256Sum::from_hex(&sum.to_string()), Some(sum));
        assert_eq!(Sha256Sum::from_hex("abc"), None);
        assert_eq!(Sha256Sum::from_hex(&"zz".repeat(32)), None);
        assert_eq!(Sha256Sum::from_hex(&"+1".repeat(32)), None);
    }
}
