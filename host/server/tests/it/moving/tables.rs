//! The list of tables is complete.

use std::collections::{BTreeMap, BTreeSet};

use hub::component::TableKind;
use hub::components::tables;
use hub_db::{ColumnType, Db, Sql};

use crate::support::{Backend, Hub};

/// Tables that are not exported, with the reason.
const EXCLUDED: &[(&str, &str)] = &[
    ("_sqlx_migrations", "the schema's own"),
    ("backup_holds", "backups under way"),
    ("clock_anchors", "times of the hub's machines"),
    ("clock_confirmation", "the operator's word on a clock"),
    ("database_epoch", "of the database itself"),
    ("database_positions", "of the database itself"),
    ("hub_identity", "the hub itself"),
    ("hub_nodes", "the hub's nodes"),
    ("hub_secrets", "the hub's own secrets, no network's"),
    ("key_requests", "requests of the hub's nodes"),
    ("shard_leases", "leases of the hub's nodes"),
    ("network_deletions", "deletions under way, and the names of networks that are gone"),
    ("network_imports", "imports under way"),
    ("network_moves", "moves under way, and where those are that have left"),
    ("network_move_nodes", "the hub's nodes"),
    ("handler_positions", "numbers of this hub's events"),
    ("handler_events", "of moments; an imported network begins with the events of its new hub"),
    ("handler_queue", "the same"),
    ("handler_cascades", "sums of hours"),
    ("handler_dead_letters", "of this hub's events"),
    ("imports", "of files that only this hub has; what they brought is exported"),
    ("network_usage", "counted by triggers"),
    ("usage_hours", "the operator's record of this hub"),
    ("usage_nodes", "the hub's nodes"),
    ("usage_progress", "the operator's"),
    ("usage_streams", "streams of this hub"),
    ("restores", "of the database itself"),
    ("persons", "accounts of the hub, no network's"),
    ("person_openid_subjects", "accounts of the hub, no network's"),
    ("person_sessions", "who is signed in at this hub"),
    ("pending_sign_ins", "sign-ins under way at this hub"),
    ("device_sign_ins", "sign-ins under way at this hub"),
    ("person_recovery_codes", "of accounts of the hub"),
    ("sign_in_failures", "of addresses, no network's"),
    ("network_members", "accounts of this hub, which another does not know"),
    ("person_links", "mails of this hub, with links to it"),
    ("plans", "the operator's, no network's"),
    ("unreferenced_blobs", "blobs that are no network's, or not yet"),
    ("agent_commands", "with links that only this hub knows, for minutes"),
    ("event_listeners", "renewed by the streams of this hub"),
    ("session_listeners", "renewed by the streams of this hub"),
    ("outbox", "events of moments, for streams of this hub"),
    ("server_agents", "kept for seconds"),
    ("play_time_passes", "locked while a hub counts"),
    ("waiting_tickets", "of moments, for players and slots of this hub"),
    ("slot_reservations", "kept for seconds, by the database's clock"),
    ("player_search_networks", "numbers of the networks in SQLite's search index"),
    ("network_player_search", "SQLite's search index, which triggers keep like `players`"),
    ("network_player_search_config", "part of it"),
    ("network_player_search_data", "part of it"),
    ("network_player_search_docsize", "part of it"),
    ("network_player_search_idx", "part of it"),
];

/// Every table's columns with their types, and its primary key after `network_id`.
type Schema = BTreeMap<String, (BTreeMap<String, String>, Vec<String>)>;

async fn schema(hub: &Hub) -> Schema {
    let mut schema = schema_of(&hub.app.db).await;
    schema.extend(schema_of(&hub.app.module_store).await);
    schema
}

async fn schema_of(db: &Db) -> Schema {
    let rows: Vec<(String, String, String, i64)> = db
        .query(Sql {
            sqlite: "SELECT t.name, c.name, c.type, c.pk FROM sqlite_schema t JOIN pragma_table_info(t.name) c
                     WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' ORDER BY t.name, c.pk",
            postgres: "SELECT c.table_name::text, c.column_name::text, c.data_type::text, COALESCE(k.ordinal_position, 0)::bigint AS pk
                       FROM information_schema.columns c
                       JOIN information_schema.tables t USING (table_schema, table_name)
                       LEFT JOIN information_schema.table_constraints p
                         ON p.table_schema = c.table_schema AND p.table_name = c.table_name AND p.constraint_type = 'PRIMARY KEY'
                       LEFT JOIN information_schema.key_column_usage k
                         ON k.constraint_schema = p.constraint_schema AND k.constraint_name = p.constraint_name
                         AND k.column_name = c.column_name
                       WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' ORDER BY c.table_name, pk",
        })
        .all()
        .await
        .unwrap();
    let mut schema = Schema::new();
    for (table, column, kind, key) in rows {
        let (columns, keys) = schema.entry(table).or_default();
        if key > 0 {
            keys.push(column.clone());
        }
        columns.insert(column, kind.to_uppercase());
    }
    schema
}

fn types(column_type: ColumnType) -> &'static [&'static str] {
    match column_type {
        ColumnType::Bool => &["BOOLEAN"],
        ColumnType::Integer => &["INTEGER", "BIGINT"],
        ColumnType::Float => &["REAL", "DOUBLE PRECISION"],
        ColumnType::Text => &["TEXT"],
        ColumnType::Bytes => &["BLOB", "BYTEA"],
        ColumnType::Uuid => &["BLOB", "UUID"],
    }
}

async fn every_table_is_exported_or_excluded(backend: Backend) {
    let hub = Hub::start(backend).await;
    let schema = schema(&hub).await;
    assert!(schema.len() > 40, "{} tables", schema.len());
    let declared: BTreeSet<&str> = tables().rules().iter().map(|rule| rule.name).collect();
    let listed: BTreeSet<&str> = tables().moved().iter().map(|table| table.name).collect();
    let excluded: BTreeSet<&str> = EXCLUDED.iter().map(|(table, _)| *table).collect();
    for (name, (columns, _)) in &schema {
        let is_own = name != "_sqlx_migrations" && !name.contains("player_search");
        assert!(!is_own || declared.contains(name.as_str()), "no component declares {name}");
        assert!(
            listed.contains(name.as_str()) != excluded.contains(name.as_str()),
            "{name} is neither exported nor excluded"
        );
        assert!(columns.contains_key("network_id") || excluded.contains(name.as_str()), "{name} is of no network");
    }
    let left = tables().of_networks().iter().filter(|table| table.rule.kind == TableKind::Left);
    let deleted: BTreeSet<&str> = left.map(|table| table.name).collect();
    for (name, (columns, _)) in &schema {
        // The number of a network in SQLite's search index is never used again.
        let kept = [
            "network_deletions",
            "network_imports",
            "network_moves",
            "network_move_nodes",
            "player_search_networks",
            "usage_hours",
        ];
        let stays = kept.contains(&name.as_str()) || listed.contains(name.as_str());
        let belongs = columns.contains_key("network_id");
        assert!(stays || belongs == deleted.contains(name.as_str()), "{name} is not deleted with its network");
    }
    for table in tables().of_networks() {
        let (columns, key) = schema.get(table.name).unwrap_or_else(|| panic!("there is no {}", table.name));
        let mut expected: BTreeSet<&str> = table.columns.iter().map(|column| column.name).collect();
        assert_eq!(expected.len(), table.columns.len(), "{}", table.name);
        expected.insert("network_id");
        let mut found: BTreeSet<&str> = columns.keys().map(String::as_str).collect();
        let mut key: Vec<&str> = key.iter().map(String::as_str).collect();
        if table.name == "players" && found.remove("number") {
            // SQLite's rows have numbers for its search index; their key is unique nevertheless.
            key = vec!["network_id", "player_uuid"];
        }
        if table.name == "outbox" {
            // Its numbers rise over all networks, and are unique nevertheless.
            key = vec!["network_id", "id"];
        }
        assert_eq!(found, expected, "{}", table.name);
        for column in table.columns {
            assert!(
                types(column.column_type).contains(&columns[column.name].as_str()),
                "{}.{}",
                table.name,
                column.name
            );
        }
        let named: Vec<&str> =
            ["network_id"].into_iter().chain(table.columns[..table.key_columns].iter().map(|it| it.name)).collect();
        assert_eq!(named, key, "the key of {}", table.name);
    }
}

#[tokio::test]
async fn all_sqlite_tables() {
    every_table_is_exported_or_excluded(Backend::sqlite()).await;
}

#[tokio::test]
async fn all_postgres_tables() {
    every_table_is_exported_or_excluded(Backend::postgres().await).await;
}
