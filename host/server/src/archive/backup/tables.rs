//! What is in a backup.

use hub_db::WholeTable;

use crate::archive::tables::{TABLES, UNEXPORTED_TABLES};

/// Tables that are not in a backup, and why.
pub const SKIPPED: &[(&str, &str)] = &[
    ("agent_commands", "commands of seconds"),
    ("backup_holds", "of the backup itself"),
    ("event_listeners", "renewed by streams"),
    ("hub_nodes", "nodes report themselves"),
    ("network_usage", "counted by triggers"),
    ("outbox", "events of moments, for streams that are gone"),
    ("person_sessions", "people sign in again"),
    ("restores", "of the database that it is in"),
    ("server_agents", "kept for seconds"),
    ("shard_leases", "leases of seconds"),
    ("sign_in_failures", "wrong passwords of the last minutes"),
    ("slot_reservations", "kept for seconds"),
    ("usage_nodes", "nodes add themselves"),
    ("usage_streams", "streams that are open"),
    ("unreferenced_blobs", "of blobs that are not backed up"),
];

/// Tables of the hub itself.
const HUB_TABLES: &[&str] = &[
    "hub_secrets",
    "plans",
    "persons",
    "person_recovery_codes",
    "network_deletions",
    "network_imports",
    "person_openid_subjects",
    "usage_hours",
    "usage_progress",
];

/// The tables in the order of the file.
pub(super) fn tables() -> Vec<WholeTable> {
    let is_skipped = |name: &str| SKIPPED.iter().any(|(skipped, _)| *skipped == name);
    let of_networks = TABLES.iter().chain(UNEXPORTED_TABLES.iter()).filter(|table| !is_skipped(table.name));
    HUB_TABLES.iter().copied().map(WholeTable::of_schema).chain(of_networks.map(WholeTable::from)).collect()
}

/// The names of the tables that are in a backup.
pub fn table_names() -> Vec<&'static str> {
    tables().iter().map(|table| table.name).collect()
}

/// Whether the table is, on SQLite, in the file of the modules' stores.
pub(super) fn is_of_module_store(table: &WholeTable) -> bool {
    matches!(table.name, "module_store" | "module_store_usage")
}
