//! What the export macros need at the start of a call. Not for authors.

/// Has a panic logged with its place before it ends the call.
pub fn start() {
    #[cfg(target_arch = "wasm32")]
    std::panic::set_hook(Box::new(|panic| {
        crate::log::write(crate::log::Level::Error, &panic.to_string());
    }));
}
