//! Every table with a `network_id`. A test compares the list with both databases' schemas.

use hub_db::{Cell, Column, ColumnType, Table};

macro_rules! tables {
    ($(#[$doc:meta])* $list:ident: $($table:ident [$($key:ident: $key_type:ident),*] [$($column:ident: $type:ident),*];)+) => {
        $(#[$doc])*
        pub const $list: &[Table] = &[$(Table {
            name: stringify!($table),
            key_columns: { let key: &[&str] = &[$(stringify!($key)),*]; key.len() },
            columns: &[
                $(Column { name: stringify!($key), column_type: ColumnType::$key_type },)*
                $(Column { name: stringify!($column), column_type: ColumnType::$type },)*
            ],
        }),+];
    };
}

// Name, key after `network_id`, other columns. A change here changes the format, so it needs a migration, which changes
// the schema version.
tables! {
    /// The tables in the order of the file. The network itself comes first.
    TABLES:
    networks [] [
        name: Text, plan: Text, suspended: Bool, signing_secret: Text, created_at: Integer, previous_signing_secret:
        Text, previous_signing_until: Integer
    ];
    api_keys [key_id: Text] [
        name: Text, scopes: Text, sha256: Bytes, previous_sha256: Bytes, previous_until: Integer, created_at:
        Integer, expires_at: Integer, revoked_at: Integer, last_used_at: Integer, servers: Text, addresses: Text
    ];
    servers [server_id: Text] [
        server_type: Text, game_type: Text, role: Text, display_name: Text, search_text: Text, max_players: Integer,
        host: Text, port: Integer, region: Text, country: Text, plugin_version: Text, plugin_build: Integer,
        plugin_commit: Text, platform_name: Text, platform_version: Text, plugins: Text, first_seen: Integer,
        last_seen: Integer, started_at: Integer, present: Bool, game_state: Text, players_to_start: Integer, worlds:
        Text
    ];
    server_players [player_id: Uuid] [
        server_id: Text, player_name: Text, world_id: Text, previous_world_id: Text, joined_at: Integer
    ];
    punishments [id: Integer] [
        player_uuid: Uuid, player_name: Text, name_folded: Text, kind: Text, reason: Text, duration_ms: Integer,
        expires_at: Integer, ip_based: Bool, ip_address: Text, issuer_uuid: Uuid, issuer_name: Text, issued_at:
        Integer, state: Text, revoked_at: Integer, revoker_uuid: Uuid, revoker_name: Text, revoke_reason: Text
    ];
    punishment_counters [] [last_id: Integer];
    player_names [player_uuid: Uuid, name_folded: Text] [last_seen: Integer];
    player_addresses [player_uuid: Uuid, ip_address: Text] [first_seen: Integer, last_seen: Integer];
    modules [name: Text, version: Integer] [
        sha256: Text, component_id: Text, size_bytes: Integer, points: Text, world_version: Text, state: Text,
        reason: Text, created_at: Integer
    ];
    module_names [name: Text] [last_version: Integer];
    module_code [name: Text, version: Integer] [upload: Bytes, component: Bytes];
    extension_points [point: Text] [revision: Integer, chain: Text, previous: Text, updated_at: Integer];
    module_store [module: Text, key: Bytes] [value: Bytes, number: Integer, expires_at: Integer, size: Integer];
    module_store_usage [module: Text] [bytes: Integer];
    permission_groups [group_id: Text] [
        display_name: Text, priority: Integer, chat_prefix: Text, chat_prefix_color: Text, chat_name_color: Text,
        nodes: Text
    ];
    permission_nodes [player_uuid: Uuid, node: Text, context: Text, world: Text] [value: Bool, expires_at: Integer];
    permission_revisions [] [last_revision: Integer, group_revision: Integer];
    player_permission_revisions [player_uuid: Uuid] [revision: Integer];
    localization_catalogs [] [version: Integer, default_key: Text];
    localization_locales [locale_key: Text] [locale: Text, display_name: Text, enabled: Bool];
    localization_messages [namespace: Text, locale_key: Text, message_key: Text] [
        default_text: Text, override_text: Text
    ];
    player_languages [player_uuid: Uuid] [username: Text, locale: Text, source: Text];
    config_documents [doc_group: Text, namespace: Text] [doc: Text];
    collections [name: Text] [key_field: Text, indexes: Text];
    collection_documents [collection: Text, id: Text] [doc: Text];
    collection_entries [collection: Text, id: Text, field: Text] [value: Bytes];
    collection_index_builds [collection: Text] [fields: Text, after_id: Text];
    players [player_uuid: Uuid] [
        username: Text, username_folded: Text, game_type: Text, region: Text, country: Text, first_seen: Integer,
        last_seen: Integer
    ];
    player_data [player_uuid: Uuid, game_mode: Text, namespace: Text] [
        data: Text, version: Integer, updated_at: Integer
    ];
    currencies [name: Text] [minimum: Integer, maximum: Integer, starting_balance: Integer, begins_at: Integer];
    balances [owner_type: Text, owner_key: Text, currency: Text] [
        balance: Integer, previous: Integer, reached: Integer, last_entry: Integer
    ];
    currency_ledger [owner_type: Text, owner_key: Text, currency: Text, id: Integer] [
        asked: Integer, balance_before: Integer, balance: Integer, reason: Text, key_id: Text, at: Integer,
        transaction_id: Uuid
    ];
    statistics [owner_type: Text, owner_key: Text, game_mode: Text, period: Text, period_start: Text, name: Text] [
        value: Float, updated_at: Integer, reached: Integer
    ];
    server_log_lines [server_id: Text, seq: Integer] [at: Integer, stream: Text, text: Text];
    server_logs [server_id: Text] [last_seq: Integer];
    provisioning_bundles [server_type: Text] [file_id: Text, sha256: Text, size_bytes: Integer, updated_at: Integer];
    provisioned_servers [server_id: Text] [
        server_type: Text, display_name: Text, search_text: Text, provider: Text, phase: Text, desired_state: Text,
        region: Text, server_vm_type: Text, ipv4: Text, verify_url: Text, user_code: Text, created_at: Integer,
        updated_at: Integer
    ];
    worlds [world_no: Integer] [
        game_id: Text, owner_scope: Text, owner_id: Text, world_key: Text, fence: Integer, blob_key: Text,
        blob_fence: Integer, blob_seq: Integer, blob_node: Text
    ];
    world_counters [] [last_id: Integer];
    world_leases [id: Integer] [
        world_no: Integer, fence: Integer, state: Text, node_server_id: Text, prefer_node: Text, persistence: Text,
        world_gen: Text, seed: Text, hub_url: Text, players: Integer, idle_since: Integer, uploads: Integer,
        blob_key: Text, opened_at: Integer, expires_at: Integer, ended_at: Integer
    ];
    world_blobs [blob_key: Text] [
        world_no: Integer, lease_id: Integer, fence: Integer, seq: Integer, size_bytes: Integer, file: Text,
        minted_at: Integer
    ];
    transfers [id: Uuid] [
        player_uuid: Uuid, from_server: Text, to_server: Text, to_world: Text, result: Text, error_message: Text,
        created_at: Integer, expires_at: Integer, ended_at: Integer
    ];
    artifacts [artifact_id: Text] [name: Text, version: Text, sha256: Text, size_bytes: Integer, created_at: Integer];
    waitlist [email_folded: Text] [
        email: Text, source: Text, joined_at: Integer, confirmed_at: Integer, due_at: Integer, attempts: Integer
    ];
    waitlist_links [sha256: Bytes] [email_folded: Text, made_at: Integer, sent_at: Integer, used_at: Integer];
    import_sources [source: Text, source_key: Text] [value: Integer];
    event_subscriptions [name: Text, subscriber: Text] [];
    webhooks [webhook_id: Text] [
        kind: Text, name: Text, url: Text, events: Text, templates: Text, secret: Text, previous_secret: Text,
        previous_until: Integer, state: Text, disabled_reason: Text, created_at: Integer, updated_at: Integer, last_seq:
        Integer, waiting: Integer, waiting_bytes: Integer, dropped: Integer, failures: Integer, failing_since: Integer,
        last_success_at: Integer, last_failure_at: Integer, next_attempt_at: Integer
    ];
    webhook_deliveries [webhook_id: Text, seq: Integer] [
        message_id: Text, event: Text, data: Text, event_at: Integer, queued_at: Integer, state: Text, attempts: Integer,
        attempted_at: Integer, status: Integer, error: Text, duration_ms: Integer, finished_at: Integer
    ];
    forgotten_players [player_uuid: Uuid] [
        forgotten_at: Integer, replacement: Uuid, finished_at: Integer, claimed_until: Integer
    ];
    audit_log [id: Text] [
        at: Integer, actor_type: Text, actor_id: Text, actor_name: Text, action: Text, target: Text, value_before: Text,
        value_after: Text, request_id: Text, address: Text
    ];
    idempotency_keys [idempotency_key: Text] [
        fingerprint: Bytes, created_at: Integer, status: Integer, content_type: Text, error_code: Text, body: Bytes
    ];
}

tables! {
    /// Tables of networks that do not move with them, but are deleted with them.
    UNEXPORTED_TABLES:
    agent_commands [server_id: Text, command_id: Text] [command: Text, expires_at: Integer];
    event_listeners [name: Text] [until: Integer];
    imports [import_id: Text] [
        kind: Text, dry_run: Bool, options: Text, sha256: Text, file_size: Integer, size_bytes: Integer, state: Text,
        done: Integer, total: Integer, counts: Text, notes: Text, more_notes: Integer, error: Text, error_line: Integer, key_id: Text,
        created_at: Integer, started_at: Integer, finished_at: Integer
    ];
    // People are the hub's, and do not move with one of their networks: they are invited again.
    network_members [person_id: Text] [role: Text, joined_at: Integer];
    network_usage [slot: Integer] [documents: Integer, storage_bytes: Integer, file_bytes: Integer];
    outbox [id: Integer] [name: Text, target: Text, data: Text, created_at: Integer];
    person_links [link_id: Text] [
        kind: Text, email_folded: Text, email: Text, role: Text, created_at: Integer, expires_at: Integer, sha256: Bytes,
        due_at: Integer, attempts: Integer
    ];
    server_agents [server_id: Text] [report: Text, seen_at: Integer];
    slot_reservations [reservation_id: Uuid] [
        server_id: Text, player_id: Uuid, world_id: Text, promised: Bool, expires_at: Integer
    ];
    // Its hours stay, so that the last ones can be billed.
    usage_streams [node: Text] [streams: Integer, seen_at: Integer];
    unreferenced_blobs [blob_key: Text] [delete_at: Integer];
}

/// The network's own table.
pub(crate) const NETWORKS: &Table = &TABLES[0];

/// A row, its cells in the order of its table's columns.
pub(super) type Row = Vec<Cell>;

/// Whether the table is, on SQLite, in the file of the modules' stores.
pub(crate) fn is_of_module_store(table: &Table) -> bool {
    matches!(table.name, "module_store" | "module_store_usage")
}

/// A row's value in a column.
fn cell<'r>(table: &Table, row: &'r Row, column: &str) -> Option<&'r Cell> {
    row.get(table.columns.iter().position(|it| it.name == column)?)
}

/// A text in a row, if there is one.
pub(super) fn text<'r>(table: &Table, row: &'r Row, column: &str) -> Option<&'r str> {
    match cell(table, row, column) {
        Some(Cell::Text(text)) => Some(text),
        _ => None,
    }
}

/// A number in a row, if there is one.
pub(super) fn integer(table: &Table, row: &Row, column: &str) -> Option<i64> {
    match cell(table, row, column) {
        Some(Cell::Integer(number)) => Some(*number),
        _ => None,
    }
}

/// Bytes in a row, if there are some.
pub(super) fn bytes<'r>(table: &Table, row: &'r Row, column: &str) -> Option<&'r [u8]> {
    match cell(table, row, column) {
        Some(Cell::Bytes(bytes)) => Some(bytes),
        _ => None,
    }
}
