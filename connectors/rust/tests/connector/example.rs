//! The console server, as a program of its own.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use network_hub_client::Method;
use network_hub_client::model::{PunishmentKind, ServerConnectivity};
use parking_lot::Mutex;
use serde_json::json;
use uuid::Uuid;

use crate::eventually;
use crate::hub::{HubProcess, punishment};

struct Server {
    process: Child,
    output: Arc<Mutex<Vec<String>>>,
}

impl Server {
    async fn start(hub: &HubProcess, id: &str, kind: &str) -> Self {
        let folder = std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().join("examples");
        let mut process = Command::new(folder.join("console_server"))
            .args([id, kind, "25565"])
            .envs([("HUB_URL", hub.url()), ("HUB_KEY", hub.key.clone())])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = Arc::new(Mutex::new(Vec::new()));
        let (lines, seen) = (BufReader::new(process.stdout.take().unwrap()).lines(), Arc::clone(&output));
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| seen.lock().push(line)));
        let owner = hub.client();
        eventually!("the server is connected", {
            let servers = owner.list_servers(Some(kind), Some(true), 0).await.unwrap().items;
            servers
                .iter()
                .any(|server| server.server_id == id && server.connectivity == Some(ServerConnectivity::Connected))
        });
        Self { process, output }
    }

    fn type_line(&mut self, line: &str) {
        writeln!(self.process.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    async fn sees(&self, line: &str) {
        eventually!(
            format!("`{line}` in {:?}", self.output.lock()),
            self.output.lock().iter().any(|seen| seen == line)
        );
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Derives an id from a name, as the example does.
fn id_of(name: &str) -> Uuid {
    let mut bytes = [0; 16];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    Uuid::from_bytes(bytes)
}

#[tokio::test(flavor = "multi_thread")]
async fn players_join_chat_are_sent_buy_and_are_kept_out() {
    let hub = HubProcess::start_new();
    let (owner, ann) = (hub.client(), id_of("Ann"));
    let mut lobby = Server::start(&hub, "lobby-1", "lobby").await;
    let mut arena = Server::start(&hub, "arena-1", "arena").await;
    lobby.type_line("join Ann");
    lobby.sees("Welcome, Ann").await;
    lobby.type_line("say Ann hello there");
    lobby.sees("<Ann> hello there").await;
    arena.sees("<Ann> hello there").await;
    owner.modify_balance("player", &ann.to_string(), "coins", 10.into(), None).await.unwrap();
    lobby.type_line("buy Ann 7.5");
    lobby.sees("sold, 2.5 left").await;
    lobby.type_line("buy Ann 7.5");
    lobby.sees("too expensive").await;
    lobby.type_line("play Ann arena");
    lobby.sees("Ann goes to arena-1: SUCCESS").await;
    lobby.sees(&format!("sending {ann} to 127.0.0.1:25565")).await;
    arena.type_line("join Ann");
    arena.sees("Welcome, Ann").await;
    let list = hub.manage(Method::POST, "/api/manage/servers/arena-1/command", json!({"command": "list"})).await;
    assert_eq!(list["output"], "Ann");
    let ban = punishment(PunishmentKind::Ban, ann, "Ann", "cheating");
    owner.create_punishment(&ban).await.unwrap();
    arena.sees(&format!("kicked {ann}: cheating")).await;
    lobby.type_line("join Ann");
    lobby.sees("Ann may not join: banned for cheating").await;
    lobby.type_line("stop");
    assert!(lobby.process.wait().unwrap().success());
    assert_eq!(owner.list_servers(Some("lobby"), Some(true), 0).await.unwrap().total, 0);
}
