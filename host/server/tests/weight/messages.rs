//! Messages that the hub makes of events: webhooks', Discord's from templates, those of streams, and mails.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::http::StatusCode;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::scale::Scale;
use crate::support::{Client, Hub};

/// Receiver that counts what arrives.
async fn receiver() -> (String, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let answer = move |body: axum::body::Bytes| {
        counted.fetch_add(usize::from(!body.is_empty()), Ordering::SeqCst);
        std::future::ready(StatusCode::NO_CONTENT)
    };
    let listener = TcpListener::bind("127.0.0.2:0").await.unwrap();
    let url = format!("http://{}/api/webhooks/1/x", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(answer)).await });
    (url, count)
}

/// Largest templates: as many placeholders as fit, each worth a whole server, in every kind of text.
fn template() -> Value {
    let text = |characters: usize| "{server}".repeat(characters / 8);
    let field = json!({"name": text(100), "value": text(100), "inline": true});
    let embed = json!({"title": text(400), "description": text(1_200), "fields": vec![field; 4]});
    json!({"SERVER_ONLINE": {"content": text(2_000), "embeds": vec![embed; 9]}})
}

/// Names of worlds of all shapes: plain, escaped by Discord, and escaped in JSON.
const NAMES: [(&str, &str); 3] =
    [("a plain name", "x"), ("a name of markup", "*_~`|>@#"), ("a name of controls", "\u{1}")];

/// A server with so many worlds, whose event is about as large as one may be.
fn server(id: &str, name: &str, worlds: usize) -> Value {
    let name: String = name.chars().cycle().take(255).collect();
    let world =
        |at: usize| json!({"worldId": format!("w{at}"), "displayName": name, "worldType": "duel", "gameState": "IDLE"});
    let worlds: Vec<_> = (0..worlds).map(world).collect();
    json!({"serverId": id, "serverType": "l", "host": "10.0.0.1", "port": 25565, "maxPlayers": 9, "worlds": worlds})
}

/// Returns the network's owner.
pub async fn weigh(scale: &mut Scale) -> Client {
    let owner = scale.hub.network().await;
    let (url, arrived) = receiver().await;
    let hooks = |kind: &'static str, count: usize| {
        let url = url.clone();
        (0..count).map(move |at| {
            let mut body = json!({"kind": kind, "url": format!("{url}?n={at}"), "events": ["SERVER_ONLINE"]});
            if kind == "DISCORD" {
                body["templates"] = template();
            }
            (Method::POST, "/api/manage/webhooks".to_owned(), body)
        })
    };
    // The most that a network may have.
    let made = scale.fill(&owner, hooks("DISCORD", 10).chain(hooks("STANDARD", 10))).await;
    scale.check(made == 20, format!("{made} webhooks"));
    let mut stream = owner.request(Method::GET, "/api/plugin/events?types=SERVER_ONLINE").send().await.unwrap();
    tokio::spawn(async move { while let Ok(Some(_)) = stream.chunk().await {} });
    for (at, (name, text)) in NAMES.into_iter().enumerate() {
        let register = |server: Value| (Method::POST, "/api/plugin/servers/register".to_owned(), server);
        let mut worlds = 64;
        // The most that the server has room for; this one sends messages, too.
        let before = arrived.load(Ordering::SeqCst);
        while scale.fill(&owner, [register(server(&format!("a{at}"), text, worlds))]).await == 0 {
            worlds -= 1;
        }
        Hub::eventually("the first is told", async || arrived.load(Ordering::SeqCst) >= before + made).await;
        let before = arrived.load(Ordering::SeqCst);
        let (client, arrived) = (owner.clone(), Arc::clone(&arrived));
        let work = async move {
            let (_, path, body) = register(server(&format!("b{at}"), text, worlds));
            client.post(&path, body).await.expect(201);
            Hub::eventually("all messages are sent", async || arrived.load(Ordering::SeqCst) >= before + made).await;
        };
        scale.weigh(&format!("20 webhooks and {name}, {worlds} times"), None, work).await;
    }
    let listed = owner.get("/api/manage/webhooks?limit=200").await.expect(200).clone();
    let hook = listed["items"][0]["webhookId"].as_str().unwrap().to_owned();
    for path in [
        "/api/manage/webhooks?limit=200".to_owned(),
        format!("/api/manage/webhooks/{hook}"),
        format!("/api/manage/webhooks/{hook}/deliveries?limit=200"),
        format!("/api/manage/webhooks/{hook}/deliveries/1"),
    ] {
        scale.get(&owner, &path).await;
    }
    let long = format!("{}@example.org", "a".repeat(60));
    scale.request(&owner, Method::POST, "/api/manage/people", json!({"email": long, "role": "VIEWER"})).await;
    let lost = json!({"email": long});
    scale.request(&owner.without_key(), Method::POST, "/api/people/password/lost", lost).await;
    owner
}
