//! The module's log, read by its owner on the hub. Usually written with [`debug!`](crate::debug),
//! [`info!`](crate::info), [`warn!`](crate::warn) and [`error!`](crate::error).

pub use crate::bindings::host::network_hub::module::log::Level;

/// Adds one line. A call keeps its first 64 lines, each cut at 2,048 bytes.
pub fn write(level: Level, message: &str) {
    crate::host::log::write(level, message);
}

/// Logs a line for the author while developing. Takes what `format!` takes.
#[macro_export]
macro_rules! debug {
    ($($text:tt)+) => { $crate::log::write($crate::log::Level::Debug, &::std::format!($($text)+)) };
}

/// Logs a line worth knowing. Takes what `format!` takes.
#[macro_export]
macro_rules! info {
    ($($text:tt)+) => { $crate::log::write($crate::log::Level::Info, &::std::format!($($text)+)) };
}

/// Logs that something looks wrong. Takes what `format!` takes.
#[macro_export]
macro_rules! warn {
    ($($text:tt)+) => { $crate::log::write($crate::log::Level::Warn, &::std::format!($($text)+)) };
}

/// Logs that something is wrong. Takes what `format!` takes.
#[macro_export]
macro_rules! error {
    ($($text:tt)+) => { $crate::log::write($crate::log::Level::Error, &::std::format!($($text)+)) };
}
