//! Spans are exported by OpenTelemetry's protocol, and belong to their caller's trace.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message as _;
use serde_json::json;

use crate::cli::Installation;
use crate::modules::starters;
use crate::servers::uuid;
use crate::support::{Backend, Hub, hex, on_each};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// Receives spans like a collector.
#[derive(Clone, Default)]
struct Collector {
    spans: Arc<Mutex<Vec<Span>>>,
    is_failing: Arc<AtomicBool>,
    refused: Arc<AtomicUsize>,
}

async fn collector() -> (String, Collector) {
    async fn take(State(collector): State<Collector>, headers: HeaderMap, body: Bytes) -> StatusCode {
        if collector.is_failing.load(Ordering::Relaxed) {
            collector.refused.fetch_add(1, Ordering::Relaxed);
            return StatusCode::SERVICE_UNAVAILABLE;
        }
        assert_eq!(headers["content-type"], "application/x-protobuf");
        let request = ExportTraceServiceRequest::decode(body).unwrap();
        for resource in request.resource_spans {
            let service = &resource.resource.unwrap().attributes;
            assert!(service.iter().any(|attribute| attribute.key == "service.name"));
            collector.spans.lock().unwrap().extend(resource.scope_spans.into_iter().flat_map(|scope| scope.spans));
        }
        StatusCode::OK
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (url, collector) = (format!("http://{}", listener.local_addr().unwrap()), Collector::default());
    let router = Router::new().route("/v1/traces", post(take)).with_state(collector.clone());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, collector)
}

fn attribute(span: &Span, name: &str) -> Option<Value> {
    let attribute = span.attributes.iter().find(|attribute| attribute.key == name)?;
    attribute.value.clone()?.value
}

async fn a_request_is_a_trace(backend: Backend) {
    let (url, collector) = collector().await;
    let installation = Installation::new(backend);
    let created = installation.json(&["admin", "network", "create", "traced", "--json"]);
    // Within the usual five seconds, a busy hub makes more spans than the exporter keeps.
    let mut hub = installation.serve_logged(&["--otlp", &url], &[("OTEL_BSP_SCHEDULE_DELAY", "20")]);
    let owner = hub.client(created["apiKey"].as_str().unwrap());
    starters::install(&owner, "chat-guard", "chat", json!({"words": ["heck"], "action": "REFUSE"})).await;
    let line = json!({"playerUuid": uuid(1), "playerName": "p1", "message": "hello", "serverId": "lobby-1"});
    let request = owner.request(reqwest::Method::POST, "/api/plugin/chat").json(&line);
    owner.send(request.header("traceparent", format!("00-{TRACE}-{PARENT}-01"))).await.expect(204);
    owner.get("/api/manage/keys").await.expect(200);
    // A span ends after its answer was sent.
    let awaited = ["POST /api/plugin/chat", "publish", "GET /api/manage/keys"];
    Hub::eventually("spans of both requests", async || {
        let spans = collector.spans.lock().unwrap();
        awaited.iter().all(|name| spans.iter().any(|span| span.name == *name))
    })
    .await;
    hub.signal("-TERM");
    assert!(hub.child.wait().unwrap().success());

    let spans = collector.spans.lock().unwrap();
    let named = |name: &str| {
        let found = spans.iter().find(|span| span.name == name);
        found.unwrap_or_else(|| {
            panic!("no {name} among {:?}", spans.iter().map(|span| &span.name).collect::<BTreeSet<_>>())
        })
    };
    let chat = named("POST /api/plugin/chat");
    assert_eq!((hex(&chat.trace_id), hex(&chat.parent_span_id)), (TRACE.to_owned(), PARENT.to_owned()));
    assert_eq!(chat.kind, SpanKind::Server as i32);
    assert_eq!(attribute(chat, "http.route"), Some(Value::StringValue("/api/plugin/chat".to_owned())));
    assert_eq!(attribute(chat, "http.response.status_code"), Some(Value::IntValue(204)));
    let network = created["networkId"].as_str().unwrap().to_owned();
    assert_eq!(attribute(chat, "hub.network"), Some(Value::StringValue(network)));
    for name in ["module_call", "publish"] {
        let span = spans.iter().find(|span| span.name == name && hex(&span.trace_id) == TRACE);
        assert_eq!(span.unwrap_or_else(|| panic!("no {name}")).parent_span_id, chat.span_id, "{name}");
    }
    // Statements are in the trace of their request, with their text and without values.
    let keys = named("GET /api/manage/keys");
    assert_ne!(hex(&keys.trace_id), TRACE);
    let statements: Vec<_> =
        spans.iter().filter(|span| span.name == "statement" && span.parent_span_id == keys.span_id).collect();
    assert!(statements.len() >= 2, "{}", statements.len());
    let text = |span: &&Span| match attribute(span, "db.query.text") {
        Some(Value::StringValue(text)) => text,
        other => panic!("{other:?}"),
    };
    assert!(statements.iter().map(text).any(|text| text.contains("FROM api_keys") && text.contains("$1")));
}

/// A failing receiver is logged once, and delays no requests.
async fn a_failing_receiver_delays_no_request(backend: Backend) {
    let (url, collector) = collector().await;
    collector.is_failing.store(true, Ordering::Relaxed);
    let installation = Installation::new(backend);
    let created = installation.json(&["admin", "network", "create", "traced", "--json"]);
    let mut hub = installation.serve_logged(&["--otlp", &url], &[("OTEL_BSP_SCHEDULE_DELAY", "20")]);
    let owner = hub.client(created["apiKey"].as_str().unwrap());
    let after_a_request = async |is_done: &(dyn Fn() -> bool + Sync)| {
        owner.get("/api/manage/keys").await.expect(200);
        is_done()
    };
    Hub::eventually("batches are refused", async || {
        after_a_request(&|| collector.refused.load(Ordering::Relaxed) >= 3).await
    })
    .await;
    collector.is_failing.store(false, Ordering::Relaxed);
    Hub::eventually("spans are taken", async || after_a_request(&|| !collector.spans.lock().unwrap().is_empty()).await)
        .await;
    hub.signal("-TERM");
    assert!(hub.child.wait().unwrap().success());
    let log = installation.log();
    assert_eq!(log.matches("accepts no spans").count(), 1, "{log}");
    assert_eq!(log.matches("accepts spans again").count(), 1, "{log}");
    assert!(log.contains("503 Service Unavailable"), "{log}");
}

on_each! { a_request_is_a_trace a_failing_receiver_delays_no_request }
