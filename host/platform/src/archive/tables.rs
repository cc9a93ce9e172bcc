//! Every table with a `network_id`. A test compares the lists with both databases' schemas, and their columns, too.

use std::sync::LazyLock;

use hub_db::{Cell, Table};

/// The tables that move with a network, in the order of the file. The network itself comes first.
pub static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| MOVED.iter().copied().map(Table::of_schema).collect());

/// Tables that are deleted with their network, but not moved with it.
pub static UNEXPORTED_TABLES: LazyLock<Vec<Table>> =
    LazyLock::new(|| LEFT.iter().copied().map(Table::of_schema).collect());

// Another order is another format.
const MOVED: &[&str] = &[
    "networks",
    "api_keys",
    "servers",
    "server_players",
    "punishments",
    "punishment_counters",
    "player_names",
    "player_addresses",
    "modules",
    "module_names",
    "module_code",
    "extension_points",
    "module_store",
    "module_store_usage",
    "permission_groups",
    "permission_nodes",
    "permission_revisions",
    "player_permission_revisions",
    "localization_catalogs",
    "localization_locales",
    "localization_messages",
    "player_languages",
    "config_documents",
    "collections",
    "collection_documents",
    "collection_entries",
    "collection_index_builds",
    "players",
    "player_data",
    "currencies",
    "balances",
    "currency_ledger",
    "statistics",
    "server_log_lines",
    "server_logs",
    "provisioning_bundles",
    "provisioned_servers",
    "worlds",
    "world_counters",
    "world_leases",
    "world_blobs",
    "transfers",
    "artifacts",
    "waitlist",
    "waitlist_links",
    "import_sources",
    "event_subscriptions",
    "webhooks",
    "webhook_deliveries",
    "forgotten_players",
    "audit_log",
    "idempotency_keys",
    // After the rows that they are about.
    "jobs",
];

const LEFT: &[&str] = &[
    "agent_commands",
    "event_listeners",
    "imports",
    // People belong to the hub and do not move with a network: they are invited again.
    "network_members",
    "network_usage",
    "outbox",
    "person_links",
    "server_agents",
    "slot_reservations",
    // A network's hourly usage stays, so that the last hours can be billed.
    "usage_streams",
    "unreferenced_blobs",
];

/// Table of networks.
pub fn networks() -> &'static Table {
    &TABLES[0]
}

/// A row: its cells in the order of the table's columns.
pub(super) type Row = Vec<Cell>;

/// True for tables that SQLite stores in the file of the modules' stores.
pub fn is_of_module_store(table: &Table) -> bool {
    matches!(table.name, "module_store" | "module_store_usage")
}

/// Value of a row in a column.
fn cell<'r>(table: &Table, row: &'r Row, column: &str) -> Option<&'r Cell> {
    row.get(table.columns.iter().position(|it| it.name == column)?)
}

/// Text in a row, if any.
pub(super) fn text<'r>(table: &Table, row: &'r Row, column: &str) -> Option<&'r str> {
    match cell(table, row, column) {
        Some(Cell::Text(text)) => Some(text),
        _ => None,
    }
}

/// Number in a row, if any.
pub(super) fn integer(table: &Table, row: &Row, column: &str) -> Option<i64> {
    match cell(table, row, column) {
        Some(Cell::Integer(number)) => Some(*number),
        _ => None,
    }
}

/// Bytes in a row, if any.
pub(super) fn bytes<'r>(table: &Table, row: &'r Row, column: &str) -> Option<&'r [u8]> {
    match cell(table, row, column) {
        Some(Cell::Bytes(bytes)) => Some(bytes),
        _ => None,
    }
}
