//! Traces by OpenTelemetry's protocol: a span for each request, statement, module call and publication of an event.
//!
//! A request's span is also in the log. The others have a target and a level that the log omits: without `--otlp` they
//! are never created, and each costs a comparison.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::{HeaderMap, Method, Request, Response, StatusCode};
use bytes::Bytes;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{Status, TraceContextExt as _, TracerProvider as _};
use opentelemetry_http::{HeaderExtractor, HeaderInjector, HttpClient, HttpError};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Handle;
use tracing::level_filters::LevelFilter;
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::registry::LookupSpan;

use crate::http_client;
use crate::values::NetworkId;

/// Target of spans that are made only for traces.
const TARGET: &str = "hub_trace";
/// Module that creates the span of each request, which is also in the log.
const REQUESTS: &str = "hub_core::http::request_id";
const TIMEOUT: Duration = Duration::from_secs(10);

/// Exports spans until it is stopped.
pub struct Traces(SdkTracerProvider);

impl Traces {
    /// Starts the export to the receiver at `url`. Call it inside a tokio runtime.
    pub fn start(url: &str) -> anyhow::Result<Self> {
        let client = http_client::builder()?.timeout(TIMEOUT).build()?;
        let client = ExportClient { client, runtime: Handle::current(), is_failing: Arc::default() };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/traces", url.trim_end_matches('/')))
            .build()?;
        let resource = Resource::builder().with_service_name("hub").build();
        Ok(Self(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build()))
    }

    /// Layer that exports a subscriber's spans.
    pub fn layer<S: Subscriber + for<'a> LookupSpan<'a>>(&self) -> impl Layer<S> + use<S> {
        let layer = tracing_opentelemetry::layer().with_tracer(self.0.tracer("hub"));
        let layer = layer.with_location(false).with_threads(false).with_target(false);
        layer.with_filter(
            Targets::new().with_target(TARGET, LevelFilter::TRACE).with_target(REQUESTS, LevelFilter::INFO),
        )
    }

    /// Exports the last spans.
    pub async fn stop(self) {
        let stopped = tokio::task::spawn_blocking(move || self.0.shutdown()).await;
        if let Ok(Err(error)) = stopped {
            tracing::warn!(%error, "could not export the last spans");
        }
    }
}

/// Describes a request in its span, and continues the caller's trace if the request names one.
pub(crate) fn begin_request(span: &Span, method: &Method, route: &str, headers: &HeaderMap) {
    span.record("otel.name", format_args!("{method} {route}"));
    span.record("otel.kind", "server");
    span.set_attribute("http.request.method", method.to_string());
    span.set_attribute("http.route", route.to_owned());
    let context = TraceContextPropagator::new().extract(&HeaderExtractor(headers));
    if context.span().span_context().is_valid() && span.set_parent(context).is_err() {
        tracing::debug!("could not add a span to its caller's trace");
    }
}

/// Records the outcome of a request.
pub(crate) fn end_request(span: &Span, status: StatusCode, network: Option<NetworkId>) {
    span.set_attribute("http.response.status_code", i64::from(status.as_u16()));
    if status.is_server_error() {
        span.set_status(Status::error(""));
    }
    if let Some(network) = network {
        span.set_attribute("hub.network", network.to_string());
    }
}

/// Adds the current span to the headers of a request to another service.
pub fn inject(headers: &mut HeaderMap) {
    let span = Span::current();
    if !span.is_disabled() {
        TraceContextPropagator::new().inject_context(&span.context(), &mut HeaderInjector(headers));
    }
}

/// Sends exported spans over the hub's client. The exporter has a separate thread, without a runtime.
#[derive(Clone, Debug)]
struct ExportClient {
    client: reqwest::Client,
    runtime: Handle,
    /// True if the last export failed.
    is_failing: Arc<AtomicBool>,
}

impl ExportClient {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let answer = self.client.execute(request.try_into()?).await.map_err(reqwest::Error::without_url)?;
        let status = answer.status();
        let mut response = Response::new(answer.bytes().await?);
        *response.status_mut() = status;
        Ok(response)
    }

    /// Logs the first failure, and the first success after it.
    fn report(&self, result: &Result<Response<Bytes>, HttpError>) {
        let failure = match result {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("it answered {}", response.status())),
            Err(error) => Some(http_client::with_causes(error.as_ref())),
        };
        match (self.is_failing.swap(failure.is_some(), Ordering::Relaxed), failure) {
            (false, Some(error)) => tracing::warn!(error, "the receiver of traces accepts no spans; they are dropped"),
            (true, None) => tracing::info!("the receiver of traces accepts spans again"),
            _ => {}
        }
    }
}

impl HttpClient for ExportClient {
    fn send_bytes<'life0, 'async_trait>(
        &'life0 self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        let client = self.clone();
        let sending = self.runtime.spawn(async move {
            let result = client.send(request).await;
            client.report(&result);
            result
        });
        Box::pin(async move { sending.await? })
    }
}
