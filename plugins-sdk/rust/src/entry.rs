//! Between the generated bindings and an author's type. Not for authors.

use std::marker::PhantomData;

/// What the attribute [`export`](crate::export) exports for a type: it has the call's arguments as the bindings give them,
/// and the type's traits as authors write them.
pub struct Exported<T>(PhantomData<T>);

/// Has a panic logged with its place before it ends the call.
pub(crate) fn start() {
    #[cfg(target_arch = "wasm32")]
    std::panic::set_hook(Box::new(|panic| {
        crate::log::write(crate::log::Level::Error, &panic.to_string());
    }));
}
