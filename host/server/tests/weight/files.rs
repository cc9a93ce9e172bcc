//! Files of every importer, from a grammar: so long, so many, so deep, up to what an import takes in a moment.

use std::io::Write as _;

use hub::imports::{FILE_KINDS, read_weighed};
use reqwest::Method;
use serde_json::json;
use tempfile::NamedTempFile;

use crate::scale::Scale;
use crate::support::{Hub, NOW};

/// Size of a file: what a reader reads of it in a second, and enough to fill its budgets of memory.
const FILE: usize = 6 << 20;
/// Lengths of a value, on both sides of the importers' bounds.
const LENGTHS: [usize; 4] = [1, 250, 60_000, 3_000_000];
/// Numbers of rows.
const COUNTS: [usize; 2] = [1, 40_000];
/// Depths of nesting.
const DEPTHS: [usize; 3] = [0, 30, 100_000];

/// Name of the table that a plugin's importer wants, and its columns but for the last, a text.
fn table(kind: &str) -> (&'static str, &'static str, &'static str) {
    match kind {
        "LITEBANS" => (
            "litebans_bans",
            "id, uuid, ip, banned_by_uuid, banned_by_name, time, until, active, reason",
            "1, 'U', '192.0.2.1', 'CONSOLE', 'Console', 1600000000000, 0, 1",
        ),
        "ADVANCEDBAN" => (
            "Punishments",
            "id, name, uuid, operator, punishmentType, start, end, calculation, reason",
            "1, 'A', 'U', 'CONSOLE', 'BAN', 1600000000000, -1, NULL",
        ),
        "LIBERTYBANS" => (
            "libertybans_punishments",
            "id, type, operator, scope, start, end, track, scope_id, reason",
            "1, 0, 0x00000000000000000000000000000000, '', 1600000000, 0, NULL, NULL",
        ),
        "BANMANAGER" => (
            "bm_player_bans",
            "id, player_id, actor_id, created, updated, expires, reason",
            "1, 'U', 'U', 1600000000, 1600000000, 0",
        ),
        "PLAYERPOINTS" => ("playerpoints_points", "id, uuid, points, note", "1, 'U', 5"),
        _ => ("xconomy", "UID, player, balance, hidden", "'U', 'A', 5"),
    }
}

/// Tables that `LibertyBans` joins with its punishments.
const JOINED: &str = "CREATE TABLE `libertybans_bans` (`id` bigint, `victim` int);
INSERT INTO `libertybans_bans` VALUES (1,1);
CREATE TABLE `libertybans_history` (`id` bigint, `victim` int);
INSERT INTO `libertybans_history` VALUES (1,1);
CREATE TABLE `libertybans_victims` (`id` int, `type` smallint, `uuid` binary(16), `address` varbinary(16));
INSERT INTO `libertybans_victims` VALUES (1,0,0x069a79f444e94726a5be000000000001,0x00000000);
";

fn repeated(head: &str, row: &str, between: &str, count: usize, tail: &str) -> String {
    let count = count.min((FILE / (row.len() + between.len())).max(1));
    format!("{head}{}{tail}", vec![row; count].join(between))
}

/// A file with so many rows, each with a text of this length, inside so many of the format's own brackets.
fn file(kind: &str, length: usize, count: usize, depth: usize) -> String {
    let player = "069a79f4-44e9-4726-a5be-000000000001";
    let text = "x".repeat(length);
    match kind {
        "LUCKPERMS" => {
            // Each pair of braces multiplies what the shorthand stands for.
            let key = format!("{text}{}", "{a,b}".repeat(depth.min(length)));
            let context = format!("{}\"1\"{}", "[".repeat(depth), "]".repeat(depth));
            let row = format!(r#"{{"type":"permission","key":"{key}","value":true,"context":{{"x":{context}}}}}"#);
            let head =
                format!(r#"{{"groups":{{"default":{{"nodes":[]}}}},"users":{{"{player}":{{"username":"a","nodes":["#);
            repeated(&head, &row, ",", count, "]}}}")
        }
        "VANILLA" => {
            let more = format!(r#","more":{}1{}"#, "[".repeat(depth), "]".repeat(depth));
            let more = if depth == 0 { "" } else { &more };
            let row = format!(
                r#"{{"uuid":"{player}","name":"A","created":"2026-01-31 12:00:00 +0000","source":"y","expires":"forever","reason":"{text}"{more}}}"#
            );
            repeated("[", &row, ",", count, "]")
        }
        "BALANCES" => repeated(
            "uuid,balance,note\n",
            &format!("{player},5,\"{}{text}\"", "\"\"".repeat(depth)),
            "\n",
            count,
            "\n",
        ),
        _ => {
            let (table, columns, values) = table(kind);
            let value = format!("{}'{text}'{}", "CONCAT(".repeat(depth), ")".repeat(depth));
            let row = format!("({}, {value})", values.replace("'U'", &format!("'{player}'")));
            let head = format!("-- MariaDB dump\nINSERT INTO `{table}` ({columns}) VALUES ");
            let joined = if kind == "LIBERTYBANS" { JOINED } else { "" };
            repeated(&head, &row, ",\n", count, &format!(";\n{joined}-- Dump completed\n"))
        }
    }
}

pub async fn weigh(scale: &mut Scale) {
    for kind in FILE_KINDS {
        let (mut read, mut refused) = (0, String::new());
        for length in LENGTHS {
            for count in COUNTS {
                for depth in DEPTHS {
                    let mut written = NamedTempFile::new().unwrap();
                    written.write_all(file(kind, length, count, depth).as_bytes()).unwrap();
                    let reading = tokio::task::spawn_blocking(move || read_weighed(kind, written.path(), NOW));
                    let name = format!("{kind}: {count} rows of {length}, {depth} deep");
                    match scale.weigh(&name, Some(crate::scale::LONGEST), reading).await.unwrap() {
                        Ok(records) => read += records,
                        Err(reason) => refused = reason,
                    }
                }
            }
        }
        scale.check(read > 0, format!("no file of the kind {kind} was read: {refused}"));
    }
    whole(scale).await;
}

/// The hub's part of an import.
async fn whole(scale: &mut Scale) {
    let owner = scale.hub.network().await;
    let note = "x".repeat(200);
    let row = |at: usize| format!("069a79f4-44e9-4726-a5be-{at:012},{at}.5,{note}");
    let rows = (0..20_000).map(row).collect::<Vec<_>>().join("\n");
    let file = format!("uuid,balance,note\n{rows}\n");
    let upload = owner.request(Method::POST, "/api/manage/imports?kind=balances&currency=coins").body(file);
    let client = owner.clone();
    let work = async move {
        let made = client.send(upload).await.expect(201)["importId"].as_str().unwrap().to_owned();
        let path = format!("/api/manage/imports/{made}");
        Hub::eventually("it is imported", async || client.get(&path).await.expect(200)["state"] == json!("DONE")).await;
        path
    };
    let path = scale.weigh("an import of 20,000 balances, in the hub", None, work).await;
    scale.get(&owner, &path).await;
}
