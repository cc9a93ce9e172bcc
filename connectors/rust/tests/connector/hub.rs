//! Hubs, connectors and servers for tests.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use network_hub_client::model::{
    PlayerConnection, PunishmentKind, PunishmentRequest, ServerRegistration, WorldRequest,
};
use network_hub_client::{ConnectorOptions, HubClient, Method};
use parking_lot::Mutex;
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use uuid::Uuid;

use crate::ports::free_port;

/// A hub of its own in a folder of its own, on a port that stays the same.
pub(crate) struct HubProcess {
    folder: TempDir,
    pub(crate) port: u16,
    /// A key of the network's owner.
    pub(crate) key: String,
    process: Child,
}

impl HubProcess {
    pub(crate) fn start_new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let create = command(&folder)
            .args(["admin", "network", "create", "tests", "--json", "--data"])
            .arg(folder.path())
            .output();
        let create = create.unwrap();
        let made: Value = serde_json::from_slice(&create.stdout)
            .unwrap_or_else(|_| panic!("no network: {}", String::from_utf8_lossy(&create.stderr)));
        let key = made["apiKey"].as_str().unwrap().to_owned();
        let process = serve(&folder, port);
        Self { folder, port, key, process }
    }

    /// Without a chance to clean up, as by `kill -9`.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    pub(crate) fn start_again(&mut self) {
        self.process = serve(&self.folder, self.port);
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn client(&self) -> HubClient {
        HubClient::new(&self.url(), &self.key).unwrap()
    }

    pub(crate) fn server(&self, id: &str, server_type: &str) -> ConnectorOptions {
        ConnectorOptions::new(self.client(), server(id, server_type)).join_timeout(Duration::from_secs(60))
    }

    /// A call of the owner's.
    pub(crate) async fn manage(&self, method: Method, path: &str, body: Value) -> Value {
        self.client().request(method, path).json(&body).send().await.unwrap()
    }

    pub(crate) async fn transfer_record(&self, id: Uuid) -> Value {
        self.client().request(Method::GET, format!("/api/manage/transfers/{id}")).send().await.unwrap()
    }

    pub(crate) async fn connection(&self, player: Uuid) -> Option<PlayerConnection> {
        self.client().get_player(player, None).await.unwrap().and_then(|profile| profile.connection)
    }

    /// The server a player is on.
    pub(crate) async fn place(&self, player: Uuid) -> Option<String> {
        self.connection(player).await.map(|connection| connection.server_id)
    }
}

impl Drop for HubProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn server(id: &str, server_type: &str) -> ServerRegistration {
    ServerRegistration {
        server_id: id.to_owned(),
        server_type: server_type.to_owned(),
        port: 25565,
        host: Some("10.0.0.1".to_owned()),
        max_players: Some(10),
        ..ServerRegistration::default()
    }
}

pub(crate) fn punishment(kind: PunishmentKind, player: Uuid, name: &str, reason: &str) -> PunishmentRequest {
    let (player_name, reason) = (Some(name.to_owned()), Some(reason.to_owned()));
    PunishmentRequest { player_name, reason, ..PunishmentRequest::new(player, kind) }
}

pub(crate) fn world(game: &str, player: Uuid) -> WorldRequest {
    WorldRequest {
        game_id: game.to_owned(),
        owner_scope: "player".to_owned(),
        owner_id: player.to_string(),
        ..WorldRequest::default()
    }
}

fn command(folder: &TempDir) -> Command {
    let beside = std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().join("hub");
    let binary = std::env::var_os("HUB_BINARY").map_or(beside, PathBuf::from);
    assert!(binary.exists(), "no hub at {}: build it, or set HUB_BINARY", binary.display());
    let mut command = Command::new(binary);
    command.current_dir(folder).env("HUB_LOG", "warn").stdin(Stdio::null());
    command
}

fn serve(folder: &TempDir, port: u16) -> Child {
    let mut process = command(folder)
        .args(["serve", "--listen", &format!("127.0.0.1:{port}"), "--data"])
        .arg(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    if !line.starts_with("listening on") {
        let _ = process.stderr.take().unwrap().read_to_string(&mut line);
        panic!("the hub did not start: {line}");
    }
    process
}

/// A server that answers what it is told to, one connection for each answer.
pub(crate) struct FakeHub {
    pub(crate) url: String,
    /// The requests, as they came.
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
}

impl FakeHub {
    /// Of each answer: what is sent, and whether the connection is kept open then. The last one is repeated.
    pub(crate) async fn start(answers: Vec<(String, bool)>) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            let mut open = Vec::new();
            for at in 0.. {
                let (mut connection, _) = listener.accept().await.unwrap();
                let mut bytes = vec![0; 65_536];
                let length = connection.read(&mut bytes).await.unwrap();
                seen.lock().push(String::from_utf8_lossy(&bytes[..length]).into_owned());
                let (answer, stays_open) = &answers[at.min(answers.len() - 1)];
                connection.write_all(answer.as_bytes()).await.unwrap();
                if *stays_open {
                    open.push(connection);
                }
            }
        });
        Self { url, requests }
    }

    /// The values of a header in the requests.
    pub(crate) fn header(&self, name: &str) -> Vec<Option<String>> {
        let requests = self.requests.lock();
        let value = |request: &String| {
            let line = request.lines().find(|line| line.to_lowercase().starts_with(&format!("{name}:")))?;
            Some(line.split_once(": ")?.1.to_owned())
        };
        requests.iter().map(value).collect()
    }
}

/// An answer with these lines of headers.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}")
}
