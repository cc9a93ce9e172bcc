//! Modules: uploaded, put into chains, run, stopped.

pub mod activation;
mod author_tools;
mod chain_swap;
mod cli;
mod compiling;
pub mod endpoints;
pub mod handlers;
mod hostile;
mod index;
mod large;
mod limits;
mod modes;
mod overrides;
mod plan_limits;
mod production;
mod recorded_calls;
mod replay;
mod reviews;
mod revisions;
mod specification;
pub mod starters;
mod stores;
mod templates;
pub mod wasm;

use std::sync::Arc;
use std::time::Duration;

use hub::modules::service::{self, Point, Ranking};
use hub_sandbox::contract::PlayerRef;
use hub_sandbox::contract::chat::{Decision, Line, Verdict};
use hub_sandbox::contract::matchmaking::{GameState, MatchRequest, ServerCandidate};
use hub_sandbox::{Candidates, FilterChat, PlainCandidate, PlainTexts, RankServers};
use reqwest::Method;
use serde_json::{Value, json};

use crate::servers::{join, register, uuid};
use crate::support::{Answer, Client, Hub, NOW, on_both};

pub async fn upload(owner: &Client, name: &str, bytes: Vec<u8>) -> Answer {
    let path = format!("/api/manage/modules?name={name}");
    owner.send(owner.request(Method::POST, &path).header("Content-Type", "application/wasm").body(bytes)).await
}

pub async fn chain(owner: &Client, point: &str, modules: Value) -> Answer {
    owner.put(&format!("/api/manage/extension-points/{point}"), json!({"modules": modules})).await
}

/// Activates a chain although its modules fail their trials.
async fn chain_by_force(owner: &Client, point: &str, modules: Value) -> Answer {
    owner.put(&format!("/api/manage/extension-points/{point}?force=true"), json!({"modules": modules})).await
}

pub async fn point(owner: &Client, point: &str) -> Value {
    owner.get(&format!("/api/manage/extension-points/{point}")).await.expect(200).clone()
}

async fn say(hub: &Hub, owner: &Client, message: &str) -> Verdict {
    let line = Line {
        player: PlayerRef { uuid: "069a79f4-44e9-4726-a5be-fca90e38aaf5".into(), name: "Notch".into() },
        message: message.into(),
        server_id: "lobby-1".into(),
        server_type: "lobby".into(),
        world: None,
        rank: None,
    };
    service::call::<FilterChat>(&hub.app, owner.network.unwrap(), line).await
}

fn refused(verdict: &Verdict) -> &str {
    match &verdict.decision {
        Decision::Refuse(reason) => reason,
        other => panic!("not refused: {other:?}"),
    }
}

async fn rank(hub: &Hub, owner: &Client, server_type: &str) -> Ranking {
    let candidate = |region| ServerCandidate {
        index: 0,
        region,
        state: GameState::Idle,
        affinity: false,
        current_players: 0,
        max_players: 10,
        free_slots: 10,
        players_to_start: 0,
        players_needed: 0,
    };
    let request = MatchRequest {
        player_uuid: Some("069a79f4-44e9-4726-a5be-fca90e38aaf5".into()),
        player_name: Some("Notch".into()),
        region: 0,
        server_type: server_type.into(),
        world_type: None,
        affinity_game_id: None,
        affinity_owner_scope: None,
        affinity_owner_id: None,
    };
    let texts =
        PlainTexts { candidates: vec![PlainCandidate::default(); 3], regions: vec!["EUROPE".into(), "ASIA".into()] };
    let candidates = vec![candidate(1), candidate(1), candidate(0)];
    let input = Candidates::new(Arc::new(request), candidates, Arc::new(texts));
    service::call::<RankServers>(&hub.app, owner.network.unwrap(), input).await
}

on_both! {
    async fn an_upload_becomes_a_numbered_version(hub: Hub) {
        let owner = hub.network().await;
        let bytes = wasm::moody(1);
        let made = upload(&owner, "moody", bytes.clone()).await.expect(201).clone();
        assert_eq!((&made["name"], &made["version"], &made["state"]), (&json!("moody"), &json!(1), &json!("READY")));
        assert_eq!((&made["points"], &made["worldVersion"]), (&json!(["chat"]), &json!("1.0.0")));
        assert_eq!((&made["sizeBytes"], &made["createdAt"]), (&json!(bytes.len()), &json!(NOW)));
        assert_eq!(made["sha256"].as_str().unwrap().len(), 64);

        // The same bytes are the same version; others the next; another name counts for itself.
        assert_eq!(upload(&owner, "moody", bytes.clone()).await.expect(200), &made);
        assert_eq!(upload(&owner, "moody", wasm::moody(2)).await.expect(201)["version"], 2);
        assert_eq!(upload(&owner, "other", bytes.clone()).await.expect(201)["version"], 1);

        assert_eq!(owner.get("/api/manage/modules/moody/1").await.expect(200), &made);
        let list = owner.get("/api/manage/modules").await.expect(200).clone();
        let named: Vec<_> = list["items"].as_array().unwrap().iter().map(|it| (&it["name"], &it["version"])).collect();
        assert_eq!(named, [(&json!("moody"), &json!(2)), (&json!("other"), &json!(1))]);
        assert_eq!(list["total"], 2);
        let versions = owner.get("/api/manage/modules/moody?limit=1&page=1").await.expect(200).clone();
        assert_eq!((&versions["items"][0]["version"], &versions["total"]), (&json!(1), &json!(2)));

        let download = owner.request(Method::GET, "/api/manage/modules/moody/1/wasm").send().await.unwrap();
        assert_eq!(download.headers()["content-type"], "application/wasm");
        assert_eq!(download.bytes().await.unwrap(), bytes);

        // A number is never used again.
        owner.delete("/api/manage/modules/moody/2").await.expect(204);
        owner.get("/api/manage/modules/moody/2").await.expect_error(404, "unknown_module");
        owner.delete("/api/manage/modules/moody/2").await.expect_error(404, "unknown_module");
        assert_eq!(upload(&owner, "moody", wasm::moody(2)).await.expect(201)["version"], 3);
        for path in ["nobody", "moody/9", "moody/9/wasm", "nobody/logs"] {
            owner.get(&format!("/api/manage/modules/{path}")).await.expect_error(404, "unknown_module");
        }
        owner.get("/api/manage/modules/moody/first").await.expect_error(400, "invalid_request");
    }

    async fn invalid_uploads_are_refused_with_a_reason(hub: Hub) {
        let owner = hub.network().await;
        for (bytes, hint) in [
            (vec![], ""),
            (b"not a module".to_vec(), ""),
            (wat::parse_str("(module)").unwrap(), "component type"),
            (wasm::wasi(), "WASI"),
            (wasm::importing("network-hub:module/log@2.0.0"), "version 2.0.0 of the contract; this hub supports 1.1.0, 1.0.0"),
            (wasm::importing("network-hub:module/log@1.9.0"), "version 1.9.0 of the contract; this hub supports 1.1.0, 1.0.0"),
            (wasm::trapping(), "trial call"),
            (wasm::moody(1)[..100].to_vec(), ""),
        ] {
            let answer = upload(&owner, "bad", bytes).await;
            answer.expect_error(400, "invalid_module");
            let error = answer.body["error"].as_str().unwrap();
            assert!(error.starts_with("Not a valid module: ") && error.contains(hint), "{error}");
        }
        // Nothing was stored, and no number was used.
        owner.get("/api/manage/modules/bad").await.expect_error(404, "unknown_module");
        assert_eq!(upload(&owner, "bad", wasm::moody(1)).await.expect(201)["version"], 1);

        for name in ["", "Bad", "9bad", "a_b", "a%2Fb", &"a".repeat(65)] {
            upload(&owner, name, wasm::moody(1)).await.expect_error(400, "invalid_request");
        }
        let unnamed = owner.request(Method::POST, "/api/manage/modules").body(wasm::moody(1));
        owner.send(unnamed).await.expect_error(400, "invalid_request");
        let large = owner.request(Method::POST, "/api/manage/modules?name=large").body(vec![0; 64 * 1024 * 1024 + 1]);
        owner.send(large).await.expect_error(413, "body_too_large");
    }

    async fn the_largest_module_is_accepted_and_downloaded(hub: Hub) {
        let owner = hub.network().await;
        let bytes = wasm::padded(wasm::moody(1), 64 * 1024 * 1024);
        assert_eq!(upload(&owner, "large", bytes.clone()).await.expect(201)["sizeBytes"], 64 * 1024 * 1024);
        let download = owner.request(Method::GET, "/api/manage/modules/large/1/wasm").send().await.unwrap();
        assert!(download.bytes().await.unwrap() == bytes);
        chain(&owner, "chat", json!([{"name": "large", "version": 1}])).await.expect(200);
        assert_eq!(refused(&say(&hub, &owner, "R").await), "rude");
    }

    async fn modules_see_online_players_and_their_servers(hub: Hub) {
        let owner = hub.network().await;
        for server in ["a", "b", "c"] {
            register(&owner, server, json!({})).await;
        }
        upload(&owner, "only-online", wasm::only_online()).await.expect(201);
        chain(&owner, "chat", json!([{"name": "only-online", "version": 1}])).await.expect(200);
        let line = json!({"playerUuid": uuid(1), "playerName": "p1", "message": "hi", "serverId": "a"});
        owner.post("/api/plugin/chat", line.clone()).await.expect_error(400, "chat_rejected");
        join(&owner, "b", 1).await;
        owner.post("/api/plugin/chat", line.clone()).await.expect(204);
        // In another network no player of that UUID is online.
        let other = hub.network().await;
        upload(&other, "only-online", wasm::only_online()).await.expect(201);
        chain(&other, "chat", json!([{"name": "only-online", "version": 1}])).await.expect(200);
        other.post("/api/plugin/chat", line).await.expect_error(400, "chat_rejected");

        upload(&owner, "lonely-first", wasm::lonely_first()).await.expect(201);
        chain(&owner, "matchmaking", json!([{"name": "lonely-first", "version": 1}])).await.expect(200);
        join(&owner, "c", 2).await;
        join(&owner, "c", 3).await;
        let find = json!({"playerUuid": uuid(9), "playerName": "p9", "serverType": "lobby"});
        let found = owner.post("/api/plugin/matchmaking/find", find).await.expect(200).clone();
        assert_eq!(found["matchedServer"]["serverId"], "b", "{found}");
    }

    async fn a_chain_is_replaced_read_and_rolled_back(hub: Hub) {
        let owner = hub.network().await;
        assert_eq!(point(&owner, "chat").await, json!({"point": "chat", "revision": 0, "modules": [], "counted": "NODE"}));
        owner.post("/api/manage/extension-points/chat/rollback", json!({})).await
            .expect_error(400, "nothing_to_roll_back");
        upload(&owner, "moody", wasm::moody(1)).await.expect(201);
        upload(&owner, "last-first", wasm::last_first()).await.expect(201);
        assert_eq!(say(&hub, &owner, "R").await.decision, Decision::Allow);

        let put = chain(&owner, "chat", json!([{"name": "moody", "version": 1, "config": {"a": [1, "x"]}}])).await;
        let put = put.expect(200).clone();
        assert_eq!(put["modules"][0], json!({
            "name": "moody", "version": 1, "config": {"a": [1, "x"]}, "mode": "ACTIVE", "percent": 100,
            "onFailure": "SKIP", "instances": "FRESH", "calls": 0, "failures": 0, "late": 0, "p50Micros": 0, "p99Micros": 0,
            "fuelP50": 0, "breaker": "CLOSED", "outcomes": {}, "memoryPeakBytes": 0,
        }));
        assert_eq!(put["revision"], 1);
        // In effect for the next call.
        assert_eq!(refused(&say(&hub, &owner, "R").await), "rude");
        assert_eq!(say(&hub, &owner, "W").await.decision, Decision::Rewrite("polite".into()));
        assert_eq!(say(&hub, &owner, "U").await.mute.unwrap().duration_ms, 60_000);
        let shown = point(&owner, "chat").await;
        assert_eq!((&shown["modules"][0]["calls"], &shown["modules"][0]["failures"]), (&json!(3), &json!(0)));
        assert!(shown["modules"][0]["fuelP50"].as_u64().unwrap() > 0);
        assert!(shown["modules"][0]["p50Micros"].as_u64().unwrap() > 0);

        // The same again changes nothing; a module that stays keeps its counts.
        let same = json!([{"name": "moody", "version": 1, "config": {"a": [1, "x"]}, "onFailure": null}]);
        assert_eq!(chain(&owner, "chat", same.clone()).await.expect(200)["revision"], 1);
        let two = json!([same[0], {"name": "moody", "version": 1, "onFailure": "REFUSE"}]);
        let two = chain(&owner, "chat", two).await.expect(200).clone();
        assert_eq!((&two["modules"][0]["calls"], &two["modules"][1]["calls"]), (&json!(3), &json!(0)));

        assert_eq!(chain(&owner, "chat", json!([])).await.expect(200)["modules"], json!([]));
        assert_eq!(say(&hub, &owner, "R").await.decision, Decision::Allow);
        let path = "/api/manage/extension-points/chat/rollback";
        let back = owner.post(path, json!({})).await.expect(200).clone();
        assert_eq!((back["modules"].as_array().unwrap().len(), &back["revision"]), (2, &json!(4)));
        assert_eq!(refused(&say(&hub, &owner, "R").await), "rude");
        // A second rollback restores the previous one.
        assert_eq!(owner.post(path, json!({})).await.expect(200)["modules"], json!([]));
        assert_eq!(say(&hub, &owner, "R").await.decision, Decision::Allow);
    }

    async fn a_chain_that_cannot_run_is_refused(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "moody", wasm::moody(1)).await.expect(201);
        let link = json!({"name": "moody", "version": 1});
        let with = |field: &str, value: Value| {
            let mut link = link.clone();
            link[field] = value;
            json!([link])
        };
        for (modules, code) in [
            (with("name", json!("nobody")), "unknown_module"),
            (with("version", json!(2)), "unknown_module"),
            (with("version", json!(0)), "unknown_module"),
            (with("version", json!("1")), "invalid_request"),
            (with("config", json!([])), "invalid_request"),
            (with("config", json!({"large": "x".repeat(64 * 1024)})), "invalid_request"),
            (with("percent", json!(0)), "invalid_request"),
            (with("percent", json!(101)), "invalid_request"),
            (with("onFailure", json!("IGNORE")), "invalid_request"),
            (with("mode", json!("LOUD")), "invalid_request"),
            (Value::Array(vec![with("mode", json!("CANARY"))[0].clone(); 2]), "invalid_request"),
            (with("instances", json!("SHARED")), "invalid_request"),
            (json!([{"name": "moody"}]), "invalid_request"),
            (json!({}), "invalid_request"),
            (Value::Null, "invalid_request"),
            (Value::Array(vec![link.clone(); 17]), "invalid_request"),
        ] {
            chain(&owner, "chat", modules).await.expect_error(400, code);
        }
        chain(&owner, "punishment", json!([link])).await.expect_error(400, "point_not_offered");
        chain(&owner, "weather", json!([link])).await.expect_error(404, "unknown_point");
        owner.get("/api/manage/extension-points/weather").await.expect_error(404, "unknown_point");
        owner.post("/api/manage/extension-points/weather/rollback", json!({})).await.expect_error(404, "unknown_point");
        assert_eq!(point(&owner, "chat").await["modules"], json!([]));
        chain(&owner, "chat", Value::Array(vec![link; 16])).await.expect(200);
    }

    async fn a_configuration_that_fails_its_trial_is_refused(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "picky", wasm::picky()).await.expect(201);
        let link = |config: Value| json!({"name": "picky", "version": 1, "config": config});
        let put = chain(&owner, "chat", json!([link(json!({}))])).await.expect(200).clone();
        assert_eq!(put["warnings"], json!([]));
        let chosen = json!([link(json!({})), link(json!({"a": 1})), link(json!({"a": 1}))]);
        let refused = chain(&owner, "chat", chosen.clone()).await;
        refused.expect_error(400, "failed_trial");
        let message = refused.body["error"].as_str().unwrap();
        assert!(message.contains("`modules[1]`") && message.contains("`picky`") && message.contains("no thanks"), "{message}");
        let modules = point(&owner, "chat").await["modules"].clone();
        assert_eq!((modules.as_array().unwrap().len(), &modules[0]["config"]), (1, &json!({})));
        // By force it is activated nevertheless, with one warning, and nothing of the trial counts.
        let put = chain_by_force(&owner, "chat", chosen.clone()).await.expect(200).clone();
        assert_eq!(put["warnings"].as_array().unwrap().len(), 1, "{put}");
        let warning = &put["warnings"][0];
        assert_eq!((&warning["name"], &warning["version"]), (&json!("picky"), &json!(1)));
        let message = warning["message"].as_str().unwrap();
        assert!(message.contains("chat.filter") && message.contains("trapped") && message.contains("no thanks"));
        assert!(!message.contains("backtrace") && !message.contains('\n'), "{message}");
        assert_eq!(put["modules"][1]["calls"], 0);
        assert!(point(&owner, "chat").await.get("warnings").is_none());
        // An existing link may stay, with another warning.
        let shorter = json!([link(json!({"a": 1}))]);
        assert_eq!(chain(&owner, "chat", shorter).await.expect(200)["warnings"], put["warnings"]);
        assert_eq!(owner.post("/api/manage/extension-points/chat/rollback", json!({})).await.status, 200);
        assert_eq!(chain(&owner, "chat", chosen).await.expect(200)["warnings"], put["warnings"]);
    }

    async fn a_module_in_a_chain_cannot_be_deleted(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "moody", wasm::moody(1)).await.expect(201);
        upload(&owner, "moody", wasm::moody(2)).await.expect(201);
        chain(&owner, "chat", json!([{"name": "moody", "version": 1}])).await.expect(200);
        owner.delete("/api/manage/modules/moody/1").await.expect_error(400, "module_in_use");
        owner.delete("/api/manage/modules/moody/2").await.expect(204);
        chain(&owner, "chat", json!([])).await.expect(200);
        owner.delete("/api/manage/modules/moody/1").await.expect(204);
        // The previous chain's module is gone.
        owner.post("/api/manage/extension-points/chat/rollback", json!({})).await.expect_error(400, "unknown_module");
        assert_eq!(say(&hub, &owner, "R").await.decision, Decision::Allow);
    }

    async fn modules_rank_candidates(hub: Hub) {
        let owner = hub.network().await;
        assert_eq!(rank(&hub, &owner, "lobby").await, Ranking::BuiltIn);
        assert!(!service::has_chain(&hub.app, owner.network.unwrap(), Point::Matchmaking));
        upload(&owner, "last-first", wasm::last_first()).await.expect(201);
        chain(&owner, "matchmaking", json!([{"name": "last-first", "version": 1}])).await.expect(200);
        assert!(service::has_chain(&hub.app, owner.network.unwrap(), Point::Matchmaking));
        assert!(!service::has_chain(&hub.app, owner.network.unwrap(), Point::Chat));
        assert_eq!(rank(&hub, &owner, "lobby").await, Ranking::Order(vec![2]));
        assert_eq!(rank(&hub, &owner, "Restricted").await, Ranking::Refused(Some("closed".into())));
        // An unknown index is an invalid answer.
        assert_eq!(rank(&hub, &owner, "Nonsense").await, Ranking::BuiltIn);
        assert_eq!(point(&owner, "matchmaking").await["modules"][0]["failures"], 1);
        chain(&owner, "matchmaking", json!([])).await.expect(200);
        assert_eq!(rank(&hub, &owner, "lobby").await, Ranking::BuiltIn);
    }

    async fn a_failing_module_fails_only_its_own_call(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "moody", wasm::moody(1)).await.expect(201);
        chain(&owner, "chat", json!([{"name": "moody", "version": 1}])).await.expect(200);
        for (message, failure) in [
            ("T: trap", "trap"),
            ("M: memory", "out_of_memory"),
            ("D: deep recursion", "trap"),
            ("N: invalid", "invalid_answer"),
        ] {
            assert_eq!(say(&hub, &owner, message).await.decision, Decision::Allow, "{message}");
            let logs = owner.get("/api/manage/modules/moody/logs?limit=1").await.expect(200).clone();
            let line = &logs["items"][0];
            assert_eq!((&line["failure"], &line["level"]), (&json!(failure), &json!("ERROR")), "{message}: {line}");
        }
        let counted = point(&owner, "chat").await["modules"][0].clone();
        assert_eq!(counted["failures"], 4);
        assert_eq!(counted["outcomes"], json!({"trap": 2, "out_of_memory": 1, "invalid_answer": 1}));
        assert!(counted["memoryPeakBytes"].as_u64().unwrap() > 1 << 20, "{counted}");

        // With REFUSE, a failure refuses the request.
        chain(&owner, "chat", json!([{"name": "moody", "version": 1, "onFailure": "REFUSE"}])).await.expect(200);
        refused(&say(&hub, &owner, "T").await);
        assert_eq!(say(&hub, &owner, "hello").await.decision, Decision::Allow);

        // When half of its calls fail it is skipped for a second.
        for _ in 0..18 {
            say(&hub, &owner, "T").await;
        }
        let breaker = async || point(&owner, "chat").await["modules"][0]["breaker"].clone();
        assert_eq!(breaker().await, "OPEN");
        assert_eq!(say(&hub, &owner, "R").await.decision, Decision::Allow);
        let opening = async || {
            let logs = owner.get("/api/manage/modules/moody/logs?limit=1").await.expect(200).clone();
            logs["items"][0].clone()
        };
        let entry = async || {
            let log = owner.get("/api/manage/audit?action=breaker.opened").await.expect(200).clone();
            log["items"][0].clone()
        };
        Hub::eventually("the opening is in the audit log", async || !entry().await.is_null()).await;
        let actor = json!({"type": "SYSTEM", "id": "breaker", "name": "breaker"});
        assert_eq!((&entry().await["actor"], &entry().await["target"]), (&actor, &json!("moody/1")));
        let line = opening().await;
        assert_eq!((&line["level"], &line["failure"]), (&json!("ERROR"), &Value::Null), "{line}");
        let message = line["message"].as_str().unwrap();
        assert!(message.contains("19 of the 20 calls of the last 10 s failed by the module's own fault"), "{message}");
        hub.advance_ms(1_000);
        assert_eq!(breaker().await, "HALF_OPEN");
        // Each failed trial doubles the time, and logs it.
        say(&hub, &owner, "T").await;
        assert_eq!(breaker().await, "OPEN");
        assert!(opening().await["message"].as_str().unwrap().contains("tried again in 2 s"));
        hub.advance_ms(1_999);
        assert_eq!(breaker().await, "OPEN");
        hub.advance_ms(1);
        assert_eq!(refused(&say(&hub, &owner, "R").await), "rude");
        assert_eq!(breaker().await, "CLOSED");

        // A PUT closes it, also one of the same chain.
        for _ in 0..20 {
            say(&hub, &owner, "T").await;
        }
        assert_eq!(breaker().await, "OPEN");
        let same = json!([{"name": "moody", "version": 1, "onFailure": "REFUSE"}]);
        assert_eq!(chain(&owner, "chat", same).await.expect(200)["modules"][0]["breaker"], "CLOSED");
        assert_eq!(refused(&say(&hub, &owner, "R").await), "rude");
    }

    async fn logs_are_kept_and_followed(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "moody", wasm::moody(1)).await.expect(201);
        chain(&owner, "chat", json!([{"name": "moody", "version": 1}])).await.expect(200);
        let empty = owner.get("/api/manage/modules/moody/logs").await.expect(200).clone();
        assert_eq!((&empty["items"], &empty["total"]), (&json!([]), &json!(0)));
        for number in 1..=3 {
            say(&hub, &owner, &format!("G{number}")).await;
        }
        let page = owner.get("/api/manage/modules/moody/logs?limit=2").await.expect(200).clone();
        let messages: Vec<_> = page["items"].as_array().unwrap().iter().map(|line| &line["message"]).collect();
        assert_eq!((messages, &page["total"]), (vec![&json!("G3"), &json!("G2")], &json!(3)));
        let line = &page["items"][0];
        assert_eq!((&line["at"], &line["point"], &line["version"]), (&json!(NOW), &json!("chat"), &json!(1)));
        assert_eq!((&line["level"], &line["failure"]), (&json!("INFO"), &Value::Null));

        let tail = owner.request(Method::GET, "/api/manage/modules/moody/logs?limit=1");
        let mut tail = crate::support::Events::open(tail.header("Accept", "text/event-stream")).await;
        assert_eq!(tail.next_named("LOG").await.data["message"], "G3");
        say(&hub, &owner, "G4").await;
        assert_eq!(tail.next_named("LOG").await.data["message"], "G4");

        // The stream of a revoked key ends.
        let made = json!({"name": "reader", "scopes": ["modules:write"]});
        let made = owner.post("/api/manage/keys", made).await.expect(201).clone();
        let reader = owner.with_key(made["apiKey"].as_str().unwrap());
        let tail = reader.request(Method::GET, "/api/manage/modules/moody/logs?limit=1");
        let mut tail = crate::support::Events::open(tail.header("Accept", "text/event-stream")).await;
        assert_eq!(tail.next_named("LOG").await.data["message"], "G4");
        owner.delete(&format!("/api/manage/keys/{}", made["keyId"].as_str().unwrap())).await.expect(204);
        hub.advance_ms(500);
        assert!(tail.next().await.is_none());
    }

    async fn a_dry_run_reports_everything_and_changes_nothing(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "counting", wasm::counting()).await.expect(201);
        upload(&owner, "moody", wasm::moody(1)).await.expect(201);
        upload(&owner, "last-first", wasm::last_first()).await.expect(201);
        let run = async |module: &str, body: Value| {
            owner.post(&format!("/api/manage/modules/{module}/1/dry-run"), body).await
        };
        let line = |message: &str| json!({
            "player": {"uuid": "069a79f4-44e9-4726-a5be-fca90e38aaf5", "name": "Notch"},
            "message": message, "serverId": "a", "serverType": "lobby",
        });
        let chat = |message: &str| json!({"point": "chat", "input": line(message), "config": {}});
        for _ in 0..4 {
            let report = run("counting", chat("hello")).await.expect(200).clone();
            assert_eq!(report["output"]["decision"], "allow", "{report}");
            assert_eq!(report["hostCalls"].as_array().unwrap().len(), 1);
            assert_eq!(report["failure"], Value::Null);
        }
        let logged = run("moody", chat("G")).await.expect(200).clone();
        assert_eq!(logged["logs"], json!([{"level": "INFO", "message": "G"}]));
        assert!(logged["fuel"].as_u64().unwrap() > 0 && logged["memoryBytes"].as_u64().unwrap() > 0);
        assert!(logged["durationMicros"].as_u64().unwrap() > 0);
        assert_eq!(run("moody", chat("G")).await.expect(200)["fuel"], logged["fuel"]);
        // The clock and the seed are the hub's, or the caller's.
        assert_eq!((&logged["nowMs"], logged["seed"].is_string()), (&json!(NOW), true));
        let mut given = chat("G");
        (given["nowMs"], given["seed"]) = (json!(5), json!("18446744073709551615"));
        let ran = run("moody", given.clone()).await.expect(200).clone();
        assert_eq!((&ran["nowMs"], &ran["seed"]), (&json!(5), &json!("18446744073709551615")));
        given["seed"] = json!(7);
        assert_eq!(run("moody", given.clone()).await.expect(200)["seed"], "7");
        for seed in [json!(-1), json!("x"), json!(1.5)] {
            given["seed"] = seed;
            run("moody", given.clone()).await.expect_error(400, "invalid_request");
        }
        let failed = run("moody", chat("T")).await.expect(200).clone();
        assert_eq!((&failed["output"], &failed["failure"]["code"]), (&Value::Null, &json!("trap")));
        // Production's log and counts are production's alone.
        assert_eq!(owner.get("/api/manage/modules/moody/logs").await.expect(200)["total"], 0);

        let servers = json!([{"serverId": "a", "region": "ASIA"}, {"serverId": "b", "maxPlayers": 9}]);
        let request = json!({"playerName": "Notch", "serverType": "lobby", "servers": servers});
        let ranked = run("last-first", json!({"point": "matchmaking", "input": request})).await.expect(200).clone();
        assert_eq!(ranked["output"], json!({"order": [1]}));

        run("moody", json!({"point": "weather", "input": {}})).await.expect_error(404, "unknown_point");
        run("moody", json!({"point": "punishment", "input": {
            "terms": {"type": "MUTE", "reason": "spam"}, "ipBased": false,
        }})).await.expect_error(400, "point_not_offered");
        run("moody", json!({"point": "chat", "input": {}})).await.expect_error(400, "invalid_request");
        run("moody", json!({"point": "chat"})).await.expect_error(400, "invalid_request");
        run("nobody", chat("hello")).await.expect_error(404, "unknown_module");
    }

    async fn another_networks_modules_do_not_exist(hub: Hub) {
        let (owner, other) = (hub.network().await, hub.network().await);
        upload(&owner, "moody", wasm::moody(1)).await.expect(201);
        chain(&owner, "chat", json!([{"name": "moody", "version": 1}])).await.expect(200);
        for path in ["moody", "moody/1", "moody/1/wasm", "moody/logs"] {
            other.get(&format!("/api/manage/modules/{path}")).await.expect_error(404, "unknown_module");
        }
        other.delete("/api/manage/modules/moody/1").await.expect_error(404, "unknown_module");
        assert_eq!(other.get("/api/manage/modules").await.expect(200)["total"], 0);
        assert_eq!(point(&other, "chat").await["modules"], json!([]));
        chain(&other, "chat", json!([{"name": "moody", "version": 1}])).await.expect_error(400, "unknown_module");
        assert_eq!(say(&hub, &other, "R").await.decision, Decision::Allow);
        assert_eq!(refused(&say(&hub, &owner, "R").await), "rude");
        // A key that may only read changes nothing.
        let reader = owner.key_with(&["modules:read"]).await;
        reader.get("/api/manage/modules/moody/1").await.expect(200);
        upload(&reader, "moody", wasm::moody(2)).await.expect_error(403, "forbidden_scope");
        chain(&reader, "chat", json!([])).await.expect_error(403, "forbidden_scope");
    }

    async fn chains_and_versions_survive_a_restart(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "moody", wasm::moody(1)).await.expect(201);
        chain(&owner, "chat", json!([{"name": "moody", "version": 1, "config": {"k": 1}}])).await.expect(200);
        let data = hub.app.settings.data.clone();
        let hub = hub.restart(Duration::ZERO).await;
        assert!(service::has_chain(&hub.app, owner.network.unwrap(), Point::Chat));
        assert_eq!(refused(&say(&hub, &owner, "R").await), "rude");
        let again = hub.with_key(owner.key.as_deref().unwrap());
        assert_eq!(point(&again, "chat").await["modules"][0]["config"], json!({"k": 1}));
        assert_eq!(upload(&again, "moody", wasm::moody(1)).await.expect(200)["version"], 1);
        // The compiled code on disk may be deleted at any time: it is compiled again.
        std::fs::remove_dir_all(data.join("modules-cache")).unwrap();
        let hub = hub.restart(Duration::ZERO).await;
        assert_eq!(refused(&say(&hub, &owner, "R").await), "rude");
    }

    async fn uploads_of_the_same_at_once_are_one_version(hub: Hub) {
        let owner = hub.network().await;
        let uploads = (0..4).map(|_| {
            let owner = owner.clone();
            tokio::spawn(async move { upload(&owner, "moody", wasm::moody(1)).await })
        });
        let mut created = 0;
        for upload in uploads.collect::<Vec<_>>() {
            let answer = upload.await.unwrap();
            assert_eq!(answer.body["version"], 1, "{}", answer.body);
            created += u32::from(answer.status == 201);
        }
        assert_eq!(created, 1);
        assert_eq!(owner.get("/api/manage/modules/moody").await.expect(200)["total"], 1);
    }
}
