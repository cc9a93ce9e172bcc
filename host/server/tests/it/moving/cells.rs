//! One cell of an export is changed at a time, and the file imported beside another network, the victim. It is refused in one
//! sentence, or the hub starts on it, serves it without an error of its own, and does its work for the victim as before.
//! `scripts/cells SECONDS SEED [postgres]` does that for longer.

use std::process::Output;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hub::component::NetworkTable;
use hub::components::{components, tables};
use hub::ids::Ids;
use hub::panics::caught_panics;
use hub_db::ColumnType;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::{Instant, timeout};

use super::refused::{Members, seal};
use super::{export, members, run, sample, text};
use crate::servers::{beat, join, register, uuid};
use crate::support::{Backend, Client, Hub};

/// Time after which an answer that comes bit by bit is left.
const PATIENCE: Duration = Duration::from_secs(5);

/// A change of one cell.
struct Change {
    /// For example `servers.role, row 1: "x"`.
    name: String,
    members: Members,
}

struct Cells {
    hub: Hub,
    network: String,
    owner_key: String,
    victim: Client,
    victim_key: String,
    good: Members,
    folder: TempDir,
    ids: Ids,
    findings: Vec<String>,
    /// Rounds that were refused, and accepted.
    refused: u32,
    accepted: u32,
}

impl Cells {
    async fn new(backend: Backend, seed: u64) -> Self {
        let first = Hub::start(Backend::sqlite()).await;
        let owner = first.network().await;
        sample::fill(&first, &owner).await;
        // A session, a ban and a lease that go on.
        join(&owner, "lobby-1", 7).await;
        let ban = json!({"playerUuid": uuid(7), "type": "BAN", "durationMs": 60_000, "reason": "x"});
        owner.post("/api/plugin/punishments/create", ban).await.expect(200);
        let open = json!({"ownerScope": "player", "ownerId": uuid(7), "gameId": "islands"});
        owner.post("/api/plugin/worlds/open", open).await.expect(200);
        let folder = TempDir::new().unwrap();
        let network = owner.network.unwrap().to_string();
        export(&first.stop().await, &network, &folder.path().join("good"));
        let hub = Hub::start(backend).await;
        let victim = hub.network().await;
        Self {
            network,
            owner_key: owner.key.unwrap(),
            victim_key: victim.key.clone().unwrap(),
            good: members(&folder.path().join("good")),
            hub,
            victim,
            folder,
            ids: Ids::seeded(seed),
            findings: vec![],
            refused: 0,
            accepted: 0,
        }
    }

    fn draw(&self, most: usize) -> usize {
        usize::try_from(self.ids.seed() % u64::try_from(most).unwrap()).unwrap()
    }

    /// A change of a cell that is drawn: of a table first, so that large tables do not get all of them.
    fn change(&self) -> Change {
        let filled: Vec<&NetworkTable> =
            tables().moved().iter().filter(|table| self.chunk(table.name).is_some()).collect();
        let table = filled[self.draw(filled.len())];
        let at = self.chunk(table.name).unwrap();
        let mut members = self.good.clone();
        let mut rows: Vec<Value> =
            members[at].1.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
        let (row, column) = (self.draw(rows.len()), self.draw(table.columns.len()));
        let values = self.values(table.columns[column].column_type);
        let value = values[self.draw(values.len())].clone();
        let shown: String = value.to_string().chars().take(60).collect();
        let name = format!("{}.{}, row {}: {shown}", table.name, table.columns[column].name, row + 1);
        rows[row][column] = value;
        members[at].1 = (rows.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n").into_bytes();
        Change { name, members }
    }

    fn chunk(&self, table: &str) -> Option<usize> {
        self.good.iter().position(|(name, _)| name.starts_with(&format!("tables/{table}/")))
    }

    /// Smallest, largest and odd values of a type.
    fn values(&self, column_type: ColumnType) -> Vec<Value> {
        let drawn = self.ids.token(self.draw(40));
        let mut values = match column_type {
            ColumnType::Bool => vec![json!(true), json!(false)],
            ColumnType::Integer => {
                let year = 366 * 24 * 3_600_000_i64;
                [i64::MIN, -1, 0, 1, 1 << 31, 1 << 53, year * 900, i64::MAX - 1, i64::MAX].map(|it| json!(it)).into()
            }
            ColumnType::Float => [-1e308, -5e-324, 0.0, 1e300, f64::MAX].map(|it| json!(it)).into(),
            ColumnType::Text => {
                let long = "x".repeat(100_000);
                let texts = [
                    "",
                    " ",
                    "null",
                    "[]",
                    "{}",
                    "\"",
                    "\u{202e}a",
                    "a\u{1}",
                    "-1",
                    "OPEN",
                    "9999-12-31",
                    "%C3",
                    &*long,
                    &*drawn,
                ];
                texts.map(|it| json!(it)).into()
            }
            ColumnType::Bytes => [vec![], vec![0_u8], vec![0xff; 5_000]].map(|it| json!(STANDARD.encode(it))).into(),
            ColumnType::Uuid => {
                let (nil, max) = (uuid::Uuid::nil(), uuid::Uuid::max());
                vec![json!(nil), json!(max), json!(uuid::Uuid::from_u128(self.ids.seed().into()))]
            }
        };
        values.push(Value::Null);
        values
    }

    /// Imports a change and looks what becomes of both networks.
    async fn round(mut self) -> Self {
        let change = self.change();
        let file = self.folder.path().join("changed");
        seal(&change.members, &file);
        let output = run(&self.hub.backend, &["import", text(&file)]);
        if let Some(finding) = finding_of_command(&output) {
            self.findings.push(format!("{}: {finding}", change.name));
        }
        if !output.status.success() {
            self.refused += 1;
            return self;
        }
        self.accepted += 1;
        let panics = caught_panics();
        let later = Duration::from_secs(1);
        self.hub = self.hub.restart(later).await;
        self.victim = self.hub.with_key(&self.victim_key).for_network(self.victim.network.unwrap());
        let mut found = self.of_victim().await;
        found.extend(self.of_network().await);
        // Sweeps of all networks, with leases, bans and idle times that end.
        for step in [1, 31, 3_600] {
            self.hub.clock.advance(Duration::from_secs(step));
        }
        found.extend(self.of_victim().await);
        if caught_panics() > panics {
            found.push(format!("{} panics in background work", caught_panics() - panics));
        }
        self.findings.extend(found.into_iter().map(|finding| format!("{}: {finding}", change.name)));
        self.remove().await;
        self
    }

    /// The victim's servers, punishments and reads work.
    async fn of_victim(&self) -> Vec<String> {
        let mut found = vec![];
        register(&self.victim, "lobby-1", json!({})).await;
        beat(&self.victim, "lobby-1", json!({})).await;
        join(&self.victim, "lobby-1", 1).await;
        let mute = json!({"playerUuid": uuid(1), "type": "MUTE", "durationMs": 500});
        let id = self.victim.post("/api/plugin/punishments/create", mute).await.expect(200)["id"].as_i64().unwrap();
        self.hub.clock.advance(Duration::from_secs(1));
        let network = self.victim.network.unwrap();
        let sql = "SELECT state FROM punishments WHERE network_id = $1 AND id = $2";
        let ends = Instant::now() + Duration::from_mins(2);
        loop {
            let (state,): (String,) = self.hub.app.db.query(sql).bind(network).bind(id).one().await.unwrap();
            if state == "EXPIRED" {
                break;
            }
            if Instant::now() > ends {
                found.push("a punishment of the victim does not expire".to_owned());
                break;
            }
            self.hub.clock.advance(Duration::from_millis(500));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        for path in ["/api/manage/servers", "/api/plugin/players", "/api/plugin/permissions/groups"] {
            let answer = self.victim.get(path).await;
            if answer.status != 200 {
                found.push(format!("the victim's GET {path} is {}", answer.status));
            }
        }
        found
    }

    /// All reads of the imported network, and its most frequent writes.
    async fn of_network(&self) -> Vec<String> {
        let client = self.hub.with_key(&self.owner_key);
        let mut found = vec![];
        for path in reads(&self.victim).await {
            found.extend(attempt(&client, Method::GET, &path, Value::Null).await);
        }
        let player = uuid(1);
        let server =
            json!({"serverId": "lobby-1", "serverType": "lobby", "host": "10.0.0.7", "port": 25565, "maxPlayers": 10});
        for (path, body) in [
            ("/api/plugin/servers/register", server),
            ("/api/plugin/servers/heartbeat", json!({"serverId": "lobby-1"})),
            ("/api/plugin/servers/players", json!({"serverId": "lobby-1", "playerUuid": player, "playerName": "p1"})),
            (&*format!("/api/plugin/players/{player}/load?username=p1"), Value::Null),
            ("/api/plugin/punishments/create", json!({"playerUuid": player, "type": "WARN"})),
            (
                "/api/plugin/chat",
                json!({"playerUuid": player, "playerName": "p1", "message": "a", "serverId": "lobby-1"}),
            ),
            (
                &*format!("/api/plugin/economy/player/{player}/currencies/modify"),
                json!({"currency": "coins", "amount": 1}),
            ),
            (
                &*format!("/api/plugin/economy/player/{player}/statistics/increment"),
                json!({"name": "kills", "amount": 1}),
            ),
            (&*format!("/api/plugin/permissions/users/{player}/permissions"), json!({"node": "a.b"})),
            ("/api/plugin/config/publish", json!({"group": "lobby", "namespace": "board", "doc": 1})),
            ("/api/plugin/worlds/open", json!({"ownerScope": "party", "ownerId": "p", "gameId": "islands"})),
            ("/api/plugin/transfers", json!({"playerUuid": player, "targetServerId": "lobby-1"})),
            ("/api/manage/keys", json!({"name": "k", "scopes": ["plugin"]})),
        ] {
            found.extend(attempt(&client, Method::POST, path, body).await);
        }
        found
    }

    /// Deletes the imported network, so that the next import finds none.
    async fn remove(&self) {
        let network: uuid::Uuid = self.network.parse().unwrap();
        for table in tables().of_networks() {
            let db = if table.rule.is_in_module_store { &self.hub.app.module_store } else { &self.hub.app.db };
            let mut attempts = 0;
            // Events and sweeps of the hub may hold its rows for a moment.
            while let Err(error) = db.transaction(async |mut tx| tx.delete_rows(table, network, 1_000_000).await).await
            {
                attempts += 1;
                assert!(attempts < 20, "{}: {error}", table.name);
            }
        }
        for state in components().network_states() {
            state.forget(&self.hub.app, hub::values::NetworkId(network));
        }
    }

    fn end(self) {
        println!("{} refused, {} served", self.refused, self.accepted);
        assert!(self.findings.is_empty(), "{} findings:\n{}", self.findings.len(), self.findings.join("\n"));
    }
}

/// A refusal is one line for people, an acceptance is silent about errors.
fn finding_of_command(output: &Output) -> Option<String> {
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.code() {
        Some(0) => None,
        Some(1) if errors.starts_with("hub: ") && errors.lines().count() == 1 => None,
        code => Some(format!("the import ended with {code:?}: {errors}")),
    }
}

async fn attempt(client: &Client, method: Method, path: &str, body: Value) -> Option<String> {
    let request = client.request(method.clone(), path);
    let request = if body.is_null() { request } else { request.json(&body) };
    let Ok(response) = timeout(PATIENCE, request.send()).await else { return None };
    let response = response.unwrap();
    let status = response.status();
    if status != 500 {
        return None;
    }
    Some(format!("{method} {path} is 500: {}", response.text().await.unwrap_or_default()))
}

/// Paths of all reads that end, with the sample's ids.
async fn reads(client: &Client) -> Vec<String> {
    let document = client.get("/api/openapi.json").await.expect(200).clone();
    let mut paths = vec![];
    for (path, methods) in document["paths"].as_object().unwrap() {
        let Some(operation) = methods.get("get") else { continue };
        let is_stream = operation["responses"]["200"]["content"].get("text/event-stream").is_some();
        if is_stream || path.contains("/admin/") || path.contains("poll") {
            continue;
        }
        let segments = path.split('/').map(|segment| match segment.trim_matches(['{', '}']) {
            name if name == segment => segment.to_owned(),
            "playerUuid" | "uuid" | "playerId" | "ownerKey" | "key" => uuid(1),
            "ownerType" => "player".to_owned(),
            "serverId" => "lobby-1".to_owned(),
            "group" | "groupId" => "vip".to_owned(),
            "collection" => "guilds".to_owned(),
            "gameMode" => "global".to_owned(),
            "namespace" => "inventory".to_owned(),
            "point" => "chat".to_owned(),
            "name" => "chat-guard".to_owned(),
            _ => "1".to_owned(),
        });
        paths.push(segments.collect::<Vec<_>>().join("/"));
    }
    paths.extend(sample::PATHS.iter().map(|path| (*path).to_owned()));
    paths
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_cell_is_refused_or_served() {
    let mut cells = Cells::new(Backend::sqlite(), 1).await;
    for _ in 0..30 {
        cells = cells.round().await;
    }
    assert!(cells.refused > 5 && cells.accepted > 2, "{} {}", cells.refused, cells.accepted);
    cells.end();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "scripts/cells runs it"]
async fn cells() {
    let text = std::env::var("HUB_CELLS").expect("HUB_CELLS is what scripts/cells is given");
    let mut parts = text.split(' ');
    let seconds = parts.next().unwrap().parse().unwrap();
    let seed = parts.next().unwrap().parse().unwrap();
    let backend = if parts.next() == Some("postgres") { Backend::postgres().await } else { Backend::sqlite() };
    let ends = Instant::now() + Duration::from_secs(seconds);
    let mut cells = Cells::new(backend, seed).await;
    while Instant::now() < ends {
        cells = cells.round().await;
    }
    cells.end();
}
