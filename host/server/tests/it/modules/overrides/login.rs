//! Players whom modules let in or refuse.

use serde_json::{Value, json};

use super::super::recorded_calls::{call, calls};
use super::super::{chain, point, upload};
use super::{answer, module, on, text};
use crate::servers::{register, uuid};
use crate::support::{Answer, Client, on_both};

/// By the first letter of the player's name: a refusal (`R`; `F` only at the first join), a trap (`X`).
fn checking() -> Vec<u8> {
    let refuse = [text(68, 512, 2), text(76, 520, 4), answer(1)].concat();
    let new = format!("(if (i32.load8_u offset=140 (local.get $in)) (then {refuse}))");
    let body = [
        "(local.set $first (i32.load8_u (i32.load offset=104 (local.get $in))))".to_owned(),
        on('R', &refuse),
        on('F', &new),
        on('X', "unreachable"),
        answer(0),
    ];
    module("login", "check", &body.concat())
}

async fn activate(owner: &Client, on_failure: &str) {
    upload(owner, "checking", checking()).await;
    let link = json!([{"name": "checking", "version": 1, "onFailure": on_failure}]);
    chain(owner, "login", link).await.expect(200);
}

async fn load(client: &Client, player: u64, query: &str) -> Value {
    client.post(&format!("/api/plugin/players/{}/load?{query}", uuid(player)), json!({})).await.expect(200).clone()
}

async fn open(client: &Client, player: u64, name: &str, include: &[&str]) -> Answer {
    let body = json!({"serverId": "lobby-1", "waitMs": 0, "username": name, "include": include});
    client.post(&format!("/api/plugin/players/{}/session", uuid(player)), body).await
}

fn refused() -> Value {
    json!({"allowed": false, "reason": "no", "kind": "test"})
}

fn allowed() -> Value {
    json!({"allowed": true, "reason": null, "kind": null})
}

on_both! {
    async fn a_load_tells_the_answer_and_stores_as_ever(hub: Hub) {
        let owner = hub.network().await;
        assert_eq!(load(&owner, 1, "username=Rude&include=login").await["login"], allowed());
        activate(&owner, "SKIP").await;
        let loaded = load(&owner, 2, "username=Rude&include=login,permissions").await;
        assert_eq!((&loaded["login"], &loaded["username"]), (&refused(), &json!("Rude")));
        assert!(loaded["permissions"].is_object());
        let known = owner.get(&format!("/api/plugin/players/{}", uuid(2))).await.expect(200).clone();
        assert_eq!(known["username"], "Rude");
        assert_eq!(load(&owner, 3, "username=Kind&include=login").await["login"], allowed());
        // A server that does not ask is not told, and no module is asked.
        assert_eq!(load(&owner, 2, "username=Rude").await.get("login"), None);
        assert_eq!(point(&owner, "login").await["modules"][0]["calls"], 2);
    }

    async fn a_refused_session_is_not_opened(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "lobby-1", json!({})).await;
        activate(&owner, "SKIP").await;
        let answer = open(&owner, 1, "Rude", &["login"]).await.expect(403).clone();
        assert_eq!((&answer["code"], &answer["error"], &answer["login"]), (&json!("login_refused"), &json!("no"), &refused()));
        let path = format!("/api/plugin/players/{}/session", uuid(1));
        owner.get(&path).await.expect_error(404, "unknown_session");
        let opened = open(&owner, 1, "Kind", &["login"]).await.expect(200).clone();
        assert_eq!(opened["profile"]["login"], allowed());
        assert_eq!(open(&owner, 1, "Rude", &[]).await.expect(200)["profile"].get("login"), None);
        let whole = call(&owner, "login", &calls(&owner, "login", "").await["items"][0]).await;
        assert_eq!(whole["input"], json!({
            "player": {"uuid": uuid(1), "name": "Kind"}, "ipHash": null, "region": "UNKNOWN", "serverId": "lobby-1",
            "firstJoin": true,
        }));
    }

    async fn a_module_knows_a_first_join_and_tells_addresses_apart(hub: Hub) {
        let owner = hub.network().await;
        activate(&owner, "SKIP").await;
        assert_eq!(load(&owner, 1, "username=First&include=login&ip=203.0.113.7").await["login"], refused());
        assert_eq!(load(&owner, 1, "username=First&include=login&ip=203.0.113.7").await["login"], allowed());
        assert_eq!(load(&owner, 1, "username=First&include=login&ip=203.0.113.8").await["login"], allowed());
        let listed = calls(&owner, "login", "").await;
        let mut hashes = vec![];
        for at in 0..3 {
            hashes.push(call(&owner, "login", &listed["items"][at]).await["input"]["ipHash"].clone());
        }
        assert!(hashes.iter().all(Value::is_string), "{hashes:?}");
        assert!(hashes[0] != hashes[1] && hashes[1] == hashes[2], "{hashes:?}");
        assert!(!hashes[0].to_string().contains("203"), "{hashes:?}");
    }

    async fn a_failing_module_lets_players_in_unless_its_owner_says_otherwise(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "lobby-1", json!({})).await;
        activate(&owner, "SKIP").await;
        assert_eq!(load(&owner, 1, "username=Xaver&include=login").await["login"], allowed());
        open(&owner, 1, "Xaver", &["login"]).await.expect(200);
        activate(&owner, "REFUSE").await;
        assert_eq!(load(&owner, 1, "username=Xaver&include=login").await["login"]["kind"], "module_failed");
        let answer = open(&owner, 1, "Xaver", &["login"]).await.expect(403).clone();
        assert_eq!((&answer["code"], &answer["login"]["kind"]), (&json!("login_refused"), &json!("module_failed")));
    }
}
