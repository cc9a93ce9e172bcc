//! An invitation by a real mail server, which is away at first.

use std::time::Duration;

use serde_json::json;

use super::{PASSWORD, invite};
use crate::support::Hub;
use crate::waitlist::smtp::{MailServer, hub_with};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_invitation_outlives_the_absence_of_the_mail_server_and_of_the_hub() {
    let port = MailServer::start(&[]).port;
    let hub = hub_with(format!("smtp://127.0.0.1:{port}")).await;
    let owner = hub.network().await;
    invite(&owner, "alex@example.org", "VIEWER").await.expect(201);
    let hub: Hub = hub.restart(Duration::ZERO).await;
    let server = MailServer::start(&["--port", &port.to_string()]);
    hub.advance_ms(60 * 60 * 1_000);
    let (_server, mail) = server.next().await;
    assert_eq!((&mail["from"], &mail["to"]), (&json!("hub@games.example"), &json!(["alex@example.org"])));
    let text = mail["mail"].as_str().unwrap();
    let is_code = |line: &&str| line.len() == 40 && line.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let code = text.lines().map(str::trim).find(is_code).expect(text);
    // Links use the hub's own address, whatever the inviting request contained.
    assert!(text.replace("=\r\n", "").contains("https://hub.games.example/api/people/accept"), "{text}");
    let body = json!({"token": code, "name": "Alex", "password": PASSWORD});
    hub.anonymous().post("/api/people/accept", body).await.expect(200);
}
