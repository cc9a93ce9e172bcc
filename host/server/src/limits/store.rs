//! Counts that several components check.

use crate::limits::{Limit, Rows};

/// The bytes of a network's files, as triggers count them.
pub(crate) const FILE_BYTES: Rows = Rows::few(
    Limit::FileBytes,
    "SELECT CAST(COALESCE(SUM(file_bytes), 0) AS BIGINT) FROM network_usage WHERE network_id = $1",
);
