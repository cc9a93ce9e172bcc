//! Hours are reported to the operator's billing, each once, in their order.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use super::{HOUR, expect_newest};
use crate::support::{Backend, Client, Hub, NOW, on_each};

/// Accepts reports, or refuses them.
#[derive(Clone)]
pub struct Billing {
    url: String,
    received: Arc<Mutex<Received>>,
}

#[derive(Default)]
struct Received {
    /// Number of further reports to refuse.
    refusals: usize,
    /// Number of further reports to accept without an answer.
    silent: usize,
    refused: usize,
    events: Vec<Value>,
    headers: Vec<HeaderMap>,
}

impl Billing {
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/usage", listener.local_addr().unwrap());
        let billing = Self { url, received: Arc::default() };
        let router = Router::new().route("/usage", axum::routing::post(take)).with_state(billing.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        billing
    }

    pub async fn hub(&self, backend: Backend) -> Hub {
        let url = self.url.clone();
        Hub::start_with(backend, |settings| {
            settings.usage_sink = Some(url);
            settings.usage_sink_token = Some("s3cret".to_owned());
        })
        .await
    }

    fn events(&self) -> Vec<Value> {
        self.received.lock().unwrap().events.clone()
    }

    /// Waits until this many different events were taken.
    pub async fn expect(&self, hub: &Hub, events: usize) -> Vec<Value> {
        Hub::eventually(&format!("{events} are reported"), async || {
            hub.advance_ms(1_000);
            ids(&self.events()).len() >= events
        })
        .await;
        assert_eq!(ids(&self.events()).len(), events);
        self.events()
    }
}

async fn take(State(billing): State<Billing>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let mut received = billing.received.lock().unwrap();
    if received.refusals > 0 {
        received.refusals -= 1;
        received.refused += 1;
        return StatusCode::SERVICE_UNAVAILABLE;
    }
    received.events.push(serde_json::from_slice(&body).unwrap());
    received.headers.push(headers);
    if received.silent > 0 {
        received.silent -= 1;
        return StatusCode::BAD_GATEWAY;
    }
    StatusCode::ACCEPTED
}

fn ids(events: &[Value]) -> HashSet<String> {
    events.iter().map(|event| format!("{} {}", event["source"], event["id"])).collect()
}

/// An hour in which each of these has sent some requests.
async fn use_an_hour(hub: &Hub, networks: &[(&Client, i64)]) {
    let operator = hub.operator().await;
    for (network, requests) in networks {
        let client = hub.with_key(network.key.as_ref().unwrap());
        for _ in 0..*requests {
            client.get("/api/plugin/servers").await.expect(200);
        }
        expect_newest(hub, &operator, network, "requests", *requests).await;
    }
    hub.clock.advance(Duration::from_hours(1));
}

async fn each_hour_is_one_event(backend: Backend) {
    let billing = Billing::start().await;
    let hub = billing.hub(backend).await;
    let (a, b) = (hub.network().await, hub.network().await);
    let (a, b) = if a.network < b.network { (a, b) } else { (b, a) };
    use_an_hour(&hub, &[(&a, 2), (&b, 3)]).await;
    use_an_hour(&hub, &[(&a, 4)]).await;
    let events = billing.expect(&hub, 3).await;
    let told =
        |event: &Value| (event["subject"].clone(), event["data"]["hour"].clone(), event["data"]["requests"].clone());
    let (a, b) = (json!(a.network), json!(b.network));
    let expected =
        [(a.clone(), json!(NOW), json!(2)), (b, json!(NOW), json!(3)), (a.clone(), json!(NOW + HOUR), json!(4))];
    assert_eq!(events.iter().map(told).collect::<Vec<_>>(), expected);

    let first = &events[0];
    assert_eq!((&first["specversion"], &first["type"]), (&json!("1.0"), &json!("network-hub.usage.hour.v1")));
    assert_eq!(first["id"], format!("{}-{NOW}", a.as_str().unwrap()));
    assert!(first["source"].as_str().unwrap().starts_with("urn:uuid:"));
    assert_eq!(
        (&first["time"], &first["datacontenttype"]),
        (&json!("2027-03-10T13:00:00Z"), &json!("application/json"))
    );
    assert_eq!((&first["data"]["networkId"], &first["data"]["peakPlayers"]), (&a, &json!(0)));
    let received = billing.received.lock().unwrap();
    assert_eq!(received.headers[0]["content-type"], "application/cloudevents+json; charset=utf-8");
    assert_eq!(received.headers[0]["authorization"], "Bearer s3cret");
}

async fn a_refused_report_is_sent_again_before_the_next(backend: Backend) {
    let billing = Billing::start().await;
    billing.received.lock().unwrap().refusals = 3;
    let hub = billing.hub(backend).await;
    let owner = hub.network().await;
    for requests in 1..=3 {
        use_an_hour(&hub, &[(&owner, requests)]).await;
    }
    let events = billing.expect(&hub, 3).await;
    let requests: Vec<_> = events.iter().map(|event| event["data"]["requests"].as_i64().unwrap()).collect();
    assert_eq!(requests, [1, 2, 3]);
    assert_eq!(billing.received.lock().unwrap().refused, 3);
}

/// Accepted reports without an answer are sent again, by the next process, under the same id.
async fn a_restart_reports_all_under_the_same_ids(backend: Backend) {
    let billing = Billing::start().await;
    let hub = billing.hub(backend).await;
    let owner = hub.network().await;
    use_an_hour(&hub, &[(&owner, 1)]).await;
    billing.received.lock().unwrap().silent = 1;
    Hub::eventually("the first is sent", async || {
        hub.advance_ms(1_000);
        !billing.events().is_empty()
    })
    .await;
    let hub = hub.abandon(Duration::from_secs(60)).await;
    use_an_hour(&hub, &[(&owner, 2)]).await;
    let events = billing.expect(&hub, 2).await;
    assert!(events.len() >= 3, "the first was sent once more");
    assert_eq!(events[0], events[1]);
    let last = &events[events.len() - 1];
    assert_eq!((&last["data"]["requests"], &last["source"]), (&json!(2), &events[0]["source"]));
}

on_each! {
    each_hour_is_one_event
    a_refused_report_is_sent_again_before_the_next
    a_restart_reports_all_under_the_same_ids
}
