//! The rules of reports.

use std::future::ready;

use serde::Serialize;
use serde_json::{Value, json};
use thiserror::Error;
use utoipa::ToSchema;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Caller;
use crate::clock::Millis;
use crate::events::{self, EventKind};
use crate::http::error::ApiError;
use crate::limits::{self, Limit, QuotaExceeded, check_rows};
use crate::reports::OPEN_PER_REPORTER;
use crate::reports::model::{Report, ReportState, ReportWithChat};
use crate::reports::{chat_lines, store};
use crate::values::{NetworkId, PlayerId};

/// Errors of requests about reports.
#[derive(Debug, Error)]
pub(super) enum ReportsError {
    /// No such report in the caller's network.
    #[error("This network has no report {0}.")]
    Unknown(i64),
    /// A limit of the network is reached.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<ReportsError> for ApiError {
    fn from(error: ReportsError) -> Self {
        let message = error.to_string();
        match error {
            ReportsError::Unknown(_) => Self::not_found("unknown_report", message),
            ReportsError::Quota(exceeded) => exceeded.into(),
            ReportsError::Database(error) => error.into(),
        }
    }
}

/// A player reported another.
#[derive(Serialize, ToSchema)]
pub(super) struct ReportCreated {
    report: Report,
}

/// A report by a player.
pub(super) struct NewReport {
    pub(super) reporter: PlayerId,
    pub(super) player: PlayerId,
    pub(super) reason: String,
    pub(super) server: Option<String>,
}

/// A report's form in the audit log, which keeps no text about a player.
fn shown(report: &Report) -> Value {
    json!({"state": report.state, "resolved": report.resolution.is_some()})
}

/// Number of OPEN reports, counted up to `most`, and the time of the oldest.
pub async fn open(app: &App, network: NetworkId, most: i64) -> Result<(i64, Option<Millis>), hub_db::Error> {
    store::open(&app.db, network, most).await
}

/// Number of reports that are not closed.
pub async fn not_closed(app: &App, network: NetworkId) -> Result<i64, hub_db::Error> {
    store::count_not_closed(&app.db, network).await
}

/// Creates and publishes a report.
pub(super) async fn create(app: &App, network: NetworkId, new: NewReport) -> Result<ReportWithChat, ReportsError> {
    let _adding = check_rows::<ReportsError>(app, network, store::ROWS, 1, ready(Ok(false))).await?;
    let of_network = limits::of(app, network).await?;
    // Before the transaction: lines that wait are written by another one.
    let chat = chat_lines::newest(app, network, new.player).await?;
    app.db
        .transaction(async |mut tx| {
            let report_id = store::take_id(&mut tx, network).await?;
            let by_reporter = store::count_open_by(&mut tx, network, new.reporter).await?;
            limits::check(app, OPEN_PER_REPORTER, by_reporter, 1)?;
            of_network.check(Limit::Reports, store::count_not_closed(&mut tx, network).await?, 1)?;
            let report = Report {
                report_id,
                reporter_uuid: Some(new.reporter),
                player_uuid: new.player,
                reason: new.reason.clone(),
                server_id: new.server.clone(),
                state: ReportState::Open,
                resolution: None,
                taken_by: None,
                at: app.clock.now(),
            };
            store::insert(&mut tx, network, &report, chat.as_deref()).await?;
            let event = ReportCreated { report: report.clone() };
            events::publish_in(app, &mut tx, network, EventKind::ReportCreated, None, event).await?;
            Ok::<_, ReportsError>(ReportWithChat { report, chat: chat.clone() })
        })
        .await
}

/// Reports, newest first, and their number.
pub(super) async fn list(
    app: &App,
    network: NetworkId,
    state: Option<ReportState>,
    place: (i64, i64),
) -> Result<(Vec<ReportWithChat>, i64), ReportsError> {
    Ok(store::list(&app.db, network, state, place).await?)
}

/// A report.
pub(super) async fn get(app: &App, network: NetworkId, id: i64) -> Result<ReportWithChat, ReportsError> {
    store::get(&app.db, network, id).await?.ok_or(ReportsError::Unknown(id))
}

/// Takes, closes or reopens a report, or answers it.
pub(super) async fn change(
    app: &App,
    caller: &Caller,
    id: i64,
    state: Option<ReportState>,
    resolution: Option<&Option<String>>,
) -> Result<ReportWithChat, ReportsError> {
    let (network, origin) = (caller.network, caller.origin(app));
    let of_network = limits::of(app, network).await?;
    app.db
        .transaction(async |mut tx| {
            let locked = store::lock(&mut tx, network, id).await?.ok_or(ReportsError::Unknown(id))?;
            let ReportWithChat { report: before, chat } = locked;
            let mut after = before.clone();
            if let Some(resolution) = resolution {
                after.resolution.clone_from(resolution);
            }
            if let Some(state) = state {
                after.state = state;
                match state {
                    ReportState::Open => after.taken_by = None,
                    ReportState::Taken => after.taken_by = Some(origin.actor.clone()),
                    ReportState::Closed => {
                        after.taken_by.get_or_insert_with(|| origin.actor.clone());
                    }
                }
            }
            if before.state == ReportState::Closed && after.state != ReportState::Closed {
                of_network.check(Limit::Reports, store::count_not_closed(&mut tx, network).await?, 1)?;
                if let (ReportState::Open, Some(reporter)) = (after.state, after.reporter_uuid) {
                    let by_reporter = store::count_open_by(&mut tx, network, reporter).await?;
                    limits::check(app, OPEN_PER_REPORTER, by_reporter, 1)?;
                }
            }
            let taken_by = after.taken_by.as_ref().and_then(|actor| serde_json::to_string(actor).ok());
            let closed_at = (after.state == ReportState::Closed).then(|| app.clock.now());
            store::update(&mut tx, network, &after, taken_by.as_deref(), closed_at).await?;
            let change = Change::new(Action::ReportChanged, id.to_string()).before(shown(&before)).after(shown(&after));
            audit::record(&mut tx, network, &origin, change).await?;
            Ok::<_, ReportsError>(ReportWithChat { report: after, chat })
        })
        .await
}
