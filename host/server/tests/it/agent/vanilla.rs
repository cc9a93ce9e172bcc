//! Minecraft servers without a plugin: the real agent, and a server that speaks the management protocol as its schema has it.

use std::path::Path;

use hub_testing::ports::free_port;
use serde_json::{Value, json};

use super::{Agent, PATIENCE};
use crate::support::{Backend, Client, Hub};

const MINECRAFT: &str = include_str!("minecraft.py");
const ADA: &str = "0d252b7f-218b-4bfb-9d4e-6f8a2c31b7aa";
const BOB: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
const EVE: &str = "7125ba8b-1c86-4508-b92b-b5c042ccfe2b";
const SETTINGS: &str = "#Minecraft server properties\r\nmotd=A \\u00a7lServer\\\r\n  of mine\r\nmanagement-server-tls-enabled: true\r\n\
    server-port=25570\r\nmanagement-server-secret=old\r\n";

/// A server under an agent, and its network.
struct Minecraft {
    agent: Agent,
}

impl Minecraft {
    async fn start(hub: &Hub) -> Self {
        Self::start_as(hub, &super::script(hub).await, "0").await
    }

    async fn start_as(hub: &Hub, script: &str, update_interval: &str) -> Self {
        let port = free_port();
        let url = format!("ws://127.0.0.1:{port}");
        let options = ["--management", &url, "--server-type", "survival", "--update-interval", update_interval];
        let agent = Agent::start_game(hub, &options, script, MINECRAFT, &["plugin"], |_, folder| {
            std::fs::write(folder.join("server.properties"), SETTINGS).unwrap();
        });
        let minecraft = Self { agent: agent.await };
        minecraft.agent.until_printed("registered as game-1").await;
        minecraft
    }

    fn owner(&self) -> &Client {
        &self.agent.owner
    }

    async fn say(&self, line: &str) {
        self.agent.say(line).await;
    }

    /// State of the server.
    fn state(&self) -> Value {
        let text = std::fs::read(self.agent.folder.path().join("state.json")).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    async fn until(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let state = self.state();
            if wanted(&state) {
                return state;
            }
            let log = std::fs::read_to_string(self.agent.log.path()).unwrap();
            assert!(tokio::time::Instant::now() < deadline, "{what}: {state}\n{log}");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

    /// Names of the players whom the hub has on this server.
    async fn online(&self) -> Vec<String> {
        let key = self.owner().key_with(&["players:read"]).await;
        let players = key.get("/api/plugin/servers/players").await;
        let players = players.expect(200).as_array().unwrap();
        players.iter().map(|player| player["playerName"].as_str().unwrap().to_owned()).collect()
    }

    async fn until_online(&self, names: &[&str]) {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let mut online = self.online().await;
            online.sort_unstable();
            if online == names {
                return;
            }
            let log = std::fs::read_to_string(self.agent.log.path()).unwrap();
            assert!(tokio::time::Instant::now() < deadline, "not {names:?} but {online:?}\n{log}");
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    }

    async fn ban(&self, player: &str, more: Value) -> Value {
        let mut body = json!({"playerUuid": player, "type": "BAN", "reason": "cheating"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.owner().post("/api/plugin/punishments/create", body).await.expect(200)["id"].clone()
    }

    async fn unban(&self, id: &Value) {
        self.owner().post("/api/plugin/punishments/remove", json!({"punishmentId": id})).await.expect(200);
    }

    async fn publish(&self, document: Value) {
        let body = json!({"group": "network", "namespace": "network-hub", "doc": document});
        self.owner().post("/api/plugin/config/publish", body).await.expect(200);
    }

    async fn server(&self) -> Value {
        self.owner().get("/api/manage/servers/game-1").await.expect(200).clone()
    }
}

fn properties(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("server.properties")).unwrap()
}

/// Name of the player of each ban, and its source.
fn bans(state: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    state["bans"].as_array().unwrap().iter().map(|ban| (text(&ban["player"]["id"]), text(&ban["source"]))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_a_plugin_is_listed_and_its_players_are_online() {
    let hub = Hub::start_in_real_time(Backend::sqlite()).await;
    let minecraft = Minecraft::start(&hub).await;
    let server = minecraft.server().await;
    assert_eq!(
        (&server["serverType"], &server["lastPort"], &server["maxPlayers"]),
        (&json!("survival"), &json!(25570), &json!(20))
    );
    // All other lines are as they were.
    let written = properties(minecraft.agent.folder.path());
    assert!(
        written.starts_with("#Minecraft server properties\r\nmotd=A \\u00a7lServer\\\r\n  of mine\r\n"),
        "{written}"
    );
    assert!(written.contains("management-server-tls-enabled=false\r\n") && !written.contains("=old"), "{written}");

    minecraft.say(&format!("join Ada {ADA}")).await;
    minecraft.say(&format!("join Bob {BOB}")).await;
    minecraft.until_online(&["Ada", "Bob"]).await;
    minecraft.say("leave Ada").await;
    minecraft.until_online(&["Bob"]).await;

    // The owner's command is answered when all worlds are on the disk.
    let saved = minecraft.agent.ask("console", json!({"line": "save-all flush"})).await;
    assert_eq!((&saved["data"], minecraft.state()["saves"].as_i64()), (&json!({"saved": true}), Some(1)));

    // A stop goes through the protocol, and takes the server and its players off the hub.
    minecraft.agent.ask("stop", json!({})).await;
    minecraft.agent.until_state("EXITED").await;
    minecraft.until_online(&[]).await;
    assert_eq!(minecraft.state()["stopped"], "management");
    let secret = |text: &str| text.split("secret=").nth(1).unwrap()[..40].to_owned();
    let first = secret(&written);
    minecraft.agent.ask("start", json!({})).await;
    minecraft.agent.until_state("RUNNING").await;
    minecraft.say(&format!("join Eve {EVE}")).await;
    minecraft.until_online(&["Eve"]).await;
    assert_ne!(secret(&properties(minecraft.agent.folder.path())), first);
    minecraft.say("crash").await;
    minecraft.until_online(&[]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ban_holds_on_a_server_without_a_plugin() {
    let hub = Hub::start_in_real_time(Backend::sqlite()).await;
    let minecraft = Minecraft::start(&hub).await;
    minecraft.say(&format!("join Ada {ADA}")).await;
    minecraft.say(&format!("join Bob {BOB}")).await;
    minecraft.say(&format!("ban {EVE}")).await;
    minecraft.until_online(&["Ada", "Bob"]).await;

    // A player is removed, and cannot come back.
    let ban = minecraft.ban(ADA, json!({})).await;
    minecraft.until("kick", |state| state["kicks"] == json!([["Ada", "cheating"]])).await;
    minecraft.until_online(&["Bob"]).await;
    minecraft.say(&format!("join Ada {ADA}")).await;
    minecraft.agent.until_line("refused Ada: banned: cheating").await;
    minecraft.unban(&ban).await;
    minecraft.until("unban", |state| bans(state) == [(EVE.to_owned(), "Server".to_owned())]).await;
    minecraft.say(&format!("join Ada {ADA}")).await;
    minecraft.until_online(&["Ada", "Bob"]).await;

    // A ban of staff on the server is left alone.
    let ban = minecraft.ban(EVE, json!({})).await;
    let other = minecraft.ban(BOB, json!({"durationMs": 3_600_000})).await;
    let state = minecraft.until("ban of Bob", |state| bans(state).len() == 2).await;
    assert!(state["bans"][1]["expires"].as_str().unwrap().ends_with('Z'), "{state}");
    minecraft.unban(&ban).await;
    minecraft.unban(&other).await;
    minecraft.until("unban of Bob", |state| bans(state) == [(EVE.to_owned(), "Server".to_owned())]).await;

    // An address has a list of its own, except one that players may have in common.
    for address in ["203.0.114.7", "10.0.0.7"] {
        let body = json!({"ipAddress": address, "type": "BAN", "reason": "proxy"});
        minecraft.owner().post("/api/plugin/punishments/create-ip", body).await.expect(200);
    }
    minecraft.until("ban of an address", |state| state["ip_bans"][0]["ip"] == "203.0.114.7").await;
    let unban = json!({"ipAddress": "203.0.114.7"});
    minecraft.owner().post("/api/plugin/punishments/unban-ip", unban).await.expect(200);
    minecraft.until("unban of an address", |state| state["ip_bans"] == json!([])).await;

    // Warnings are shown, kicks are carried out.
    for (kind, reason) in [("WARN", "slow down"), ("KICK", "go")] {
        let body = json!({"playerUuid": ADA, "type": kind, "reason": reason});
        minecraft.owner().post("/api/plugin/punishments/create", body).await.expect(200);
    }
    let state = minecraft.until("last kick", |state| state["kicks"].as_array().unwrap().len() == 3).await;
    assert_eq!(state["messages"], json!([["slow down", [ADA]]]));
    assert_eq!(state["kicks"][2], json!(["Ada", "go"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happened_without_a_connection_is_made_up_for() {
    let hub = Hub::start_in_real_time(Backend::sqlite()).await;
    let minecraft = Minecraft::start(&hub).await;
    let ban = minecraft.ban(ADA, json!({})).await;
    minecraft.until("ban", |state| bans(state).len() == 1).await;
    // The connection ends in the middle of a call: of the one that saves.
    minecraft.say("drops true").await;
    let saved = minecraft.agent.ask("console", json!({"line": "save-all"})).await;
    assert_eq!(saved["ok"], false, "{saved}");
    minecraft.until("again", |state| state["connections"] == 2).await;
    minecraft.say(&format!("join Bob {BOB}")).await;
    minecraft.until_online(&["Bob"]).await;

    // Another secret: refused until it is the agent's again, at the server's next start.
    minecraft.say("secret 0123456789012345678901234567890123456789").await;
    minecraft.say("disconnect").await;
    minecraft.agent.until_printed("the server refuses the management secret").await;
    minecraft.until("refusal", |state| state["refused"].as_i64() >= Some(1)).await;
    minecraft.unban(&ban).await;
    minecraft.ban(BOB, json!({})).await;
    let written = properties(minecraft.agent.folder.path());
    let secret = &written.split("secret=").nth(1).unwrap()[..40];
    minecraft.say("leave Bob").await;
    minecraft.say(&format!("unlisted Eve {EVE}")).await;
    minecraft.say(&format!("secret {secret}")).await;
    // The hub learns of players who came and left meanwhile, and the server of bans; one that was known to nobody holds, too.
    minecraft.until_online(&["Eve"]).await;
    minecraft.until("unban", |state| !bans(state).iter().any(|(player, _)| player == ADA)).await;
    minecraft.say(&format!("join Ada {ADA}")).await;
    minecraft.say(&format!("join Bob {BOB}")).await;
    minecraft.until("ban", |state| bans(state).iter().any(|(player, _)| player == BOB)).await;
    minecraft.until_online(&["Ada", "Eve"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn maintenance_borrows_the_allowlist_and_gives_it_back() {
    let hub = Hub::start_in_real_time(Backend::sqlite()).await;
    let minecraft = Minecraft::start(&hub).await;
    let own = minecraft.state()["allowlist"].clone();
    minecraft.say("wraps true").await;
    minecraft.say(&format!("join Ada {ADA}")).await;
    minecraft.say(&format!("join Bob {BOB}")).await;
    minecraft.until_online(&["Ada", "Bob"]).await;
    // One name that the server does not find does not let the others in, nor keep those with a UUID out.
    let allowed = json!(["ada", EVE, "unknown"]);
    minecraft.publish(json!({"maintenance": {"enabled": true, "allowed": allowed}})).await;
    minecraft.until("kick", |state| state["kicks"] == json!([["Bob", "The network is under maintenance."]])).await;
    minecraft.say(&format!("join Bob {BOB}")).await;
    minecraft.agent.until_line("refused Bob: not on the allowlist").await;
    minecraft.say(&format!("join Eve {EVE}")).await;
    minecraft.until_online(&["Ada", "Eve"]).await;

    minecraft.publish(json!({"maintenance": {"enabled": false}})).await;
    let state = minecraft.until("end", |state| state["enforce_allowlist"] == false).await;
    assert_eq!((&state["allowlist"], &state["use_allowlist"]), (&own, &json!(false)));
    minecraft.say(&format!("join Bob {BOB}")).await;
    minecraft.until_online(&["Ada", "Bob", "Eve"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_and_commands_reach_a_server_without_a_plugin() {
    let hub = Hub::start_in_real_time(Backend::sqlite()).await;
    let minecraft = Minecraft::start(&hub).await;
    minecraft.say(&format!("join Ada {ADA}")).await;
    minecraft.until_online(&["Ada"]).await;
    crate::servers::register(minecraft.owner(), "lobby-1", json!({})).await;
    for (server, text) in [("game-1", "here"), ("lobby-1", "hello")] {
        let line = json!({"serverId": server, "playerUuid": BOB, "playerName": "Bob", "message": text});
        minecraft.owner().post("/api/plugin/chat", line).await;
    }
    minecraft.until("chat", |state| state["messages"] == json!([["<Bob> hello", []]])).await;
    let ran = minecraft.owner().post("/api/manage/servers/game-1/command", json!({"command": "time set day"})).await;
    assert_eq!(ran.expect(200)["success"], true);
    minecraft.agent.until_line("heard time set day").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_a_plugin_outlives_its_hub() {
    let hub = Hub::start_in_real_time(Backend::sqlite()).await;
    let minecraft = Minecraft::start(&hub).await;
    minecraft.say(&format!("join Ada {ADA}")).await;
    minecraft.until_online(&["Ada"]).await;
    let hub = hub.restart(std::time::Duration::ZERO).await;
    minecraft.agent.until_state("RUNNING").await;
    minecraft.say(&format!("join Bob {BOB}")).await;
    minecraft.until_online(&["Ada", "Bob"]).await;
    minecraft.ban(BOB, json!({})).await;
    minecraft.until_online(&["Ada"]).await;
    drop(hub);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_of_the_agent_keeps_a_server_without_a_plugin() {
    let hub = Hub::start_in_real_time(Backend::sqlite()).await;
    let current = super::script(&hub).await;
    let minecraft = Minecraft::start_as(&hub, &format!("{current}\n# An older version.\n"), "2").await;
    minecraft.say(&format!("join Ada {ADA}")).await;
    minecraft.until_online(&["Ada"]).await;
    minecraft.agent.until_printed("the server went on").await;
    // Without the secret that the earlier version has made, there would be no connection until the server's next start.
    minecraft.until("another connection", |state| state["connections"] == 2).await;
    minecraft.say(&format!("join Bob {BOB}")).await;
    minecraft.until_online(&["Ada", "Bob"]).await;
    assert_eq!(minecraft.state()["refused"], 0);
}
