//! Notes of staff about players.

use reqwest::Method;
use serde_json::{Value, json};

use crate::people::{member, send};
use crate::servers::uuid;
use crate::support::{NOW, on_both};

on_both! {
    async fn staff_notes_things_about_players(hub: Hub) {
        let (owner, other) = (hub.network().await, hub.network().await);
        let path = format!("/api/manage/players/{}/notes", uuid(1));
        let made = owner.post(&path, json!({"text": "first"})).await.expect(201).clone();
        assert_eq!((&made["pinned"], &made["at"], &made["actor"]["type"]), (&json!(false), &json!(NOW), &json!("KEY")));
        hub.advance_ms(1);
        owner.post(&path, json!({"text": "pinned", "pinned": true})).await.expect(201);
        hub.advance_ms(1);
        owner.post(&path, json!({"text": "last"})).await.expect(201);
        let list = owner.get(&path).await.expect(200).clone();
        let texts: Vec<_> = list["items"].as_array().unwrap().iter().map(|it| it["text"].as_str().unwrap()).collect();
        assert_eq!((texts, &list["total"]), (vec!["pinned", "last", "first"], &json!(3)));
        assert_eq!(other.get(&path).await.expect(200)["total"], 0);
        let one = format!("{path}/{}", made["noteId"].as_str().unwrap());
        other.delete(&one).await.expect_error(404, "unknown_staff_note");
        owner.delete(&format!("/api/manage/players/{}/notes/{}", uuid(2), made["noteId"].as_str().unwrap())).await
            .expect_error(404, "unknown_staff_note");
        owner.delete(&one).await.expect(204);
        owner.delete(&one).await.expect_error(404, "unknown_staff_note");
        for wrong in [json!({}), json!({"text": " "}), json!({"text": "x".repeat(2_001)}), json!({"text": 5})] {
            owner.post(&path, wrong).await.expect_error(400, "invalid_request");
        }
        // The audit log keeps no text about a player.
        let log = owner.get("/api/manage/audit").await.expect(200).to_string();
        assert!(log.contains("staff_note.created") && log.contains("staff_note.deleted") && !log.contains("pinned\":\"") && !log.contains("\"last\""), "{log}");
        // Erased with the player.
        owner.delete(&format!("/api/manage/players/{}", uuid(1))).await.expect(204);
        assert_eq!(owner.get(&path).await.expect(200)["total"], 0);
    }

    async fn moderators_delete_their_own_notes(hub: Hub) {
        let owner = hub.network().await;
        let path = format!("/api/manage/players/{}/notes", uuid(1));
        let alex = member(&hub, &owner, "alex@example.org", "MODERATOR").await;
        let kim = member(&hub, &owner, "kim@example.org", "MODERATOR").await;
        let viewer = member(&hub, &owner, "v@example.org", "VIEWER").await;
        let note = json!({"text": "by Alex"});
        let made = send(&hub, &alex.token, Method::POST, &path, note.clone()).await.expect(201).clone();
        assert_eq!(made["actor"], json!({"type": "PERSON", "id": alex.id, "name": "alex@example.org"}));
        send(&hub, &viewer.token, Method::POST, &path, note.clone()).await.expect_error(403, "forbidden_scope");
        assert_eq!(send(&hub, &kim.token, Method::GET, &path, Value::Null).await.expect(200)["total"], 1);
        let one = format!("{path}/{}", made["noteId"].as_str().unwrap());
        send(&hub, &kim.token, Method::DELETE, &one, Value::Null).await.expect_error(403, "forbidden_scope");
        send(&hub, &alex.token, Method::DELETE, &one, Value::Null).await.expect(204);
        let made = send(&hub, &alex.token, Method::POST, &path, note).await.expect(201).clone();
        owner.delete(&format!("{path}/{}", made["noteId"].as_str().unwrap())).await.expect(204);
    }

    async fn notes_at_once_do_not_exceed_the_limit(hub: Hub) {
        let owner = hub.network().await;
        let path = format!("/api/manage/players/{}/notes", uuid(1));
        // In few requests at a time: 500 are there but for the last few.
        for _ in 0..62 {
            let notes = (0..8).map(|_| owner.post(&path, json!({"text": "x"})));
            for note in futures_util::future::join_all(notes).await {
                note.expect(201);
            }
        }
        let last = futures_util::future::join_all((0..12).map(|_| owner.post(&path, json!({"text": "x"})))).await;
        assert_eq!(last.iter().filter(|answer| answer.status == 201).count(), 4);
        assert_eq!(owner.get(&path).await.expect(200)["total"], 500);
    }
}
