//! A module: the source of its bytes, its handle for calls, and its code once it is loaded.

use crate::clock::monotonic;
use crate::contract::{Point, interface_name};
use crate::host::BoxFuture;
use crate::inspect::contract_name;
use crate::manifest::Manifest;
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

/// Interval between records that a module is in use.
const NOTE_INTERVAL: Duration = Duration::from_hours(1);

/// An upload that was compiled and tried.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// SHA-256 of the uploaded bytes.
    pub sha256: Sha256Sum,
    /// The component to store: the upload itself, or the wrapped core module.
    pub component: Bytes,
    /// SHA-256 of the component, which is its id for loading.
    pub id: Sha256Sum,
    /// The points it serves.
    pub points: Vec<Point>,
    /// Version of the contract of this module.
    pub world_version: String,
    /// List of what it handles and needs; `None` for modules of 1.0, which have no manifest.
    pub manifest: Option<Manifest>,
}

/// Fetches a component's bytes when its compiled code is not on this node.
pub trait ComponentSource: Send + Sync {
    /// The component's bytes, as returned in [`Prepared::component`]. The error is for the operator's log.
    fn component(&self) -> BoxFuture<'_, Result<Bytes, String>>;

    /// Network that the compilation counts for, and whose cache keeps its compiled code.
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

/// A loaded module, see [`crate::Sandbox::load`]. Cheap to clone. It does not hold the compiled code itself: that is in
/// a cache of bounded size, and is loaded again from disk, or from its source, when it is needed.
#[derive(Clone)]
pub struct ModuleHandle(pub(crate) Arc<Module>);

pub(crate) struct Module {
    pub(crate) id: Sha256Sum,
    pub(crate) points: Vec<Point>,
    pub(crate) source: Arc<dyn ComponentSource>,
    /// Locked while its code is being loaded, so that a burst of calls loads it once.
    pub(crate) loading: tokio::sync::Mutex<()>,
}

impl ModuleHandle {
    /// SHA-256 of its component, which is its id for loading.
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
    /// Time of its last recorded use, in seconds after it was loaded.
    noted_at: AtomicU64,
}

impl LoadedModule {
    /// Resolves the imports and looks up the exports. Fails if they do not fit the contract's types.
    pub(crate) fn new(linker: &Linker<CallState>, component: &Component) -> wasmtime::Result<Self> {
        let pre = linker.instantiate_pre(component)?;
        let version = version(component).ok_or_else(|| {
            wasmtime::Error::msg(format!("unsupported version of the contract; supported: {}", versions::numbers()))
        })?;
        let exports = Point::ALL.into_iter().flat_map(|point| exports(component, point, version.number()));
        let exports = exports.collect();
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

    /// True if its use is due to be recorded: once in a while.
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

/// Version of a component's contract, by the full names of its exports: a lookup by name would also find an interface
/// under the number of another, compatible version.
fn version(component: &Component) -> Option<&'static dyn Version> {
    let ty = component.component_type();
    let mut exports = ty.exports(component.engine());
    exports.find_map(|(name, _)| versions::find(contract_name(name)?.1))
}

/// The exported functions of a point: of each of its interfaces all or none.
fn exports(component: &Component, point: Point, version: &str) -> Vec<(Point, &'static str, ComponentExportIndex)> {
    let of_interface = |interface: &str, functions: &'static [&'static str]| -> Option<Vec<_>> {
        let interface = component.get_export_index(None, interface_name(interface, version))?;
        let functions = functions.iter();
        functions.map(|name| Some((point, *name, component.get_export_index(Some(&interface), *name)?))).collect()
    };
    let interfaces = point.interfaces().iter();
    interfaces.filter_map(|(interface, functions)| of_interface(interface, functions)).flatten().collect()
}
