//! A module: where its bytes are, the handle it is called by, and its code once it is loaded.

use crate::clock::monotonic;
use crate::contract::{Point, interface_name};
use crate::host::BoxFuture;
use crate::inspect::contract_name;
use crate::network::LOCAL_NETWORK;
use crate::sha256::Sha256Sum;
use crate::state::CallState;
use crate::versions::{self, Export, Version};
use bytes::Bytes;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use wasmtime::component::{Component, ComponentExportIndex, InstancePre, Linker};

/// The time between two notes that a module is in use.
const NOTE_INTERVAL: Duration = Duration::from_hours(1);

/// An upload that was compiled and tried.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The SHA-256 of the bytes as they were uploaded.
    pub sha256: Sha256Sum,
    /// The component to store: the upload itself, or what a core module was wrapped into.
    pub component: Bytes,
    /// The SHA-256 of the component, by which it is loaded.
    pub id: Sha256Sum,
    /// The points it serves.
    pub points: Vec<Point>,
    /// The version of the contract it is written against.
    pub world_version: String,
}

/// Fetches a component's bytes when its compiled code is not on this node.
pub trait ComponentSource: Send + Sync {
    /// The component's bytes, as [`Prepared::component`] gave them. The error is for the operator's log.
    fn component(&self) -> BoxFuture<'_, Result<Bytes, String>>;

    /// The network that the compilation counts for, and that its compiled code is kept for.
    fn network(&self) -> String {
        LOCAL_NETWORK.to_owned()
    }
}

/// A component in memory.
impl ComponentSource for Bytes {
    fn component(&self) -> BoxFuture<'_, Result<Bytes, String>> {
        Box::pin(std::future::ready(Ok(self.clone())))
    }
}

/// A module that [`crate::Sandbox::load`] made ready to be called. Cheap to clone. It does not hold the compiled code
/// itself: that is in a cache of bounded size, and is loaded again from disk, or from its source, when it is needed.
#[derive(Clone)]
pub struct ModuleHandle(pub(crate) Arc<Module>);

pub(crate) struct Module {
    pub(crate) id: Sha256Sum,
    pub(crate) points: Vec<Point>,
    pub(crate) source: Arc<dyn ComponentSource>,
    /// Held while its code is being loaded, so that a burst of calls loads it once.
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

/// Compiled code with its imports resolved: a call only instantiates it.
pub(crate) struct LoadedModule {
    pub(crate) pre: InstancePre<CallState>,
    version: &'static dyn Version,
    exports: Vec<(Point, &'static str, ComponentExportIndex)>,
    loaded_at: Instant,
    /// Seconds after it was loaded when its use was last noted.
    noted_at: AtomicU64,
}

impl LoadedModule {
    /// Resolves the imports and looks up the exports. Fails where they do not fit the contract's types.
    pub(crate) fn new(linker: &Linker<CallState>, component: &Component) -> wasmtime::Result<Self> {
        let pre = linker.instantiate_pre(component)?;
        let version = version(component).ok_or_else(|| {
            wasmtime::Error::msg(format!("it is of no version that this hub supports: {}", versions::numbers()))
        })?;
        let exports = Point::ALL.into_iter().filter_map(|point| exports(component, point, version.number()));
        let exports = exports.flatten().collect();
        Ok(Self { pre, version, exports, loaded_at: monotonic(), noted_at: AtomicU64::new(0) })
    }

    /// The points it serves.
    pub(crate) fn points(&self) -> Vec<Point> {
        let mut points: Vec<_> = self.exports.iter().map(|(point, ..)| *point).collect();
        points.dedup();
        points
    }

    /// An exported function of a point.
    pub(crate) fn export(&self, point: Point, name: &str) -> Option<Export<'_>> {
        let (.., index) = self.exports.iter().find(|export| (export.0, export.1) == (point, name))?;
        Some(Export { version: self.version, index })
    }

    /// Whether its use is to be noted now: once in a while.
    pub(crate) fn is_to_be_noted(&self) -> bool {
        let (now, before) = (self.loaded_at.elapsed().as_secs(), self.noted_at.load(Ordering::Relaxed));
        now >= before + NOTE_INTERVAL.as_secs()
            && self.noted_at.compare_exchange(before, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
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

/// The exported functions of a point; none where it lacks one.
fn exports(
    component: &Component,
    point: Point,
    version: &str,
) -> Option<Vec<(Point, &'static str, ComponentExportIndex)>> {
    let interface = component.get_export_index(None, interface_name(point.name(), version))?;
    let functions = point.functions().iter();
    functions.map(|name| Some((point, *name, component.get_export_index(Some(&interface), *name)?))).collect()
}
