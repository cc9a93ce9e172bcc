//! The server's presence at the hub: registration, heartbeats and the changes of players. One request at a time, so that the hub
//! sees everything in the order it happened.

use std::collections::BTreeMap;
use std::time::Duration;

use parking_lot::Mutex;
use reqwest::StatusCode;
use tokio::select;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};
use uuid::Uuid;

use super::options::ServerState;
use super::outbox::{ChangeKind, PlayerChange, PlayerOutbox};
use crate::model::{HeartbeatPlayer, ServerHeartbeat, ServerRegistration, ServerSession};
use crate::{HubClient, HubError, LoadOptions, RetryPolicy};

const DELAYS: RetryPolicy = RetryPolicy::delays(1, 250, 5_000);
/// Short, so that several heartbeats fit in before the hub takes the server for offline.
const TIMEOUT: Duration = Duration::from_secs(5);
const OUTBOX_CAPACITY: usize = 20_000;
/// A visit that is older may be over because the player is on another server by now.
const RECENT: Duration = Duration::from_secs(2);
/// From a change of state to the heartbeat that reports it, so that several changes are one.
const STATE_DELAY: Duration = Duration::from_millis(200);

pub(super) struct Session {
    client: HubClient,
    info: ServerRegistration,
    state: Mutex<State>,
    wake: Notify,
    stopping: CancellationToken,
}

struct State {
    server: ServerState,
    outbox: PlayerOutbox,
    /// Players that were reported to the hub.
    reported: BTreeMap<Uuid, String>,
    is_registered: bool,
    failures: u32,
    last_error: Option<String>,
    not_before: Instant,
    interval: Duration,
    next_beat: Instant,
    stop_at: Option<Instant>,
}

enum Step {
    Register(ServerState),
    Beat(ServerState, Vec<HeartbeatPlayer>),
    Send(PlayerChange),
    /// A join of long ago, and the leave that ended the visit.
    CheckVisit(PlayerChange, u64),
    Wait(Instant),
    Stop,
}

/// State of the session.
pub(super) struct SessionStatus {
    pub(super) is_registered: bool,
    pub(super) pending_changes: usize,
    pub(super) last_error: Option<String>,
}

impl Session {
    pub(super) fn new(client: &HubClient, info: ServerRegistration, server: ServerState) -> Self {
        let now = Instant::now();
        let state = State {
            server,
            outbox: PlayerOutbox::new(OUTBOX_CAPACITY),
            reported: BTreeMap::new(),
            is_registered: false,
            failures: 0,
            last_error: None,
            not_before: now,
            interval: Duration::from_secs(5),
            next_beat: now,
            stop_at: None,
        };
        // Repeats are made here, where their order is known.
        let client = client.with_retries(RetryPolicy::NONE).with_timeout(TIMEOUT);
        Self { client, info, state: Mutex::new(state), wake: Notify::new(), stopping: CancellationToken::new() }
    }

    pub(super) fn add(&self, player: Uuid, kind: ChangeKind) {
        let mut state = self.state.lock();
        if state.stop_at.is_some() {
            return;
        }
        let dropped = state.outbox.add(player, kind);
        if dropped > 0 {
            warn!("the hub was away for so long that {dropped} changes of players were dropped");
        }
        self.wake.notify_one();
    }

    pub(super) fn set_state(&self, server: ServerState) {
        let mut state = self.state.lock();
        state.server = server;
        state.next_beat = state.next_beat.min(Instant::now() + STATE_DELAY);
        self.wake.notify_one();
    }

    /// Registers again, to learn of changes since.
    pub(super) fn register_again(&self) {
        self.state.lock().is_registered = false;
        self.wake.notify_one();
    }

    pub(super) fn has_pending_changes(&self, player: Uuid) -> bool {
        self.state.lock().outbox.concerns(player)
    }

    pub(super) fn status(&self) -> SessionStatus {
        let state = self.state.lock();
        SessionStatus {
            is_registered: state.is_registered && state.failures == 0,
            pending_changes: state.outbox.len(),
            last_error: state.last_error.clone(),
        }
    }

    /// Lets `run` report pending changes within the patience, and end.
    pub(super) fn stop(&self, patience: Duration) {
        self.state.lock().stop_at.get_or_insert(Instant::now() + patience);
        self.stopping.cancel();
        self.wake.notify_one();
    }

    /// Makes one request after the other until it is stopped; then takes the server offline.
    pub(super) async fn run(&self, on_registering: impl Fn(), on_registered: impl Fn(ServerSession)) {
        loop {
            let step = self.state.lock().next_step(Instant::now());
            let work = async {
                match step {
                    Step::Wait(until) => select! {
                        () = sleep_until(until) => {}
                        () = self.wake.notified() => {}
                    },
                    Step::Stop => return true,
                    Step::Register(state) => {
                        on_registering();
                        self.register(state, &on_registered).await;
                    }
                    Step::Beat(state, players) => self.beat(state, players).await,
                    Step::Send(change) => self.send(&change).await,
                    Step::CheckVisit(join, leave) => self.check_visit(&join, leave).await,
                }
                false
            };
            let is_over = select! {
                is_over = work => is_over,
                () = self.patience_ends() => true,
            };
            if is_over {
                break;
            }
        }
        if let Err(error) = self.client.unregister_server(&self.info.server_id).await {
            warn!("the hub was not told that the server stops: {}", error.message());
        }
    }

    async fn patience_ends(&self) {
        self.stopping.cancelled().await;
        let until = self.state.lock().stop_at;
        if let Some(until) = until {
            sleep_until(until).await;
        }
    }

    async fn register(&self, server: ServerState, on_registered: &impl Fn(ServerSession)) {
        let ServerState { game_state, players_to_start, worlds } = server;
        let registration = ServerRegistration { game_state, players_to_start, worlds, ..self.info.clone() };
        let answer = self.client.register_server(&registration).await;
        let Some(registered) = self.note(answer, State::delay) else { return };
        {
            let mut state = self.state.lock();
            state.is_registered = true;
            state.interval = Duration::from_millis(registered.heartbeat_interval_ms.max(1).unsigned_abs());
            state.next_beat = Instant::now();
        }
        on_registered(registered);
    }

    async fn beat(&self, server: ServerState, players: Vec<HeartbeatPlayer>) {
        let ServerState { game_state, players_to_start, worlds } = server;
        let (server_id, players) = (self.info.server_id.clone(), Some(players));
        let rest = ServerHeartbeat::default();
        let heartbeat = ServerHeartbeat { game_state, players, players_to_start, server_id, worlds, ..rest };
        let answer = self.client.send_heartbeat(&heartbeat).await;
        self.note(answer, |state, error| {
            state.next_beat = Instant::now();
            state.delay(error);
        });
    }

    async fn send(&self, change: &PlayerChange) {
        let (client, server, player) = (&self.client, self.info.server_id.as_str(), change.player);
        let answer = match &change.kind {
            ChangeKind::Join { name, key } => client.join_server_once(server, player, name, key).await,
            ChangeKind::World { world, previous } => {
                client.change_player_world(server, player, world, previous.as_deref()).await
            }
            ChangeKind::Leave => client.leave_server(server, player).await,
        };
        if self.note(answer, |state, error| state.refuse(change, error)).is_some() {
            self.state.lock().confirm(change);
        }
    }

    /// A player came and went while the hub was away. If they are on another server by now, telling of the join would move them back;
    /// then only the sighting is reported.
    async fn check_visit(&self, join: &PlayerChange, leave: u64) {
        let answer = self.client.get_player(join.player, None).await;
        let Some(profile) = self.note(answer, |state, error| state.refuse(join, error)) else { return };
        let connection = profile.and_then(|profile| profile.connection);
        if connection.is_none_or(|connection| connection.server_id == self.info.server_id) {
            return self.send(join).await;
        }
        if let ChangeKind::Join { name, .. } = &join.kind {
            let options = LoadOptions { username: Some(name.clone()), ..LoadOptions::default() };
            let answer = self.client.load_player(join.player, &options).await;
            if self.note(answer, |state, error| state.refuse(join, error)).is_none() {
                return;
            }
        }
        let mut state = self.state.lock();
        state.outbox.remove_visit(join.player, join.id, leave);
        state.reported.remove(&join.player);
    }

    /// The answer, if the hub gave one; an error is noted.
    fn note<T>(&self, answer: Result<T, HubError>, failed: impl FnOnce(&mut State, &HubError)) -> Option<T> {
        let mut state = self.state.lock();
        match answer {
            Ok(answer) => {
                if state.failures > 0 {
                    info!("the hub answers again; {} changes of players to report", state.outbox.len());
                }
                state.failures = 0;
                state.last_error = None;
                Some(answer)
            }
            Err(error) => {
                failed(&mut state, &error);
                None
            }
        }
    }
}

impl State {
    fn next_step(&mut self, now: Instant) -> Step {
        let until_stop = |until: Instant| Step::Wait(self.stop_at.map_or(until, |stop| stop.min(until)));
        if now < self.not_before {
            return until_stop(self.not_before);
        }
        if !self.is_registered {
            return Step::Register(self.server.clone());
        }
        // Changes go first, but never for so long that the server is taken for offline.
        if now < self.next_beat + self.interval
            && let Some(change) = self.outbox.first()
        {
            let is_join = matches!(change.kind, ChangeKind::Join { .. });
            let is_past = is_join && now - change.made_at > RECENT;
            return match self.outbox.end_of(change).filter(|_| is_past) {
                Some(leave) => Step::CheckVisit(change.clone(), leave),
                None => Step::Send(change.clone()),
            };
        }
        if self.stop_at.is_some() && self.outbox.is_empty() {
            return Step::Stop;
        }
        if now < self.next_beat {
            return until_stop(self.next_beat);
        }
        self.next_beat = now + self.interval;
        let players =
            self.reported.iter().map(|(uuid, name)| HeartbeatPlayer { uuid: *uuid, name: Some(name.clone()) });
        Step::Beat(self.server.clone(), players.collect())
    }

    fn confirm(&mut self, change: &PlayerChange) {
        self.outbox.remove(change.id);
        match &change.kind {
            ChangeKind::Join { name, .. } => {
                self.reported.insert(change.player, name.clone());
            }
            ChangeKind::Leave => {
                self.reported.remove(&change.player);
            }
            ChangeKind::World { .. } => {}
        }
    }

    fn refuse(&mut self, change: &PlayerChange, error: &HubError) {
        if error.is("answer_not_kept") {
            self.confirm(change);
        } else if error.is("unknown_server") {
            self.is_registered = false;
            // A refusal is kept with its key, too.
            if let Some(PlayerChange { kind: ChangeKind::Join { key, .. }, .. }) = self.outbox.first_mut() {
                *key = crate::retry::new_key();
            }
        } else if is_passing(error) {
            self.delay(error);
        } else {
            warn!("the hub refused a change of player {}: {}", change.player, error.message());
            self.outbox.remove(change.id);
            if matches!(change.kind, ChangeKind::Leave) {
                self.reported.remove(&change.player);
            }
        }
    }

    fn delay(&mut self, error: &HubError) {
        if error.is("unknown_server") {
            self.is_registered = false;
            return;
        }
        self.failures += 1;
        self.last_error = Some(error.message());
        if self.failures == 1 {
            warn!("the hub cannot be told of this server: {}", error.message());
        }
        self.not_before = Instant::now() + error.retry_after().unwrap_or_else(|| DELAYS.delay(self.failures));
    }
}

/// True if the error may pass, by itself or once the key is right.
pub(super) fn is_passing(error: &HubError) -> bool {
    let is_key = match error.status() {
        Some(StatusCode::UNAUTHORIZED) => true,
        Some(StatusCode::FORBIDDEN) => !error.is("quota_exceeded"),
        Some(status) => status.is_server_error(),
        None => matches!(error, HubError::InvalidAnswer(_)),
    };
    is_key || error.is_transient()
}
