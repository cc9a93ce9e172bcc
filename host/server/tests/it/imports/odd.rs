//! Files one step beside the expected: what is missing is told, and what was imported before is recognised only where it is the
//! same.

use serde_json::json;
use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

use super::files::{player, zip};
use super::{BALANCES, counts, has_note, import, notes};
use crate::support::{Client, NOW, on_both};

const COLUMNS: &str = "(`id`,`uuid`,`time`,`until`,`active`,`reason`)";

fn bans(rows: &[String]) -> String {
    format!(
        "-- MySQL dump\nINSERT INTO `litebans_bans` {COLUMNS} VALUES {};\n-- Dump completed on 2026-11-27\n",
        rows.join(",\n")
    )
}

fn ban(id: i64, at: usize, time: i64, until: i64) -> String {
    format!("({id},'{}',{time},{until},1,'x')", player(at))
}

async fn active(client: &Client, at: usize) -> usize {
    let path = format!("/api/plugin/punishments/player/{}", player(at));
    client.get(&path).await.expect(200).as_array().unwrap().len()
}

/// A SQLite database of one ban.
async fn database(encoding: &str) -> Vec<u8> {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("litebans.db");
    let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    for sql in [
        format!("PRAGMA encoding = '{encoding}'"),
        "CREATE TABLE litebans_bans (id INTEGER, uuid TEXT, time INTEGER, until INTEGER, active INTEGER, reason TEXT)"
            .to_owned(),
        format!("INSERT INTO litebans_bans VALUES (1, '{}', {NOW}, -1, 1, 'бан')", player(1)),
    ] {
        sqlx::query(sqlx::AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
    }
    connection.close().await.unwrap();
    std::fs::read(path).unwrap()
}

on_both! {
    async fn a_file_of_which_nothing_was_read_is_never_just_done(hub: Hub) {
        let owner = hub.network().await;
        for (query, file, note) in [
            (BALANCES, "uuid,balance\n", "names of columns and no rows"),
            ("kind=luckperms", "{\"groups\": {}, \"users\": {}}", "The export has no users"),
            ("kind=luckperms", "{\"groups\": {\"a\": {\"nodes\": []}}}", "The export has no users"),
        ] {
            let done = import(&owner, query, file).await;
            assert!(done["state"] == "FAILED" || has_note(&done, note), "{done}");
        }
        let file = zip(&[("userdata/Notch.yml", "money: '5'"), (&format!("userdata/{}.yml", player(1)), "money: '5'")]);
        let done = import(&owner, BALANCES, file).await;
        assert!(has_note(&done, "1 files are named by no UUID"), "{:?}", notes(&done));
    }

    async fn a_dump_that_was_cut_off_is_told(hub: Hub) {
        let owner = hub.network().await;
        let whole = bans(&[ban(1, 1, NOW, -1)]);
        let cut = whole.replace("-- Dump completed on 2026-11-27\n", "");
        assert!(has_note(&import(&owner, "kind=litebans", cut).await, "does not end with `-- Dump completed`"));
        assert!(!has_note(&import(&owner, "kind=litebans", whole).await, "does not end"));
    }

    async fn another_database_with_the_same_numbers_is_imported_too(hub: Hub) {
        let owner = hub.network().await;
        let (first, second) = (bans(&[ban(1, 1, NOW, -1)]), bans(&[ban(1, 2, NOW + 1, -1)]));
        for (file, expected) in [(&first, [1, 0, 0, 0]), (&second, [1, 0, 0, 0]), (&first, [0, 0, 1, 0]), (&second, [0, 0, 1, 0])] {
            let done = import(&owner, "kind=litebans", file.clone()).await;
            assert_eq!(counts(&done, "PUNISHMENTS"), expected, "{:?}", notes(&done));
        }
        assert_eq!((active(&owner, 1).await, active(&owner, 2).await), (1, 1));
    }

    async fn an_end_in_another_unit_is_no_end_in_the_past(hub: Hub) {
        let owner = hub.network().await;
        let file = bans(&[ban(1, 1, NOW, NOW / 1_000 + 3_600), ban(2, 2, NOW, -1)]);
        let done = import(&owner, "kind=litebans", file).await;
        assert_eq!(counts(&done, "PUNISHMENTS"), [1, 0, 0, 1]);
        assert!(has_note(&done, "2 litebans_bans 1: `until` is no time in milliseconds"), "{:?}", notes(&done));
    }

    async fn a_ban_that_banmanager_lifted_is_lifted_by_the_next_import(hub: Hub) {
        let owner = hub.network().await;
        let id = player(1).replace('-', "");
        let (start, end) = (NOW / 1_000 - 3_600, NOW / 1_000 - 60);
        let ban = format!("-- MySQL dump\nINSERT INTO `bm_player_bans` (`id`,`player_id`,`reason`,`actor_id`,`created`,`updated`,`expires`) \
            VALUES (1,0x{id},'x',0x{id},{start},{start},0);\n-- Dump completed\n");
        let record = format!("-- MySQL dump\nINSERT INTO `bm_player_ban_records` \
            (`id`,`player_id`,`reason`,`expired`,`actor_id`,`pastActor_id`,`pastCreated`,`created`,`createdReason`) \
            VALUES (7,0x{id},'x',0,0x{id},0x{id},{start},{end},'appeal');\n-- Dump completed\n");
        assert_eq!(counts(&import(&owner, "kind=banmanager", ban).await, "PUNISHMENTS"), [1, 0, 0, 0]);
        assert_eq!(active(&owner, 1).await, 1);
        let done = import(&owner, "kind=banmanager", record).await;
        assert_eq!((counts(&done, "PUNISHMENTS"), active(&owner, 1).await), ([0, 1, 0, 0], 0), "{:?}", notes(&done));
    }

    async fn a_database_of_utf_16_is_refused_with_what_to_do(hub: Hub) {
        let owner = hub.network().await;
        for encoding in ["UTF-16le", "UTF-16be"] {
            let failed = import(&owner, "kind=litebans", database(encoding).await).await;
            let message = failed["error"]["message"].as_str().unwrap();
            assert!(message.contains("UTF-16") && message.contains(".dump"), "{message}");
        }
        let done = import(&owner, "kind=litebans", database("UTF-8").await).await;
        assert_eq!((&done["state"], counts(&done, "PUNISHMENTS")), (&json!("DONE"), [1, 0, 0, 0]), "{done}");
    }
}
