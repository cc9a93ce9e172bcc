//! Between the generated bindings and an author's type. Not for authors.

use std::marker::PhantomData;

/// Exported by the attribute [`export`](crate::export) for a type: implements the bindings' traits by calling the author's.
pub struct Exported<T>(PhantomData<T>);

/// Logs a panic with its place in the source before it ends the call.
pub(crate) fn start() {
    #[cfg(target_arch = "wasm32")]
    std::panic::set_hook(Box::new(|panic| {
        crate::log::write(crate::log::Level::Error, &panic.to_string());
    }));
}
