//! The waitlist: joining, the mail, the link.

pub mod smtp;

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Backend, Client, Hub, NOW, on_both};

const HOUR: u64 = 60 * 60 * 1000;

async fn join(hub: &Hub, email: &str) -> Answer {
    hub.anonymous().post("/api/public/waitlist", json!({"email": email, "source": "a friend"})).await
}

/// A mail is in the outbox shortly before its job is done.
async fn no_mail_is_due(hub: &Hub) -> bool {
    let due = hub.app.db.query("SELECT COUNT(*) FROM jobs WHERE kind = 'waitlist-mail'");
    due.one::<(i64,)>().await.unwrap().0 == 0
}

/// The mails in the outbox, the oldest first, once there are as many.
async fn mails(hub: &Hub, count: usize) -> Vec<String> {
    let folder = hub.app.settings.data.join("outbox");
    for _ in 0..3_000 {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.unwrap());
        let whole = entries.filter(|entry| entry.path().extension().is_some_and(|kind| kind == "eml"));
        let mut mails: Vec<_> = whole
            .map(|entry| {
                (entry.metadata().unwrap().modified().unwrap(), std::fs::read_to_string(entry.path()).unwrap())
            })
            .collect();
        assert!(mails.len() <= count, "{} mails, not {count}", mails.len());
        if mails.len() == count && no_mail_is_due(hub).await {
            mails.sort();
            return mails.into_iter().map(|(_, mail)| mail).collect();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("there are not {count} mails");
}

/// The path of the link in a mail.
fn link(hub: &Hub, mail: &str) -> String {
    // Long lines are cut with a `=` at their end.
    let text = mail.replace("=\r\n", "").replace("=3D", "=");
    let url = text.lines().find(|line| line.contains("/api/public/waitlist/confirm")).expect(mail);
    url.trim().strip_prefix(&hub.url()).unwrap_or_else(|| panic!("{url} does not lead to {}", hub.url())).to_owned()
}

async fn listed(operator: &Client, query: &str) -> Vec<Value> {
    let page = operator.get(&format!("/api/admin/waitlist{query}")).await;
    page.expect(200)["items"].as_array().unwrap().clone()
}

on_both! {
    async fn a_link_confirms_once_and_shows_a_page(hub: Hub) {
        assert_eq!(*join(&hub, "Alex@Example.org").await.expect(200), json!({"status": "PENDING"}));
        let mail = mails(&hub, 1).await.remove(0);
        assert!(mail.contains("To: Alex@Example.org\r\n") && mail.contains("From: \"Network Hub\" <no-reply@localhost>\r\n")
            && mail.contains("Subject: Please confirm"), "{mail}");
        let operator = hub.operator().await;
        let entry = json!({"email": "Alex@Example.org", "source": "a friend", "joinedAt": NOW, "confirmedAt": null});
        assert_eq!(listed(&operator, "").await, [entry]);

        let path = link(&hub, &mail);
        let anonymous = hub.anonymous();
        // Mail scanners send a HEAD request to every link.
        for _ in 0..2 {
            let head = anonymous.request(Method::HEAD, &path).send().await.unwrap();
            assert_eq!(head.status(), 200);
        }
        hub.advance_ms(7);
        let page = anonymous.get(&path).await;
        let html = page.expect(200).as_str().unwrap();
        assert!(page.headers["content-type"].to_str().unwrap().starts_with("text/html"));
        assert!(page.headers["content-security-policy"].to_str().unwrap().starts_with("default-src 'none'"));
        assert_eq!(page.headers["cache-control"], "no-store");
        assert!(html.contains("You are on the waitlist") && !html.contains("src=") && !html.contains("http"), "{html}");
        assert_eq!(listed(&operator, "?confirmed=true").await[0]["confirmedAt"], NOW + 7);
        assert_eq!(listed(&operator, "?confirmed=false").await.len(), 0);
        anonymous.get(&path).await.expect_error(400, "token_used");
        let head = anonymous.request(Method::HEAD, &path).send().await.unwrap();
        assert_eq!(head.status(), 400);
    }

    async fn a_link_expires_after_two_days(hub: Hub) {
        join(&hub, "alex@example.org").await.expect(200);
        let path = link(&hub, &mails(&hub, 1).await[0]);
        hub.advance_ms(48 * HOUR);
        hub.anonymous().get(&path).await.expect_error(400, "token_expired");
        // Joining again helps.
        join(&hub, "alex@example.org").await.expect(200);
        let again = link(&hub, &mails(&hub, 2).await[1]);
        hub.advance_ms(48 * HOUR - 1);
        hub.anonymous().get(&again).await.expect(200);
    }

    async fn invalid_links_and_addresses_are_refused(hub: Hub) {
        let anonymous = hub.anonymous();
        for query in ["", "?token=", "?token=nope", "?other=1", "?token=%C3%A9"] {
            anonymous.get(&format!("/api/public/waitlist/confirm{query}")).await.expect_error(400, "unknown_token");
        }
        anonymous.get("/api/public/waitlist/confirm?token=%00").await.expect_error(400, "invalid_request");
        for body in [
            json!({}), json!({"email": ""}), json!({"email": "alex"}), json!({"email": 7}), json!({"email": null}),
            json!({"email": "a@example.org\r\nBcc: b@example.org"}), json!({"email": "a@example.org, b@example.org"}),
            json!({"email": "a@example.org", "source": "x".repeat(256)}), json!({"email": "a@example.org", "source": 1}),
        ] {
            anonymous.post("/api/public/waitlist", body).await.expect_error(400, "invalid_request");
        }
        mails(&hub, 0).await;
    }

    async fn the_answer_reveals_nothing_and_mails_are_limited(hub: Hub) {
        let first = join(&hub, "alex@example.org").await;
        mails(&hub, 1).await;
        for (count, email) in [(2, "ALEX@example.org"), (3, "alex@example.org"), (3, "alex@example.org")] {
            let again = join(&hub, email).await;
            assert_eq!((&again.status, &again.body), (&first.status, &first.body));
            mails(&hub, count).await;
        }
        hub.advance_ms(HOUR);
        join(&hub, "alex@example.org").await.expect(200);
        let mails_so_far = mails(&hub, 4).await;
        // All its links work until one is used; then no mail is sent any more.
        hub.anonymous().get(&link(&hub, &mails_so_far[1])).await.expect(200);
        hub.advance_ms(HOUR);
        assert_eq!(*join(&hub, "alex@example.org").await.expect(200), first.body);
        join(&hub, "else@example.org").await.expect(200);
        mails(&hub, 5).await;
        assert_eq!(listed(&hub.operator().await, "").await.len(), 2);
    }

    async fn joins_of_a_remote_address_are_limited(hub: Hub) {
        for number in 0..20 {
            join(&hub, &format!("p{number}@example.org")).await.expect(200);
        }
        let refused = join(&hub, "one-more@example.org").await;
        refused.expect_error(429, "rate_limited");
        assert_eq!(refused.headers["retry-after"], "30");
        assert_eq!(refused.headers["ratelimit"], r#""joins";r=0;t=600"#);
        hub.advance_ms(600_000);
        join(&hub, "one-more@example.org").await.expect(200);
        mails(&hub, 21).await;
    }

    async fn a_failed_mail_is_sent_after_a_restart(hub: Hub) {
        // A file where the folder should be.
        let outbox = hub.app.settings.data.join("outbox");
        std::fs::write(&outbox, "").unwrap();
        join(&hub, "alex@example.org").await.expect(200);
        // An attempt that ended later would be due after the hour that passes.
        Hub::eventually("it has failed", async || {
            let failed = "SELECT COUNT(*) FROM jobs WHERE kind = 'waitlist-mail' AND last_error IS NOT NULL AND node IS NULL";
            hub.app.db.query(failed).one::<(i64,)>().await.unwrap() == (1,)
        })
        .await;
        let hub = hub.restart(Duration::ZERO).await;
        std::fs::remove_file(&outbox).unwrap();
        hub.advance_ms(HOUR);
        let path = link(&hub, &mails(&hub, 1).await[0]);
        hub.anonymous().get(&path).await.expect(200);
        hub.advance_ms(24 * HOUR);
        let hub = hub.restart(Duration::ZERO).await;
        mails(&hub, 1).await;
    }

    async fn the_operator_removes_an_address(hub: Hub) {
        join(&hub, "alex@example.org").await.expect(200);
        let path = link(&hub, &mails(&hub, 1).await[0]);
        let operator = hub.operator().await;
        operator.delete("/api/admin/waitlist/Alex%40example.org").await.expect(204);
        operator.delete("/api/admin/waitlist/Alex%40example.org").await.expect_error(404, "unknown_address");
        hub.anonymous().get(&path).await.expect_error(400, "unknown_token");
        assert_eq!(listed(&operator, "").await.len(), 0);
        let owner = hub.network().await;
        owner.get("/api/admin/waitlist").await.expect_error(403, "forbidden_scope");
        owner.delete("/api/admin/waitlist/a@example.org").await.expect_error(403, "forbidden_scope");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_a_trusted_proxy_each_client_has_its_own_limit() {
    let behind = async |proxies: &str, clients: usize| {
        let trusted = proxies.split_terminator(',').map(|network| network.parse().unwrap()).collect();
        let hub = Hub::start_with(Backend::sqlite(), |settings| settings.trusted_proxies = trusted).await;
        let mut last = 0;
        for number in 0..21 {
            let request = hub.anonymous().request(Method::POST, "/api/public/waitlist");
            let request = request.header("X-Forwarded-For", format!("198.51.100.1, 203.0.113.{}", number % clients));
            let body = json!({"email": format!("p{number}@example.org")});
            last = hub.anonymous().send(request.json(&body)).await.status.as_u16();
        }
        last
    };
    assert_eq!(behind("127.0.0.0/8", 2).await, 200);
    assert_eq!(behind("127.0.0.0/8", 1).await, 429);
    // An untrusted proxy cannot name another client.
    assert_eq!(behind("10.0.0.0/8", 2).await, 429);
}
