//! Bundles, and servers being provisioned.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Client, NOW, on_both};

async fn put_bundle(client: &Client, server_type: &str, bytes: &'static str) -> Answer {
    let path = format!("/api/manage/provisioning/bundles/{server_type}");
    client.send(client.request(Method::PUT, &path).body(bytes)).await
}

async fn auth_code(client: &Client, server: &str, code: &str) -> Answer {
    let body = json!({"serverId": server, "verifyUrl": "https://accounts.example/device", "userCode": code});
    client.post("/api/plugin/provisioning/auth-code", body).await
}

async fn register(client: &Client, server: &str) {
    let body = json!({"serverId": server, "serverType": "bedwars", "host": "10.0.0.7", "port": 25565});
    client.post("/api/plugin/servers/register", body).await.expect(201);
}

async fn provisioned(client: &Client) -> Value {
    client.get("/api/manage/provisioning/servers").await.expect(200)["items"].clone()
}

on_both! {
    async fn a_bundle_is_fetched_as_it_was_stored(hub: Hub) {
        let owner = hub.network().await;
        let agent = owner.key_with(&["agent"]).await;
        agent.get("/api/plugin/provisioning/agent/bedwars").await.expect_error(404, "unknown_bundle");
        let stored = put_bundle(&owner, "bedwars", "mods").await;
        let stored = stored.expect(200);
        assert_eq!(stored["serverType"], "bedwars");
        assert_eq!(stored["sizeBytes"], 4);
        assert_eq!(stored["updatedAt"], NOW);
        let fetched = agent.get("/api/plugin/provisioning/agent/bedwars").await;
        assert_eq!(fetched.expect(200), "mods");
        assert_eq!(fetched.headers["etag"], format!("\"{}\"", stored["sha256"].as_str().unwrap()));
        let path = "/api/plugin/provisioning/agent/bedwars";
        let request = agent.request(Method::GET, path).header("If-None-Match", &fetched.headers["etag"]);
        agent.send(request).await.expect(304);
        // Types are distinguished, and so are networks.
        agent.get("/api/plugin/provisioning/agent/lobby").await.expect_error(404, "unknown_bundle");
        hub.network().await.get(path).await.expect_error(404, "unknown_bundle");

        hub.advance_ms(5);
        let replaced = put_bundle(&owner, "bedwars", "newer mods").await;
        assert_ne!(replaced.expect(200)["sha256"], stored["sha256"]);
        assert_eq!(agent.get(path).await.expect(200), "newer mods");
        put_bundle(&owner, "a%20lobby", "x").await.expect(200);
        let list = owner.get("/api/manage/provisioning/bundles").await;
        let types: Vec<_> =
            list.expect(200)["items"].as_array().unwrap().iter().map(|item| &item["serverType"]).collect();
        assert_eq!((json!(types), &list.body["total"]), (json!(["a lobby", "bedwars"]), &json!(2)));

        owner.delete("/api/manage/provisioning/bundles/bedwars").await.expect(204);
        owner.delete("/api/manage/provisioning/bundles/bedwars").await.expect_error(404, "unknown_bundle");
        agent.get(path).await.expect_error(404, "unknown_bundle");
    }

    async fn invalid_bundles_are_refused_with_a_reason(hub: Hub) {
        let owner = hub.network().await;
        put_bundle(&owner, "bedwars", "").await.expect_error(400, "empty_body");
        put_bundle(&owner, "%20", "x").await.expect_error(400, "invalid_request");
        put_bundle(&owner.key_with(&["plugin", "agent"]).await, "bedwars", "x").await
            .expect_error(403, "forbidden_scope");
        let reader = owner.key_with(&["servers:read"]).await;
        reader.get("/api/plugin/provisioning/agent/bedwars").await.expect_error(403, "forbidden_scope");
    }

    async fn concurrent_replacements_of_a_bundle_leave_one_file(hub: Hub) {
        let owner = hub.network().await;
        let mut tasks = tokio::task::JoinSet::new();
        for bytes in ["one", "two", "three", "four", "five", "six"] {
            let owner = owner.clone();
            tasks.spawn(async move {
                put_bundle(&owner, "bedwars", bytes).await.expect(200);
                let fetched = owner.get("/api/plugin/provisioning/agent/bedwars").await;
                assert!(["one", "two", "three", "four", "five", "six"].contains(&fetched.expect(200).as_str().unwrap()));
            });
        }
        tasks.join_all().await;
        assert_eq!(hub.blobs().len(), 1);
    }

    async fn a_machine_waits_to_be_let_in_until_its_server_registers(hub: Hub) {
        let owner = hub.network().await;
        let agent = owner.key_with(&["agent"]).await;
        let noted = auth_code(&agent, "bedwars-9", "AAAA-BBBB").await;
        assert_eq!(*noted.expect(201), json!({"serverId": "bedwars-9", "phase": "AWAITING_AUTH"}));
        hub.advance_ms(10);
        auth_code(&agent, "bedwars-9", "CCCC-DDDD").await.expect(201);
        let row = &provisioned(&owner).await[0];
        assert_eq!((&row["phase"], &row["userCode"]), (&json!("AWAITING_AUTH"), &json!("CCCC-DDDD")));
        assert_eq!(row["verifyUrl"], "https://accounts.example/device");
        assert_eq!((&row["createdAt"], &row["updatedAt"]), (&json!(NOW), &json!(NOW + 10)));

        for list in ["/api/plugin/servers", "/api/manage/servers"] {
            let page = owner.get(list).await;
            let server = &page.expect(200)["items"][0];
            assert_eq!((&server["serverId"], &server["status"]), (&json!("bedwars-9"), &json!("PROVISIONING")));
            assert_eq!(server["provisioning"]["phase"], "AWAITING_AUTH");
            assert_eq!(server["provisioning"]["desiredState"], "RUNNING");
            for absent in ["role", "connectivity", "geoRegion", "geoCountry", "control", "buildInfo", "platform", "ports",
                "provisioned"] {
                assert!(server.get(absent).is_none(), "{absent} in {server}");
            }
            // The code is the owner's to read, not every connector's.
            assert!(!server.to_string().contains("CCCC-DDDD"));
        }
        let one = owner.get("/api/manage/servers/bedwars-9").await;
        assert_eq!(one.expect(200)["status"], "PROVISIONING");

        register(&owner, "bedwars-9").await;
        let one = owner.get("/api/manage/servers/bedwars-9").await;
        assert_eq!((&one.expect(200)["status"], &one.body["provisioned"]), (&json!("ONLINE"), &json!(true)));
        assert!(one.body.get("provisioning").is_none());
        let late = auth_code(&agent, "bedwars-9", "EEEE-FFFF").await;
        assert_eq!(late.expect(201)["phase"], "REGISTERED");
        let row = &provisioned(&owner).await[0];
        assert_eq!((&row["phase"], &row["userCode"], &row["verifyUrl"]), (&json!("REGISTERED"), &Value::Null, &Value::Null));
        assert_eq!(owner.get("/api/manage/servers").await.expect(200)["total"], 1);
    }

    async fn a_server_that_was_never_provisioned_stays_so(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "bedwars-1").await;
        assert_eq!(auth_code(&owner, "bedwars-1", "X").await.expect(201)["phase"], "REGISTERED");
        assert_eq!(provisioned(&owner).await, json!([]));
        assert_eq!(owner.get("/api/manage/servers/bedwars-1").await.expect(200)["provisioned"], false);
    }

    async fn a_provisioner_reports_its_servers(hub: Hub) {
        let owner = hub.network().await;
        let body = json!({"serverType": "bedwars", "displayName": "Bedwars Nine", "provider": "hetzner", "region": "eu",
            "serverVmType": "cx32", "ipv4": "203.0.113.7", "desiredState": "STOPPED"});
        let stored = owner.put("/api/manage/provisioning/servers/bedwars-9", body).await;
        assert_eq!(stored.expect(200)["phase"], "PROVISIONING");
        let server = owner.get("/api/manage/servers/bedwars-9").await;
        assert_eq!(server.expect(200)["provisioning"], json!({"provider": "hetzner", "phase": "PROVISIONING",
            "desiredState": "STOPPED", "region": "EUROPE", "serverVmType": "cx32", "ipv4": "203.0.113.7"}));
        // A device code does not undo it, nor does reporting it again undo the code.
        auth_code(&owner, "bedwars-9", "AAAA").await.expect(201);
        let stored = owner.put("/api/manage/provisioning/servers/bedwars-9", json!({"provider": "ovh"})).await;
        assert_eq!((&stored.expect(200)["phase"], &stored.body["userCode"]), (&json!("AWAITING_AUTH"), &json!("AAAA")));
        assert_eq!((&stored.body["provider"], &stored.body["ipv4"]), (&json!("ovh"), &Value::Null));

        for (body, field) in [
            (json!({"ipv4": "203.0.113.256"}), "ipv4"), (json!({"desiredState": "FLYING"}), "desiredState"),
            (json!({"region": "a b"}), "region"), (json!({"provider": 7}), "provider"),
        ] {
            let answer = owner.put("/api/manage/provisioning/servers/x", body).await;
            answer.expect_error(400, "invalid_request");
            assert!(answer.body["error"].as_str().unwrap().contains(field), "{}", answer.body);
        }
        let other = hub.network().await;
        assert_eq!(provisioned(&other).await, json!([]));
        other.delete("/api/manage/provisioning/servers/bedwars-9").await.expect_error(404, "unknown_server");
        owner.delete("/api/manage/provisioning/servers/bedwars-9").await.expect(204);
        owner.get("/api/manage/servers/bedwars-9").await.expect_error(404, "unknown_server");
    }

    async fn a_device_code_is_checked(hub: Hub) {
        let owner = hub.network().await;
        for (body, field) in [
            (json!({"verifyUrl": "https://a.example", "userCode": "X"}), "serverId"),
            (json!({"serverId": "", "verifyUrl": "https://a.example", "userCode": "X"}), "serverId"),
            (json!({"serverId": "a", "userCode": "X"}), "verifyUrl"),
            (json!({"serverId": "a", "verifyUrl": "javascript:alert(1)", "userCode": "X"}), "verifyUrl"),
            (json!({"serverId": "a", "verifyUrl": "not a link", "userCode": "X"}), "verifyUrl"),
            (json!({"serverId": "a", "verifyUrl": "https://a.example"}), "userCode"),
            (json!({"serverId": "a", "verifyUrl": "https://a.example", "userCode": " "}), "userCode"),
        ] {
            let answer = owner.post("/api/plugin/provisioning/auth-code", body).await;
            answer.expect_error(400, "invalid_request");
            assert!(answer.body["error"].as_str().unwrap().contains(field), "{}", answer.body);
        }
        assert_eq!(provisioned(&owner).await, json!([]));
    }

    async fn lists_page_over_servers_of_both_kinds(hub: Hub) {
        let owner = hub.network().await;
        for (number, id) in ["a", "b", "c", "d", "e", "f"].into_iter().enumerate() {
            if number % 2 == 0 {
                register(&owner, id).await;
            } else {
                let body = json!({"serverType": "bedwars", "region": "ASIA", "displayName": format!("Nice {id}")});
                owner.put(&format!("/api/manage/provisioning/servers/{id}"), body).await.expect(200);
            }
        }
        let ids = async |query: &str| {
            let page = owner.get(&format!("/api/plugin/servers?{query}")).await;
            let items = page.expect(200)["items"].as_array().unwrap();
            let ids: Vec<_> = items.iter().map(|item| item["serverId"].as_str().unwrap()).collect();
            (ids.concat(), page.body["total"].as_i64().unwrap())
        };
        assert_eq!(ids("").await, ("abcdef".to_owned(), 6));
        assert_eq!(ids("limit=4").await, ("abcd".to_owned(), 6));
        assert_eq!(ids("limit=4&page=1").await, ("ef".to_owned(), 6));
        assert_eq!(ids("limit=4&page=2").await, (String::new(), 6));
        assert_eq!(ids("online=true").await, ("ace".to_owned(), 3));
        assert_eq!(ids("online=false").await, ("bdf".to_owned(), 3));
        assert_eq!(ids("region=ASIA").await, ("bdf".to_owned(), 3));
        assert_eq!(ids("serverType=bedwars").await, ("abcdef".to_owned(), 6));
        assert_eq!(ids("serverType=lobby").await, (String::new(), 0));
        assert_eq!(ids("search=nICE%20D").await, ("d".to_owned(), 1));
        register(&owner, "b").await;
        assert_eq!(ids("").await, ("abcdef".to_owned(), 6));
    }
}
