//! Moving in from other tools: their original files, through the hub's API.

mod balances;
mod command;
mod dialects;
pub mod files;
mod litebans;
mod luckperms;
mod odd;
mod plugins;
mod reader;
mod turns;
mod weighing;

use hub::limits::Limit;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Backend, Client, Hub, on_both, on_each};

pub const IMPORTS: &str = "/api/manage/imports";
pub const BALANCES: &str = "kind=balances&currency=coins";

pub async fn upload(client: &Client, query: &str, file: impl Into<reqwest::Body>) -> Answer {
    client.send(client.request(Method::POST, &format!("{IMPORTS}?{query}")).body(file)).await
}

/// Waits until an import has ended.
async fn finished(client: &Client, id: &str) -> Value {
    let path = format!("{IMPORTS}/{id}");
    let mut import = Value::Null;
    Hub::eventually("the import ends", async || {
        import = client.get(&path).await.expect(200).clone();
        !matches!(import["state"].as_str().unwrap(), "QUEUED" | "RUNNING")
    })
    .await;
    import
}

/// Imports a file and waits.
pub(crate) async fn import(client: &Client, query: &str, file: impl Into<reqwest::Body>) -> Value {
    let made = upload(client, query, file).await.expect(201).clone();
    finished(client, made["importId"].as_str().unwrap()).await
}

/// Result of a category: created, changed, unchanged, skipped.
fn counts(import: &Value, category: &str) -> [i64; 4] {
    let counts = import["report"]["counts"].as_array().unwrap().iter().find(|counts| counts["category"] == category);
    ["created", "changed", "unchanged", "skipped"].map(|name| counts.map_or(0, |counts| counts[name].as_i64().unwrap()))
}

/// The notes as `line subject: reason`.
fn notes(import: &Value) -> Vec<String> {
    let notes = import["report"]["notes"].as_array().unwrap().iter();
    notes
        .map(|note| {
            format!("{} {}: {}", note["line"], note["subject"].as_str().unwrap(), note["reason"].as_str().unwrap())
        })
        .collect()
}

fn has_note(import: &Value, part: &str) -> bool {
    notes(import).iter().any(|note| note.contains(part))
}

on_both! {
    async fn an_import_needs_the_scope_of_what_it_writes(hub: Hub) {
        let owner = hub.network().await;
        let kinds = [
            ("luckperms", "permissions:write"),
            ("balances&currency=coins", "economy:write"),
            ("playerpoints&currency=coins", "economy:write"),
            ("litebans", "punishments:write"),
            ("vanilla", "punishments:write"),
        ];
        let settings = owner.key_with(&["network:manage", "players:write"]).await;
        for (kind, scope) in kinds {
            let refused = upload(&settings, &format!("kind={kind}&dryRun=true"), "x").await;
            refused.expect_error(403, "forbidden_scope");
            assert!(refused.body["error"].as_str().unwrap().contains(scope), "{kind}: {}", refused.body);
            let both = owner.key_with(&["network:manage", scope]).await;
            import(&both, &format!("kind={kind}&dryRun=true"), "x").await;
        }
        // It ends with that scope, too.
        let body = json!({"scopes": ["network:manage", "economy:write"]});
        owner.put("/api/manage/roles/banker", body).await.expect(200);
        let alex = crate::people::member(&hub, &owner, "alex@example.org", "banker").await;
        let request = hub.anonymous().request(Method::POST, &format!("{IMPORTS}?{BALANCES}"));
        let request = request.bearer_auth(&alex.token).body(files::balances(60_000));
        let id = owner.send(request).await.expect(201)["importId"].as_str().unwrap().to_owned();
        let left = owner.put("/api/manage/roles/banker", json!({"scopes": ["network:manage"]})).await;
        left.expect(200);
        assert_eq!(finished(&owner, &id).await["state"], "CANCELLED");
    }

    async fn an_import_is_its_networks_alone(hub: Hub) {
        let (owner, other) = (hub.network().await, hub.network().await);
        let done = import(&owner, "kind=balances&currency=coins", files::balances(1)).await;
        let path = format!("{IMPORTS}/{}", done["importId"].as_str().unwrap());
        assert_eq!((done["state"].as_str(), done["kind"].as_str()), (Some("DONE"), Some("BALANCES")));
        assert_eq!(owner.get(IMPORTS).await.expect(200)["total"], 1);
        for (action, actor) in [("import.started", "KEY"), ("import.ended", "SYSTEM")] {
            let entries = owner.get(&format!("/api/manage/audit?action={action}")).await.expect(200).clone();
            assert_eq!((&entries["total"], &entries["items"][0]["actor"]["type"]), (&json!(1), &json!(actor)), "{entries}");
        }
        assert_eq!(other.get(IMPORTS).await.expect(200)["total"], 0);
        other.get(&path).await.expect_error(404, "unknown_import");
        other.post(&format!("{path}/cancel"), json!({})).await.expect_error(404, "unknown_import");
        assert_eq!(owner.post(&format!("{path}/cancel"), json!({})).await.expect(200)["state"], "DONE", "it has ended");
    }

    async fn a_wrong_query_is_refused(hub: Hub) {
        let owner = hub.network().await;
        for query in ["", "kind=essentials", "kind=balances", "kind=xconomy", "kind=playerpoints", "kind=litebans&scopes=all", "kind=litebans&dryRun=perhaps",
            "kind=litebans&prefix=a%20b"]
        {
            upload(&owner, query, "x").await.expect_error(400, "invalid_request");
        }
        upload(&owner, "kind=litebans", "").await.expect_error(400, "empty_body");
        assert_eq!(owner.get(IMPORTS).await.expect(200)["total"], 0);
        assert_eq!(hub.blobs(), Vec::<std::path::PathBuf>::new());
    }

    async fn errors_of_a_wrong_file_are_short(hub: Hub) {
        let owner = hub.network().await;
        let text = "x".repeat(1_000_000);
        for file in [format!("{{\"groups\": \"{text}\"}}"), format!("{{\"groups\": {{\"{text}\": []}}}}")] {
            let failed = import(&owner, "kind=luckperms", file).await;
            assert!(failed.to_string().len() < 3_000, "{} bytes", failed.to_string().len());
        }
    }

    async fn a_wrong_file_is_refused_whole_with_its_line(hub: Hub) {
        let owner = hub.network().await;
        let good = "uuid,balance\n069a79f4-44e9-4726-a5be-fca90e38aaf5,5\n";
        for (query, file, line, message) in [
            ("kind=luckperms", "{\n\"groups\": {\"a\": {\"nodes\": []}},\n\"users\": {\"steve\": {\"nodes\": []}}}".to_owned(), json!(3), "not a UUID"),
            ("kind=luckperms", "{\"groups\": {\"a\": {\"nodes\": []},\n\"b\": {\"nodes\": [{\"key\": 1}]}}}".to_owned(), json!(2), "string"),
            ("kind=luckperms", "{\"groups\": {}".to_owned(), json!(1), "EOF"),
            ("kind=luckperms", "{\"knownPermissions\": []}".to_owned(), json!(1), "web editor"),
            ("kind=luckperms", "{}".to_owned(), json!(1), "neither"),
            ("kind=luckperms", "PK".to_owned(), Value::Null, "LuckPerms"),
            ("kind=litebans", "CREATE TABLE x (id int);".to_owned(), Value::Null, "none of the tables of LiteBans"),
            ("kind=litebans", "INSERT INTO `litebans_kicks` (`id`,`uuid`,`time`) VALUES (1,'x',1),\n(2,3);".to_owned(), json!(2), "2 values for 3"),
            ("kind=litebans", "INSERT INTO `litebans_kicks` (`id`,`time`) VALUES (1,1);".to_owned(), json!(1), "no column `uuid`"),
            ("kind=vanilla", "{}".to_owned(), json!(1), "banned-players.json"),
            ("kind=vanilla", "[]".to_owned(), Value::Null, "empty"),
            ("kind=litebans", "H:2,block:5".to_owned(), Value::Null, "SCRIPT TO"),
            ("kind=litebans", "SQLite format 3\0xxx".to_owned(), Value::Null, "database"),
            ("kind=balances&currency=coins", format!("{good}069a79f4-44e9-4726-a5be-fca90e38aaf6,\"5\n"), json!(3), "does not end"),
            ("kind=balances&currency=coins", "name,worth\n".to_owned(), json!(1), "`uuid` and `balance`"),
            ("kind=balances&currency=coins", "PK\u{3}\u{4}zip".to_owned(), Value::Null, "archive"),
        ] {
            let failed = import(&owner, query, file.clone()).await;
            assert_eq!((failed["state"].as_str(), &failed["error"]["line"]), (Some("FAILED"), &line), "{file}: {failed}");
            assert!(failed["error"]["message"].as_str().unwrap().contains(message), "{file}: {failed}");
            assert_eq!((&failed["done"], &failed["report"]["counts"]), (&json!(0), &json!([])), "{file}");
        }
        let groups = owner.get("/api/plugin/permissions/groups").await;
        assert_eq!(groups.expect(200), &json!([]));
        let balances = owner.get("/api/plugin/economy/player/069a79f4-44e9-4726-a5be-fca90e38aaf5/currencies").await;
        assert_eq!(balances.expect(200), &json!([]));
        Hub::eventually("their files are gone", async || hub.blobs().is_empty()).await;
    }

    async fn a_cancelled_import_ends_and_another_may_begin(hub: Hub) {
        let owner = hub.network().await;
        let made = upload(&owner, "kind=balances&currency=coins", files::balances(20_000)).await.expect(201).clone();
        upload(&owner, "kind=luckperms", "{}").await.expect_error(409, "import_running");
        let path = format!("{IMPORTS}/{}", made["importId"].as_str().unwrap());
        Hub::eventually("some of it is written", async || owner.get(&path).await.expect(200)["done"] != 0).await;
        let cancelled = owner.post(&format!("{path}/cancel"), json!({})).await.expect(200).clone();
        assert_eq!(cancelled["state"], "CANCELLED");
        assert!(cancelled["done"].as_i64().unwrap() < 20_000);
        assert!(cancelled["finishedAt"].is_i64());
        let done = import(&owner, "kind=luckperms", "{\"groups\": {\"a\": {\"nodes\": []}}}").await;
        assert_eq!(done["state"], "DONE");
        let after = owner.get(&path).await.expect(200).clone();
        assert_eq!(after, cancelled, "nothing was written after the cancellation");
        let written = "SELECT COUNT(*) FROM balances WHERE network_id = $1";
        let (written,): (i64,) = hub.app.db.query(written).bind(owner.network.unwrap()).one().await.unwrap();
        assert_eq!(written, cancelled["done"].as_i64().unwrap());
        Hub::eventually("their files are gone", async || hub.blobs().is_empty()).await;
    }
}

async fn imports_are_bounded(backend: Backend) {
    let bounds = [(Limit::Imports, 2), (Limit::ImportBytes, 5_000), (Limit::ImportRecords, 10)];
    let hub = Hub::start_with(backend, |settings| {
        settings.limits = bounds.iter().fold(settings.limits.clone(), |all, (limit, bound)| all.with(*limit, *bound));
    })
    .await;
    let owner = hub.network().await;
    let query = "kind=balances&currency=coins";
    upload(&owner, query, files::balances(200)).await.expect_error(413, "body_too_large");
    let many = import(&owner, query, files::balances(11)).await;
    assert_eq!(
        (many["state"].as_str(), &many["done"], &many["error"]["line"]),
        (Some("FAILED"), &json!(0), &json!(12))
    );
    assert!(many["error"]["message"].as_str().unwrap().contains("importRecords"), "{many}");
    for _ in 0..3 {
        // The time decides the oldest one.
        hub.clock.advance(std::time::Duration::from_millis(1));
        assert_eq!(import(&owner, query, files::balances(10)).await["state"], "DONE");
    }
    assert_eq!(owner.get(IMPORTS).await.expect(200)["total"], 2);
}

on_each! { imports_are_bounded }
