//! Servers that beat and players who join, talk and move on.

use std::collections::HashMap;
use std::io::Write as _;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::cli::client::HubClient;
use crate::ids::Ids;

/// A line for whoever watches; nobody may.
macro_rules! tell {
    ($($part:tt)*) => { let _ = writeln!(std::io::stdout(), $($part)*); };
}

struct GameServer {
    id: &'static str,
    kind: &'static str,
    region: &'static str,
    slots: u32,
    to_start: u32,
}

const SERVERS: [GameServer; 6] = [
    GameServer { id: "lobby-eu", kind: "lobby", region: "EUROPE", slots: 40, to_start: 0 },
    GameServer { id: "lobby-us", kind: "lobby", region: "NORTH_AMERICA", slots: 40, to_start: 0 },
    GameServer { id: "bedwars-eu-1", kind: "bedwars", region: "EUROPE", slots: 16, to_start: 8 },
    GameServer { id: "bedwars-eu-2", kind: "bedwars", region: "EUROPE", slots: 16, to_start: 8 },
    GameServer { id: "bedwars-us-1", kind: "bedwars", region: "NORTH_AMERICA", slots: 16, to_start: 8 },
    GameServer { id: "survival-eu", kind: "survival", region: "EUROPE", slots: 60, to_start: 0 },
];
const PLAYERS: usize = 40;
const LINES: [&str; 8] = [
    "hello everyone",
    "anyone for bedwars?",
    "gg",
    "you noob",
    "where is the shop",
    "that was close",
    "trash team, sorry",
    "one more round",
];
const BEAT_EVERY: Duration = Duration::from_secs(5);
const ACT_EVERY: Duration = Duration::from_millis(1500);

struct Player {
    uuid: Uuid,
    name: String,
    region: &'static str,
}

/// Registers the servers, as their connectors do when they start.
pub(super) async fn open_servers(connector: &HubClient) -> anyhow::Result<()> {
    let proxy = json!({
        "serverId": "proxy-1", "serverType": "proxy", "role": "PROXY", "gameType": "MINECRAFT", "displayName": "Proxy 1",
        "maxPlayers": 500, "host": "127.0.0.1", "port": 25565, "region": "EUROPE",
    });
    connector.post("/api/plugin/servers/register", &proxy).await?;
    for (at, server) in SERVERS.iter().enumerate() {
        let body = json!({
            "serverId": server.id, "serverType": server.kind, "role": "GAME", "gameType": "MINECRAFT",
            "displayName": server.id, "maxPlayers": server.slots, "host": "127.0.0.1", "port": 25600 + at,
            "region": server.region, "gameState": "WAITING", "playersToStart": server.to_start,
            "platformName": "Paper", "platformVersion": "1.21.4",
        });
        connector.post("/api/plugin/servers/register", &body).await?;
    }
    Ok(())
}

/// Plays until the hub stops. A call that fails is told and costs nothing but itself, as with a real connector.
pub(super) async fn evening(connector: HubClient, ids: Ids, stop: CancellationToken) {
    let mut evening = Evening::new(connector, ids);
    let mut beat = tokio::time::interval(BEAT_EVERY);
    let mut act = tokio::time::interval(ACT_EVERY);
    loop {
        let done = tokio::select! {
            () = stop.cancelled() => return,
            _ = beat.tick() => evening.beat().await,
            _ = act.tick() => evening.act().await,
        };
        if let Err(error) = done
            && !stop.is_cancelled()
        {
            tell!("  (!) {error:#}");
        }
    }
}

struct Evening {
    connector: HubClient,
    ids: Ids,
    players: Vec<Player>,
    /// Which server each player is on, by the player's place in `players`.
    places: HashMap<usize, String>,
}

impl Evening {
    fn new(connector: HubClient, ids: Ids) -> Self {
        let players = (0..PLAYERS)
            .map(|at| Player {
                uuid: ids.uuid(),
                name: format!("Player{:02}", at + 1),
                region: if at % 3 == 0 { "NORTH_AMERICA" } else { "EUROPE" },
            })
            .collect();
        Self { connector, ids, players, places: HashMap::new() }
    }

    fn pick(&self, of: usize) -> usize {
        (self.ids.seed() % of.max(1) as u64) as usize
    }

    async fn beat(&mut self) -> anyhow::Result<()> {
        let proxy = json!({"serverId": "proxy-1", "serverType": "proxy"});
        self.connector.post("/api/plugin/servers/heartbeat", &proxy).await?;
        for server in &SERVERS {
            let players: Vec<Value> = self
                .places
                .iter()
                .filter(|(_, place)| place.as_str() == server.id)
                .map(|(at, _)| json!({"uuid": self.players[*at].uuid, "name": self.players[*at].name}))
                .collect();
            let state =
                if server.to_start > 0 && players.len() >= server.to_start as usize { "PLAYING" } else { "WAITING" };
            let body = json!({
                "serverId": server.id, "serverType": server.kind, "gameState": state,
                "playersToStart": server.to_start, "players": players,
            });
            self.connector.post("/api/plugin/servers/heartbeat", &body).await?;
        }
        Ok(())
    }

    async fn act(&mut self) -> anyhow::Result<()> {
        let at = self.pick(self.players.len());
        match (self.places.contains_key(&at), self.pick(10)) {
            (false, _) | (true, 8) => self.go(at, "lobby").await,
            (true, 0..5) => self.talk(at).await,
            (true, 5..7) => self.go(at, "bedwars").await,
            (true, 7) => self.go(at, "survival").await,
            (true, _) => self.leave(at).await,
        }
    }

    async fn go(&mut self, at: usize, kind: &str) -> anyhow::Result<()> {
        let player = &self.players[at];
        let find = json!({
            "playerUuid": player.uuid, "playerName": player.name, "serverType": kind, "region": player.region,
        });
        let found = self.connector.post("/api/plugin/matchmaking/find", &find).await?;
        let Some(server) = found["matchedServer"]["serverId"].as_str() else {
            tell!("  match  {} ({}) found no {kind}: {}", player.name, player.region, found["result"]);
            return Ok(());
        };
        tell!("  match  {} ({}) → {server}", player.name, player.region);
        let join = json!({
            "serverId": server, "serverType": kind, "playerUuid": player.uuid, "playerName": player.name,
        });
        self.connector.post("/api/plugin/servers/players", &join).await?;
        self.places.insert(at, server.to_owned());
        Ok(())
    }

    async fn leave(&mut self, at: usize) -> anyhow::Result<()> {
        let player = &self.players[at];
        if let Some(server) = self.places.remove(&at) {
            tell!("  leave  {} left {server}", player.name);
            self.connector.delete(&format!("/api/plugin/servers/players/{}?serverId={server}", player.uuid)).await?;
        }
        Ok(())
    }

    async fn talk(&self, at: usize) -> anyhow::Result<()> {
        let player = &self.players[at];
        let line = LINES[self.pick(LINES.len())];
        let body = json!({
            "playerUuid": player.uuid, "playerName": player.name, "serverId": self.places[&at],
            "serverType": "lobby", "message": line,
        });
        match self.connector.post("/api/plugin/chat", &body).await {
            Ok(_) => {
                tell!("  chat   {}: {line}", player.name);
            }
            Err(error) => {
                tell!("  chat   {}: {line}   ← {error}", player.name);
            }
        }
        Ok(())
    }
}
