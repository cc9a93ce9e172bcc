//! Counts that several components check.

use crate::limits::{Limit, Rows};

/// Bytes of a network's files, counted by triggers.
pub const FILE_BYTES: Rows = Rows::few(
    Limit::FileBytes,
    "SELECT CAST(COALESCE(SUM(file_bytes), 0) AS BIGINT) FROM network_usage WHERE network_id = $1",
);
