//! The API as tools of an AI client: `hub mcp`.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::servers::{join, register, uuid};
use crate::support::{Client, Hub, on_both};

/// A client that speaks the protocol over the program's standard input and output.
struct AiClient {
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    child: Child,
    calls: u64,
}

impl AiClient {
    async fn start(hub: &Hub, key: &str, options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hub"));
        command.arg("mcp").args(options).env("HUB_URL", hub.url()).env("HUB_KEY", key);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut client = Self { input: child.stdin.take().unwrap(), output, child, calls: 0 };
        let hello =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let welcome = client.ask("initialize", hello).await;
        assert_eq!(welcome["result"]["serverInfo"]["name"], "network-hub", "{welcome}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        client
    }

    async fn send(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params})).await;
        let line = self.output.next_line().await.unwrap().unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], self.calls, "{answer}");
        answer
    }

    async fn tools(&mut self) -> Vec<Value> {
        self.ask("tools/list", json!({})).await["result"]["tools"].as_array().unwrap().clone()
    }

    /// Text of a tool's answer, and whether it is a refusal.
    async fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await;
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        (text.to_owned(), result["isError"] == true)
    }

    async fn answer(&mut self, tool: &str, arguments: Value) -> Value {
        let (text, is_refused) = self.call(tool, arguments).await;
        assert!(!is_refused, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    async fn refusal(&mut self, tool: &str, arguments: Value) -> String {
        let (text, is_refused) = self.call(tool, arguments).await;
        assert!(is_refused, "{text}");
        text
    }
}

fn key(client: &Client) -> &str {
    client.key.as_deref().unwrap()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

on_both! {
    async fn an_ai_client_reads_and_writes_only_where_it_may(hub: Hub) {
        let client = hub.network().await;
        register(&client, "lobby-1", json!({})).await;
        join(&client, "lobby-1", 1).await;
        let mut reader = AiClient::start(&hub, key(&client), &[]).await;
        let tools = reader.tools().await;
        let named = names(&tools);
        assert!(named.contains(&"listServers") && !named.contains(&"createPunishment"), "{named:?}");
        assert!(tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));

        let servers = reader.answer("listServers", json!({})).await;
        assert!(servers.to_string().contains("lobby-1"), "{servers}");
        let ban = json!({"playerUuid": uuid(1), "playerName": "p1", "type": "BAN", "reason": "x"});
        let unknown = reader.ask("tools/call", json!({"name": "createPunishment", "arguments": ban})).await;
        assert!(unknown["error"]["message"].as_str().unwrap().contains("--allow-writes"), "{unknown}");
        let extra = reader.refusal("listServers", json!({"nonsense": 1})).await;
        assert!(extra.contains("no argument `nonsense`"), "{extra}");

        let mut writer = AiClient::start(&hub, key(&client), &["--allow-writes", "--only", "punishment,player"]).await;
        let offered = writer.tools().await;
        assert!(names(&offered).contains(&"createPunishment") && !names(&offered).contains(&"listServers"));
        assert_eq!(writer.answer("createPunishment", ban).await["type"], "BAN");
        let missing = writer.refusal("createPunishment", json!({"type": "BAN"})).await;
        assert!(missing.contains("is missing"), "{missing}");
        // A value is one segment of the path, whatever is in it.
        let notes = writer.refusal("listStaffNotes", json!({"uuid": "../../keys"})).await;
        assert!(notes.starts_with("invalid_request"), "{notes}");
    }

    async fn an_ai_client_has_the_rights_of_its_key(hub: Hub) {
        let client = hub.network().await;
        let body = json!({"name": "reader", "scopes": ["audit:read"]});
        let made = client.post("/api/manage/keys", body).await.expect(201).clone();
        let mut reader = AiClient::start(&hub, made["apiKey"].as_str().unwrap(), &[]).await;
        let refused = reader.refusal("listServers", json!({})).await;
        assert!(refused.starts_with("forbidden"), "{refused}");
        assert!(reader.answer("listAudit", json!({})).await["items"].is_array());
        // The program ends with its client.
        let AiClient { input, mut child, .. } = reader;
        drop(input);
        assert!(child.wait().await.unwrap().success());
    }
}
