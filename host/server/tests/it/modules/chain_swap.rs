//! A chain is swapped under load: no call fails, and each is answered by the old or the new chain.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::hostile::wat::{chat_module, verdict};
use super::{chain, point, upload};
use crate::support::{Answer, Client, on_both};

/// Letters in the reason of version 0; each version adds its own number.
const LETTERS: u32 = 20;

/// Refuses every line with a reason whose length encodes the version.
fn refusing(version: u32) -> Vec<u8> {
    chat_module("", &verdict(2, LETTERS + version, None))
}

async fn chat(client: &Client) -> Answer {
    let line = json!({"playerUuid": "069a79f4-44e9-4726-a5be-fca90e38aaf5", "playerName": "Notch", "message": "hello",
        "serverId": "lobby-1"});
    client.post("/api/plugin/chat", line).await
}

/// Version that answered, by the letters of its reason.
fn version(answer: &Answer) -> usize {
    answer.expect_error(400, "chat_rejected");
    answer.body["error"].as_str().unwrap().matches('x').count() - LETTERS as usize
}

on_both! {
    async fn a_chain_is_swapped_without_a_call_lost(hub: Hub) {
        let owner = hub.network().await;
        for version in [1, 2] {
            upload(&owner, "refusing", refusing(version)).await.expect(201);
        }
        let run = async |version: u32| {
            // A failed call would let the line pass, or refuse it without a letter.
            let link = json!([{"name": "refusing", "version": version}]);
            chain(&owner, "chat", link).await.expect(200);
        };
        run(1).await;
        let over = Arc::new(AtomicBool::new(false));
        let callers: Vec<_> = (0..8)
            .map(|_| {
                let (client, over) = (hub.with_key(owner.key.as_deref().unwrap()), Arc::clone(&over));
                tokio::spawn(async move {
                    let mut answers = [0_u64; 3];
                    while !over.load(Ordering::Relaxed) {
                        answers[version(&chat(&client).await)] += 1;
                    }
                    answers
                })
            })
            .collect();
        for swap in 0..40 {
            let next = 1 + swap % 2;
            run(next).await;
            // It is in effect for the next call.
            assert_eq!(version(&chat(&owner).await), next as usize);
        }
        over.store(true, Ordering::Relaxed);
        let mut answers = [0; 3];
        for caller in callers {
            let counted = caller.await.unwrap();
            answers.iter_mut().zip(counted).for_each(|(sum, one)| *sum += one);
        }
        assert_eq!(answers[0], 0);
        assert!(answers[1] > 0 && answers[2] > 0, "{answers:?}");
        assert_eq!(point(&owner, "chat").await["modules"][0]["failures"], 0);
    }
}
