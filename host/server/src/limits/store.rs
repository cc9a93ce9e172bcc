//! Counts over the tables of several components.

use crate::limits::{Limit, Rows};

/// The bytes of a network's files.
pub(crate) const FILE_BYTES: Rows = Rows::few(
    Limit::FileBytes,
    "SELECT CAST(
              (SELECT COALESCE(SUM(size_bytes), 0) FROM artifacts WHERE network_id = $1)
              + (SELECT COALESCE(SUM(size_bytes), 0) FROM provisioning_bundles WHERE network_id = $1)
              + (SELECT COALESCE(SUM(size_bytes), 0) FROM modules WHERE network_id = $1)
              + (SELECT COALESCE(SUM(size_bytes), 0) FROM world_blobs WHERE network_id = $1) AS BIGINT)",
);
