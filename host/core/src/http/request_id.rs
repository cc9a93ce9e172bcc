//! Outermost layer: assigns request ids, renders errors with them, and logs requests.

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, StatusCode, header::HeaderName};
use axum::response::{IntoResponse as _, Response};
use tracing::field::Empty;
use tracing::{Instrument as _, Span};

use crate::app::App;
use crate::http::error::ApiError;
use crate::http::layers::Next;
use crate::http::request_body;
use crate::http::request_record::RequestRecord;
use crate::metric_recorder::MetricRecorder;
use crate::traces;

/// Log target of the line per request.
pub const REQUEST_LINES: &str = "hub::request";

tokio::task_local! {
    /// Id of the task's request. A span per request would cost ten times as much.
    static CURRENT: RequestId;
}

static HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Id of a request: the client's, if valid.
#[derive(Clone, Debug)]
pub struct RequestId(HeaderValue);

impl RequestId {
    fn of(request: &Request, app: &App) -> Self {
        if let Some(sent) = request.headers().get(&HEADER)
            && is_valid(sent.as_bytes())
        {
            return Self(sent.clone());
        }
        // Base 62 is always a valid header value.
        Self(HeaderValue::try_from(app.ids.token(16)).unwrap_or_else(|_| HeaderValue::from_static("-")))
    }

    /// Id of this task's request.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(Clone::clone).ok()
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or("-")
    }
}

/// True for an id that may be echoed in headers, bodies and logs: 1 to 128 of `[A-Za-z0-9_.:-]`.
fn is_valid(id: &[u8]) -> bool {
    (1..=128).contains(&id.len()) && id.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.:-".contains(byte))
}

/// Runs work that may outlive this task as part of its request.
pub fn in_current_request<F: Future>(work: F) -> impl Future<Output = F::Output> {
    let id = RequestId::current();
    async move {
        match id {
            Some(id) => CURRENT.scope(id, work).await,
            None => work.await,
        }
    }
}

/// Serves a request with an id.
pub async fn layer(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let id = RequestId::of(&request, &app);
    let method = request.method().clone();
    // The matched pattern, not the path: paths contain players' names and signed tokens.
    let route = request.extensions().get::<MatchedPath>().map_or("-".to_owned(), |path| path.as_str().to_owned());
    let is_traced = app.settings.otlp.is_some();
    let mut span = Span::none();
    if is_traced {
        span = tracing::info_span!("request", id = id.as_str(), %method, route, otel.name = Empty, otel.kind = Empty);
        traces::begin_request(&span, &method, &route, request.headers());
    }
    let record = RequestRecord::default();
    request.extensions_mut().insert(id.clone());
    request.extensions_mut().insert(record.clone());
    let started = tokio::time::Instant::now();
    let (request, body) = request_body::watch(request, app.settings.connections.body);
    let work = hub_db::count_statements(record.statements(), next.run(request).instrument(span.clone()));
    let mut response = CURRENT.scope(id.clone(), work).await;
    if let Some(body) = body {
        // The reader saw only that the body broke off.
        if body.has_timed_out() && !response.status().is_success() {
            response = timed_out().into_response();
        }
        body.settle(&mut response).await;
    }
    let _entered = span.enter();
    if let Some(error) = response.extensions_mut().remove::<ApiError>() {
        if let Some(cause) = error.cause() {
            let log = || tracing::error!(code = error.code(), error = %Chain(cause), "request failed");
            CURRENT.sync_scope(id.clone(), log);
        }
        let headers = std::mem::take(response.headers_mut());
        response = error.render(id.as_str());
        // Headers added by a layer or handler are kept, except those that describe the empty body.
        for (name, value) in &headers {
            if name != axum::http::header::CONTENT_LENGTH && name != axum::http::header::CONTENT_TYPE {
                response.headers_mut().insert(name.clone(), value.clone());
            }
        }
    }
    let (status, took) = (response.status(), started.elapsed());
    app.state::<MetricRecorder>().record_request(&method, &route, status.as_u16(), took);
    if is_traced {
        traces::end_request(&span, status, record.network());
    }
    tracing::info!(
        target: REQUEST_LINES,
        parent: None,
        id = id.as_str(),
        method = method.as_str(),
        route,
        status = status.as_u16(),
        micros = took.as_micros() as u64,
        network = record.network().map(display),
        key = record.key(),
        queries = record.queries(),
        "served"
    );
    response.headers_mut().insert(HEADER.clone(), id.0);
    response
}

fn timed_out() -> ApiError {
    ApiError::new(StatusCode::REQUEST_TIMEOUT, "request_timeout", "The request body was not received in time.")
}

/// Formats an error with all its causes on one line.
struct Chain<'a>(&'a (dyn std::error::Error + Send + Sync));

impl std::fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)?;
        let mut source = self.0.source();
        while let Some(error) = source {
            write!(f, ": {error}")?;
            source = error.source();
        }
        Ok(())
    }
}
