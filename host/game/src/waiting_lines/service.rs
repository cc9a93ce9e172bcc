//! The rules of tickets and lines.

use std::sync::Arc;

use hub_db::Tx;
use hub_sandbox::contract::Point;
use serde::Serialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use thiserror::Error;
use uuid::Uuid;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Origin;
use crate::clock::Millis;
use crate::cluster::ShardRegistry;
use crate::http::error::ApiError;
use crate::http::if_match::{Changed, IfMatch, revision_of};
use crate::limits::{self, Limit, QuotaExceeded};
use crate::matchmaking::{
    Candidate, MatchRequest, Mode, PlayerContext, are_many, best, check_reservations, decide, offer, player_context,
};
use crate::modules::service::{Ranking, has_chain};
use crate::presence::Presence;
use crate::values::{NetworkId, PlayerId, hex};
use crate::waiting_lines::background::match_network;
use crate::waiting_lines::memory::{Choice, LineView, NewTicket, TicketView};
use crate::waiting_lines::model::{LineName, LineSettings, Ticket, TicketState};
use crate::waiting_lines::network::{NetworkLines, WaitingLines};
use crate::waiting_lines::saved::SavedTicket;
use crate::waiting_lines::{placing, ranked, saving, store};

/// Best destinations that are tried for a new ticket where there are many.
const TRIED: usize = 32;

/// Errors of requests about lines.
#[derive(Debug, Error)]
pub(super) enum LinesError {
    /// No such ticket in the caller's network.
    #[error("There is no ticket {0}, or it ended more than 10 minutes ago.")]
    Unknown(Uuid),
    /// The ticket has ended.
    #[error("The ticket {0} has ended.")]
    Ended(Uuid),
    /// Changed since its caller read it.
    #[error(transparent)]
    Changed(#[from] Changed),
    /// Limit of the network reached.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<LinesError> for ApiError {
    fn from(error: LinesError) -> Self {
        let message = error.to_string();
        match error {
            LinesError::Unknown(_) => Self::not_found("unknown_ticket", message),
            LinesError::Ended(_) => Self::new(axum::http::StatusCode::CONFLICT, "ticket_ended", message),
            LinesError::Changed(changed) => changed.into(),
            LinesError::Quota(exceeded) => exceeded.into(),
            LinesError::Database(error) => error.into(),
        }
    }
}

/// Takes a ticket for a player and the party, or returns the one they have for the same request.
pub(super) async fn take(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    request: MatchRequest,
    priority: i64,
) -> Result<TicketView, LinesError> {
    let lines = saving::loaded(app, network).await?;
    let body = digest(&request, priority);
    let now = app.clock.now();
    let same = lines.read(|lines| lines.same(player, &body).and_then(|ticket| lines.view(ticket.seq, now)));
    if let Some(same) = same {
        // An earlier attempt may have failed to save it.
        saving::save(app, network, &lines).await?;
        return Ok(same);
    }
    check_reservations(app, network, 1 + request.party.len())?;
    let limits = limits::of(app, network).await?;
    let context = player_context(app, network, &request).await?;
    let new = NewTicket {
        player,
        player_name: request.player_name.clone(),
        mode: request.mode.clone(),
        affinity: request.affinity.clone(),
        context: context.clone(),
        priority,
        body,
    };
    let chosen = match placing::priority(app, network, &request, &context, priority).await {
        Ok(priority) => choose(app, network, &request, &context).await.map(|choice| (choice, priority)),
        Err(reason) => Err(Some(reason)),
    };
    let (choice, new) = match chosen {
        Ok((choice, priority)) => (choice, NewTicket { priority, ..new }),
        Err(reason) => {
            let now = app.clock.now();
            let seq =
                lines.change(app, network, |lines, presence| lines.add_rejected(presence, new, reason, now, &app.ids));
            return answer(app, network, &lines, seq).await;
        }
    };
    let goes_on = choice.has_modules || choice.ranked.is_some();
    let seq = lines.change(app, network, |lines, presence| {
        lines.take(presence, new, choice, &limits, app.clock.now(), &app.ids)
    })?;
    if goes_on {
        ranked::run(app, network, &lines).await;
    }
    answer(app, network, &lines, seq).await
}

/// Saves a new ticket and returns it.
async fn answer(app: &App, network: NetworkId, lines: &Arc<NetworkLines>, seq: i64) -> Result<TicketView, LinesError> {
    saving::save(app, network, lines).await?;
    let now = app.clock.now();
    let view = lines.read(|lines| {
        lines.note_told(seq, now);
        lines.view(seq, now)
    });
    view.ok_or(LinesError::Unknown(Uuid::nil()))
}

/// Destinations to try for a new ticket where they are not chosen under the lock: those that modules ranked, or the best
/// of many. An error if modules refuse, with their reason.
async fn choose(
    app: &App,
    network: NetworkId,
    request: &MatchRequest,
    context: &PlayerContext,
) -> Result<Choice, Option<String>> {
    let has_modules = has_chain(app, network, Point::Matchmaking);
    let has_choice = !matches!(request.mode, Mode::Direct(_));
    let (is_online, is_large) = app.state::<Presence>().with(network, |presence| {
        let is_online = request.player.is_some_and(|player| presence.locate(player, context.now).is_some());
        (is_online, are_many(presence, &request.mode, context))
    });
    if !has_choice || !is_online || !(has_modules || is_large) {
        return Ok(Choice { ranked: None, has_modules });
    }
    if has_modules {
        let Ok(offer) = offer(app, network, request, context).await else {
            return Ok(Choice { ranked: Some(vec![]), has_modules });
        };
        let ranked = offer.rank(app, network).await;
        if let Ranking::Refused(reason) = ranked.ranking {
            return Err(reason);
        }
        return Ok(Choice { ranked: Some(ranked.destinations().collect()), has_modules });
    }
    let ranked = decide(app, network, &request.mode, context, TRIED, |presence, survey| {
        let best = best(presence, &request.mode, context, survey, TRIED).unwrap_or_default();
        best.iter().map(Candidate::destination).collect()
    });
    Ok(Choice { ranked: Some(ranked.await), has_modules })
}

/// SHA-256 of a request: the same one again keeps its ticket, even if the party or the priority has changed since.
fn digest(request: &MatchRequest, priority: i64) -> String {
    let text = |it: &Option<crate::values::Identifier>| it.as_ref().map(|it| it.as_str().to_owned());
    let affinity = &request.affinity;
    let sent = json!([
        request.player,
        request.party,
        text(&request.player_name),
        LineName::of(&request.mode).as_str(),
        request.region,
        [text(&affinity.game_id), text(&affinity.owner_scope), text(&affinity.owner_id)],
        priority,
    ]);
    hex(&Sha256::digest(sent.to_string()))
}

/// A ticket. What is due by now has happened.
pub(super) async fn get(app: &App, network: NetworkId, id: Uuid) -> Result<TicketView, LinesError> {
    let lines = app.state::<WaitingLines>().find(network).ok_or(LinesError::Unknown(id))?;
    let now = app.clock.now();
    if lines.is_due(now) {
        match_network(app, network).await?;
    }
    lines.read(|lines| lines.view(lines.find(id)?.seq, now)).ok_or(LinesError::Unknown(id))
}

/// Ends a ticket at its players' wish.
pub(super) async fn cancel(app: &App, network: NetworkId, id: Uuid) -> Result<(), LinesError> {
    let lines = app.state::<WaitingLines>().find(network).ok_or(LinesError::Unknown(id))?;
    let now = app.clock.now();
    if !lines.change(app, network, |lines, presence| lines.cancel(presence, id, now)) {
        return Err(LinesError::Unknown(id));
    }
    ranked::run(app, network, &lines).await;
    Ok(saving::save(app, network, &lines).await?)
}

/// A ticket as the audit log shows it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LoggedTicket {
    line: String,
    priority: i64,
    state: TicketState,
}

/// Changes the priority of a ticket, as a person or a key of the owner.
pub(super) async fn set_priority(
    app: &App,
    network: NetworkId,
    id: Uuid,
    priority: i64,
    origin: &Origin,
) -> Result<TicketView, LinesError> {
    let lines = app.state::<WaitingLines>().find(network).ok_or(LinesError::Unknown(id))?;
    {
        let _saving = lines.saved_batch.lock().await;
        let before = lines.read(|lines| lines.find(id).cloned()).ok_or(LinesError::Unknown(id))?;
        if !before.state.is_active() {
            return Err(LinesError::Ended(id));
        }
        let mut after = before.clone();
        after.priority = priority;
        let change = logged(Action::TicketChanged, &before, Some(&after));
        write(app, network, &after, origin, change).await?;
        let now = app.clock.now();
        lines.change(app, network, |lines, presence| lines.set_priority(presence, before.seq, priority, now));
    }
    ranked::run(app, network, &lines).await;
    saving::save(app, network, &lines).await?;
    let now = app.clock.now();
    lines.read(|lines| lines.view(lines.find(id)?.seq, now)).ok_or(LinesError::Unknown(id))
}

/// Ends a ticket, as a person or a key of the owner.
pub(super) async fn delete(app: &App, network: NetworkId, id: Uuid, origin: &Origin) -> Result<(), LinesError> {
    let lines = app.state::<WaitingLines>().find(network).ok_or(LinesError::Unknown(id))?;
    {
        let _saving = lines.saved_batch.lock().await;
        let before = lines.read(|lines| lines.find(id).cloned()).ok_or(LinesError::Unknown(id))?;
        if !before.state.is_active() {
            return Ok(());
        }
        let now = app.clock.now();
        let mut after = before.clone();
        (after.state, after.ended_at) = (TicketState::Cancelled, Some(now));
        (after.matched, after.answer) = (None, None);
        write(app, network, &after, origin, logged(Action::TicketDeleted, &before, None)).await?;
        lines.change(app, network, |lines, presence| lines.cancel(presence, id, now));
    }
    ranked::run(app, network, &lines).await;
    Ok(saving::save(app, network, &lines).await?)
}

fn logged(action: Action, before: &Ticket, after: Option<&Ticket>) -> Change {
    let shown = |ticket: &Ticket| LoggedTicket {
        line: ticket.line.to_string(),
        priority: ticket.priority,
        state: ticket.state,
    };
    let change = Change::new(action, before.id).before(shown(before));
    match after {
        Some(after) => change.after(shown(after)),
        None => change,
    }
}

/// Writes a changed ticket and the entry of the audit log in one transaction. The caller holds the lock of saves.
async fn write(
    app: &App,
    network: NetworkId,
    ticket: &Ticket,
    origin: &Origin,
    change: Change,
) -> Result<(), hub_db::Error> {
    let saved = [SavedTicket::from(ticket)];
    app.db
        .transaction(async |mut tx| {
            lock(app, &mut tx, network).await?;
            store::save_tickets(&mut tx, network, &saved).await?;
            audit::record(&mut tx, network, origin, change.clone()).await
        })
        .await
}

/// Fails if another node owns the network by now.
async fn lock(app: &App, tx: &mut Tx, network: NetworkId) -> Result<(), hub_db::Error> {
    let is_held = app.state::<ShardRegistry>().lock_lease(tx, network).await?;
    if is_held { Ok(()) } else { Err(hub_db::Error::Busy) }
}

/// Page of the lines with tickets or settings, by name, and their number.
pub(super) async fn list(
    app: &App,
    network: NetworkId,
    offset: i64,
    limit: i64,
) -> Result<(Vec<LineView>, usize), hub_db::Error> {
    let lines = saving::loaded(app, network).await?;
    Ok(lines.read(|lines| lines.list(app.clock.now(), to_usize(offset), to_usize(limit))))
}

/// Number of the network's players who wait in lines.
pub async fn waiting(app: &App, network: NetworkId) -> Result<usize, hub_db::Error> {
    Ok(saving::loaded(app, network).await?.read(|lines| lines.waiting()))
}

/// Page of the waiting tickets of a line, and their number.
pub(super) fn tickets(
    app: &App,
    network: NetworkId,
    line: &LineName,
    offset: i64,
    limit: i64,
) -> (Vec<TicketView>, usize) {
    let Some(lines) = app.state::<WaitingLines>().find(network) else { return (vec![], 0) };
    let now = app.clock.now();
    app.state::<Presence>().with(network, |presence| {
        lines.read(|lines| lines.tickets_of(line, presence, now, to_usize(offset), to_usize(limit)))
    })
}

fn to_usize(number: i64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Settings as the audit log shows them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LoggedSettings {
    paused: bool,
    paused_until: Option<Millis>,
    max_waiting: Option<i64>,
}

impl From<LineSettings> for LoggedSettings {
    fn from(settings: LineSettings) -> Self {
        let LineSettings { paused, paused_until, max_waiting } = settings;
        Self { paused, paused_until, max_waiting }
    }
}

/// Settings of a line that has some.
fn shown(settings: LineSettings) -> Option<LoggedSettings> {
    (settings != LineSettings::default()).then(|| settings.into())
}

/// Revision of a line's settings; 0 without any.
pub(super) fn revision(settings: LineSettings) -> i64 {
    shown(settings).as_ref().map_or(0, revision_of)
}

/// Sets all settings of a line.
pub(super) async fn put_line(
    app: &App,
    network: NetworkId,
    mode: &Mode,
    (settings, expected): (LineSettings, IfMatch),
    origin: &Origin,
) -> Result<LineView, LinesError> {
    let (lines, name) = (saving::loaded(app, network).await?, LineName::of(mode));
    {
        // One after the other: memory has what the database has.
        let _settings = lines.settings.lock().await;
        let (before, others) = lines.read(|lines| (lines.settings(&name), lines.count_with_settings(&name)));
        expected.check(shown(before.at(app.clock.now())).as_ref())?;
        if settings != LineSettings::default() {
            limits::check(app, Limit::Lines, others as i64, 1)?;
        }
        let change = Change::new(Action::LinePut, &name)
            .before(LoggedSettings::from(before))
            .after(LoggedSettings::from(settings));
        app.db
            .transaction(async |mut tx| {
                lock(app, &mut tx, network).await?;
                store::put_settings(&mut tx, network, name.as_str(), settings).await?;
                audit::record(&mut tx, network, origin, change.clone()).await
            })
            .await?;
        let now = app.clock.now();
        lines.change(app, network, |lines, presence| lines.set_line(presence, (&name, mode), settings, now));
    }
    ranked::run(app, network, &lines).await;
    saving::save(app, network, &lines).await?;
    let now = app.clock.now();
    Ok(lines.read(|lines| lines.view_line(&name, now)))
}

/// Removes an erased player from the lines, if this node owns the network.
pub async fn forget_player(app: &App, network: NetworkId, player: PlayerId) -> Result<(), hub_db::Error> {
    let Some(lines) = app.state::<WaitingLines>().find(network) else { return Ok(()) };
    let now = app.clock.now();
    lines.change(app, network, |lines, presence| lines.forget_player(presence, player, now));
    saving::save(app, network, &lines).await
}
