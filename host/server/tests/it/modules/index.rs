//! `hub module publish` and `hub module install`, as publishers and owners use them.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::wasm;
use crate::support::{Client, Hub, on_both};

/// Person with a configuration folder of their own.
struct Person<'a> {
    config: &'a Path,
    hub: &'a Hub,
    owner: &'a Client,
}

impl Person<'_> {
    async fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hub"));
        command.arg("module").args(arguments).env("HUB_URL", self.hub.url());
        command.env("HUB_KEY", self.owner.key.as_deref().unwrap()).env("XDG_CONFIG_HOME", self.config);
        tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
    }

    async fn succeed(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments).await;
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    async fn fail(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments).await;
        assert!(!output.status.success(), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    async fn publish(&self, version: &str, file: &str, index: &str) -> Value {
        let arguments = ["publish", version, file, "--index", index, "--publisher-name", "Robin", "--json"];
        serde_json::from_str(&self.succeed(&arguments).await).unwrap()
    }
}

async fn versions(owner: &Client, name: &str) -> Value {
    owner.get(&format!("/api/manage/modules/{name}")).await.body["total"].clone()
}

/// Serves a folder at a free port.
async fn served(folder: &Path) -> String {
    let folder = folder.to_owned();
    let answer = move |axum::extract::Path(file): axum::extract::Path<String>| {
        let file = folder.join(file);
        async move { std::fs::read(file).map_err(|_| axum::http::StatusCode::NOT_FOUND) }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let routes = axum::Router::new().route("/modules/{file}", axum::routing::get(answer));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    format!("http://{address}/modules/index.json")
}

on_both! {
    async fn a_published_module_is_installed(hub: Hub) {
        let owner = hub.network().await;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let (index, file) = (path("index"), path("votes.wasm"));
        let (index, file) = (index.to_str().unwrap(), file.to_str().unwrap());
        let (author, reader) = (path("author"), path("reader"));
        let author = Person { config: &author, hub: &hub, owner: &owner };
        let reader = Person { config: &reader, hub: &hub, owner: &owner };
        std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugins/votes/votes.wasm"), file).unwrap();
        let published = author.publish("1.9.0", file, index).await;
        assert_eq!(published["entry"]["name"], "votes");
        let key = published["publisher"].as_str().unwrap();
        let again = author.fail(&["publish", "1.9.0", file, "--index", index]).await;
        assert!(again.contains("votes 1.9.0 is published already"), "{again}");
        author.publish("1.10.0", file, index).await;

        // The publisher has to be confirmed once, by somebody who knows them.
        let unknown = reader.fail(&["install", "votes", "--index", index]).await;
        assert!(unknown.contains("Robin, is not known here yet") && unknown.contains(&format!("--publisher {key}")), "{unknown}");
        let other = "00".repeat(32);
        let wrong = reader.fail(&["install", "votes", "--index", index, "--publisher", &other]).await;
        assert!(wrong.contains("the index is signed by"), "{wrong}");
        let asked = reader.succeed(&["install", "votes", "--index", index, "--publisher", key, "--dry-run"]).await;
        assert!(asked.starts_with("votes 1.10.0 by Robin ("), "{asked}");
        assert!(asked.contains("  scopes: ") && asked.contains("  secrets: VOTES\n"), "{asked}");
        assert!(asked.contains("its configuration has"), "{asked}");
        assert_eq!(versions(&owner, "votes").await, Value::Null);
        let installed = reader.succeed(&["install", "votes@1.9.0", "--index", index]).await;
        assert!(installed.contains("votes is version 1 of this network; activate it by"), "{installed}");
        assert_eq!(versions(&owner, "votes").await, json!(1));
        let none = reader.fail(&["install", "votes@2.0.0", "--index", index]).await;
        assert!(none.contains("the index has no module votes 2.0.0"), "{none}");

        // The same from a web server, whose address is another place.
        let url = served(Path::new(index)).await;
        let unknown = reader.fail(&["install", "votes", "--index", &url]).await;
        assert!(unknown.contains("is not known here yet"), "{unknown}");
        let listed = reader.succeed(&["install", "--index", &url, "--publisher", key]).await;
        assert!(listed.contains("published by Robin") && listed.contains("1.10.0"), "{listed}");
        let answer = reader.succeed(&["install", "votes", "--index", &url, "--json"]).await;
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!((&answer["module"]["version"], &answer["entry"]["version"]), (&json!(1), &json!("1.10.0")), "the same bytes");
        assert_eq!(answer["asks"]["secrets"], json!(["VOTES"]));
    }

    async fn what_its_publisher_did_not_sign_is_not_installed(hub: Hub) {
        let owner = hub.network().await;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let (index, file) = (path("index"), path("moody.wasm"));
        let (at, file) = (index.to_str().unwrap(), file.to_str().unwrap());
        let config = path("config");
        let person = Person { config: &config, hub: &hub, owner: &owner };
        std::fs::write(file, wasm::moody(1)).unwrap();
        let key = person.publish("1.0.0", file, at).await["publisher"].as_str().unwrap().to_owned();
        let install = ["install", "moody", "--index", at];
        person.succeed(&[&install[..], &["--publisher", &key, "--dry-run"]].concat()).await;
        let signed = std::fs::read_to_string(index.join("index.json")).unwrap();
        // Another file, and other fields.
        std::fs::write(index.join("moody-1.0.0.wasm"), wasm::moody(2)).unwrap();
        let refused = person.fail(&install).await;
        assert!(refused.contains("moody-1.0.0.wasm is not the file that its publisher signed"), "{refused}");
        for (from, to) in [("\"1.0.0\"", "\"9.0.0\""), ("moody-1.0.0.wasm", "../../moody.wasm"), ("\"description\": \"", "\"description\": \"x")] {
            assert!(signed.contains(from), "{signed}");
            std::fs::write(index.join("index.json"), signed.replace(from, to)).unwrap();
            let refused = person.fail(&install).await;
            assert!(refused.contains("the publisher's key did not sign"), "{refused}");
        }
        // All of it anew, by somebody else.
        std::fs::remove_dir_all(&index).unwrap();
        let other = path("other");
        let other = Person { config: &other, hub: &hub, owner: &owner };
        other.publish("1.0.0", file, at).await;
        let refused = person.fail(&install).await;
        assert!(refused.contains(&format!("the index was signed by {key}")), "{refused}");
        let refused = person.fail(&["publish", "2.0.0", file, "--index", at]).await;
        assert!(refused.contains("the index is of another publisher"), "{refused}");
        std::fs::write(index.join("index.json"), "{\"index\": 1").unwrap();
        let refused = person.fail(&install).await;
        assert!(refused.contains("this is no index of modules"), "{refused}");
        assert_eq!(versions(&owner, "moody").await, Value::Null);
    }
}
