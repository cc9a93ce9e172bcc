//! The rules of play time.

use std::future::ready;

use hub_db::{Db, Error, Tx};
use thiserror::Error;

use crate::app::App;
use crate::clock::Millis;
use crate::http::error::ApiError;
use crate::limits::{QuotaExceeded, check_rows};
use crate::play_time::day::Day;
use crate::play_time::model::Visit;
use crate::play_time::pass::{self, KEPT, Passes};
use crate::play_time::report::{DayReport, PlayTime, Running};
use crate::play_time::store;
use crate::players;
use crate::presence::{self, SavedVisit};
use crate::values::{NetworkId, PlayerId};

/// Maximum number of days of an answer about all players.
const MAX_DAYS: i64 = 400;
const DEFAULT_DAYS: i64 = 30;

/// Errors of requests about play time.
#[derive(Debug, Error)]
pub(super) enum PlayTimeError {
    /// The player was never seen.
    #[error("This network has never seen the player {0}.")]
    Unknown(PlayerId),
    /// The days are in the wrong order, or too many.
    #[error("In the query, `from`: must not be after `to`, and at most {} days before it.", MAX_DAYS - 1)]
    Range,
    /// Limit of the network reached.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] Error),
}

impl From<PlayTimeError> for ApiError {
    fn from(error: PlayTimeError) -> Self {
        let message = error.to_string();
        match error {
            PlayTimeError::Unknown(_) => Self::not_found("unknown_player", message),
            PlayTimeError::Range => Self::invalid(message),
            PlayTimeError::Quota(exceeded) => exceeded.into(),
            PlayTimeError::Database(error) => error.into(),
        }
    }
}

/// Saves visits that began or ended, in the transaction of the change of presence.
pub async fn save_visits(app: &App, tx: &mut Tx, network: NetworkId, visits: &[SavedVisit]) -> Result<(), Error> {
    app.state::<Passes>().mark_due(network);
    store::save(tx, network, visits).await
}

/// Brings the sums of a network up to date, if anything is due.
pub async fn count(app: &App, network: NetworkId) -> Result<(), Error> {
    let now = app.clock.now();
    if !store::has_due(&app.db, network, Day::of(now).start()).await? {
        return Ok(());
    }
    let takes_new = match check_rows::<PlayTimeError>(app, network, store::PLAYER_SUMS, 0, ready(Ok(false))).await {
        Ok(_) => true,
        Err(PlayTimeError::Database(error)) => return Err(error),
        Err(_) => false,
    };
    let new = pass::count_all(&app.db, network, now, takes_new).await?;
    if takes_new && new > 0 {
        // They are there by now: this only counts them.
        let _ = check_rows::<PlayTimeError>(app, network, store::PLAYER_SUMS, new, ready(Ok(true))).await;
    }
    Ok(())
}

/// Counts the visits of a player who is about to be erased, so that the days keep them.
pub async fn count_player(db: &Db, network: NetworkId, player: PlayerId, now: Millis) -> Result<(), Error> {
    pass::count_player(db, network, player, now).await
}

/// Brings the sums up to date for an answer, unless the time is doubtful.
async fn refresh(app: &App, network: NetworkId) -> Result<(), Error> {
    if app.clock.settled().is_none() {
        return Ok(());
    }
    count(app, network).await
}

/// Play time of a player, a running visit included.
pub(super) async fn of_player(app: &App, network: NetworkId, player: PlayerId) -> Result<PlayTime, PlayTimeError> {
    refresh(app, network).await?;
    let seen = players::service::seen(app, network, player).await?;
    let rows = store::of_player(&app.db, network, player).await?;
    if seen.is_none() && rows.is_empty() {
        return Err(PlayTimeError::Unknown(player));
    }
    let running = Running { now: app.clock.now(), heard_at: presence::service::last_heartbeats(app, network) };
    Ok(PlayTime::new(rows, seen, &running))
}

/// A page of a player's visits of the last 30 days, newest first, and their number.
pub(super) async fn visits(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Visit>, i64), PlayTimeError> {
    let since = app.clock.now().saturating_sub(KEPT);
    let (visits, total) = store::visits_of(&app.db, network, player, since, limit, offset).await?;
    if total == 0
        && players::service::seen(app, network, player).await?.is_none()
        && store::of_player(&app.db, network, player).await?.is_empty()
    {
        return Err(PlayTimeError::Unknown(player));
    }
    Ok((visits, total))
}

/// Numbers of days, newest first, up to today.
pub(super) async fn days(
    app: &App,
    network: NetworkId,
    from: Option<Day>,
    to: Option<Day>,
) -> Result<Vec<DayReport>, PlayTimeError> {
    let now = app.clock.now();
    let today = Day::of(now);
    let to = to.unwrap_or_else(|| today.max(from.unwrap_or(today)));
    let from = from.unwrap_or(to.plus(1 - DEFAULT_DAYS));
    if from > to || from.plus(MAX_DAYS) <= to {
        return Err(PlayTimeError::Range);
    }
    refresh(app, network).await?;
    let rows = store::daily(&app.db, network, from, to).await?;
    let mut running = 0;
    if (from..=to).contains(&today) {
        let midnight = today.start();
        let heard = Running { now, heard_at: presence::service::last_heartbeats(app, network) };
        for (server, count, counted) in store::running_by_server(&app.db, network, midnight).await? {
            if let Some(until) = heard.until(&server) {
                running += (until - midnight).saturating_mul(count).saturating_sub(counted).max(0);
            }
        }
    }
    let days = (from.0..=to.min(today).0).rev().map(Day);
    Ok(days.map(|day| DayReport::new(day, rows.iter().find(|row| row.day == day), running, now)).collect())
}
