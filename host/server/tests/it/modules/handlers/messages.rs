//! Messages to the players on servers of one type.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hub::chat::effects::send;
use hub::modules::ModuleActor;
use hub_sandbox::contract::effects::{ChatTarget, SendChat};
use hub_sandbox::manifest::Grants;
use reqwest::Method;
use serde_json::json;

use super::{activate, handler_of, settle, vote};
use crate::servers::register;
use crate::support::{Client, Events, on_both};

async fn stream(owner: &Client, server: &str) -> Events {
    let path = format!("/api/plugin/events?serverId={server}&types=SYSTEM_MESSAGE");
    Events::open(owner.request(Method::GET, &path)).await
}

on_both! {
    async fn a_message_to_a_type_reaches_each_of_its_servers_and_no_other(hub: Hub) {
        let owner = hub.network().await;
        let mut lobbies = vec![];
        for number in 1..=12 {
            let id = format!("lobby-{number}");
            register(&owner, &id, json!({})).await;
            lobbies.push(stream(&owner, &id).await);
        }
        register(&owner, "arena-1", json!({"serverType": "arena"})).await;
        let mut arena = stream(&owner, "arena-1").await;
        let stranger = hub.network().await;
        register(&stranger, "lobby-1", json!({})).await;
        let mut elsewhere = stream(&stranger, "lobby-1").await;
        activate(&owner, "PLAYER").await;
        vote(&owner, "B1").await;
        settle(&hub, &owner).await;
        // The second message goes to all.
        vote(&owner, "M1").await;
        settle(&hub, &owner).await;
        let target = |kind: Option<&str>| json!({"serverType": kind, "serverId": null, "playerUuid": null});
        for events in &mut lobbies {
            let told = events.next_named("SYSTEM_MESSAGE").await.data;
            assert_eq!((&told["text"], &told["prefix"]), (&json!("The lobby closes."), &json!(null)));
            assert_eq!((&told["target"], &told["module"]), (&target(Some("lobby")), &json!("counter")));
            let told = events.next_named("SYSTEM_MESSAGE").await.data;
            assert_eq!((&told["text"], &told["target"]), (&json!("Thank you for the vote!"), &target(None)), "once");
        }
        assert_eq!(arena.next_named("SYSTEM_MESSAGE").await.data["target"], target(None));
        let counter = handler_of(&owner).await;
        assert_eq!((&counter["delivered"], &counter["deadLetters"]), (&json!(2), &json!(0)));
        activate(&stranger, "PLAYER").await;
        vote(&stranger, "M1").await;
        settle(&hub, &stranger).await;
        assert_eq!(elsewhere.next_named("SYSTEM_MESSAGE").await.data["target"], target(None));
    }

    async fn a_message_to_many_servers_is_as_many_statements_as_one_to_few(hub: Hub) {
        let owner = hub.network().await;
        let network = owner.network.unwrap();
        let grants = Grants::default();
        let actor = ModuleActor { name: "counter".to_owned(), version: 1, call_id: "1".to_owned(), grants };
        let effect =
            SendChat { target: ChatTarget::ServerType("lobby".to_owned()), text: "Hello".to_owned(), prefix: None };
        let statements = async || {
            let counter = Arc::new(AtomicU32::new(0));
            let sent = send(&hub.app, network, &actor, &effect);
            hub_db::count_statements(Arc::clone(&counter), sent).await.unwrap();
            counter.load(Ordering::Relaxed)
        };
        assert_eq!(statements().await, 0, "there are no servers");
        register(&owner, "lobby-0", json!({})).await;
        let mut first = stream(&owner, "lobby-0").await;
        let few = statements().await;
        assert_eq!(first.next_named("SYSTEM_MESSAGE").await.data["text"], "Hello");
        for number in 1..40 {
            register(&owner, &format!("lobby-{number}"), json!({})).await;
        }
        let mut last = stream(&owner, "lobby-39").await;
        let many = statements().await;
        for events in [&mut first, &mut last] {
            assert_eq!(events.next_named("SYSTEM_MESSAGE").await.data["text"], "Hello");
        }
        assert_eq!((many, few > 0), (few, true));
    }
}
