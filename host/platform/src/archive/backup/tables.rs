//! Tables of a backup.

use hub_db::WholeTable;

use crate::archive::tables::{TABLES, UNEXPORTED_TABLES};

/// Tables left out of a backup, with the reason.
pub const SKIPPED: &[(&str, &str)] = &[
    ("agent_commands", "live for seconds"),
    ("backup_holds", "belong to the backup itself"),
    ("event_listeners", "renewed by streams"),
    ("hub_nodes", "nodes register themselves"),
    ("network_usage", "counted by triggers"),
    ("outbox", "short-lived events for streams that are gone"),
    ("person_sessions", "people sign in again"),
    ("pending_sign_ins", "people sign in again"),
    ("restores", "belongs to this database"),
    ("server_agents", "live for seconds"),
    ("shard_leases", "leases of seconds"),
    ("sign_in_failures", "wrong passwords in the last minutes"),
    ("slot_reservations", "live for seconds"),
    ("usage_nodes", "nodes register themselves"),
    ("usage_streams", "open streams"),
    ("unreferenced_blobs", "about blobs that are not backed up"),
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

/// Tables in the order of the file.
pub(super) fn tables() -> Vec<WholeTable> {
    let is_skipped = |name: &str| SKIPPED.iter().any(|(skipped, _)| *skipped == name);
    let of_networks = TABLES.iter().chain(UNEXPORTED_TABLES.iter()).filter(|table| !is_skipped(table.name));
    HUB_TABLES.iter().copied().map(WholeTable::of_schema).chain(of_networks.map(WholeTable::from)).collect()
}

/// Names of the tables in a backup.
pub fn table_names() -> Vec<&'static str> {
    tables().iter().map(|table| table.name).collect()
}

/// True for tables that SQLite stores in the file of the modules' stores.
pub(super) fn is_of_module_store(table: &WholeTable) -> bool {
    matches!(table.name, "module_store" | "module_store_usage")
}
