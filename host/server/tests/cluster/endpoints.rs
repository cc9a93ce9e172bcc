//! Requests to endpoints have their effects once each, though the owners of their network are killed meanwhile.

use std::fmt::Write as _;

use hub::values::hex;
use reqwest::Method;
use ring::hmac;
use serde_json::{Value, json};

use crate::client::Client;
use crate::fleet::{Fleet, shard_of};

const KILLS: i64 = 3;
const VOTES_A_KILL: i64 = 8;
const SECRET: &str = "open sesame";
const VOTER: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";

async fn activate(owner: &Client) {
    owner.put("/api/manage/secrets/VOTES", json!({"value": SECRET})).await.expect(204);
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/votes/votes.wasm");
    let wasm = std::fs::read(file).unwrap();
    owner
        .expect_success_with(&Method::POST, "/api/manage/modules?name=votes", |request| {
            request.header("Content-Type", "application/wasm").body(wasm.clone())
        })
        .await;
    let grants = json!({"scopes": ["economy:write", "deliveries:write", "chat:send"], "secrets": ["VOTES"]});
    let link = json!({"modules": [{"name": "votes", "version": 1, "grants": grants}]});
    owner.put("/api/manage/extension-points/endpoints", link).await.expect(200);
}

/// Sends a vote to one node after the other until one answers it.
async fn vote(owner: &Client, path: &str, id: i64) -> Value {
    let body = json!({"id": id.to_string(), "uuid": VOTER}).to_string();
    let mac = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()), body.as_bytes());
    let signature = hex(mac.as_ref());
    for attempt in 0..2_000 {
        let Some(request) = owner.request(attempt % 3, &Method::POST, path) else { continue };
        let request = request.header("X-Signature", &signature).header("Content-Type", "application/json");
        if let Ok(answer) = request.body(body.clone()).send().await {
            if answer.status().is_success() {
                return answer.json().await.unwrap();
            }
            assert!([429, 503].contains(&answer.status().as_u16()), "{}", answer.text().await.unwrap());
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("no node answers vote {id}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_request_has_its_effects_once_while_owners_are_killed() {
    let mut fleet = Fleet::start().await;
    let owner = fleet.network("voted");
    activate(&owner).await;
    let mut network = String::new();
    for from in [1, 17] {
        let half = format!(
            "SELECT ('x' || SUBSTRING(REPLACE(CAST(network_id AS TEXT), '-', ''), {from}, 16))::BIT(64)::BIGINT
             FROM networks WHERE name = 'voted'"
        );
        let _ = write!(network, "{:016x}", fleet.numbers(&half).await[0]);
    }
    let path = format!("/api/public/x/{network}/votes/vote");
    let mut answers = vec![];
    for kill in 0..KILLS {
        for vote_of in 0..VOTES_A_KILL {
            let id = kill * VOTES_A_KILL + vote_of;
            answers.push(vote(&owner, &path, id).await);
        }
        let leases = fleet.leases().await;
        let owning = leases.into_iter().find(|(of, _)| *of == shard_of(&owner.key)).map(|(_, lease)| lease.url);
        let node = (0..3).find(|node| owning.as_ref() == Some(&fleet.url(*node))).unwrap_or(0);
        fleet.kill(node);
        // At another owner, which has the answers from the database.
        let again = kill * VOTES_A_KILL;
        assert_eq!(vote(&owner, &path, again).await, answers[usize::try_from(again).unwrap()]);
        fleet.start_node(node);
        fleet.wait_until_ready().await;
    }
    let all = KILLS * VOTES_A_KILL;
    let expected: Vec<_> = (1..=all).map(|votes| json!({"votes": votes})).collect();
    assert_eq!(answers, expected);
    let paid = "SELECT COUNT(*) FROM currency_ledger WHERE currency = 'coins'";
    assert_eq!(fleet.numbers(paid).await, [all]);
}
