//! Dumps of `LiteBans` as each database's tools write them, and files that are not what they seem.

use serde_json::{Value, json};
use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

use super::files::{self, player};
use super::{counts, has_note, import, notes};
use crate::support::{Client, on_both};

const QUERY: &str = "kind=litebans";
const COLUMNS: &str = "id, uuid, ip, reason, \"time\", until, ipban, ipban_wildcard, active";

async fn bans(client: &Client, at: usize) -> Vec<Value> {
    let path = format!("/api/plugin/punishments/player/{}", player(at));
    client.get(&path).await.expect(200).as_array().unwrap().clone()
}

async fn banned_addresses(client: &Client, ip: &str) -> usize {
    client.get(&format!("/api/plugin/punishments/query?ip={ip}")).await.expect(200).as_array().unwrap().len()
}

/// Dump in MySQL's dialect with these rows of `litebans_bans`, after the columns `id` and `uuid`.
fn mysql(head: &str, rows: &[&str]) -> String {
    let rows: Vec<_> = rows.iter().enumerate().map(|(at, row)| format!("({}, {row})", at + 1)).collect();
    format!(
        "-- MySQL dump 10.13\n{head}\nINSERT INTO `litebans_bans` (`id`, `uuid`, `ip`, `reason`, `time`, `until`, `ipban`, \
         `ipban_wildcard`, `active`) VALUES {};\n",
        rows.join(",\n")
    )
}

async fn sqlite(script: &str) -> Vec<u8> {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("litebans.sqlite");
    let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(script.to_owned())).execute(&mut connection).await.unwrap();
    // Of a database in WAL mode this is the file as it is while the server runs.
    let file = std::fs::read(&path).unwrap();
    connection.close().await.unwrap();
    file
}

on_both! {
    async fn each_tools_dump_is_read_as_it_was_written(hub: Hub) {
        let one = player(1);
        let values = format!("'{one}', '203.0.113.9', 'C:\\temp ''x''', 1700000000000, 0");
        for (tool, dump) in [
            ("pg_dump", format!("--\n-- PostgreSQL database dump\n--\n\\restrict x\nSET client_encoding = 'UTF8';\nSET standard_conforming_strings = on;\n\
                CREATE TABLE public.litebans_bans (id bigint NOT NULL, uuid character varying(36), \"time\" bigint);\n\
                COPY public.litebans_bans ({COLUMNS}) FROM stdin;\n1\t{one}\t203.0.113.9\tC:\\\\temp 'x'\t1700000000000\t0\tt\tf\tt\n\\.\n")),
            ("pg_dump --inserts", format!("--\n-- PostgreSQL database dump\n--\nINSERT INTO public.litebans_bans ({COLUMNS}) VALUES (1, {values}, true, false, true);\n")),
            ("sqlite3 .dump", format!("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE litebans_bans ({COLUMNS});\n\
                INSERT INTO litebans_bans VALUES(1,{values},1,0,1);\nCOMMIT;\n")),
            ("Adminer 4", format!("-- Adminer 4.8.1 MySQL 8.0.36 dump\nINSERT INTO `litebans_bans` (`id`,`uuid`,`ip`,`reason`,`time`,`until`,`ipban`,`ipban_wildcard`,`active`,`removed_by_date`) VALUES\n\
                (1,\t{},\tCONV('1', 2, 10) + 0,\tCONV('0', 2, 10) + 0,\tCONV(b'1', 2, 10) + 0,\tCURRENT_TIMESTAMP);\n", values.replace('\\', "\\\\"))),
            ("mysqldump, with its warnings in the file", format!("mysqldump: [Warning] Using a password on the command line interface can be insecure.\n\
                -- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)\n/*!40101 SET NAMES utf8mb4 */;\n\
                INSERT INTO `litebans_bans` ({}) VALUES (1,{},1,0,1);\n-- Dump completed\n", COLUMNS.replace('"', "`"), values.replace('\\', "\\\\"))),
            ("H2", format!("-- H2 2.2.224; \nINSERT INTO \"PUBLIC\".\"LITEBANS_BANS\"({}) VALUES\n(1, {values}, TRUE, FALSE, TRUE);\n", COLUMNS.to_uppercase().replace("\"TIME\"", "TIME"))),
        ] {
            let owner = hub.network().await;
            let done = import(&owner, QUERY, dump).await;
            assert_eq!(done["state"], "DONE", "{tool}: {done}");
            let found = bans(&owner, 1).await;
            assert_eq!(found.len(), 1, "{tool}: {:?}", notes(&done));
            assert_eq!((&found[0]["reason"], &found[0]["ipBased"]), (&json!("C:\\temp 'x'"), &json!(true)), "{tool}");
            assert!(has_note(&done, "litebans_mutes: The file does not have this table"), "{tool}: {:?}", notes(&done));
            // The progress is of records, not of notes on tables.
            assert_eq!((&done["done"], &done["total"]), (&json!(1), &json!(1)), "{tool}: {done}");
        }
    }

    async fn what_cannot_be_read_is_skipped_with_a_note(hub: Hub) {
        let owner = hub.network().await;
        let of = |at: usize| format!("'{}'", player(at));
        let rows = [
            format!("{}, NULL, 'fine', 1700000000000, 0, 0, 0, 1", of(1)),
            "'garbage', '203.0.113.9', 'no address alone', 1700000000000, 0, 1, 0, 1".to_owned(),
            format!("{}, '203.0.113.', 'no address', 1700000000000, 0, 1, 0, 1", of(2)),
            format!("{}, NULL, 'no time', CURRENT_TIMESTAMP, 0, 0, 0, 1", of(3)),
            format!("{}, NULL, 'seconds', 1700000000, 0, 0, 0, 1", of(4)),
            format!("{}, NULL, 'no flag', 1700000000000, 0, 0, 0, 'perhaps'", of(5)),
        ];
        let done = import(&owner, QUERY, mysql("", &rows.iter().map(String::as_str).collect::<Vec<_>>())).await;
        assert_eq!((done["state"].as_str(), counts(&done, "PUNISHMENTS")), (Some("DONE"), [1, 0, 0, 5]), "{:?}", notes(&done));
        for part in ["litebans_bans 2: `uuid` is no UUID: `garbage`", "3: `ip` is no address", "4: `time` cannot be read: `CURRENT_TIMESTAMP`",
            "5: `time` is no time in milliseconds", "6: `active` is no truth value: `perhaps`"]
        {
            assert!(has_note(&done, part), "{part}: {:?}", notes(&done));
        }
        assert_eq!(banned_addresses(&owner, "203.0.113.9").await, 0, "nobody else is banned");
        assert_eq!(bans(&owner, 1).await.len(), 1);
    }

    async fn a_file_of_which_nothing_is_read_fails(hub: Hub) {
        let owner = hub.network().await;
        let bad = "'garbage', '203.0.113.9', 'x', 1700000000000, 0, 1, 0, 1";
        for (dump, message) in [
            (mysql("", &[bad, bad]), "None of its 2 rows can be read"),
            ("-- MySQL dump\nCREATE TABLE `litebans_bans` (`id` int);\nCREATE TABLE `litebans_mutes` (`id` int);\n".to_owned(), "no rows: `litebans_bans`, `litebans_mutes`"),
            ("INSERT INTO litebans_bans (id, uuid, time, until, active) VALUES (1, 'a\\b', 1, 0, 1);".to_owned(), "which database"),
        ] {
            let failed = import(&owner, QUERY, dump).await;
            assert_eq!(failed["state"], "FAILED", "{failed}");
            assert!(failed["error"]["message"].as_str().unwrap().contains(message), "{failed}");
        }
        let empty = mysql("CREATE TABLE `litebans_mutes` (`id` int);", &[&format!("'{}', NULL, 'x', 1700000000000, 0, 0, 0, 1", player(1))]);
        let done = import(&owner, QUERY, empty).await;
        assert!(has_note(&done, "litebans_mutes: The table has no rows in this file"), "{:?}", notes(&done));
    }

    async fn encodings_are_read_or_named(hub: Hub) {
        let row = format!("'{}', NULL, 'gr\u{fc}\u{df}', 1700000000000, 0, 0, 0, 1", player(1));
        let latin1 = |text: &str| text.chars().map(|character| u8::try_from(u32::from(character)).unwrap()).collect::<Vec<u8>>();
        for (head, is_told) in [("/*!40101 SET NAMES latin1 */;", false), ("", true)] {
            let owner = hub.network().await;
            let done = import(&owner, QUERY, latin1(&mysql(head, &[&row]))).await;
            assert_eq!(bans(&owner, 1).await[0]["reason"], "grüß", "{done}");
            assert_eq!(has_note(&done, "litebans_bans 1: A text is not UTF-8"), is_told, "{:?}", notes(&done));
        }
        let owner = hub.network().await;
        let utf16: Vec<u8> = mysql("", &[&row]).encode_utf16().flat_map(u16::to_le_bytes).collect();
        let export = "{\"groups\": {\"gr\u{fc}n\": {\"nodes\": []}}}";
        for (query, file, message) in [
            (QUERY, [&b"\xFF\xFE"[..], &utf16].concat(), "UTF-16"),
            (QUERY, files::gzip(&utf16), "UTF-16"),
            ("kind=balances&currency=coins", "uuid,balance\n".encode_utf16().flat_map(u16::to_be_bytes).collect(), "UTF-16"),
            ("kind=luckperms", latin1(export), "Windows-1252"),
            ("kind=luckperms", files::zip(&[("export.json", export)]), "ZIP"),
            (QUERY, b"PGDMP\x01\x0e".to_vec(), "--format=plain"),
            (QUERY, mysql("SET NAMES gbk;", &[&row]).into_bytes(), "`gbk`"),
        ] {
            let failed = import(&owner, query, file).await;
            assert_eq!(failed["state"], "FAILED", "{failed}");
            assert!(failed["error"]["message"].as_str().unwrap().contains(message), "{message}: {failed}");
        }
        let done = import(&owner, "kind=luckperms", format!("\u{feff}{export}")).await;
        assert_eq!(done["state"], "DONE", "a byte order mark is skipped: {done}");
    }

    async fn hostile_and_unfinished_sqlite_files_are_named(hub: Hub) {
        let table = "CREATE TABLE litebans_bans (id INTEGER PRIMARY KEY, uuid TEXT, reason TEXT, time INTEGER, until INTEGER, active INTEGER";
        let row = format!("'{}', 'x', 1700000000000, 0, 1", player(1));
        let owner = hub.network().await;
        for (script, message) in [
            (format!("PRAGMA journal_mode = WAL; {table}); INSERT INTO litebans_bans VALUES (1, {row});"), "WAL mode"),
            (format!("{table}, x TEXT AS (printf('%.*c', 1000, 'x')) VIRTUAL NOT NULL); INSERT INTO litebans_bans VALUES (1, {row});"), "computed columns"),
            ("CREATE TABLE litebans_bans (id INTEGER, \"rowid\" INTEGER, uuid TEXT);".to_owned(), "no column `time`"),
        ] {
            let failed = import(&owner, QUERY, sqlite(&script).await).await;
            assert_eq!(failed["state"], "FAILED", "{failed}");
            assert!(failed["error"]["message"].as_str().unwrap().contains(message), "{failed}");
        }
        for table in [format!("{table}, rowid TEXT);"), format!("{table}) WITHOUT ROWID;")] {
            let owner = hub.network().await;
            let columns = "id, uuid, reason, time, until, active";
            let script = format!("{table} INSERT INTO litebans_bans ({columns}) VALUES (2, '{}', '{}', 1700000000000, 0, 1), (1, {row});", player(2), "y".repeat(20_000));
            let done = import(&owner, QUERY, sqlite(&script).await).await;
            assert_eq!(counts(&done, "PUNISHMENTS"), [1, 0, 0, 1], "{:?}", notes(&done));
            assert!(has_note(&done, "litebans_bans 2: `reason` cannot be read: `more than 16384 bytes`"), "{:?}", notes(&done));
        }
    }
}
