//! The module `friends`: both sides change together, within their bounds, however many ask at once.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use super::VOTER;
use crate::modules::{chain, upload};
use crate::support::{Answer, Client, on_both};

async fn install(owner: &Client, config: Value) {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/friends/friends.wasm");
    upload(owner, "friends", std::fs::read(file).unwrap()).await.expect(201);
    let grants = json!({"scopes": ["collections:write"]});
    let link = json!({"name": "friends", "version": 1, "config": config, "grants": grants});
    chain(owner, "endpoints", json!([link])).await.expect(200);
    let collections = json!({"collections": [{"name": "friends", "key": "id", "indexes": []}]});
    owner.post("/api/plugin/collections/register", collections).await.expect(200);
}

fn player(number: u32) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

async fn ask(owner: &Client, method: Method, player: &str, list: &str, friend: &str) -> Answer {
    owner.send(owner.request(method, &format!("/api/plugin/x/friends/players/{player}/{list}/{friend}"))).await
}

/// UUIDs of a player's friends, and the number of open requests.
async fn friends(owner: &Client, player: &str) -> (Vec<String>, usize) {
    let read = owner.get(&format!("/api/plugin/x/friends/players/{player}")).await.expect(200).clone();
    let uuids = |list: &str| {
        let others = read[list].as_array().unwrap().iter();
        others.map(|other| other["uuid"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    (uuids("friends"), uuids("sent").len() + uuids("received").len())
}

on_both! {
    async fn two_who_ask_each_other_at_once_are_friends(hub: Hub) {
        let owner = hub.network().await;
        install(&owner, json!({"collection": "friends"})).await;
        let (one, other) = (VOTER.to_owned(), player(1));
        let all = (0..12).map(|number| {
            let (from, to) = if number % 2 == 0 { (&one, &other) } else { (&other, &one) };
            ask(&owner, Method::PUT, from, "requests", to)
        });
        for answer in join_all(all).await {
            assert!(["REQUESTED", "FRIENDS"].contains(&answer.expect(200)["state"].as_str().unwrap()), "{answer:?}");
        }
        assert_eq!(friends(&owner, &one).await, (vec![other.clone()], 0));
        assert_eq!(friends(&owner, &other).await, (vec![one.clone()], 0));
        let document = |player: &str| format!("/api/plugin/collections/friends/{player}");
        assert_eq!(owner.get(&document(&one)).await.expect(200), &json!({"friends": [other]}));
        for answer in join_all((0..4).map(|_| ask(&owner, Method::DELETE, &other, "friends", &one))).await {
            assert_eq!(answer.expect(200), &json!({"state": "NONE"}));
        }
        assert_eq!(friends(&owner, &one).await, (vec![], 0));
        owner.get(&document(&one)).await.expect(404);
        owner.get(&document(&other)).await.expect(404);
    }

    async fn no_more_friends_than_the_bound_are_accepted_at_once(hub: Hub) {
        let owner = hub.network().await;
        install(&owner, json!({"maxFriends": 3})).await;
        for number in 1..=6 {
            ask(&owner, Method::PUT, VOTER, "requests", &player(number)).await.expect(200);
        }
        assert_eq!(friends(&owner, VOTER).await, (vec![], 6));
        let names: Vec<_> = (1..=6).map(player).collect();
        let accepted = join_all(names.iter().map(|name| ask(&owner, Method::PUT, name, "friends", VOTER))).await;
        let mut codes: Vec<_> = accepted.iter().map(|answer| answer.status.as_u16()).collect();
        codes.sort_unstable();
        assert_eq!(codes, [200, 200, 200, 409, 409, 409], "{accepted:?}");
        let (mine, open) = friends(&owner, VOTER).await;
        assert_eq!((mine.len(), open), (3, 3));
        for name in &names {
            let theirs = friends(&owner, name).await.0;
            assert_eq!(theirs == [VOTER], mine.contains(name), "{name}");
        }
        let refused = ask(&owner, Method::PUT, &player(7), "requests", VOTER).await;
        assert_eq!(refused.expect(409)["code"], "friends_full");
    }
}
