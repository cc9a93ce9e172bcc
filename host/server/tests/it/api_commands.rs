//! Commands that are made from the document of the API: `hub NOUN VERB`.

use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{ChildStdout, Command};

use crate::servers::{join, register, uuid};
use crate::support::{Backend, Client, Hub, on_both};

fn command(hub: &Hub, client: &Client, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hub"));
    command.args(arguments).env("HUB_URL", hub.url()).env("HUB_KEY", client.key.as_deref().unwrap()).kill_on_drop(true);
    command
}

async fn run(hub: &Hub, client: &Client, arguments: &[&str]) -> Output {
    command(hub, client, arguments).stdin(Stdio::null()).output().await.unwrap()
}

async fn text(hub: &Hub, client: &Client, arguments: &[&str]) -> String {
    let output = run(hub, client, arguments).await;
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

async fn answer(hub: &Hub, client: &Client, arguments: &[&str]) -> Value {
    serde_json::from_str(&text(hub, client, arguments).await).unwrap()
}

async fn refusal(hub: &Hub, client: &Client, arguments: &[&str]) -> String {
    let output = run(hub, client, arguments).await;
    assert!(!output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

on_both! {
    async fn operations_are_commands(hub: Hub) {
        let client = hub.network().await;
        let registered = ["server", "register", "--server-id", "lobby-1", "--server-type", "lobby", "--max-players", "20"];
        text(&hub, &client, &[&registered[..], &["--host", "10.0.0.1", "--port", "25565"]].concat()).await;
        let list = text(&hub, &client, &["server", "list"]).await;
        assert!(list.contains("serverId") && list.contains("lobby-1") && list.contains("10.0.0.1"), "{list}");

        let ban = ["punishment", "create-by-name", "--player-name", "Alex", "--type", "ban", "--reason", "it's \"that\"", "--json"];
        let ban = answer(&hub, &client, &[&ban[..], &["--ip-based", "--duration-ms", "3600000"]].concat()).await;
        assert_eq!((&ban["reason"], &ban["type"], &ban["ipBased"]), (&json!("it's \"that\""), &json!("BAN"), &json!(true)));
        let id = ban["id"].to_string();
        let changed = ["punishment", "change", &id, "--body", r#"{"reason": "a", "evidence": null}"#, "--reason", "b", "--json"];
        assert_eq!(answer(&hub, &client, &changed).await["reason"], "b");
        let listed = answer(&hub, &client, &["punishment", "list-all", "--limit", "1", "--json"]).await;
        assert_eq!(listed["items"][0]["reason"], "b");
        // A value is one segment of the path, whatever is in it.
        let name = "a/../b ?#%2f";
        text(&hub, &client, &["punishment", "create-by-name", "--player-name", name, "--type", "MUTE"]).await;
        let found = answer(&hub, &client, &["punishment", "list-of-name", name, "--json"]).await;
        assert_eq!(found[0]["playerName"], name, "{found}");
    }

    async fn sessions_lines_and_the_work_of_staff_are_commands(hub: Hub) {
        let client = hub.network().await;
        let (player, reporter) = (uuid(1), uuid(2));
        register(&client, "a", json!({})).await;
        join(&client, "a", 1).await;
        let ask = async |arguments: &[&str]| answer(&hub, &client, &[arguments, &["--json"]].concat()).await;

        let opened = ask(&["player", "open-session", &player, "--server-id", "a"]).await;
        let save = r#"{"data": [{"namespace": "kit", "data": "1"}], "close": true}"#;
        let saved = ask(&["player", "save-session", &player, &opened["fence"].to_string(), "--body", save]).await;
        assert_eq!((&saved["closed"], &ask(&["player", "get-session", &player]).await["state"]), (&json!(true), &json!("CLOSED")));
        let snapshots = ask(&["player", "list-data-snapshots", &player, "global", "kit"]).await;
        let snapshot = snapshots["items"][0]["snapshotId"].to_string();
        let restored = ask(&["player", "restore-data-snapshot", &player, "global", "kit", &snapshot]).await;
        assert_eq!(restored["version"], 2);

        let ticket = ask(&["line", "join", "--player-uuid", &player, "--server-type", "arena", "--priority", "3"]).await;
        assert_eq!(ticket["state"], "WAITING");
        let id = ticket["ticketId"].as_str().unwrap();
        assert_eq!(ask(&["line", "change-ticket", id, "--priority", "7"]).await["priority"], 7);
        assert_eq!(ask(&["line", "put", "type:arena", "--max-waiting", "9"]).await["maxWaiting"], 9);
        assert_eq!(ask(&["line", "list"]).await["items"][0]["waiting"], 1);
        assert_eq!(ask(&["line", "list-tickets", "type:arena"]).await["items"][0]["ticketId"], id);
        text(&hub, &client, &["line", "leave", id]).await;
        assert_eq!(ask(&["line", "get-ticket", id]).await["state"], "CANCELLED");

        let report = ["report", "create", "--reporter-uuid", &reporter, "--player-uuid", &player, "--reason", "Insults"];
        assert_eq!(ask(&report).await["reportId"], 1);
        assert_eq!(ask(&["report", "change", "1", "--state", "TAKEN"]).await["state"], "TAKEN");
        assert_eq!(ask(&["report", "list", "--state", "TAKEN"]).await["total"], 1);
        ask(&["player", "create-staff-note", &player, "--text", "Watch"]).await;
        assert_eq!(ask(&["player", "list-staff-notes", &player]).await["items"][0]["text"], "Watch");
        let ban = ask(&["punishment", "create", "--player-uuid", &player, "--type", "BAN", "--issuer-name", "Kim"]).await;
        let code = ban["appealCode"].as_str().unwrap();
        ask(&["appeal", "create", code, "--text", "Sorry."]).await;
        let appeal = ask(&["appeal", "list"]).await["items"][0]["appealId"].as_str().unwrap().to_owned();
        assert_eq!(ask(&["appeal", "decide", &appeal, "--decision", "REJECT"]).await["state"], "REJECTED");
        let revoked = ask(&["punishment", "revoke", "--issuer-name", "Kim"]).await;
        assert_eq!(revoked["punishments"].as_array().unwrap().len(), 1);

        let line = json!({"playerUuid": player, "playerName": "p1", "message": "Hello", "serverId": "a"});
        client.post("/api/plugin/chat", line).await.expect(204);
        assert_eq!(ask(&["chat", "list-lines", "--search", "hello"]).await["items"][0]["message"], "Hello");
        assert_eq!(ask(&["chat", "--search", "hello"]).await["items"][0]["message"], "Hello");
        assert_eq!(ask(&["network", "update-settings", "--chat-history-days", "3"]).await["chatHistoryDays"], 3);
        assert_eq!(ask(&["player", "get-play-time", &player]).await["visits"], 1);
        assert_eq!(ask(&["player", "list-visits", &player]).await["total"], 1);
        assert_eq!(ask(&["player", "list-days"]).await["items"][0]["unique"], 1);
        ask(&["person", "put-role", "helper", "--body", r#"{"scopes": ["reports:manage"]}"#]).await;
        assert_eq!(ask(&["person", "list-roles"]).await["items"][0]["name"], "helper");
    }

    async fn mistakes_are_told(hub: Hub) {
        let client = hub.network().await;
        let told = refusal(&hub, &client, &["punishment", "get", "7"]).await;
        assert!(told.contains("404"), "{told}");
        for (arguments, expected) in [
            (&["punishment", "get"][..], "<ID>"),
            (&["punishment", "list-all", "--limit", "x"], "--limit"),
            (&["punishment", "create-by-name", "--player-name", "a", "--type", "NONE"], "possible values"),
            (&["punishment", "create-by-name", "--type", "BAN"], "--player-name"),
            (&["punishment", "change", "7", "--body", "{"], "--body is not valid JSON"),
            (&["punishment", "change", "7", "--body", "[]", "--reason", "b"], "no JSON object"),
            (&["punishment", "change", "7", "--body", "@/none"], "cannot read /none"),
            (&["punishment", "list-of-name", ".."], "`..` is no name"),
            (&["punishment", "nonsense"], "unrecognized subcommand"),
            (&["artifact", "upload", "--name", "a", "--version-field", "1", "/none"], "/none"),
        ] {
            let told = refusal(&hub, &client, arguments).await;
            assert!(told.contains(expected), "{arguments:?}: {told}");
        }
        let other = client.with_key("nh_wrong");
        let told = refusal(&hub, &other, &["server", "list"]).await;
        assert!(told.contains("401"), "{told}");
    }

    async fn events_are_printed_as_they_happen(hub: Hub) {
        let client = hub.network().await;
        let mut listening =
            command(&hub, &client, &["events", "--types", "PUNISHMENT", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(listening.stdout.take().unwrap()).lines();
        let event = ban(&hub, &client, &mut lines).await;
        assert!(event["data"]["punishment"]["playerName"].as_str().unwrap().starts_with("player"), "{event}");
    }
}

type Printed = Lines<BufReader<ChildStdout>>;

/// The next event with this name that is printed.
async fn printed(lines: &mut Printed, name: &str) -> Value {
    loop {
        let event: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
        if event["type"] == name {
            return event;
        }
    }
}

/// Bans players until an event of it is printed: the stream may open after the first of them.
async fn ban(hub: &Hub, client: &Client, lines: &mut Printed) -> Value {
    let bans = async {
        for number in 0.. {
            let name = format!("player{number}");
            text(hub, client, &["punishment", "create-by-name", "--player-name", &name, "--type", "BAN"]).await;
        }
    };
    tokio::select! {
        () = bans => unreachable!("the bans do not end"),
        event = printed(lines, "PUNISHMENT") => event,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_go_on_after_a_restart_until_the_key_is_revoked() {
    // Found at the same address after a restart.
    let hub = Hub::start_in_real_time(Backend::sqlite()).await;
    let client = hub.network().await;
    let key = json!({"name": "listener", "scopes": ["events:read"]});
    let key = client.post("/api/manage/keys", key).await.expect(201).clone();
    let listener = client.with_key(key["apiKey"].as_str().unwrap());
    let mut listening = command(&hub, &listener, &["events", "--types", "PUNISHMENT", "--json"]);
    let mut listening = listening.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(listening.stdout.take().unwrap()).lines();
    ban(&hub, &client, &mut lines).await;
    let _hub = hub.restart(Duration::ZERO).await;
    // It asks for what it missed, of which a hub that has just started knows nothing.
    printed(&mut lines, "RESYNC").await;
    client.delete(&format!("/api/manage/keys/{}", key["keyId"].as_str().unwrap())).await.expect(204);
    let ended = listening.wait_with_output().await.unwrap();
    let told = String::from_utf8(ended.stderr).unwrap();
    assert!(!ended.status.success() && told.contains("401"), "{told}");
}

#[test]
fn help_names_nouns_and_verbs() {
    let help = |arguments: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_hub")).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let all = help(&["--help"]);
    assert!(all.contains("punishment") && all.contains("serve"), "{all}");
    // Commands on the data folder stand apart from those of the API.
    for arguments in [&["network", "--help"][..], &["help", "network"]] {
        let network = help(arguments);
        assert!(network.contains("update-settings") && !network.contains("suspend"), "{network}");
    }
    let admin = help(&["admin", "network", "--help"]);
    assert!(admin.contains("suspend") && !admin.contains("update-settings"), "{admin}");
    let one = help(&["server", "stop", "--help"]);
    assert!(one.contains("Calls POST /api/manage/servers/{serverId}/stop") && one.contains("SERVER_ID"), "{one}");
}
