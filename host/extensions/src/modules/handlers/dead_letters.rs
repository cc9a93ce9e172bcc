//! Dead letters: events that a module did not handle, until a person retries or deletes them.

use std::collections::BTreeSet;

use hub_sandbox::contract::Point;
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Origin;
use crate::clock::Millis;
use crate::modules::Modules;
use crate::modules::handlers::attempt::Attempt;
use crate::modules::handlers::commit::Source;
use crate::modules::handlers::links;
use crate::modules::handlers::model::{DeadLetterRow, LetterKind, QueueRow, QueuedEvent};
use crate::modules::handlers::registry::Handlers;
use crate::modules::handlers::schedules;
use crate::modules::handlers::store::{dead_letters as store, handlers};
use crate::modules::open::is_open;
use crate::modules::service::ModulesError;
use crate::values::NetworkId;

/// A module did not handle an event.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ModuleDeadLetterNotice)]
pub(in crate::modules) struct DeadLetterEvent {
    #[schema(example = "tebex-shop")]
    module: String,
    #[schema(example = 4)]
    version: i64,
    #[schema(example = "dl_9")]
    dead_letter_id: String,
    /// Id of the event that was not handled; empty without one.
    #[schema(example = "1804680000000-42")]
    event_id: String,
    /// Type of that event, or `TICK`, `TIMER` or `OVERFLOW`.
    #[serde(rename = "eventType")]
    #[schema(example = "BALANCE_CHANGED")]
    event_type: String,
    /// Code of the last failure.
    #[schema(example = "refused_effect")]
    code: String,
}

impl DeadLetterEvent {
    pub(super) fn of(letter: &DeadLetterRow) -> Self {
        let event = letter.event().filter(|_| letter.kind == LetterKind::Event.as_str());
        Self {
            module: letter.module.clone(),
            version: letter.version,
            dead_letter_id: letter_id(letter.id),
            event_id: event.as_ref().map(QueuedEvent::id).unwrap_or_default(),
            event_type: event.map_or_else(|| letter.kind.clone(), |event| event.name),
            code: letter.code.clone(),
        }
    }
}

/// Id of a dead letter in the API.
pub(in crate::modules) fn letter_id(id: i64) -> String {
    format!("dl_{id}")
}

fn parse_id(text: &str) -> Option<i64> {
    text.strip_prefix("dl_")?.parse().ok()
}

/// A page of a module's dead letters, newest first, their number, and those that are being retried.
pub(in crate::modules) async fn list(
    app: &App,
    network: NetworkId,
    module: &str,
    place: (i64, i64),
) -> Result<(Vec<(DeadLetterRow, bool)>, i64), ModulesError> {
    let (letters, total) = store::page(&app.db, network, module, place).await?;
    let figures = app.state::<Handlers>().network(network).known_module(module);
    let is_running = |letter: &DeadLetterRow| figures.as_ref().is_some_and(|figures| figures.is_retrying(letter.id));
    Ok((letters.into_iter().map(|letter| (letter.clone(), is_running(&letter))).collect(), total))
}

async fn find(app: &App, network: NetworkId, module: &str, id: &str) -> Result<DeadLetterRow, ModulesError> {
    let unknown = || ModulesError::UnknownDeadLetter(module.to_owned(), id.to_owned());
    let number = parse_id(id).ok_or_else(unknown)?;
    store::find(&app.db, network, module, number).await?.ok_or_else(unknown)
}

/// Deletes a dead letter.
pub(in crate::modules) async fn delete(
    app: &App,
    network: NetworkId,
    module: &str,
    id: &str,
    origin: &Origin,
) -> Result<(), ModulesError> {
    let letter = find(app, network, module, id).await?;
    let figures = app.state::<Handlers>().network(network).module(module);
    if figures.is_retrying(letter.id) {
        return Err(ModulesError::Running(id.to_owned()));
    }
    app.db
        .transaction(async |mut tx| {
            if !store::delete(&mut tx, network, module, letter.id).await? {
                return Err(ModulesError::UnknownDeadLetter(module.to_owned(), id.to_owned()));
            }
            record(&mut tx, network, origin, Action::DeadLetterDeleted, &letter).await
        })
        .await
}

async fn record(
    tx: &mut hub_db::Tx,
    network: NetworkId,
    origin: &Origin,
    action: Action,
    letter: &DeadLetterRow,
) -> Result<(), ModulesError> {
    let shown = json!({"code": letter.code, "eventType": letter.name, "attempts": letter.attempts});
    let change = Change::new(action, format!("{}/{}", letter.module, letter_id(letter.id))).before(shown);
    Ok(audit::record(tx, network, origin, change).await?)
}

/// Retries a dead letter once, beside the order of its key.
pub(in crate::modules) async fn retry(
    app: &App,
    network: NetworkId,
    module: &str,
    id: &str,
    origin: &Origin,
) -> Result<(), ModulesError> {
    let letter = find(app, network, module, id).await?;
    if letter.kind == LetterKind::Overflow.as_str() {
        return Err(ModulesError::NothingToRetry(id.to_owned()));
    }
    start_retry(app, network, letter, origin).await
}

/// Retries the dead letters of a module with a code, 1,000 at most. Returns their number.
pub(in crate::modules) async fn retry_all(
    app: &App,
    network: NetworkId,
    module: &str,
    code: &str,
    origin: &Origin,
) -> Result<usize, ModulesError> {
    let mut started = 0;
    for letter in store::with_code(&app.db, network, module, code).await? {
        match start_retry(app, network, letter, origin).await {
            Ok(()) => started += 1,
            // Retried by somebody else, who may have succeeded.
            Err(ModulesError::Running(_) | ModulesError::UnknownDeadLetter(..)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(started)
}

async fn start_retry(
    app: &App,
    network: NetworkId,
    letter: DeadLetterRow,
    origin: &Origin,
) -> Result<(), ModulesError> {
    let kind = LetterKind::of_letter(&letter);
    let handler = if kind == LetterKind::Event {
        let handler = links::handler(app, network, &letter.module).await?;
        handler.ok_or_else(|| ModulesError::NotHandling(letter.module.clone()))?
    } else {
        let handler = schedules::handler(app, network, &letter.module).await?;
        handler.ok_or_else(|| ModulesError::NotScheduled(letter.module.clone()))?
    };
    let is_handled = letter.name.as_ref().is_none_or(|name| handler.events.contains(name));
    if kind == LetterKind::Event && !is_handled {
        // The link may not grant what reading it needs.
        return Err(ModulesError::NothingToRetry(letter_id(letter.id)));
    }
    let shared = app.state::<Handlers>().network(network);
    let figures = shared.module(&letter.module);
    // Of several requests at once one retries it, and one is recorded.
    let retrying = figures.begin_retry(letter.id).ok_or_else(|| ModulesError::Running(letter_id(letter.id)))?;
    app.db
        .transaction(async |mut tx| {
            if store::find(&mut tx, network, &letter.module, letter.id).await?.is_none() {
                return Err(ModulesError::UnknownDeadLetter(letter.module.clone(), letter_id(letter.id)));
            }
            record(&mut tx, network, origin, Action::DeadLetterRetried, &letter).await
        })
        .await?;
    let app = app.clone();
    app.clone().spawn_until_done(hub_db::with_tenant(network.0, async move {
        let _retrying = retrying;
        let _place = shared.retries.0.acquire().await;
        if !matches!(is_open(&app, network).await, Ok(true)) {
            // Suspended meanwhile: it stays a dead letter.
            return;
        }
        let row = QueueRow {
            seq: letter.seq,
            event_key: letter.event_key.clone(),
            attempts: letter.attempts,
            due_at: 0,
            queued_at: letter.first_at,
        };
        let source = Source::DeadLetter(letter.id);
        let attempt = Attempt { app: &app, network, handler: &handler, figures, kind, source, row: &row };
        if let Err(error) = attempt.run(letter.event()).await {
            tracing::warn!(%network, %error, "could not retry a dead letter");
        }
    }));
    Ok(())
}

/// Dead letters of a module.
#[derive(Clone, Debug)]
pub struct LetterPile {
    pub module: String,
    /// Counted up to a bound.
    pub count: i64,
    /// Time of the last failure.
    pub at: Option<Millis>,
}

/// Modules at `events` and `schedules` with dead letters, each counted up to `most`.
pub async fn letter_piles(app: &App, network: NetworkId, most: i64) -> Result<Vec<LetterPile>, hub_db::Error> {
    let mut modules: BTreeSet<_> = handlers::list(&app.db, network).await?.into_iter().map(|row| row.module).collect();
    if let Ok(chains) = app.state::<Modules>().load_chains(app, network).await {
        let chain = chains.get(Point::Schedules);
        modules.extend(chain.iter().flat_map(|chain| &chain.specs).map(|spec| spec.name.clone()));
    }
    let mut piles = vec![];
    for module in modules {
        let (count, at) = store::pile(&app.db, network, &module, most).await?;
        if count > 0 {
            piles.push(LetterPile { module, count, at });
        }
    }
    Ok(piles)
}
