//! Middleware of every route: reserves memory for a response and holds it until the response was sent.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};

use crate::app::App;
use crate::endpoints::RouteFacts;
use crate::http::answer::{ANSWER_LIMIT, AnswerOf, LargeAnswer};
use crate::http::error::ApiError;
use crate::http::layers::Next;
use crate::limits::{self, Limit};
use crate::response_budget::body::UnsentBody;
use crate::response_budget::{AnswerPermit, ResponseBudget};
use crate::values::NetworkId;

/// Extra sending time per byte, so that slow clients can read their responses but cannot hold them forever.
const BYTES_PER_SECOND: usize = 32 * 1024;

/// Limits the memory for a network's large responses.
pub async fn layer(State(app): State<App>, request: Request, next: Next) -> Response {
    serve(&app, request, next).await.unwrap_or_else(ApiError::into_response)
}

async fn serve(app: &App, mut request: Request, next: Next) -> Result<Response, ApiError> {
    let facts = request.extensions().get::<RouteFacts>().copied().unwrap_or_default();
    let changes_something = !request.method().is_safe() && !facts.is_read_only;
    let mut reserved = None;
    if let Some(authorize) = facts.authorize.filter(|_| facts.is_large_answer) {
        let (mut parts, body) = request.into_parts();
        // Unauthorized callers get their error regardless of the network's open responses.
        let network = authorize.check(&mut parts, app).await?.network;
        let patience = app.settings.connections.answer;
        let permit = app.state::<ResponseBudget>().reserve(network, total(app), ANSWER_LIMIT, patience).await;
        reserved = Some(permit.ok_or_else(|| too_much_unread("Too many large responses to this network are unread."))?);
        request = Request::from_parts(parts, body);
    }
    let mut response = next.run(request).await;
    let of = response.extensions_mut().remove().map(|AnswerOf(network)| network);
    let Some(LargeAnswer(bytes)) = response.extensions_mut().remove() else { return Ok(response) };
    let permit = if let Some(mut permit) = reserved {
        permit.shrink_to(bytes.len());
        permit
    } else {
        let network = of.unwrap_or_else(|| NetworkId(hub_db::current_tenant()));
        take(app, network, bytes.len(), changes_something)?
    };
    let time_limit = time_limit(app.settings.connections.write, bytes.len());
    Ok(response.map(|_| send(app, bytes, permit, time_limit)))
}

/// Reserves memory for a response that exists already.
fn take(app: &App, network: NetworkId, bytes: usize, changes_something: bool) -> Result<AnswerPermit, ApiError> {
    app.state::<ResponseBudget>().try_reserve(network, total(app), bytes).ok_or_else(|| {
        too_much_unread(if changes_something {
            "The request succeeded, but its response was dropped: too many large responses to this network are unread."
        } else {
            "Too many large responses to this network are unread."
        })
    })
}

fn send(app: &App, bytes: Bytes, permit: AnswerPermit, time_limit: Duration) -> Body {
    let (body, watch) = UnsentBody::new(bytes, permit);
    app.spawn(watch.give_up_after(time_limit));
    Body::new(body)
}

fn time_limit(write: Duration, bytes: usize) -> Duration {
    write + Duration::from_secs((bytes / BYTES_PER_SECOND) as u64)
}

fn total(app: &App) -> usize {
    usize::try_from(limits::bound(app, Limit::UnreadAnswerBytes)).unwrap_or(usize::MAX)
}

fn too_much_unread(message: &'static str) -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "answers_unread", message).retry_after(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_answer_has_more_time() {
        let minute = Duration::from_mins(1);
        assert_eq!(time_limit(minute, 64 * 1024), Duration::from_secs(62));
        assert_eq!(time_limit(minute, ANSWER_LIMIT), Duration::from_secs(188));
    }
}
