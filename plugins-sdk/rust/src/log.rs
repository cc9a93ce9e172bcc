//! The module's log, which its owner reads on the hub. Usually written with [`debug!`](crate::debug),
//! [`info!`](crate::info), [`warn!`](crate::warn) and [`error!`](crate::error).

pub use crate::bindings::host::network_hub::module::log::Level;

/// Adds one line. A call keeps its first 64 lines, each cut at 2,048 bytes.
pub fn write(level: Level, message: &str) {
    crate::host::log::write(level, message);
}

/// Logs a line for the author while developing. Takes the arguments of `format!`.
#[macro_export]
macro_rules! debug {
    ($($text:tt)+) => { $crate::log::write($crate::log::Level::Debug, &::std::format!($($text)+)) };
}

/// Logs information. Takes the arguments of `format!`.
#[macro_export]
macro_rules! info {
    ($($text:tt)+) => { $crate::log::write($crate::log::Level::Info, &::std::format!($($text)+)) };
}

/// Logs a warning. Takes the arguments of `format!`.
#[macro_export]
macro_rules! warn {
    ($($text:tt)+) => { $crate::log::write($crate::log::Level::Warn, &::std::format!($($text)+)) };
}

/// Logs an error. Takes the arguments of `format!`.
#[macro_export]
macro_rules! error {
    ($($text:tt)+) => { $crate::log::write($crate::log::Level::Error, &::std::format!($($text)+)) };
}
