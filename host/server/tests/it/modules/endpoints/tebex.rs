//! The shop `tebex-shop`: signed as Tebex signs, each payment once in whatever order its webhooks come.

use ring::{digest, hmac};
use serde_json::{Value, json};

use super::{VOTER, public, signature};
use crate::modules::{chain, upload};
use crate::support::{Answer, Client, on_both};

const SECRET: &str = "1b2f2a6a5f0c4d7e";
const RANK: &str = "group.vip";

/// Activates the module with a rank for 30 days and a crate.
async fn install(owner: &Client) {
    owner.put("/api/manage/secrets/TEBEX", json!({"value": SECRET})).await.expect(204);
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/tebex-shop/tebex-shop.wasm");
    upload(owner, "tebex-shop", std::fs::read(file).unwrap()).await.expect(201);
    let config = json!({"products": [
        {"id": 5_551_234, "rank": "vip", "days": 30},
        {"id": 5_551_235, "delivery": "crate", "refundDelivery": "crate-back"},
    ]});
    let scopes = ["permissions:write", "deliveries:write", "chat:send"];
    let grants = json!({"scopes": scopes, "secrets": ["TEBEX"], "permissionNodes": ["group.*"]});
    let link = json!({"name": "tebex-shop", "version": 1, "config": config, "grants": grants});
    chain(owner, "endpoints", json!([link])).await.expect(200);
}

/// HMAC of the body's digest in hex.
fn signed(body: &str) -> String {
    let hash = super::hex(digest::digest(&digest::SHA256, body.as_bytes()).as_ref());
    super::hex(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()), hash.as_bytes()).as_ref())
}

async fn send(owner: &Client, body: &str, signature: &str) -> Answer {
    let stranger = owner.without_key();
    let request = stranger.request(reqwest::Method::POST, &public(owner, "tebex-shop/webhook"));
    let request = request.header("X-Signature", signature).header("Content-Type", "application/json");
    stranger.send(request.body(body.to_owned())).await
}

/// A webhook about a payment of a rank and two crates.
fn webhook(id: &str, kind: &str, payment: &str) -> String {
    let player = json!({"id": VOTER.replace('-', ""), "username": "Notch"});
    let price = json!({"amount": 9.99, "currency": "EUR"});
    let product = |id: u64, quantity: u64| {
        json!({"id": id, "name": "Package", "quantity": quantity, "base_price": price, "paid_price": price,
            "variables": [], "expires_at": null, "custom": null, "username": player})
    };
    let customer = json!({"first_name": "Ada", "last_name": "L", "email": "ada@example.org", "ip": "192.0.2.1",
        "username": player, "marketing_consent": false, "country": "DE", "postal_code": null});
    let subject = json!({"transaction_id": payment, "status": {"id": 1, "description": "Complete"},
        "payment_sequence": "oneoff", "created_at": "2026-08-24T12:21:47+00:00", "price": price, "price_paid": price,
        "payment_method": {"name": "PayPal", "refundable": true}, "fees": {"tax": price, "gateway": price},
        "customer": customer, "products": [product(5_551_234, 1), product(5_551_235, 2), product(1, 1)], "coupons": [],
        "gift_cards": [], "recurring_payment_reference": null, "decline_reason": null});
    json!({"id": id, "type": kind, "date": "2026-08-24T12:21:47+00:00", "subject": subject}).to_string()
}

async fn told(owner: &Client, id: &str, kind: &str, payment: &str) {
    let body = webhook(id, kind, payment);
    assert_eq!(send(owner, &body, &signed(&body)).await.expect(200), &json!({"id": id}));
}

/// End of the rank; null without the rank.
async fn rank(owner: &Client) -> Value {
    let read = owner.get(&format!("/api/plugin/permissions/users/{VOTER}/permissions")).await.expect(200).clone();
    let nodes = read.as_array().unwrap_or_else(|| panic!("{read}"));
    nodes.iter().find(|node| node["node"] == RANK).map_or(Value::Null, |node| node["expiresAt"].clone())
}

/// Kinds and quantities of the deliveries, sorted.
async fn deliveries(owner: &Client) -> Vec<String> {
    let read = owner.get("/api/manage/deliveries").await.expect(200).clone();
    let shown = |delivery: &Value| {
        format!("{} {}", delivery["kind"].as_str().unwrap_or_default(), delivery["payload"]["quantity"])
    };
    let mut found: Vec<_> = read["items"].as_array().unwrap().iter().map(shown).collect();
    found.sort_unstable();
    found
}

on_both! {
    async fn the_shop_is_heard_by_its_own_signature_alone(hub: Hub) {
        let owner = hub.network().await;
        install(&owner).await;
        let test = json!({"id": "2c116b11-1110-91e0-b266-b792c8da5f11", "type": "validation.webhook",
            "date": "2021-08-24T12:21:47+00:00", "subject": {}}).to_string();
        let answer = send(&owner, &test, &signed(&test)).await;
        assert_eq!(answer.expect(200), &json!({"id": "2c116b11-1110-91e0-b266-b792c8da5f11"}));
        let body = webhook("1", "payment.completed", "tbx-1");
        for wrong in [signature(SECRET, &body), signed(&test), String::new()] {
            send(&owner, &body, &wrong).await.expect_error(401, "invalid_signature");
        }
        assert_eq!((rank(&owner).await, deliveries(&owner).await), (Value::Null, vec![]));
        let document = owner.get("/api/manage/openapi.json").await.expect(200).clone();
        let route = &document["paths"][public(&owner, "tebex-shop/webhook")]["post"];
        assert_eq!(route["x-signature"]["of"], "BODY_SHA256", "{route}");
    }

    async fn a_payment_counts_once_however_often_the_shop_tells_it(hub: Hub) {
        let owner = hub.network().await;
        install(&owner).await;
        let body = webhook("1", "payment.completed", "tbx-1");
        let mac = signed(&body);
        let at_once = futures_util::future::join_all((0..12).map(|_| send(&owner, &body, &mac))).await;
        assert!(at_once.iter().all(|answer| *answer.expect(200) == json!({"id": "1"})), "{at_once:?}");
        let end = rank(&owner).await;
        let month = 30 * 86_400_000;
        let end_of = |value: &Value| value.as_i64().unwrap_or_else(|| panic!("no end: {value}"));
        assert_eq!(deliveries(&owner).await, ["crate 2"]);
        // Under another number, as when it is sent again by hand.
        told(&owner, "2", "payment.completed", "tbx-1").await;
        assert_eq!((rank(&owner).await, deliveries(&owner).await), (end.clone(), vec!["crate 2".to_owned()]));
        // Another payment prolongs the rank, and its refund shortens it again.
        told(&owner, "3", "payment.completed", "tbx-2").await;
        assert_eq!(end_of(&rank(&owner).await), end_of(&end) + month);
        for id in ["4", "4", "5"] {
            told(&owner, id, "payment.refunded", "tbx-2").await;
        }
        assert_eq!(rank(&owner).await, end);
        assert_eq!(deliveries(&owner).await, ["crate 2", "crate 2", "crate-back 2"]);
        // After a restart the database knows it, too.
        let hub = hub.restart(std::time::Duration::ZERO).await;
        let owner = hub.with_key(owner.key.as_ref().unwrap()).for_network(owner.network.unwrap());
        told(&owner, "1", "payment.completed", "tbx-1").await;
        assert_eq!(rank(&owner).await, end);
        told(&owner, "6", "payment.dispute.opened", "tbx-1").await;
        assert_eq!(rank(&owner).await, Value::Null);
        told(&owner, "7", "payment.dispute.lost", "tbx-1").await;
        assert_eq!(deliveries(&owner).await.len(), 4);
    }

    async fn a_refund_before_its_payment_leaves_nothing(hub: Hub) {
        let owner = hub.network().await;
        install(&owner).await;
        told(&owner, "1", "payment.refunded", "tbx-1").await;
        told(&owner, "2", "payment.completed", "tbx-1").await;
        assert_eq!((rank(&owner).await, deliveries(&owner).await), (Value::Null, vec![]));
    }
}
