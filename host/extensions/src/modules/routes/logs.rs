//! The modules' logs.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt as _, stream};
use serde::Deserialize;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use utoipa::IntoParams;

use crate::app::App;
use crate::auth::Scope;
use crate::auth::{ModulesWrite, RevocationWatch};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Limit, Page, PageNumber};
use crate::limits::{Limit as NetworkLimit, open};
use crate::modules::Modules;
use crate::modules::logs::{Line, MAX_LINES};
use crate::modules::service::uploads;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct LogsQuery {
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    #[serde(default)]
    #[param(inline, required = false)]
    page: PageNumber,
}

/// Read a module's log
///
/// The newest lines of its production calls at this hub node, newest first; the hub adds a line with the reason for
/// each failed call. It keeps 1,000 lines per module, in memory. With `Accept: text/event-stream` it sends the newest
/// `limit` lines, oldest first, as events named LOG, then each new line. The stream ends when the key is revoked.
#[utoipa::path(get, path = "/api/manage/modules/{name}/logs", operation_id = "list_module_logs", tag = "Modules",
    security(("apiKey" = ["modules:write"])), params(("name" = String, Path), LogsQuery),
    responses((status = 200, body = Page<Line>), (status = 404, body = ErrorBody, description = "No such module")))]
pub(super) async fn logs(
    ModulesWrite(caller): ModulesWrite,
    State(app): State<App>,
    Path(name): Path<String>,
    Query(query): Query<LogsQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    // A module that does not exist in this network has no log.
    uploads::versions(&app, caller.network, &name, 1, 0).await?;
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    if accept.contains("text/event-stream") {
        let limit = usize::try_from(query.limit.0).unwrap_or(usize::MAX);
        let counted = open::<ApiError>(&app, caller.network, NetworkLimit::Streams).await?;
        let (lines, following) = app.state::<Modules>().logs.follow(caller.network, &name, limit);
        let watched = app.state::<RevocationWatch>().watch(caller.credential.clone(), Scope::ModulesWrite);
        let revoked = watched.revoked();
        let events = stream::iter(lines).chain(new_lines(following)).map(move |line| {
            // Held for the lifetime of the stream.
            let _ = (&watched, &counted);
            Ok::<_, Infallible>(event(&line))
        });
        let events = events.take_until(revoked.cancelled_owned()).take_until(app.stopping().cancelled_owned());
        return Ok(Sse::new(events).keep_alive(KeepAlive::default()).into_response());
    }
    let mut lines = app.state::<Modules>().logs.newest(caller.network, &name, MAX_LINES);
    lines.reverse();
    Ok(Json(Page::paginate(lines, query.page, query.limit)).into_response())
}

/// Later lines. A slow follower misses some.
fn new_lines(following: Receiver<Arc<Line>>) -> impl Stream<Item = Arc<Line>> {
    stream::unfold(following, async |mut following| {
        loop {
            match following.recv().await {
                Ok(line) => return Some((line, following)),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    })
}

fn event(line: &Line) -> Event {
    Event::default().event("LOG").data(serde_json::to_string(line).unwrap_or_default())
}
