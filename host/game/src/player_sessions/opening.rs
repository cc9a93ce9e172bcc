//! Opening a session: asks the server that holds the player's, and waits for it.

use std::sync::Arc;
use std::time::Duration;

use hub_db::Tx;

use crate::app::App;
use crate::clock::{Millis, Moment, millis};
use crate::cluster::{RequestLease, ShardRegistry};
use crate::events::{self, EventKind};
use crate::player_sessions::error::SessionError;
use crate::player_sessions::hooks::SessionBegins;
use crate::player_sessions::memory::PlayerSessions;
use crate::player_sessions::model::{PreviousState, Session, SessionRequest, SessionState};
use crate::player_sessions::waiting::Place;
use crate::player_sessions::{service, store};
use crate::values::{Identifier, NetworkId, PlayerId};

/// Time to wait for a server that no event reaches.
const UNREACHABLE_WAIT: Duration = Duration::from_millis(500);
/// Interval of looking whether the server opened a stream or went offline.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A session that was opened.
#[derive(Clone, Debug)]
pub struct Opened {
    pub fence: i64,
    /// The session before, and its end.
    pub previous: Option<(Identifier, PreviousState)>,
}

impl Opened {
    /// True if the session before was not closed by its server.
    pub fn is_taken_over(&self) -> bool {
        let state = self.previous.as_ref().map(|(_, state)| *state);
        matches!(state, Some(PreviousState::TakenOver | PreviousState::Lost))
    }
}

/// Outcome of trying to open.
enum Attempt {
    Opened(Opened),
    /// Another server holds the player.
    Held(Session),
}

/// The session that a request waits for.
struct Held {
    fence: i64,
    server: Identifier,
    since: Moment,
    is_asked: bool,
}

/// Opens a session of the player for a server. Another server that holds one is asked to save, for up to `wait`.
pub(super) async fn open(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    server: &Identifier,
    (wait, begins): (Duration, &dyn SessionBegins),
    lease: &RequestLease,
) -> Result<Opened, SessionError> {
    if !service::is_online(app, network, server) {
        return Err(SessionError::NotOnline(server.clone()));
    }
    let until = app.clock.moment() + wait;
    let mut place = Place::join(app, network, player, until);
    let mut held: Option<Held> = None;
    let stopping = app.stopping();
    loop {
        let changed = Arc::clone(&place.changed);
        let notified = changed.notified();
        tokio::pin!(notified);
        // Enabled before the look, so that no change is missed.
        notified.as_mut().enable();
        let now = app.clock.moment();
        let view = place.view(until);
        let is_same = view.open.as_ref().is_some_and(|open| open.server == *server);
        let is_over = now >= view.earliest || is_unreachable(held.as_ref(), now);
        let is_due = |held: &Held| {
            is_over
                || view.open.as_ref().is_none_or(|open| open.fence != held.fence)
                || !service::is_online(app, network, &held.server)
        };
        if is_same || view.is_first && held.as_ref().is_none_or(is_due) {
            match attempt(app, network, player, server, (is_over && view.is_first, begins)).await {
                Ok(Attempt::Opened(opened)) => {
                    // The session is in the database, wherever the network is by now.
                    lease.release();
                    return Ok(opened);
                }
                Ok(Attempt::Held(session)) => {
                    app.state::<PlayerSessions>().corrected(network, &session, now);
                    let Session { fence, server_id: server, .. } = session;
                    if held.as_ref().is_none_or(|held| held.fence != fence) {
                        held = Some(Held { fence, server, since: now, is_asked: false });
                    }
                }
                Err(SessionError::Moving) => {
                    lease.retry_on_owner();
                    return Err(SessionError::Moving);
                }
                Err(error) => return Err(error),
            }
        }
        place.count()?;
        if let Some(held) = held.as_mut().filter(|held| !held.is_asked && view.is_first) {
            held.is_asked = ask(app, network, player, held, server, view.earliest).await?;
        }
        // From the time of the look: what became due since is looked at now.
        let next = next_look(now, view.earliest, held.as_ref());
        tokio::select! {
            () = notified => {}
            () = app.clock.sleep_until(next) => {}
            () = lease.wait_for_move() => {
                lease.retry_on_owner();
                return Err(SessionError::Moving);
            }
            () = stopping.cancelled() => return Err(SessionError::Stopping),
        }
    }
}

/// True if no event reached the server in time.
fn is_unreachable(held: Option<&Held>, now: Moment) -> bool {
    held.is_some_and(|held| !held.is_asked && now >= held.since + UNREACHABLE_WAIT)
}

fn next_look(now: Moment, earliest: Moment, held: Option<&Held>) -> Moment {
    let unreachable = held.filter(|held| !held.is_asked).map(|held| held.since + UNREACHABLE_WAIT);
    let due = [Some(earliest), unreachable].into_iter().flatten().filter(|at| *at > now);
    due.fold(now + POLL_INTERVAL, Ord::min)
}

/// Asks the server that holds the session to save and close it; false if no stream of it names the event.
async fn ask(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    held: &Held,
    server: &Identifier,
    until: Moment,
) -> Result<bool, SessionError> {
    if !events::is_session_listener(app, network, &held.server).await? {
        return Ok(false);
    }
    let left = millis(until.saturating_since(app.clock.moment()));
    let deadline = app.clock.now().saturating_add(left);
    let request = SessionRequest { player_uuid: player, fence: held.fence, server_id: server.clone(), deadline };
    let target = Some(held.server.as_str());
    let published = events::publish(app, network, EventKind::SessionRequested, target, &request).await;
    if let Err(error) = &published {
        tracing::warn!(%network, %error, "could not ask a server for a player's session");
    }
    Ok(published.is_ok())
}

/// Opens a session, unless another server holds one that is to be waited for.
async fn attempt(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    server: &Identifier,
    (is_over, begins): (bool, &dyn SessionBegins),
) -> Result<Attempt, SessionError> {
    let now = app.clock.now();
    let _ordered = app.state::<PlayerSessions>().writes.open(network, player).await;
    let result = app
        .db
        .transaction(async |mut tx| {
            if !app.state::<ShardRegistry>().lock_lease(&mut tx, network).await? {
                return Err(SessionError::Moving);
            }
            let before = store::lock(&mut tx, network, player).await?.map(|saved| saved.session);
            let previous = match &before {
                Some(open) if open.is_open() => {
                    let is_held = !service::is_lost_for_others(app, network, open);
                    let state = match (is_held, open.server_id == *server) {
                        (true, true) => PreviousState::SameServer,
                        (true, false) if !is_over => return Ok(Attempt::Held(open.clone())),
                        (true, false) => PreviousState::TakenOver,
                        (false, _) => PreviousState::Lost,
                    };
                    service::leave_in(app, &mut tx, network, open, now).await?;
                    if open.server_id != *server {
                        service::tell_end_in(app, &mut tx, network, open).await?;
                    }
                    Some((open.server_id.clone(), state))
                }
                Some(ended) => Some((ended.server_id.clone(), state_of(ended))),
                None => None,
            };
            begins.begun(&mut tx, network, player, now).await?;
            let fence = store::put(&mut tx, network, player, server, now).await?;
            note_on_end(app, &tx, network, player, server);
            Ok(Attempt::Opened(Opened { fence, previous }))
        })
        .await?;
    if let Attempt::Opened(opened) = &result {
        app.state::<PlayerSessions>().opened(network, player, opened.fence, server, app.clock.moment());
    }
    Ok(result)
}

fn state_of(ended: &Session) -> PreviousState {
    match ended.state {
        SessionState::Closed => PreviousState::Closed,
        SessionState::TakenOver => PreviousState::TakenOver,
        SessionState::Open | SessionState::Lost => PreviousState::Lost,
    }
}

/// Makes the session known also if its caller hangs up while it is committed.
fn note_on_end(app: &App, tx: &Tx, network: NetworkId, player: PlayerId, server: &Identifier) {
    let (app, server) = (app.clone(), server.clone());
    tx.on_end(move || app.state::<PlayerSessions>().touched(network, player, &server, app.clock.moment()));
}

/// Milliseconds as a wait.
pub(super) fn wait_of(wait_ms: Millis) -> Duration {
    Duration::from_millis(u64::try_from(wait_ms).unwrap_or(0))
}
