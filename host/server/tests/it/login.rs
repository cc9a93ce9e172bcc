//! `hub login`, by a code that is confirmed in the console or by a password, and what follows from it.

use std::process::{Output, Stdio};
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::console::Browser;
use crate::people::{PASSWORD, member, send};
use crate::support::{Hub, on_both};

/// A user's machine, with a configuration folder of its own.
struct Machine {
    home: TempDir,
}

impl Machine {
    fn new() -> Self {
        Self { home: TempDir::new().unwrap() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hub"));
        command.args(arguments).env("XDG_CONFIG_HOME", self.home.path()).stdin(Stdio::null()).kill_on_drop(true);
        for name in ["HUB_URL", "HUB_KEY", "HUB_PROFILE"] {
            command.env_remove(name);
        }
        command
    }

    async fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().await.unwrap()
    }

    async fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments).await;
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    async fn refusal(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments).await;
        assert!(!output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stderr).unwrap()
    }

    /// Signs in with a password on standard input.
    async fn with_password(&self, arguments: &[&str], password: &str) -> Output {
        let mut command = self.command(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(format!("{password}\n").as_bytes()).await.unwrap();
        child.wait_with_output().await.unwrap()
    }

    /// Begins to sign in; returns the process and its code.
    async fn begin(&self, hub: &Hub) -> (Child, String) {
        let mut command = self.command(&["login", &hub.url(), "--json"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let first = lines.next_line().await.unwrap().unwrap();
        // The code stands below, between two blank lines; nothing more is printed to a pipe that is closed then.
        for _ in 0..3 {
            lines.next_line().await.unwrap();
        }
        let (_, code) = first.split_once("/console/me/device?code=").expect(&first);
        (child, code.split(' ').next().unwrap().to_owned())
    }
}

on_both! {
    async fn a_code_that_is_confirmed_in_the_console_signs_in(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "alex@example.org", "MODERATOR").await;
        let machine = Machine::new();
        let (child, code) = machine.begin(&hub).await;
        let mut browser = Browser::signed_in(&hub, "alex@example.org").await;
        let page = browser.get(&format!("/console/me/device?code={}", code.to_lowercase())).await.expect(200);
        assert!(page.has("hub login") && page.has("127.0.0.1"), "{}", page.html);
        let page = browser.submit(&page, "/console/me/device", &[("confirmed", "true")]).await.expect(303);
        browser.get(page.location()).await.expect(200);
        let output = child.wait_with_output().await.unwrap();
        let signed_in: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&signed_in["email"], &signed_in["profile"]), (&json!("alex@example.org"), &json!("default")));
        assert_eq!(signed_in["networkId"], json!(owner.network.unwrap()));
        // Other commands use the session, with the rights of the person's role.
        assert_eq!(machine.json(&["punishment", "list-all", "--json"]).await["total"], 0);
        let refused = machine.refusal(&["api-key", "list"]).await;
        assert!(refused.contains("403") && refused.contains("role"), "{refused}");
        // The code is used up.
        let page = browser.get(&format!("/console/me/device?code={code}")).await.expect(200);
        assert!(page.has("No device shows this code"));
        // Its session is one of the person's, and ends with all of them.
        assert_eq!(machine.json(&["logout", "--json"]).await["profile"], "default");
        let refused = machine.refusal(&["punishment", "list-all"]).await;
        assert!(refused.contains("hub login"), "{refused}");
    }

    async fn a_refused_or_late_code_signs_nobody_in(hub: Hub) {
        let owner = hub.network().await;
        let alex = member(&hub, &owner, "alex@example.org", "MODERATOR").await;
        let door = hub.anonymous();
        let begin = async || door.post("/api/people/devices", json!({"client": "tool"})).await.expect(200).clone();
        let finish = async |begun: &Value| door.post("/api/people/device-sessions", json!({"deviceCode": begun["deviceCode"]})).await;
        let path = |begun: &Value| format!("/api/people/devices/{}", begun["userCode"].as_str().unwrap());
        let decide = async |begun: &Value, confirmed: bool| {
            send(&hub, &alex.token, Method::POST, &path(begun), json!({"confirmed": confirmed})).await
        };
        let begun = begin().await;
        finish(&begun).await.expect_error(400, "device_pending");
        door.post(&path(&begun), json!({"confirmed": true})).await.expect_error(401, "unauthenticated");
        decide(&begun, false).await.expect(204);
        decide(&begun, true).await.expect_error(400, "unknown_token");
        finish(&begun).await.expect_error(403, "device_refused");
        finish(&begun).await.expect_error(400, "unknown_token");
        // A session is given out once.
        let begun = begin().await;
        decide(&begun, true).await.expect(204);
        let session = finish(&begun).await.expect(200).clone();
        assert_eq!(session["person"]["email"], "alex@example.org");
        finish(&begun).await.expect_error(400, "unknown_token");
        // A code is good for ten minutes.
        let late = begin().await;
        hub.clock.advance(Duration::from_mins(11));
        decide(&late, true).await.expect_error(400, "unknown_token");
        finish(&late).await.expect_error(400, "unknown_token");
        // Signing out everywhere also ends what was confirmed and not fetched yet.
        let begun = begin().await;
        decide(&begun, true).await.expect(204);
        send(&hub, &alex.token, Method::POST, "/api/people/sign-out-everywhere", json!({})).await.expect(204);
        finish(&begun).await.expect_error(403, "device_refused");
        // Nothing that could sign somebody in is stored as it is.
        let rows: Vec<(Vec<u8>,)> = hub.app.db.query("SELECT sha256 FROM device_sign_ins WHERE expires_at > $1").bind(0_i64).all().await.unwrap();
        let secret = late["deviceCode"].as_str().unwrap().as_bytes();
        assert!(rows.iter().all(|(sha256,)| sha256.len() == 32 && sha256 != secret));
    }

    async fn codes_cannot_be_guessed(hub: Hub) {
        let owner = hub.network().await;
        let alex = member(&hub, &owner, "alex@example.org", "MODERATOR").await;
        let mut refused = 0;
        for number in 0..200 {
            let path = format!("/api/people/devices/BCDF-{number:04}");
            let answer = send(&hub, &alex.token, Method::GET, &path, Value::Null).await;
            refused += usize::from(answer.status == 429);
        }
        assert!(refused > 100, "{refused}");
    }

    async fn profiles_keep_several_hubs_and_accounts(hub: Hub) {
        let (first, second) = (hub.network().await, hub.network().await);
        member(&hub, &first, "alex@example.org", "OWNER").await;
        member(&hub, &second, "robin@example.org", "VIEWER").await;
        let machine = Machine::new();
        let url = hub.url();
        let output = machine.with_password(&["login", &url, "--email", "alex@example.org"], "short").await;
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && told.contains("Wrong address, password or code"), "{told}");
        for (email, profile) in [("alex@example.org", "work"), ("robin@example.org", "other")] {
            let output = machine.with_password(&["login", &url, "--email", email, "--profile", profile], PASSWORD).await;
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        // The latest one counts, until another one is named.
        let id = async |arguments: &[&str]| machine.json(&[&["network", "get-settings", "--json"], arguments].concat()).await["networkId"].clone();
        assert_eq!(id(&["--profile", "work"]).await, json!(first.network.unwrap()));
        let told = machine.refusal(&["network", "get-settings"]).await;
        assert!(told.contains("403"), "a viewer may not: {told}");
        let told = machine.refusal(&["server", "list", "--hub", "http://127.0.0.1:9"]).await;
        assert!(told.contains("names another hub"), "a session is sent to its own hub only: {told}");
        let told = machine.refusal(&["server", "list", "--profile", "none"]).await;
        assert!(told.contains("there is no profile `none`"), "{told}");
        // Nobody else can read the sessions.
        let file = machine.home.path().join("hub/profiles.json");
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
        machine.json(&["logout", "--json"]).await;
        assert_eq!(id(&[]).await, json!(first.network.unwrap()));
        assert!(!std::fs::read_to_string(file).unwrap().contains("robin@example.org"));
    }
}
