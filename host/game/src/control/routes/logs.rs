//! Output and log of a server.

use std::convert::Infallible;

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::{Caller, ConsoleRead};
use crate::auth::{RevocationWatch, Scope};
use crate::cluster::RequestLease;
use crate::control::log_stream::{self, StartAt};
use crate::control::model::{LogFilter, LogLevel, LogLine};
use crate::control::service;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{BoundedInt, Limit, Page, PageNumber};
use crate::limits::{Limit as NetworkLimit, open};
use crate::values::{Identifier, Text};

pub(super) fn router() -> Endpoints {
    endpoints![logs, recent_logs: large_answer]
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct OutputQuery {
    /// Number of newest lines (at most 5,000).
    #[serde(default)]
    #[param(inline, required = false)]
    lines: BoundedInt<1, 5_000, 200>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct LogQuery {
    /// Maximum number of rows (default 50, at most 200).
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    /// Page number, from 0.
    #[serde(default)]
    #[param(inline, required = false)]
    page: PageNumber,
    /// Only lines after the one with this `seq`.
    #[param(required = false)]
    after: Option<i64>,
    /// Only lines before the one with this `seq`.
    #[param(required = false)]
    before: Option<i64>,
    /// Lowest level (default INFO: all lines).
    #[serde(default)]
    #[param(inline, required = false)]
    level: LogLevel,
    /// Part of the text, in any case.
    #[param(value_type = Option<String>, required = false, example = "exception")]
    q: Option<Text<255>>,
}

impl LogQuery {
    fn filter(&self) -> LogFilter {
        let text = self.q.as_ref().map(|text| text.as_str().to_owned()).filter(|text| !text.is_empty());
        LogFilter { after: self.after, before: self.before, level: self.level, text }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ServerOutput)]
struct Output {
    #[schema(example = "bedwars-1")]
    server_id: Identifier,
    /// Lines, separated by line feeds.
    #[schema(example = "[12:00:00 INFO]: Done (3.2s)! For help, type \"help\"")]
    content: String,
}

/// Read the server's output from its node
///
/// The tail of the server's standard output and error, delivered now by its node agent. `logs/recent` returns lines
/// that the agent uploaded earlier and needs no agent.
#[utoipa::path(get, path = "/api/manage/servers/{serverId}/logs", tag = "Manage: servers",
    security(("apiKey" = ["console:read", "servers:read", "network:manage"])), operation_id = "get_server_output",
    params(("serverId" = Identifier, Path, example = "bedwars-1"), OutputQuery),
    responses((status = 200, body = Output),
        (status = 404, body = ErrorBody, description = "No such server, or no node agent is connected for it"),
        (status = 503, body = ErrorBody, description = "The node agent did not deliver within 10 s")))]
async fn logs(
    ConsoleRead(caller): ConsoleRead,
    State(app): State<App>,
    lease: RequestLease,
    Path(server_id): Path<Identifier>,
    Query(query): Query<OutputQuery>,
) -> Result<Json<Output>, ApiError> {
    let content =
        service::read_output(&app, caller.network, &server_id, query.lines.0, &lease, &caller.origin(&app)).await?;
    Ok(Json(Output { server_id, content }))
}

/// Read the server's log
///
/// Lines uploaded by the server's node agent, newest first; the hub keeps 5,000. `after`, `before`, `level` and `q` choose
/// among them; a level is read from the beginning of a line, such as `[12:00:00 WARN]`. With `Accept: text/event-stream`, the
/// response is a stream of the newest `limit` lines, oldest first, followed by new lines: events named LOG whose `id:`
/// is the line's `seq`, whichever the filter. `Last-Event-ID` resumes after that line. The stream ends when the key is revoked.
#[utoipa::path(get, path = "/api/manage/servers/{serverId}/logs/recent", tag = "Manage: servers",
    security(("apiKey" = ["console:read", "servers:read", "network:manage"])), operation_id = "list_server_logs",
    params(("serverId" = Identifier, Path, example = "bedwars-1"), LogQuery),
    responses((status = 200, body = Page<LogLine>), (status = 404, body = ErrorBody, description = "No such server")))]
async fn recent_logs(
    ConsoleRead(caller): ConsoleRead,
    State(app): State<App>,
    Path(server): Path<Identifier>,
    Query(query): Query<LogQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let text = |name| headers.get(name).and_then(|value: &header::HeaderValue| value.to_str().ok());
    if text(header::ACCEPT).is_some_and(|accept| accept.contains("text/event-stream")) {
        let after = text(header::HeaderName::from_static("last-event-id")).and_then(|id| id.parse().ok());
        return follow_log(&app, &caller, server, after.map_or(StartAt::Newest(query.limit.0), StartAt::After)).await;
    }
    let page = service::recent(&app, caller.network, &server, &query.filter(), query.page, query.limit).await?;
    Ok(Json(page).into_response())
}

async fn follow_log(app: &App, caller: &Caller, server: Identifier, from: StartAt) -> Result<Response, ApiError> {
    service::last_line(app, caller.network, &server).await?;
    // The stream lasts as long as the scope that opened it.
    let watched = app.state::<RevocationWatch>().watch_caller(caller, &[Scope::ServersRead, Scope::ConsoleRead]);
    let revoked = watched.revoked();
    let counted = open::<ApiError>(app, caller.network, NetworkLimit::Streams).await?;
    let lines = log_stream::follow(app, caller.network, server, from).await?;
    let events = lines.map(move |line| {
        // Registered and counted while the stream is open.
        let _ = (&watched, &counted);
        Ok::<_, Infallible>(event(&line))
    });
    let events = events.take_until(revoked.cancelled_owned()).take_until(app.stopping().cancelled_owned());
    let unbuffered = [(header::HeaderName::from_static("x-accel-buffering"), "no")];
    Ok((unbuffered, Sse::new(events).keep_alive(KeepAlive::default())).into_response())
}

fn event(line: &LogLine) -> Event {
    let event = Event::default().event("LOG").id(line.seq.to_string());
    event.data(serde_json::to_string(line).unwrap_or_default())
}
