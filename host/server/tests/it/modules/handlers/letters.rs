//! Failed attempts and dead letters.

use serde_json::{Value, json};

use super::{activate, appended, handled, handler_of, settle, vote};
use crate::support::{Client, Hub, NOW, on_both};

const LETTERS: &str = "/api/manage/modules/counter/dead-letters";

async fn letters(owner: &Client) -> Vec<Value> {
    owner.get(LETTERS).await.expect(200)["items"].as_array().unwrap().clone()
}

async fn wait_for_letters(hub: &Hub, owner: &Client, count: usize) -> Vec<Value> {
    Hub::eventually("the dead letters are there", async || {
        hub.advance_ms(500);
        letters(owner).await.len() == count
    })
    .await;
    letters(owner).await
}

on_both! {
    async fn a_failed_attempt_is_repeated_after_a_pause_and_holds_its_key(hub: Hub) {
        let owner = hub.network().await;
        activate(&owner, "PLAYER").await;
        vote(&owner, "R1").await;
        vote(&owner, "R1").await;
        vote(&owner, "other").await;
        // The other key goes on, and the first one waits without the clock.
        Hub::eventually("the other key is handled", async || handled(&owner).await == 1).await;
        assert_eq!(handler_of(&owner).await["lagEvents"], 2);
        settle(&hub, &owner).await;
        assert_eq!(handled(&owner).await, 3);
        let counter = handler_of(&owner).await;
        assert_eq!((&counter["retried"], &counter["deadLetters"]), (&json!(2), &json!(0)));
        assert_eq!(appended(&hub, &owner, "voter:R1").await.len(), 2);
    }

    async fn a_refused_effect_undoes_the_call_and_becomes_a_dead_letter(hub: Hub) {
        let owner = hub.network().await;
        activate(&owner, "PLAYER").await;
        vote(&owner, "X1").await;
        let letter = wait_for_letters(&hub, &owner, 1).await[0].clone();
        assert_eq!((&letter["code"], &letter["reason"]), (&json!("refused_effect"), &json!("insufficient_funds")));
        assert_eq!((&letter["effect"], &letter["attempts"], &letter["kind"]), (&json!(1), &json!(3), &json!("EVENT")));
        assert_eq!((&letter["key"], &letter["state"]), (&json!("voter:X1"), &json!("WAITING")));
        assert_eq!((&letter["event"]["type"], &letter["event"]["data"]["ownerKey"]), (&json!("BALANCE_CHANGED"), &json!("X1")));
        assert_eq!((&letter["event"]["at"], &letter["version"]), (&json!(NOW), &json!(1)));
        assert!(letter["callId"].as_str().unwrap().ends_with(".3"), "{letter}");
        // Neither the effect before it nor the state was kept.
        assert_eq!(handled(&owner).await, 0);
        assert_eq!(appended(&hub, &owner, "voter:X1").await, Vec::<String>::new());

        // It is impossible still; then it is not.
        let path = format!("{LETTERS}/{}", letter["deadLetterId"].as_str().unwrap());
        owner.post(&format!("{path}/retry"), json!({})).await.expect(202);
        Hub::eventually("it failed again", async || letters(&owner).await[0]["attempts"] == 4).await;
        let funds = json!({"currency": "coins", "amount": 1_000});
        owner.post("/api/plugin/economy/farm/f1/currencies/modify", funds).await.expect(200);
        Hub::eventually("the retry succeeds", async || {
            let answer = owner.post(&format!("{LETTERS}/retry"), json!({"code": "refused_effect"})).await;
            answer.expect(202);
            letters(&owner).await.is_empty()
        })
        .await;
        settle(&hub, &owner).await;
        // The event of the funds, the letter, and the event of its effect.
        assert_eq!(handled(&owner).await, 3);
        owner.post(&format!("{path}/retry"), json!({})).await.expect_error(404, "unknown_dead_letter");
    }

    async fn of_requests_at_once_one_retries_a_dead_letter_and_is_audited(hub: Hub) {
        let owner = hub.network().await;
        activate(&owner, "PLAYER").await;
        vote(&owner, "X1").await;
        let letter = wait_for_letters(&hub, &owner, 1).await[0].clone();
        let path = format!("{LETTERS}/{}/retry", letter["deadLetterId"].as_str().unwrap());
        let (mut begun, mut refused) = (0, 0);
        Hub::eventually("some are refused", async || {
            let at_once = (0..4).map(|_| owner.post(&path, json!({})));
            for answer in futures_util::future::join_all(at_once).await {
                if answer.status == 202 {
                    begun += 1;
                } else {
                    answer.expect_error(409, "running");
                    refused += 1;
                }
            }
            refused > 0
        })
        .await;
        let audit = owner.get("/api/manage/audit?action=dead_letter.retried").await.expect(200).clone();
        assert_eq!(audit["total"], begun);
    }

    async fn an_optional_effect_may_be_refused(hub: Hub) {
        let owner = hub.network().await;
        activate(&owner, "PLAYER").await;
        vote(&owner, "O1").await;
        settle(&hub, &owner).await;
        assert_eq!((handled(&owner).await, letters(&owner).await.len()), (1, 0));
    }

    async fn traps_rejections_and_refusals_become_dead_letters(hub: Hub) {
        let owner = hub.network().await;
        activate(&owner, "PLAYER").await;
        for key in ["T1", "J1", "N1", "K1"] {
            vote(&owner, key).await;
        }
        let found = wait_for_letters(&hub, &owner, 4).await;
        let of = |key: &str| found.iter().find(|letter| letter["key"] == format!("voter:{key}")).unwrap();
        assert_eq!((&of("T1")["code"], &of("T1")["attempts"]), (&json!("trap"), &json!(3)));
        assert_eq!((&of("J1")["code"], &of("J1")["attempts"], &of("J1")["message"]), (&json!("reject"), &json!(1), &json!("not now")));
        assert_eq!((&of("N1")["code"], &of("N1")["reason"]), (&json!("refused_effect"), &json!("unknown_server")));
        assert_eq!((&of("K1")["code"], &of("K1")["reason"]), (&json!("refused_effect"), &json!("no_timers")));
        assert_eq!(handled(&owner).await, 0);
        for letter in &found {
            owner.delete(&format!("{LETTERS}/{}", letter["deadLetterId"].as_str().unwrap())).await.expect(204);
        }
        assert_eq!(handler_of(&owner).await["deadLetters"], 0);
        owner.delete(&format!("{LETTERS}/dl_1")).await.expect_error(404, "unknown_dead_letter");
        let audit = owner.get("/api/manage/audit?action=dead_letter.deleted").await.expect(200).clone();
        assert_eq!(audit["total"], 4);
    }
}
