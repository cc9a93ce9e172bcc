//! What is in a backup.

use hub_db::{Column, ColumnType, WholeTable};

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

macro_rules! hub_tables {
    ($($table:ident [$($key:ident: $key_type:ident),*] [$($column:ident: $type:ident),*];)+) => {
        /// Tables of the hub itself.
        fn hub_tables() -> Vec<WholeTable> {
            vec![$(WholeTable {
                name: stringify!($table),
                key_columns: { let key: &[&str] = &[$(stringify!($key)),*]; key.len() },
                columns: vec![
                    $(Column { name: stringify!($key), column_type: ColumnType::$key_type },)*
                    $(Column { name: stringify!($column), column_type: ColumnType::$type },)*
                ],
            }),+]
        }
    };
}

hub_tables! {
    hub_secrets [purpose: Text] [secret: Text];
    plans [name: Text] [limits: Text, module_limits: Text, created_at: Integer, updated_at: Integer];
    persons [person_id: Text] [
        email_folded: Text, email: Text, name: Text, password_hash: Text, is_operator: Bool, totp_secret: Bytes,
        totp_confirmed: Bool, totp_last_step: Integer, created_at: Integer
    ];
    person_recovery_codes [person_id: Text, sha256: Bytes] [];
    network_deletions [network_id: Uuid] [
        name: Text, delete_at: Integer, deleted_at: Integer, due_at: Integer, claimed_until: Integer
    ];
    network_imports [network_id: Uuid] [token: Text];
    person_openid_subjects [issuer: Text, subject: Text] [person_id: Text, linked_at: Integer];
    usage_hours [network_id: Uuid, hour: Integer] [
        requests: Integer, events: Integer, module_calls: Integer, module_micros: Integer, fuel: Integer, documents:
        Integer, storage_bytes: Integer, module_store_bytes: Integer, file_bytes: Integer, peak_players: Integer,
        peak_servers: Integer, peak_streams: Integer
    ];
    usage_progress [work: Text] [
        hour: Integer, last_network: Uuid, claimed_by: Text, claimed_until: Integer, source: Text
    ];
}

/// The tables in the order of the file.
pub(super) fn tables() -> Vec<WholeTable> {
    let is_skipped = |name: &str| SKIPPED.iter().any(|(skipped, _)| *skipped == name);
    let of_networks = TABLES.iter().chain(UNEXPORTED_TABLES).filter(|table| !is_skipped(table.name));
    hub_tables().into_iter().chain(of_networks.map(WholeTable::from)).collect()
}

/// The names of the tables that are in a backup.
pub fn table_names() -> Vec<&'static str> {
    tables().iter().map(|table| table.name).collect()
}

/// Whether the table is, on SQLite, in the file of the modules' stores.
pub(super) fn is_of_module_store(table: &WholeTable) -> bool {
    matches!(table.name, "module_store" | "module_store_usage")
}
