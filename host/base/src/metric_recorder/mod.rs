//! Records metrics: those of what has ended by the time that somebody asks, such as requests, while it happens.

pub mod table;

pub use table::{METRICS, Metric, document};

use std::time::Duration;

use axum::http::Method;
use metrics::{Counter, Gauge, Histogram, Key, Label, Level, Metadata, Recorder as _};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};

use table::{Kind, MODULE_CALLS, MODULE_SECONDS, PASS_SECONDS, REQUEST_SECONDS, REQUESTS};

/// Upper bounds of histograms, in seconds.
const BUCKETS: [f64; 14] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
static METADATA: Metadata<'static> = Metadata::new("hub", Level::INFO, None);

/// The hub's metrics.
pub struct MetricRecorder {
    /// None if metrics are off.
    recorder: Option<PrometheusRecorder>,
}

impl std::fmt::Debug for MetricRecorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MetricRecorder").finish_non_exhaustive()
    }
}

impl MetricRecorder {
    /// With metrics on or off.
    pub fn new(is_on: bool) -> anyhow::Result<Self> {
        let recorder = is_on.then(|| PrometheusBuilder::new().set_buckets(&BUCKETS)).transpose()?;
        let recorder = recorder.map(PrometheusBuilder::build_recorder);
        if let Some(recorder) = &recorder {
            for Metric { name, kind, help, .. } in METRICS {
                match kind {
                    Kind::Counter => recorder.describe_counter((*name).into(), None, (*help).into()),
                    Kind::Gauge => recorder.describe_gauge((*name).into(), None, (*help).into()),
                    Kind::Histogram => recorder.describe_histogram((*name).into(), None, (*help).into()),
                }
            }
        }
        Ok(Self { recorder })
    }

    /// Renderer of the metrics; none if they are off.
    pub fn handle(&self) -> Option<PrometheusHandle> {
        self.recorder.as_ref().map(PrometheusRecorder::handle)
    }

    /// Records an answered request.
    pub fn record_request(&self, method: &Method, route: &str, status: u16, took: Duration) {
        let Some(recorder) = &self.recorder else {
            return;
        };
        let method = method_label(method);
        let of_route = || vec![Label::new("method", method), Label::new("route", route.to_owned())];
        let mut labels = of_route();
        labels.push(Label::new("status", status.to_string()));
        recorder.register_counter(&Key::from_parts(REQUESTS.name, labels), &METADATA).increment(1);
        let seconds = recorder.register_histogram(&Key::from_parts(REQUEST_SECONDS.name, of_route()), &METADATA);
        seconds.record(took.as_secs_f64());
    }

    /// Records a finished call of a module; its duration is zero if it was not run.
    pub fn record_module_call(&self, point: &'static str, outcome: &'static str, mode: &'static str, took: Duration) {
        self.counter(&MODULE_CALLS, &[point, outcome, mode]).increment(1);
        if !took.is_zero() {
            self.histogram(&MODULE_SECONDS, &[point]).record(took.as_secs_f64());
        }
    }

    /// Records a finished pass of periodic work.
    pub fn record_pass(&self, pass: &'static str, took: Duration) {
        self.histogram(&PASS_SECONDS, &[pass]).record(took.as_secs_f64());
    }

    pub fn counter(&self, metric: &Metric, labels: &[&'static str]) -> Counter {
        let Some(recorder) = &self.recorder else {
            return Counter::noop();
        };
        recorder.register_counter(&key(metric, labels), &METADATA)
    }

    pub fn gauge(&self, metric: &Metric, labels: &[&'static str]) -> Gauge {
        let Some(recorder) = &self.recorder else {
            return Gauge::noop();
        };
        recorder.register_gauge(&key(metric, labels), &METADATA)
    }

    fn histogram(&self, metric: &Metric, labels: &[&'static str]) -> Histogram {
        let Some(recorder) = &self.recorder else {
            return Histogram::noop();
        };
        recorder.register_histogram(&key(metric, labels), &METADATA)
    }
}

fn key(metric: &Metric, labels: &[&'static str]) -> Key {
    let labels: Vec<_> = metric.labels.iter().zip(labels).map(|(name, value)| Label::new(*name, *value)).collect();
    Key::from_parts(metric.name, labels)
}

/// Methods that labels name. Clients may invent others, which would make labels without end.
static METHODS: [Method; 7] =
    [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS];

fn method_label(method: &Method) -> &'static str {
    METHODS.iter().find(|known| *known == method).map_or("OTHER", Method::as_str)
}
