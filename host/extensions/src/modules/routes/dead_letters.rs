//! Dead letters of modules.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::ModulesWrite;
use crate::clock::Millis;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Page, PageQuery};
use crate::modules::handlers::{self, DeadLetterRow, LetterKind, letter_id};

/// An event that a module did not handle, a tick or a timer that it did not run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ModuleDeadLetter)]
pub(super) struct Letter {
    #[schema(example = "dl_9")]
    dead_letter_id: String,
    #[schema(example = "tebex-shop")]
    module: String,
    /// Version that failed last.
    #[schema(example = 4)]
    version: i64,
    /// EVENT, TICK, TIMER; or OVERFLOW, which stands for events that were not kept because too many waited.
    #[schema(example = "EVENT")]
    kind: String,
    /// Key of the event's order, name of the schedule, or key of the timer.
    #[schema(example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")]
    key: String,
    /// Time at which the event was queued, the tick began, or the timer was set.
    first_at: Millis,
    /// Time of the last failure.
    at: Millis,
    #[schema(example = 3)]
    attempts: i64,
    /// Code of the last failure: of the call, `refused_effect`, `retry`, `reject`, `unavailable` or `overflow`.
    #[schema(example = "refused_effect")]
    code: String,
    message: String,
    /// Index of the refused effect; null without one.
    #[schema(example = 0)]
    effect: Option<i64>,
    /// Code of the refusal; null without one.
    #[schema(example = "insufficient_funds")]
    reason: Option<String>,
    #[schema(example = "pcVlMkCLcJM5fAQA.3")]
    call_id: String,
    /// The event; null for other kinds.
    event: Option<LetterEvent>,
    /// The tick; null for other kinds.
    tick: Option<LetterTick>,
    /// The timer; null for other kinds.
    timer: Option<LetterTimer>,
    /// Events that an OVERFLOW stands for; null for other kinds.
    overflow: Option<Overflow>,
    /// RUNNING while it is retried, else WAITING.
    #[schema(value_type = String, example = "WAITING")]
    state: &'static str,
}

/// Event of a dead letter.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeadLetterEvent)]
struct LetterEvent {
    #[schema(example = "1804680000000-42")]
    id: String,
    #[schema(example = "BALANCE_CHANGED")]
    r#type: String,
    at: Millis,
    /// Its fields, as on streams.
    #[schema(value_type = Object)]
    data: Box<RawValue>,
}

/// Tick of a dead letter.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeadLetterTick)]
struct LetterTick {
    #[schema(example = "nightly")]
    schedule: String,
    due_at: Millis,
    /// Ticks that were missed before it.
    missed: i64,
    /// True if a person asked for it.
    manual: bool,
}

/// Timer of a dead letter.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DeadLetterTimer)]
struct LetterTimer {
    #[schema(example = "player:069a79f4-44e9-4726-a5be-fca90e38aaf5")]
    key: String,
    at: Millis,
    #[schema(value_type = Object)]
    payload: Box<RawValue>,
}

/// Events that were not kept.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeadLetterOverflow)]
struct Overflow {
    #[schema(example = "1804680000000-42")]
    first_event_id: String,
    #[schema(example = "1804680000000-99")]
    last_event_id: String,
    /// Number of the events.
    #[schema(example = 58)]
    count: i64,
}

impl Letter {
    fn new((row, is_running): (DeadLetterRow, bool)) -> Self {
        let of = |kind: LetterKind| row.event().filter(|_| row.kind == kind.as_str());
        let raw = |text: String| RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned());
        let event = of(LetterKind::Event).map(|event| LetterEvent {
            id: event.id(),
            r#type: event.name,
            at: event.at,
            data: raw(event.data),
        });
        let tick = of(LetterKind::Tick).and_then(|event| serde_json::from_str(&event.data).ok());
        let timer = of(LetterKind::Timer);
        let timer = timer.map(|event| LetterTimer { key: event.name, at: event.at, payload: raw(event.data) });
        let overflow = row.first_id.zip(row.last_id).map(|(first_event_id, last_event_id)| Overflow {
            first_event_id,
            last_event_id,
            count: row.lost,
        });
        Self {
            dead_letter_id: letter_id(row.id),
            module: row.module,
            version: row.version,
            kind: row.kind,
            key: row.event_key,
            first_at: row.first_at,
            at: row.at,
            attempts: row.attempts,
            code: row.code,
            message: row.message,
            effect: row.effect,
            reason: row.reason,
            call_id: row.call_id,
            event,
            tick,
            timer,
            overflow,
            state: if is_running { "RUNNING" } else { "WAITING" },
        }
    }
}

/// List a module's dead letters
///
/// Events that it did not handle after the last attempt, and ticks and timers that it did not run, newest first. At most 10,000 are kept, for 30 days.
#[utoipa::path(get, path = "/api/manage/modules/{name}/dead-letters", operation_id = "list_dead_letters",
    tag = "Modules", security(("apiKey" = ["modules:write"])),
    params(("name" = String, Path, example = "tebex-shop"), PageQuery),
    responses((status = 200, body = Page<Letter>)))]
pub(super) async fn list(
    ModulesWrite(caller): ModulesWrite,
    State(app): State<App>,
    Path(name): Path<String>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<Letter>>, ApiError> {
    let place = (query.limit.0, query.page.offset(query.limit));
    let (letters, total) = handlers::list(&app, caller.network, &name, place).await?;
    let items = letters.into_iter().map(Letter::new).collect();
    Ok(Json(Page::new(items, query.page, query.limit, total)))
}

/// Retry a dead letter
///
/// Runs it at once, with one attempt, beside the order of its key. Success deletes it. 409 `running` while it is retried.
#[utoipa::path(post, path = "/api/manage/modules/{name}/dead-letters/{deadLetterId}/retry",
    operation_id = "retry_dead_letter", tag = "Modules", security(("apiKey" = ["modules:write"])),
    params(("name" = String, Path, example = "tebex-shop"), ("deadLetterId" = String, Path, example = "dl_9")),
    responses((status = 202, description = "It is being retried"),
        (status = 404, body = ErrorBody, description = "No such dead letter"),
        (status = 409, body = ErrorBody, description = "It is being retried already, or the module is not active")))]
pub(super) async fn retry(
    ModulesWrite(caller): ModulesWrite,
    State(app): State<App>,
    Path((name, id)): Path<(String, String)>,
) -> Result<StatusCode, ApiError> {
    handlers::retry(&app, caller.network, &name, &id, &caller.origin(&app)).await?;
    Ok(StatusCode::ACCEPTED)
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = DeadLettersRetry)]
pub(super) struct RetryAll {
    /// Code of the dead letters to retry.
    #[schema(example = "refused_effect")]
    code: String,
}

/// Number of dead letters that are being retried.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DeadLettersRetried)]
pub(super) struct Retried {
    #[schema(example = 12)]
    retried: usize,
}

/// Retry a module's dead letters
///
/// All with a code, at most 1,000, as one by one.
#[utoipa::path(post, path = "/api/manage/modules/{name}/dead-letters/retry", operation_id = "retry_dead_letters",
    tag = "Modules", security(("apiKey" = ["modules:write"])), params(("name" = String, Path, example = "tebex-shop")),
    responses((status = 202, body = Retried, description = "They are being retried"),
        (status = 409, body = ErrorBody, description = "The module is not active")))]
pub(super) async fn retry_all(
    ModulesWrite(caller): ModulesWrite,
    State(app): State<App>,
    Path(name): Path<String>,
    Json(body): Json<RetryAll>,
) -> Result<(StatusCode, Json<Retried>), ApiError> {
    let retried = handlers::retry_all(&app, caller.network, &name, &body.code, &caller.origin(&app)).await?;
    Ok((StatusCode::ACCEPTED, Json(Retried { retried })))
}

/// Delete a dead letter
#[utoipa::path(delete, path = "/api/manage/modules/{name}/dead-letters/{deadLetterId}",
    operation_id = "delete_dead_letter", tag = "Modules", security(("apiKey" = ["modules:write"])),
    params(("name" = String, Path, example = "tebex-shop"), ("deadLetterId" = String, Path, example = "dl_9")),
    responses((status = 204, description = "Deleted"),
        (status = 404, body = ErrorBody, description = "No such dead letter"),
        (status = 409, body = ErrorBody, description = "It is being retried")))]
pub(super) async fn delete(
    ModulesWrite(caller): ModulesWrite,
    State(app): State<App>,
    Path((name, id)): Path<(String, String)>,
) -> Result<StatusCode, ApiError> {
    handlers::delete(&app, caller.network, &name, &id, &caller.origin(&app)).await?;
    Ok(StatusCode::NO_CONTENT)
}
