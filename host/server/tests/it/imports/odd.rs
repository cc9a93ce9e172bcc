//! Files one step beside the expected: what is missing is told, and what was imported before is recognised only where it is the
//! same.

use serde_json::json;
use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

use super::files::{gzip, player, zip};
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
        for (query, file, message) in [
            (BALANCES, "uuid,balance\n", "names of columns and no rows"),
            ("kind=luckperms", "{\"groups\": {}, \"users\": {}}", "no groups, tracks or users"),
        ] {
            let failed = import(&owner, query, file).await;
            assert_eq!((&failed["state"], &failed["report"]["counts"]), (&json!("FAILED"), &json!([])), "{failed}");
            assert!(failed["error"]["message"].as_str().unwrap().contains(message), "{failed}");
        }
        let done = import(&owner, "kind=luckperms", "{\"groups\": {\"a\": {\"nodes\": []}}}").await;
        assert!(has_note(&done, "The export has no users"), "{:?}", notes(&done));
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
        // In seconds, a duration, and in microseconds.
        let others = [NOW / 1_000 + 3_600, 86_400_000, NOW * 1_000];
        let mut rows: Vec<_> = (1..).zip(others).map(|(id, end)| ban(id, 1, NOW, end)).collect();
        rows.push(ban(4, 2, NOW, -1));
        rows.push(ban(5, 2, NOW, i64::MAX));
        let done = import(&owner, "kind=litebans", bans(&rows)).await;
        assert_eq!(counts(&done, "PUNISHMENTS"), [2, 0, 0, 3]);
        for (id, end) in (1..).zip(others) {
            let note = format!("litebans_bans {id}: `until` is no time in milliseconds: `{end}`");
            assert!(has_note(&done, &note), "{note}: {:?}", notes(&done));
        }
        let rows: Vec<_> = (1..).zip([0, -2, NOW * 1_000, -1])
            .map(|(id, end)| format!("({id},'x','{}','{id}','Mod','BAN',{},{end})", player(3), NOW + id))
            .collect();
        let file = format!("-- MySQL dump\nINSERT INTO `Punishments` (id,name,uuid,reason,operator,punishmentType,start,end) VALUES {};\n", rows.join(","));
        let done = import(&owner, "kind=advancedban", file).await;
        assert_eq!((counts(&done, "PUNISHMENTS"), active(&owner, 3).await), ([1, 0, 0, 3], 1), "{:?}", notes(&done));
        assert!(has_note(&done, "punishments 2: `end` is no time in milliseconds: `-2`"), "{:?}", notes(&done));
    }

    async fn nobody_is_punished_by_a_row_that_names_nobody(hub: Hub) {
        let owner = hub.network().await;
        let nobody = "00000000-0000-0000-0000-000000000000";
        let file = format!(
            "-- MySQL dump\nINSERT INTO `litebans_bans` (id,uuid,ip,ipban,time,until,active,reason) VALUES \
             (1,NULL,'203.0.113.9',0,{NOW},0,1,'x'),(2,'{nobody}','203.0.113.9',0,{NOW},0,1,'x'),(3,NULL,'203.0.113.8',1,{NOW},0,1,'x');\n"
        );
        let done = import(&owner, "kind=litebans", file).await;
        assert_eq!(counts(&done, "PUNISHMENTS"), [1, 0, 0, 2], "{:?}", notes(&done));
        for part in ["litebans_bans 1: There is no player UUID, and `ipban`", "litebans_bans 2: `uuid` is the UUID of nobody"] {
            assert!(has_note(&done, part), "{:?}", notes(&done));
        }
        for (ip, count) in [("203.0.113.9", 0), ("203.0.113.8", 1)] {
            let found = owner.get(&format!("/api/plugin/punishments/query?ip={ip}")).await.expect(200).clone();
            assert_eq!(found.as_array().unwrap().len(), count, "{ip}");
        }
        let table = format!("uuid,balance\n{nobody},5\n{},5\n", player(1));
        assert_eq!(counts(&import(&owner, BALANCES, table).await, "BALANCES"), [1, 0, 0, 1]);
    }

    async fn a_dump_that_takes_its_rows_back_is_refused(hub: Hub) {
        let owner = hub.network().await;
        let row = ban(1, 1, NOW, -1);
        for (statement, message) in [
            ("TRUNCATE TABLE `litebans_bans`".to_owned(), "empties the table `litebans_bans`"),
            ("DROP TABLE `litebans_bans`".to_owned(), "drops the table `litebans_bans`"),
            ("ROLLBACK".to_owned(), "takes its rows back by ROLLBACK"),
            (format!("REPLACE INTO `litebans_bans` {COLUMNS} VALUES {row}"), "the row 1 of the table `litebans_bans` twice"),
        ] {
            let failed = import(&owner, "kind=litebans", format!("{}{statement};\n", bans(std::slice::from_ref(&row)))).await;
            assert_eq!(failed["state"], "FAILED", "{statement}: {failed}");
            assert!(failed["error"]["message"].as_str().unwrap().contains(message), "{failed}");
        }
        assert_eq!(active(&owner, 1).await, 0);
        // Dumps as `mysqldump --replace` and phpMyAdmin's option to empty tables before write them.
        let replacing = bans(&[row, ban(2, 2, NOW, -1)]).replace("INSERT INTO", "TRUNCATE TABLE `litebans_bans`;\nREPLACE INTO");
        let done = import(&owner, "kind=litebans", replacing).await;
        assert_eq!(counts(&done, "PUNISHMENTS"), [2, 0, 0, 0], "{done}");
    }

    async fn another_file_is_named_with_what_to_do(hub: Hub) {
        let owner = hub.network().await;
        let mut tar = vec![0; 1_024];
        tar[..5].copy_from_slice(b"a.yml");
        tar[257..262].copy_from_slice(b"ustar");
        for (query, file, message) in [
            (BALANCES, tar.clone(), "is a tar archive"),
            (BALANCES, gzip(&tar), "userdata` as a ZIP archive"),
            (BALANCES, b"BZh91AY&SY".to_vec(), "packed with bzip2; unpack it"),
            (BALANCES, zip(&[("[Content_Types].xml", "<x/>"), ("xl/workbook.xml", "<x/>")]), "a spreadsheet; save the sheet as CSV"),
            (BALANCES, b"[{\"uuid\": 1}]".to_vec(), "is JSON; import a table"),
            (BALANCES, b"uuid,balance\rx,1\r".to_vec(), "CR alone"),
            ("kind=litebans", b"{}".to_vec(), "is JSON; import a SQL dump"),
            ("kind=litebans", b"<!DOCTYPE html>".to_vec(), "a web page (HTML)"),
            ("kind=litebans", b"id,uuid,ip\n1,x,y\n".to_vec(), "(CSV); import a SQL dump"),
            ("kind=litebans", b"\x9a\x11\x80\x03\xfe\x12\\'".to_vec(), "is no text; import a SQL dump"),
            ("kind=luckperms", b"/lp creategroup a\n".to_vec(), "a list of commands"),
            ("kind=luckperms", b"groups:\n  a: 1\n".to_vec(), "is YAML; import the JSON file"),
            ("kind=luckperms", b"hello".to_vec(), "is not JSON; import the JSON file"),
            ("kind=vanilla", b"[null]".to_vec(), "expected an object such as"),
        ] {
            let failed = import(&owner, query, file).await;
            assert_eq!(failed["state"], "FAILED", "{failed}");
            assert!(failed["error"]["message"].as_str().unwrap().contains(message), "{message}: {failed}");
        }
        let cache = json!([{"uuid": player(1), "name": "Robin", "expiresOn": "2026-12-28 12:00:00 +0000"}]);
        let done = import(&owner, "kind=vanilla", cache.to_string()).await;
        assert!(has_note(&done, "usercache.json: The file is the server's cache of names"), "{:?}", notes(&done));
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
