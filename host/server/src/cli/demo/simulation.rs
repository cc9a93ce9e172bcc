//! Simulated servers that send heartbeats, and players who join, chat, change servers, buy and wait in line.

mod line;
mod shop;

use std::collections::HashMap;
use std::io::Write as _;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use self::line::WaitingTicket;
use crate::cli::client::HubClient;
use crate::cli::demo::examples;
use crate::ids::Ids;

/// Prints a line; a closed standard output is not an error.
macro_rules! print_line {
    ($($part:tt)*) => { let _ = writeln!(std::io::stdout(), $($part)*); };
}
use print_line;

struct GameServer {
    id: &'static str,
    kind: &'static str,
    region: &'static str,
    slots: u32,
    to_start: u32,
}

const SERVERS: [GameServer; 7] = [
    GameServer { id: "lobby-eu", kind: "lobby", region: "EUROPE", slots: 40, to_start: 0 },
    GameServer { id: "lobby-us", kind: "lobby", region: "NORTH_AMERICA", slots: 40, to_start: 0 },
    GameServer { id: "bedwars-1", kind: "bedwars", region: "EUROPE", slots: 16, to_start: 8 },
    GameServer { id: "bedwars-2", kind: "bedwars", region: "EUROPE", slots: 16, to_start: 8 },
    GameServer { id: "bedwars-us-1", kind: "bedwars", region: "NORTH_AMERICA", slots: 16, to_start: 8 },
    GameServer { id: "duels-eu", kind: line::GAME, region: "EUROPE", slots: line::SLOTS, to_start: 0 },
    GameServer { id: "survival-eu", kind: "survival", region: "EUROPE", slots: 60, to_start: 0 },
];
const PLAYERS: usize = 40;
/// The player among them whom the examples name.
const NOTCH: usize = PLAYERS - 1;
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
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(5);
const ACTION_INTERVAL: Duration = Duration::from_millis(1500);
/// Interval between looks at the line and at what is to be delivered.
const SERVICE_INTERVAL: Duration = Duration::from_secs(2);

struct Player {
    uuid: Uuid,
    name: String,
    region: &'static str,
}

/// Registers the servers, as their connectors do when they start.
pub(super) async fn register_servers(connector: &HubClient) -> anyhow::Result<()> {
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

/// Runs until the hub stops. Failed calls are printed and skipped, as in a real connector.
pub(super) async fn run(connector: HubClient, ids: Ids, stop: CancellationToken) {
    let mut simulation = Simulation::new(connector, ids);
    let mut heartbeat = tokio::time::interval(HEARTBEAT_INTERVAL);
    let mut action = tokio::time::interval(ACTION_INTERVAL);
    let mut service = tokio::time::interval(SERVICE_INTERVAL);
    if let Err(error) = simulation.fill_game().await {
        print_line!("  (!) {error:#}");
    }
    loop {
        let result = tokio::select! {
            () = stop.cancelled() => return,
            _ = heartbeat.tick() => simulation.send_heartbeats().await,
            _ = action.tick() => simulation.act().await,
            _ = service.tick() => simulation.serve().await,
        };
        if let Err(error) = result
            && !stop.is_cancelled()
        {
            print_line!("  (!) {error:#}");
        }
    }
}

struct Simulation {
    connector: HubClient,
    ids: Ids,
    players: Vec<Player>,
    /// Current server of each player, by the player's index.
    locations: HashMap<usize, String>,
    /// Tickets of those who wait, by the player's index.
    tickets: HashMap<usize, WaitingTicket>,
    /// Number of times that the line and the shop were served.
    served: usize,
}

impl Simulation {
    fn new(connector: HubClient, ids: Ids) -> Self {
        let players = (0..PLAYERS)
            .map(|at| Player {
                uuid: if at == NOTCH { examples::PLAYER } else { ids.uuid() },
                name: if at == NOTCH { examples::NAME.to_owned() } else { format!("Player{:02}", at + 1) },
                region: if at % 3 == 0 { "NORTH_AMERICA" } else { "EUROPE" },
            })
            .collect();
        Self { connector, ids, players, locations: HashMap::new(), tickets: HashMap::new(), served: 0 }
    }

    fn random_below(&self, bound: usize) -> usize {
        (self.ids.seed() % bound.max(1) as u64) as usize
    }

    async fn send_heartbeats(&mut self) -> anyhow::Result<()> {
        let proxy = json!({"serverId": "proxy-1", "serverType": "proxy"});
        self.connector.post("/api/plugin/servers/heartbeat", &proxy).await?;
        for server in &SERVERS {
            let players: Vec<Value> = self
                .locations
                .iter()
                .filter(|(_, location)| location.as_str() == server.id)
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
        let at = self.random_below(self.players.len());
        match (self.locations.contains_key(&at), self.random_below(10)) {
            (false, _) | (true, 8) => self.join(at, "lobby").await,
            (true, 0..5) => self.chat(at).await,
            (true, 5..7) => self.join(at, "bedwars").await,
            (true, 7) => self.join(at, "survival").await,
            (true, _) => self.leave(at).await,
        }
    }

    /// Serves the line and the shop.
    async fn serve(&mut self) -> anyhow::Result<()> {
        self.served += 1;
        self.move_line().await?;
        if self.served.is_multiple_of(3)
            && let Some(at) = self.somebody(|_| true)
        {
            self.buy(at).await?;
        }
        self.deliver().await
    }

    /// A player who is on one of these servers, at random.
    fn somebody(&self, is_meant: impl Fn(&str) -> bool) -> Option<usize> {
        let mut found: Vec<usize> =
            self.locations.iter().filter(|(_, server)| is_meant(server)).map(|(at, _)| *at).collect();
        found.sort_unstable();
        (!found.is_empty()).then(|| found[self.random_below(found.len())])
    }

    async fn join(&mut self, at: usize, kind: &str) -> anyhow::Result<()> {
        let player = &self.players[at];
        let find = json!({
            "playerUuid": player.uuid, "playerName": player.name, "serverType": kind, "region": player.region,
        });
        let found = self.connector.post("/api/plugin/matchmaking/find", &find).await?;
        let Some(server) = found["matchedServer"]["serverId"].as_str() else {
            print_line!("  match  {} ({}) found no {kind}: {}", player.name, player.region, found["result"]);
            return Ok(());
        };
        print_line!("  match  {} ({}) → {server}", player.name, player.region);
        self.enter(at, server, kind).await
    }

    async fn enter(&mut self, at: usize, server: &str, kind: &str) -> anyhow::Result<()> {
        let player = &self.players[at];
        let join = json!({
            "serverId": server, "serverType": kind, "playerUuid": player.uuid, "playerName": player.name,
        });
        self.connector.post("/api/plugin/servers/players", &join).await?;
        self.locations.insert(at, server.to_owned());
        Ok(())
    }

    async fn leave(&mut self, at: usize) -> anyhow::Result<()> {
        let player = &self.players[at];
        if let Some(server) = self.locations.remove(&at) {
            print_line!("  leave  {} left {server}", player.name);
            self.connector.delete(&format!("/api/plugin/servers/players/{}?serverId={server}", player.uuid)).await?;
        }
        Ok(())
    }

    async fn chat(&self, at: usize) -> anyhow::Result<()> {
        let player = &self.players[at];
        let line = LINES[self.random_below(LINES.len())];
        let body = json!({
            "playerUuid": player.uuid, "playerName": player.name, "serverId": self.locations[&at],
            "serverType": "lobby", "message": line,
        });
        match self.connector.post("/api/plugin/chat", &body).await {
            Ok(_) => {
                print_line!("  chat   {}: {line}", player.name);
            }
            Err(error) => {
                print_line!("  chat   {}: {line}   ← {error}", player.name);
            }
        }
        Ok(())
    }
}
