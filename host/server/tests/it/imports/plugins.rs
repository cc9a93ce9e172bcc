//! Files of other plugins and of the game server, in the formats of their sources.

use serde_json::{Value, json};

use super::files::{self, player};
use super::{counts, has_note, import, notes};
use crate::support::{Client, NOW, on_both};

const HOUR: i64 = 3_600_000;

async fn history(client: &Client, at: usize) -> Vec<Value> {
    let path = format!("/api/plugin/punishments/player/{}/history", player(at));
    client.get(&path).await.expect(200).as_array().unwrap().clone()
}

async fn active(client: &Client, at: usize) -> Vec<String> {
    let path = format!("/api/plugin/punishments/player/{}", player(at));
    let found = client.get(&path).await.expect(200).clone();
    found.as_array().unwrap().iter().map(|it| it["type"].as_str().unwrap().to_owned()).collect()
}

async fn banned_addresses(client: &Client, ip: &str) -> usize {
    client.get(&format!("/api/plugin/punishments/query?ip={ip}")).await.expect(200).as_array().unwrap().len()
}

async fn balance(client: &Client, at: usize) -> Value {
    let path = format!("/api/plugin/economy/player/{}/currencies", player(at));
    client.get(&path).await.expect(200)[0]["balance"].clone()
}

fn hex(at: usize) -> String {
    player(at).replace('-', "")
}

on_both! {
    async fn lists_of_the_game_server_are_read(hub: Hub) {
        let owner = hub.network().await;
        let ban = |at: usize, expires: &str| json!({"uuid": player(at), "name": format!("player{at}"), "created": "2026-01-31 12:00:00 +0000",
            "source": "Server", "expires": expires, "reason": "Banned by an operator."});
        let mut wrong = ban(4, "forever");
        wrong["created"] = json!("yesterday");
        let bans = json!([ban(1, "forever"), ban(2, "2026-02-01 12:00:00 +0100"), ban(3, "2030-01-01 00:00:00 +0000"), wrong]);
        for counted in [[3, 0, 0, 1], [0, 0, 3, 1]] {
            let done = import(&owner, "kind=vanilla", serde_json::to_string_pretty(&bans).unwrap()).await;
            assert_eq!(counts(&done, "PUNISHMENTS"), counted, "{:?}", notes(&done));
            assert!(has_note(&done, "`created` is no time: `yesterday`"), "{:?}", notes(&done));
        }
        assert_eq!((active(&owner, 1).await, active(&owner, 2).await, active(&owner, 3).await), (vec!["BAN".to_owned()], vec![], vec!["BAN".to_owned()]));
        assert_eq!(history(&owner, 1).await[0]["issuerName"], "Server");
        let ips = json!([{"ip": "203.0.113.9", "created": "2026-01-31 12:00:00 +0000", "source": "x", "expires": "forever", "reason": "y"}]);
        import(&owner, "kind=vanilla", ips.to_string()).await;
        assert_eq!(banned_addresses(&owner, "203.0.113.9").await, 1);
        let whitelist = json!([{"uuid": player(5), "name": "Robin"}]);
        let done = import(&owner, "kind=vanilla", whitelist.to_string()).await;
        assert!(has_note(&done, "whitelist: The hub has no whitelist"), "{:?}", notes(&done));
        let failed = import(&owner, "kind=vanilla", json!([{"uuid": "x", "name": "Robin"}]).to_string()).await;
        assert!(failed["error"]["message"].as_str().unwrap().contains("None of its 1 entries"), "{failed}");
    }

    async fn advancedban_is_read_with_each_punishment_once(hub: Hub) {
        let row = |id: i64, name: &str, uuid: &str, kind: &str, start: i64, end: i64| {
            format!("({id},'{name}','{uuid}','it\\'s','Mod','{kind}',{start},{end},NULL)")
        };
        let (one, two) = (hex(1), hex(2));
        let (old, open) = (NOW - 10 * HOUR, NOW - 5 * HOUR);
        let history_rows = [row(1, "Steve", &one, "BAN", open, -1), row(2, "Steve", &one, "TEMP_MUTE", old, NOW - HOUR),
            row(3, "Alex", &two, "BAN", old, -1), row(4, "x", "203.0.113.9", "IP_BAN", open, -1), row(5, "Alex", &two, "KICK", old, -1),
            row(6, "Alex", &two, "NOTE", old, -1)];
        let open_rows = [row(1, "Steve", &one, "BAN", open, -1), row(2, "x", "203.0.113.9", "IP_BAN", open, -1)];
        let columns = "(`id` int, `name` text, `uuid` text, `reason` text, `operator` text, `punishmentType` text, `start` mediumtext, `end` mediumtext, `calculation` text)";
        let dump = format!(
            "-- MySQL dump\nCREATE TABLE `PunishmentHistory` {columns};\nINSERT INTO `PunishmentHistory` VALUES {};\n\
             CREATE TABLE `Punishments` {columns};\nINSERT INTO `Punishments` VALUES {};\n",
            history_rows.join(","), open_rows.join(",")
        );
        let owner = hub.network().await;
        let done = import(&owner, "kind=advancedban", dump).await;
        assert_eq!(counts(&done, "PUNISHMENTS"), [5, 0, 0, 1], "{:?}", notes(&done));
        assert_eq!((active(&owner, 1).await, active(&owner, 2).await), (vec!["BAN".to_owned()], vec![]));
        assert_eq!((history(&owner, 1).await.len(), history(&owner, 2).await.len()), (2, 2));
        assert_eq!(banned_addresses(&owner, "203.0.113.9").await, 1);
        let script = format!("SET DATABASE UNIQUE NAME HSQLDB1\nCREATE MEMORY TABLE PUBLIC.PUNISHMENTS{}\nSET SCHEMA PUBLIC\nINSERT INTO PUNISHMENTS VALUES{}\n",
            columns.replace('`', ""), row(1, "Steve", &one, "BAN", open, -1).replace("\\'", "''"));
        let other = hub.network().await;
        let done = import(&other, "kind=advancedban", script).await;
        assert_eq!(counts(&done, "PUNISHMENTS"), [1, 0, 0, 0], "{:?}", notes(&done));
        assert_eq!(history(&other, 1).await[0]["reason"], "it's");
    }

    async fn libertybans_joins_its_tables(hub: Hub) {
        let (start, later) = ((NOW - 10 * HOUR) / 1_000, (NOW + HOUR) / 1_000);
        let nobody = "00000000000000000000000000000000";
        let insert = |table: &str, rows: &[String]| format!("INSERT INTO `libertybans_{table}` VALUES {};\n", rows.join(","));
        let create = |table: &str, columns: &str| format!("CREATE TABLE `libertybans_{table}` ({columns});\n");
        let dump = ["-- MariaDB dump 10.19\n".to_owned(),
            create("bans", "`id` bigint, `victim` int"), insert("bans", &["(1,1)".to_owned(), "(3,2)".to_owned()]),
            create("history", "`id` bigint, `victim` int"), insert("history", &["(1,1)".to_owned(), "(2,1)".to_owned(), "(3,2)".to_owned(), "(4,1)".to_owned()]),
            create("names", "`uuid` binary(16), `name` text, `updated` bigint"), insert("names", &[format!("(0x{},'Steve',{start})", hex(1))]),
            create("punishments", "`id` bigint, `type` smallint, `operator` binary(16), `reason` text, `scope` text, `start` bigint, `end` bigint, `track` int, `scope_id` int"),
            insert("punishments", &[format!("(1,0,0x{nobody},'griefing','',{start},{later},NULL,NULL)"), format!("(2,1,0x{},'spam','',{start},0,NULL,NULL)", hex(1)),
                format!("(3,0,0x{nobody},'alts','',{start},0,NULL,NULL)"), format!("(4,0,0x{nobody},'one server','',{start},0,NULL,7)")]),
            create("victims", "`id` int, `type` smallint, `uuid` binary(16), `address` varbinary(16)"),
            insert("victims", &[format!("(1,0,0x{},0x00000000)", hex(1)), format!("(2,1,0x{nobody},0xcb007109)")]),
        ].concat();
        let owner = hub.network().await;
        let done = import(&owner, "kind=libertybans", dump).await;
        assert_eq!(counts(&done, "PUNISHMENTS"), [3, 0, 0, 1], "{:?}", notes(&done));
        assert!(has_note(&done, "libertybans_punishments 4: Limited to a scope"), "{:?}", notes(&done));
        assert_eq!(active(&owner, 1).await, ["BAN"], "the mute was lifted");
        assert_eq!(banned_addresses(&owner, "203.0.113.9").await, 1);
        let found = history(&owner, 1).await;
        assert!(found.iter().all(|it| it["playerName"] == "Steve"), "{found:?}");
    }

    async fn banmanager_has_names_and_records(hub: Hub) {
        let (start, end) = ((NOW - 10 * HOUR) / 1_000, (NOW - HOUR) / 1_000);
        let (one, two, console) = (hex(1), hex(2), hex(9));
        let dump = format!(
            "-- MySQL dump\n\
             INSERT INTO `bm_ip_bans` (`id`,`ip`,`reason`,`actor_id`,`created`,`updated`,`expires`) VALUES (1,0xcb007109,'alts',0x{two},{start},{start},0);\n\
             INSERT INTO `bm_player_ban_records` (`id`,`player_id`,`reason`,`expired`,`actor_id`,`pastActor_id`,`pastCreated`,`created`,`createdReason`) VALUES \
             (1,0x{one},'old',0,0x{two},0x{console},{start},{end},'appeal');\n\
             INSERT INTO `bm_player_bans` (`id`,`player_id`,`reason`,`actor_id`,`created`,`updated`,`expires`) VALUES (1,0x{one},'new',0x{two},{start},{start},0);\n\
             INSERT INTO `bm_players` (`id`,`name`,`ip`,`lastSeen`) VALUES (0x{one},'Steve',0xcb007101,{start}),(0x{two},'Mod',0xcb007102,{start}),(0x{console},'Console',0x7f000001,{start});\n"
        );
        let owner = hub.network().await;
        let done = import(&owner, "kind=banmanager", dump).await;
        assert_eq!((counts(&done, "PUNISHMENTS"), counts(&done, "SIGHTINGS")), ([3, 0, 0, 0], [2, 0, 0, 1]), "{:?}", notes(&done));
        assert_eq!((active(&owner, 1).await, banned_addresses(&owner, "203.0.113.9").await), (vec!["BAN".to_owned()], 1));
        let found = history(&owner, 1).await;
        let new = found.iter().find(|it| it["reason"] == "new").unwrap();
        assert_eq!((&new["playerName"], &new["issuerName"], &new["issuerUuid"]), (&json!("Steve"), &json!("Mod"), &json!(player(2))));
    }

    async fn databases_of_economies_are_read(hub: Hub) {
        let (one, two) = (player(1), player(2));
        let points = format!("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE playerpoints_points (id INTEGER PRIMARY KEY, uuid VARCHAR(36) NOT NULL, points INTEGER NOT NULL);\n\
            INSERT INTO playerpoints_points VALUES(1,'{one}',250);\nINSERT INTO playerpoints_points VALUES(2,'x',1);\nCOMMIT;\n");
        let xconomy = format!("-- MySQL dump\nINSERT INTO `xconomy` (`UID`,`player`,`balance`,`hidden`) VALUES ('{one}','Steve',250.00,0),('{two}','Alex',0.50,0);\n\
            INSERT INTO `xconomynon` (`account`,`balance`) VALUES ('town',5);\n");
        for (query, file, skipped) in [("kind=playerpoints&currency=coins", points, 1), ("kind=xconomy&currency=coins", xconomy, 0)] {
            let owner = hub.network().await;
            let done = import(&owner, query, files::gzip(file.as_bytes())).await;
            assert_eq!(done["state"], "DONE", "{done}");
            assert_eq!(counts(&done, "BALANCES")[3], skipped, "{:?}", notes(&done));
            assert_eq!(balance(&owner, 1).await, json!(250));
        }
    }
}
