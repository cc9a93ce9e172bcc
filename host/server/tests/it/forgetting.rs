//! Export and erasure of players.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use hub::components::tables;
use hub::limits::{Bounds, Limit};
use hub::values::NetworkId;
use hub_db::{Cell, ColumnType, Db, Table};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::moving::sample;
use crate::servers::{join, register, uuid};
use crate::support::{Backend, Client, Hub, NOW, on_both, on_each};

const PLAYER: Uuid = Uuid::from_u128(0x069a_79f4_44e9_4726_a5be_fca9_0e38_aaf5);

/// Tables without data of players. A new table is searched like all others, unless it is named here, too.
const WITHOUT_PLAYERS: &[&str] = &[
    "networks",
    "api_keys",
    "modules",
    "module_names",
    "module_code",
    "module_store_usage",
    "module_state_usage",
    "module_secrets",
    "handlers",
    "handler_positions",
    "handler_cascades",
    "module_schedules",
    "punishment_counters",
    "delivery_counters",
    "report_counters",
    "permission_revisions",
    "localization_catalogs",
    "world_counters",
    "player_session_counters",
    "session_listeners",
    "waitlist",
    "waitlist_links",
    "network_members",
    "person_links",
    "network_roles",
    "network_usage",
    "event_listeners",
    "collection_index_builds",
    "unreferenced_blobs",
    "outbox",
    "agent_commands",
    "jobs",
    "forgotten_players",
    "daily_players",
    "play_time_passes",
    "waiting_line_settings",
];

fn searched() -> impl Iterator<Item = &'static Table> {
    tables().of_networks().iter().map(|table| &**table).filter(|table| !WITHOUT_PLAYERS.contains(&table.name))
}

fn database<'h>(hub: &'h Hub, table: &Table) -> &'h Db {
    let is_elsewhere = table.name.starts_with("module_store") && hub.app.db.backend() == hub_db::Backend::Sqlite;
    if is_elsewhere { &hub.app.module_store } else { &hub.app.db }
}

/// The last value of a column that has a few known ones: of the states it is the one in which nothing is left to do.
fn only_value(table: &str, column: &str) -> Option<&'static str> {
    let schema = include_str!("../../../../migrations/sqlite/0001_schema.sql");
    let (_, columns) = schema.split_once(&format!("CREATE TABLE {table} ("))?;
    let (columns, _) = columns.split_once("\n)")?;
    let (_, values) = columns.split_once(&format!("CHECK ({column} IN ("))?;
    values.split_once(')')?.0.rsplit('\'').nth(1)
}

/// A row that names the player: in every column, or in those that are no key alone.
fn row(table: &Table, is_own: bool) -> Vec<Cell> {
    let mut cells = vec![];
    for (index, column) in table.columns.iter().enumerate() {
        let names = is_own || index >= table.key_columns;
        let text = if is_own { format!("own {PLAYER}") } else { format!("of {}", PLAYER.simple()).to_uppercase() };
        let text = if names { text } else { format!("other {}", column.name) };
        let text = only_value(table.name, column.name).map_or(text, str::to_owned);
        // Unique over all networks.
        let text = if column.name == "appeal_mac" {
            static MADE: AtomicU32 = AtomicU32::new(0);
            format!("{text} {}", MADE.fetch_add(1, Ordering::Relaxed))
        } else {
            text
        };
        cells.push(match column.column_type {
            ColumnType::Bool => Cell::Bool(true),
            ColumnType::Integer => Cell::Integer(NOW + i64::from(is_own)),
            ColumnType::Float => Cell::Float(1.0),
            ColumnType::Text => Cell::Text(text),
            ColumnType::Bytes => Cell::Bytes(text.into_bytes()),
            ColumnType::Uuid if is_own => Cell::Uuid(PLAYER),
            ColumnType::Uuid => Cell::Uuid(Uuid::from_u128(index as u128 + 1)),
        });
    }
    cells
}

/// Puts two rows into every table: one of the player's, and one of another player's that names the player.
async fn fill(hub: &Hub, network: NetworkId) {
    for table in searched() {
        let rows = [row(table, true), row(table, false)];
        let filled = database(hub, table).transaction(async |mut tx| tx.insert_rows(table, network.0, &rows).await);
        filled.await.unwrap_or_else(|error| panic!("{}: {error}", table.name));
    }
}

async fn all_rows(hub: &Hub, table: &Table, network: NetworkId) -> Vec<Vec<Cell>> {
    let (db, mut rows) = (database(hub, table), vec![]);
    loop {
        let after = rows.last().map(|row: &Vec<Cell>| table.key_of(row).to_vec());
        let next = db.rows_after(table, network.0, after.as_deref(), 3).await.unwrap();
        if next.is_empty() {
            return rows;
        }
        rows.extend(next);
    }
}

fn is_named(cell: &Cell, words: &[&str]) -> bool {
    let text = match cell {
        Cell::Uuid(id) => id.to_string(),
        Cell::Text(text) => text.clone(),
        Cell::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => return false,
    };
    let text = text.to_lowercase();
    words.iter().any(|word| text.contains(word))
}

/// Tables and columns that contain one of these words.
async fn found(hub: &Hub, network: NetworkId, words: &[&str]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for table in searched() {
        for row in all_rows(hub, table, network).await {
            // The record that the player was forgotten.
            if table.name == "audit_log"
                && row.iter().any(|cell| matches!(cell, Cell::Text(text) if text.starts_with("player.")))
            {
                continue;
            }
            for (column, cell) in table.columns.iter().zip(&row) {
                if is_named(cell, words) {
                    found.insert(format!("{}.{}", table.name, column.name));
                }
            }
        }
    }
    found
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap().to_owned();
    words.fold(first, |text, word| text + &word[..1].to_uppercase() + &word[1..])
}

fn path(player: impl Display) -> String {
    format!("/api/manage/players/{player}")
}

/// True if a row of another player can name the player in the table.
fn can_mention(table: &Table) -> bool {
    let is_text = |kind| matches!(kind, ColumnType::Text | ColumnType::Bytes);
    // Those are the player's, even if others own them, too.
    let is_own = ["worlds", "server_log_lines"].contains(&table.name);
    !is_own && table.columns[table.key_columns..].iter().any(|column| is_text(column.column_type))
}

fn can_be_own(table: &Table) -> bool {
    let is_name = |kind| matches!(kind, ColumnType::Text | ColumnType::Bytes | ColumnType::Uuid);
    table.columns[..table.key_columns].iter().any(|column| is_name(column.column_type))
        || table.columns.iter().any(|column| column.name == "player_uuid")
}

on_both! {
    async fn every_table_is_exported_and_forgotten(hub: Hub) {
        let (owner, other) = (hub.network().await, hub.network().await);
        let (network, others) = (owner.network.unwrap(), other.network.unwrap());
        fill(&hub, network).await;
        fill(&hub, others).await;
        let words = [PLAYER.to_string(), PLAYER.simple().to_string()];
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let untouched = found(&hub, others, &words).await;
        assert_eq!(found(&hub, network, &words).await, untouched);
        assert!(untouched.len() > 100, "{untouched:?}");

        let export = owner.get(&format!("{}/export", path(PLAYER))).await.expect(200).clone();
        assert_eq!(export["playerUuid"], PLAYER.to_string());
        for table in searched() {
            let name = camel_case(table.name);
            assert!(!can_be_own(table) || export["tables"][&name][0].is_object(), "{name} is not exported: {export}");
            let mentions = export["mentions"][&name].as_u64().unwrap_or(0);
            assert!(!can_mention(table) || mentions > 0, "{name}: a mention is not counted");
        }

        owner.delete(&path(PLAYER)).await.expect(204);
        assert_eq!(found(&hub, network, &words).await, BTreeSet::new());
        // Data of others is still there, and nothing of another network has changed. Leases and blobs were deleted with
        // their worlds.
        for table in searched().filter(|table| can_mention(table) && !table.name.starts_with("world_")) {
            assert!(!all_rows(&hub, table, network).await.is_empty(), "{}: a row of another player is gone", table.name);
        }
        assert_eq!(found(&hub, others, &words).await, untouched);
        let ledger = tables().find("currency_ledger").unwrap();
        assert_eq!(all_rows(&hub, ledger, network).await.len(), 2, "the ledger is not whole");

        let list = owner.get("/api/manage/forgotten-players").await.expect(200).clone();
        let expected = json!([{"playerUuid": PLAYER, "forgottenAt": NOW, "finishedAt": NOW}]);
        assert_eq!(list["items"], expected);
        assert_eq!(other.get("/api/manage/forgotten-players").await.expect(200)["total"], 0);
        let audit = owner.get("/api/manage/audit?action=player.forgotten").await.expect(200).clone();
        assert_eq!(audit["items"][0]["target"], PLAYER.to_string());
        assert_eq!(owner.get("/api/manage/audit?action=player.exported").await.expect(200)["total"], 1);
        let export = owner.get(&format!("{}/export", path(PLAYER))).await.expect(200).clone();
        assert_eq!((&export["tables"], &export["mentions"]), (&json!({}), &json!({})));
    }

    async fn a_network_goes_on_without_a_player(hub: Hub) {
        let owner = hub.network().await;
        sample::fill(&hub, &owner).await;
        let player = uuid(111);
        let by_name = json!({"playerName": "P111", "type": "MUTE", "reason": "p111 is loud"});
        owner.post("/api/plugin/punishments/create-by-name", by_name).await.expect(200);
        join(&owner, "lobby-1", 111).await;
        let seen = json!({"playerUuid": player, "playerName": "p111", "ipAddress": "203.0.113.9"});
        owner.post("/api/plugin/punishments/ip", seen).await.expect(204);
        let pay = json!({"currency": "coins", "amount": 5, "reason": "quest of p111"});
        owner.post(&format!("/api/plugin/economy/player/{player}/currencies/modify"), pay).await.expect(200);
        let warn = json!({
            "playerUuid": uuid(2), "type": "WARN", "reason": "hit p111 again", "issuerUuid": player, "issuerName": "p111",
        });
        let warn = owner.post("/api/plugin/punishments/create", warn).await.expect(200).clone();
        let lines = json!({"lines": [
            {"at": NOW, "stream": "stdout", "text": "P111[/203.0.113.9:5] logged in"},
            {"at": NOW, "stream": "stdout", "text": "p1110 logged in"},
        ]});
        owner.post("/api/plugin/servers/lobby-1/logs", lines).await.expect(200);
        let friends = format!("/api/plugin/players/{}/data/global/friends", uuid(2));
        let data = json!({"friends": [player, uuid(3)]}).to_string();
        owner.put(&friends, json!({"data": data})).await.expect(200);
        let open = json!({"ownerScope": "player", "ownerId": player, "gameId": "islands"});
        owner.post("/api/plugin/worlds/open", open).await.expect(200);
        Hub::eventually("all is published", async || {
            hub.app.db.query("SELECT COUNT(*) FROM outbox").one::<(i64,)>().await.unwrap().0 == 0
        }).await;
        let mut stream = owner.events(None, None).await;
        let line = json!({"playerUuid": uuid(2), "playerName": "p2", "message": "hello", "serverId": "lobby-1"});
        owner.post("/api/plugin/chat", line.clone()).await.expect(204);
        let position = stream.next_named("CHAT").await.id;
        hub.advance_ms(10_000);
        let of_player = json!({"playerUuid": player, "playerName": "p111", "message": "me", "serverId": "lobby-1"});
        owner.post("/api/plugin/chat", of_player).await.expect(204);
        stream.next_named("CHAT").await;
        let ledgers = ledgers(&hub, &owner).await;
        let calls = recorded_calls(&owner).await;
        assert!(calls.contains(&player), "{calls}");

        owner.delete(&path(&player)).await.expect(204);
        owner.get(&format!("/api/plugin/players/{player}")).await.expect_error(404, "unknown_player");
        let names = ["p111", "203.0.113.9", &*player];
        let left = found(&hub, owner.network.unwrap(), &names).await;
        // `p1110` is another player.
        assert_eq!(left, ["server_log_lines.text".to_owned()].into());
        let texts = owner.get("/api/manage/servers/lobby-1/logs/recent").await.expect(200).to_string();
        assert!(texts.contains("p1110 logged in") && texts.contains("(removed"), "{texts}");
        let history = owner.get(&format!("/api/plugin/punishments/player/{}/history", uuid(2))).await.expect(200).clone();
        let kept = history.as_array().unwrap().iter().find(|it| it["id"] == warn["id"]).unwrap();
        assert_eq!((&kept["reason"], &kept["issuerName"]), (&json!("hit (forgotten) again"), &Value::Null));
        let data = owner.get(&friends).await.expect(200).clone();
        let text = data["data"].as_str().unwrap();
        assert!(text.contains(&uuid(3)) && !text.contains(&player), "{text}");
        assert_eq!(data["version"], 2, "an earlier reader must not write it back");
        assert_eq!(self::ledgers(&hub, &owner).await, ledgers, "a ledger is not whole");
        let calls = recorded_calls(&owner).await;
        assert!(!calls.contains(&player), "{calls}");

        // A stream that resumes gets no event of the player's, and misses nothing else.
        let mut resumed = owner.events(None, position.as_deref()).await;
        owner.post("/api/plugin/chat", line).await.expect(204);
        let next = resumed.next_named("CHAT").await;
        assert_eq!(next.data["message"], "hello");
        // A returning player is new.
        join(&owner, "lobby-1", 111).await;
        owner.get(&format!("/api/plugin/players/{player}")).await.expect(200);
        // The sample has forgotten one, too.
        assert_eq!(owner.get("/api/manage/forgotten-players").await.expect(200)["total"], 2);
    }

    async fn an_interrupted_deletion_is_gone_on_with(hub: Hub) {
        let owner = hub.network().await;
        let network = owner.network.unwrap();
        fill(&hub, network).await;
        let unfinished = "INSERT INTO forgotten_players (network_id, player_uuid, forgotten_at) VALUES ($1, $2, $3)";
        hub.app.db.write(unfinished).bind(network).bind(PLAYER).bind(NOW - 5).execute().await.unwrap();
        let leased = "INSERT INTO jobs (network_id, kind, job_key, payload, created_at, due_at, attempts, kills, node, lease_id, again)
             VALUES ($1, 'erasure', $2, $3, $4, $5, 1, 0, 'another', $6, FALSE)";
        let payload = format!("\"{}\"", uuid(1_000_000));
        let statement = hub.app.db.write(leased).bind(network).bind(PLAYER.to_string()).bind(payload).bind(NOW - 5);
        statement.bind(NOW + 1_500).bind(Uuid::from_u128(7)).execute().await.unwrap();
        hub.advance_ms(1_000);
        let words = [PLAYER.to_string()];
        assert!(!found(&hub, network, &[&words[0]]).await.is_empty(), "another command is erasing it");
        hub.advance_ms(1_000);
        Hub::eventually("the player is forgotten", async || {
            !owner.get("/api/manage/forgotten-players").await.expect(200)["items"][0]["finishedAt"].is_null()
        }).await;
        assert_eq!(found(&hub, network, &[&words[0]]).await, BTreeSet::new());
    }

    async fn plans_set_the_retention_of_data(hub: Hub) {
        let (owner, forever, operator) = (hub.network().await, hub.network().await, hub.operator().await);
        let plan = json!({"name": "short", "limits": {"addressDays": 3, "logDays": 3, "ledgerDays": 3, "statisticsDays": 3}});
        operator.post("/api/admin/plans", plan).await.expect(201);
        let change = operator.request(Method::PATCH, &format!("/api/admin/networks/{}", owner.network.unwrap()));
        operator.send(change.json(&json!({"plan": "short"}))).await.expect(200);
        for network in [&owner, &forever] {
            register(network, "lobby-1", json!({})).await;
            old_and_new(network, 1).await;
        }
        hub.advance_ms(2 * 24 * 3_600_000);
        for network in [&owner, &forever] {
            register(network, "lobby-1", json!({})).await;
            old_and_new(network, 2).await;
        }
        let counts = async |network: &Client| {
            let mut counts = vec![];
            for table in ["player_addresses", "server_log_lines", "currency_ledger", "statistics"] {
                let table = tables().find(table).unwrap();
                counts.push(all_rows(&hub, table, network.network.unwrap()).await.len());
            }
            counts
        };
        assert_eq!(counts(&owner).await, [2, 2, 2, 8]);
        hub.advance_ms(2 * 24 * 3_600_000);
        // Of the first player's statistics, the lifetime sum stays.
        Hub::eventually("old data is gone", async || counts(&owner).await == [1, 1, 1, 5]).await;
        assert_eq!(counts(&forever).await, [2, 2, 2, 8]);
        let refused = json!({"name": "never", "limits": {"logDays": 0}});
        operator.post("/api/admin/plans", refused).await.expect_error(400, "invalid_request");
    }
}

/// Old and new data of every kind, of one player.
async fn old_and_new(network: &Client, player: u64) {
    let seen = json!({"playerUuid": uuid(player), "playerName": "p", "ipAddress": "203.0.113.7"});
    network.post("/api/plugin/punishments/ip", seen).await.expect(204);
    let at = i64::try_from(player - 1).unwrap() * 2 * 24 * 3_600_000 + NOW;
    let lines = json!({"lines": [{"at": at, "stream": "stdout", "text": "x"}]});
    network.post("/api/plugin/servers/lobby-1/logs", lines).await.expect(200);
    let pay = json!({"currency": "coins", "amount": 1});
    network.post(&format!("/api/plugin/economy/player/{}/currencies/modify", uuid(player)), pay).await.expect(200);
    let kills = json!({"name": "kills", "amount": 1});
    network.post(&format!("/api/plugin/economy/player/{}/statistics/increment", uuid(player)), kills).await.expect(200);
}

/// Text of all recorded calls of the chat's modules.
async fn recorded_calls(owner: &Client) -> String {
    let list = owner.get("/api/manage/extension-points/chat/calls").await.expect(200).clone();
    let mut texts = String::new();
    for call in list["items"].as_array().unwrap() {
        let path = format!("/api/manage/extension-points/chat/calls/{}", call["callId"].as_str().unwrap());
        texts.push_str(&owner.get(&path).await.expect(200).to_string());
    }
    texts
}

/// The ledger without its owners.
async fn ledgers(hub: &Hub, owner: &Client) -> Vec<(i64, i64)> {
    let sql = "SELECT asked, balance FROM currency_ledger WHERE network_id = $1 ORDER BY asked, balance";
    hub.app.db.query(sql).bind(owner.network.unwrap()).all().await.unwrap()
}

fn run(backend: &Backend, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hub")).args(arguments).args(backend.options()).output().unwrap()
}

async fn the_command_line_forgets_too(backend: Backend) {
    let hub = Hub::start(backend.clone()).await;
    let owner = hub.network().await;
    sample::fill(&hub, &owner).await;
    let (network, player) = (owner.network.unwrap().to_string(), uuid(1));
    let output = run(&backend, &["admin", "player", "export", &player, "--network", &network]);
    let export: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(export["tables"]["players"][0]["username"], "p1");
    let output = run(&backend, &["admin", "player", "forget", &player, "--network", &network]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(found(&hub, owner.network.unwrap(), &[&player]).await, BTreeSet::new());
    let output = run(&backend, &["admin", "player", "forgotten"]);
    let lines = String::from_utf8(output.stdout).unwrap();
    let line: Value = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .find(|line: &Value| line["playerUuid"] == *player)
        .unwrap();
    assert_eq!((line["playerUuid"].as_str(), line["networkId"].as_str()), (Some(&*player), Some(&*network)));
    let request = hub.operator().await.request(Method::GET, "/api/admin/forgotten-players");
    assert_eq!(request.send().await.unwrap().text().await.unwrap(), lines);
    assert!(run(&backend, &["admin", "player", "forgotten", "--after", "9999999999999"]).stdout.is_empty());
    let failed = run(&backend, &["admin", "player", "forget", &player, "--network", "nobody"]);
    assert_eq!(failed.status.code(), Some(1));
}

/// Forgotten players count, and those whose erasure is under way.
async fn forgotten_players_of_a_network_are_limited(backend: Backend) {
    let bounds = Bounds::default().with(Limit::ForgottenPlayers, 3).with(Limit::PlayersForgottenAtOnce, 1);
    let hub = Hub::start_with(backend, |settings| settings.limits = bounds).await;
    let (owner, other) = (hub.network().await, hub.network().await);
    let forget = async |client: &Client, player: u64| client.delete(&path(uuid(player))).await;
    let answers = futures_util::future::join_all((0..12).map(|_| forget(&owner, 1))).await;
    let refused: Vec<_> = answers.iter().filter(|answer| answer.status != 204).collect();
    assert!((1..12).contains(&refused.len()), "{}", refused.len());
    for answer in refused {
        answer.expect_quota("playersForgottenAtOnce", 1);
    }
    for player in [1, 2, 3, 1] {
        forget(&owner, player).await.expect(204);
    }
    forget(&owner, 4).await.expect_quota("forgottenPlayers", 3);
    forget(&other, 4).await.expect(204);
}

on_each! { the_command_line_forgets_too forgotten_players_of_a_network_are_limited }
