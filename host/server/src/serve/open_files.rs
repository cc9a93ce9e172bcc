//! Limit of open files: every connection is one.

/// A higher limit has no use, and some systems allow a thousand times as many.
const MAX_OPEN_FILES: u64 = 1 << 20;

/// Raises the process's limit to the highest that it may set itself.
pub fn raise_limit() {
    match rlimit::increase_nofile_limit(MAX_OPEN_FILES) {
        Ok(limit) => tracing::info!(limit, "open files"),
        Err(error) => tracing::warn!(%error, "could not raise the limit of open files"),
    }
}
