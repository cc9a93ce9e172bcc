//! Rules of player sessions.

use hub_db::{Error, Tx};

use crate::app::App;
use crate::auth::Caller;
use crate::clock::Millis;
use crate::cluster::{RequestLease, ShardRegistry};
use crate::events::{self, EventKind};
use crate::networks;
use crate::player_sessions::error::SessionError;
use crate::player_sessions::hooks::{EndHooks, SessionBegins};
use crate::player_sessions::memory::{NetworkSessions, PlayerSessions, Sighting};
use crate::player_sessions::model::{SaveDecision, SavedSession, Session, SessionEnd, SessionState};
use crate::player_sessions::opening::{self, Opened};
use crate::player_sessions::store;
use crate::player_sessions::writes::Ordered;
use crate::presence::Presence;
use crate::values::{Identifier, NetworkId, PlayerId};

/// Opens a session of the player for a server, and ends any other. A server that holds one is asked to save and close it,
/// for up to `wait_ms`. What `begins` writes is stored with the session.
pub async fn open(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    server: &Identifier,
    (wait_ms, begins): (Millis, &dyn SessionBegins),
    lease: &RequestLease,
) -> Result<Opened, SessionError> {
    opening::open(app, network, player, server, (opening::wait_of(wait_ms), begins), lease).await
}

/// The player's newest session.
pub async fn newest(app: &App, network: NetworkId, player: PlayerId) -> Result<Option<Session>, SessionError> {
    let found = store::get(&app.db, network, player).await?;
    match found {
        Some(session) if session.is_open() && is_known_as_lost(app, network, &session) != Some(false) => {
            end_lost(app, network, player).await?;
            Ok(store::get(&app.db, network, player).await?)
        }
        found => Ok(found),
    }
}

/// The player's newest session, without ending one that is lost: for requests whose transaction may yet be undone.
pub async fn shown(app: &App, network: NetworkId, player: PlayerId) -> Result<Option<Session>, SessionError> {
    let is_unknown = |session: &Session| session.is_open() && is_known_as_lost(app, network, session).is_none();
    let found = match store::get(&app.db, network, player).await? {
        Some(session) if is_unknown(&session) => store::get(&app.db, network, player).await?,
        found => found,
    };
    Ok(found.map(|session| {
        if session.is_open() && is_known_as_lost(app, network, &session).unwrap_or(!session.is_current) {
            Session { state: SessionState::Lost, ended_at: Some(app.clock.now()), ..session }
        } else {
            session
        }
    }))
}

pub(super) fn is_online(app: &App, network: NetworkId, server: &Identifier) -> bool {
    let now = app.clock.now();
    app.state::<Presence>().with(network, |presence| presence.server(server.as_str(), now).is_some())
}

/// Looks at a network's sessions together with the presence of one's server and player, so that nobody comes or leaves
/// between both.
fn look<T>(
    app: &App,
    network: NetworkId,
    session: &Session,
    work: impl FnOnce(&mut NetworkSessions, Sighting) -> T,
) -> T {
    let now = app.clock.now();
    app.state::<Presence>().with(network, |presence| {
        let seen = Sighting {
            is_server_online: presence.server(session.server_id.as_str(), now).is_some(),
            is_player_online: presence.locate(session.player_uuid, now).is_some(),
        };
        app.state::<PlayerSessions>().with(network, |sessions| work(sessions, seen))
    })
}

/// True if a session that was read without a lock is lost; `None` if it is not known as open, because it ended since, or
/// changes now.
fn is_known_as_lost(app: &App, network: NetworkId, session: &Session) -> Option<bool> {
    let now = app.clock.moment();
    look(app, network, session, |sessions, seen| {
        let open = sessions.open.get_mut(&session.player_uuid)?;
        open.is_sure_of(session.fence).then(|| !session.is_current || open.observe(seen, now))
    })
}

/// True if an open session, whose row is locked, is lost.
fn is_lost(app: &App, network: NetworkId, session: &Session) -> bool {
    let now = app.clock.moment();
    app.state::<PlayerSessions>().restored(network, session, now);
    look(app, network, session, |sessions, seen| {
        let open = sessions.open.get_mut(&session.player_uuid);
        !session.is_current || open.is_some_and(|open| open.observe(seen, now))
    })
}

/// True if an open session is lost as soon as another server asks: nobody waits for a server that is offline.
pub(super) fn is_lost_for_others(app: &App, network: NetworkId, session: &Session) -> bool {
    is_lost(app, network, session) || !is_online(app, network, &session.server_id)
}

/// Open sessions of a network that are lost.
pub(super) fn lost(app: &App, network: NetworkId) -> Vec<PlayerId> {
    let (now, at) = (app.clock.moment(), app.clock.now());
    app.state::<Presence>().with(network, |presence| {
        app.state::<PlayerSessions>().with(network, |sessions| {
            let lost = sessions.open.iter_mut().filter_map(|(player, open)| {
                let seen = Sighting {
                    is_server_online: presence.server(open.server.as_str(), at).is_some(),
                    is_player_online: presence.locate(*player, at).is_some(),
                };
                open.observe(seen, now).then_some(*player)
            });
            lost.collect()
        })
    })
}

/// Ends a lost session, if it is still open.
pub(super) async fn end_lost(app: &App, network: NetworkId, player: PlayerId) -> Result<(), SessionError> {
    let now = app.clock.now();
    let ended = app
        .db
        .transaction(async |mut tx| {
            if !app.state::<ShardRegistry>().lock_lease(&mut tx, network).await? {
                return Ok::<_, SessionError>(None);
            }
            let Some(SavedSession { session, .. }) = store::lock(&mut tx, network, player).await? else {
                return Ok(Some(i64::MAX));
            };
            if session.is_open() {
                app.state::<PlayerSessions>().corrected(network, &session, app.clock.moment());
            }
            if session.is_open() && is_lost(app, network, &session) {
                end_in(app, &mut tx, network, &session, SessionState::Lost, now).await?;
                tell_end_in(app, &mut tx, network, &session).await?;
                return Ok(Some(session.fence));
            }
            Ok((!session.is_open()).then_some(session.fence))
        })
        .await?;
    if let Some(fence) = ended {
        app.state::<PlayerSessions>().ended(network, player, fence);
    }
    Ok(())
}

/// Ends a locked session.
pub async fn end_in(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    session: &Session,
    state: SessionState,
    now: Millis,
) -> Result<(), Error> {
    store::end(tx, network, session.player_uuid, state, now).await?;
    leave_in(app, tx, network, session, now).await
}

/// Lets the components above keep what a session leaves behind.
pub(super) async fn leave_in(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    session: &Session,
    now: Millis,
) -> Result<(), Error> {
    app.state::<EndHooks>().0.ended(app, tx, network, session, now).await
}

/// Tells a session's server that others ended it.
pub async fn tell_end_in(app: &App, tx: &mut Tx, network: NetworkId, session: &Session) -> Result<(), Error> {
    let end = SessionEnd { player_uuid: session.player_uuid, fence: session.fence };
    events::publish_in(app, tx, network, EventKind::SessionEnded, Some(session.server_id.as_str()), end).await
}

/// Wakes those who wait for a session, once the transaction that ended it is committed.
pub fn note_end(app: &App, network: NetworkId, session: &Session) {
    app.state::<PlayerSessions>().ended(network, session.player_uuid, session.fence);
}

/// The player's session, locked, if it is open; with true if it is lost and only has to be ended.
pub async fn lock_open(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    player: PlayerId,
) -> Result<Option<(Session, bool)>, Error> {
    let locked = store::lock(tx, network, player).await?.map(|saved| saved.session);
    Ok(locked.filter(Session::is_open).map(|session| {
        let is_lost = is_lost(app, network, &session);
        (session, is_lost)
    }))
}

/// Begins a write by a module, which no session's opening overtakes.
pub async fn order_write(app: &App, network: NetworkId, player: PlayerId) -> Ordered {
    app.state::<PlayerSessions>().writes.write(network, player).await
}

/// A write of a player's data, as far as sessions matter.
#[derive(Clone, Copy, Debug)]
pub struct Fenced<'a> {
    pub player: PlayerId,
    /// Fence that the request names.
    pub fence: Option<i64>,
    pub caller: &'a Caller,
}

impl Fenced<'_> {
    /// Begins the write, which no session's opening overtakes. One with a fence is ordered by the session's row.
    pub async fn begin(&self, app: &App) -> Option<Ordered> {
        if self.fence.is_some() {
            return None;
        }
        Some(app.state::<PlayerSessions>().writes.write(self.caller.network, self.player).await)
    }

    /// True if the write must be checked in its transaction.
    pub fn is_checked(&self, app: &App) -> bool {
        self.fence.is_some() || app.state::<PlayerSessions>().may_be_open(self.caller.network, self.player)
    }

    /// Refuses a write that the player's session does not allow, which then stays as it is until the transaction ends.
    pub async fn check_in(&self, app: &App, tx: &mut Tx) -> Result<(), SessionError> {
        let network = self.caller.network;
        let session = store::share(tx, network, self.player).await?;
        match self.fence {
            Some(fence) => check_fence(app, session.as_ref(), fence, self.caller),
            None if session.is_some_and(|session| session.is_open() && !is_lost(app, network, &session)) => {
                let is_required = networks::service::requires_sessions(tx, network).await?;
                if is_required { Err(SessionError::Required) } else { Ok(()) }
            }
            None => Ok(()),
        }
    }
}

/// Refuses a fence that is not that of the open session.
fn check_fence(app: &App, session: Option<&Session>, fence: i64, caller: &Caller) -> Result<(), SessionError> {
    let session = session.filter(|session| session.fence == fence).ok_or(SessionError::Stale(fence))?;
    if !caller.acts_on(Some(&session.server_id)) {
        return Err(SessionError::ForeignServer);
    }
    let is_good = session.is_open() && !is_lost(app, caller.network, session);
    if is_good { Ok(()) } else { Err(SessionError::Stale(fence)) }
}

/// A save under a session's fence.
#[derive(Clone, Copy, Debug)]
pub struct Save<'a> {
    pub player: PlayerId,
    pub fence: i64,
    /// Hash of all that it says.
    pub digest: &'a [u8],
    /// Rising number, so that an earlier save that comes late is refused.
    pub number: Option<i64>,
    pub caller: &'a Caller,
}

/// Decision about a save.
#[derive(Debug)]
pub enum SaveTurn {
    /// It is the last save once more: its answer.
    Repeated(String),
    /// It is to be made. The session is locked.
    Due(Session),
}

/// Locks the session of a save.
pub async fn begin_save_in(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    save: Save<'_>,
) -> Result<SaveTurn, SessionError> {
    let stale = || SessionError::Stale(save.fence);
    let saved = store::lock(tx, network, save.player).await?.ok_or_else(stale)?;
    if saved.session.fence == save.fence && !save.caller.acts_on(Some(&saved.session.server_id)) {
        return Err(SessionError::ForeignServer);
    }
    let is_lost = saved.session.is_open() && is_lost(app, network, &saved.session);
    match saved.decide(save.fence, save.digest, save.number, is_lost) {
        SaveDecision::Repeated => Ok(SaveTurn::Repeated(saved.saved_answer.unwrap_or_default())),
        SaveDecision::Due => Ok(SaveTurn::Due(saved.session)),
        SaveDecision::StaleSession => Err(stale()),
        SaveDecision::StaleSave => Err(SessionError::StaleSave(save.number.unwrap_or_default())),
    }
}

/// Records a save that was made, and closes the session with it.
pub async fn finish_save_in(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    session: &Session,
    save: Save<'_>,
    (answer, closes): (&str, bool),
) -> Result<(), SessionError> {
    let closed_at = closes.then(|| app.clock.now());
    store::record_save(tx, network, save.player, (save.digest, save.number, answer), closed_at).await?;
    match closed_at {
        Some(at) => Ok(leave_in(app, tx, network, session, at).await?),
        None => Ok(()),
    }
}

/// Begins the time without the player on a server.
pub fn note_leave(app: &App, network: NetworkId, player: PlayerId) {
    app.state::<PlayerSessions>().moved(network, player, true, app.clock.moment());
}

/// Ends the time without the player on a server.
pub fn note_join(app: &App, network: NetworkId, player: PlayerId) {
    app.state::<PlayerSessions>().moved(network, player, false, app.clock.moment());
}
