//! The trial call: each exported function once, with a small made-up input, before an upload counts as a module.

use crate::call::Terms;
use crate::chain::LinkConfig;
use crate::clock::monotonic;
use crate::contract::matchmaking::{GameState, MatchRequest, ServerCandidate, WorldCandidate};
use crate::contract::{CallContext, PlayerRef, Point, PunishmentKind, chat, punishment};
use crate::host::EmptyHost;
use crate::limits::Limits;
use crate::module::Ready;
use crate::operation::{Candidates, FilterChat, Operation, RankServers, RankWorlds, ReviewPunishment};
use crate::report::CallFailure;
use crate::sandbox::Sandbox;
use crate::texts::{PlainCandidate, PlainTexts};
use std::sync::Arc;
use std::time::Duration;

/// It gives way to everything else, so time is not what a trial judges; fuel and memory are.
const WALL: Duration = Duration::from_secs(20);

impl Sandbox {
    /// Tries a module as it would run in a chain: with its configuration, a made-up input and a hub without data.
    ///
    /// # Errors
    /// How it failed, and what it last logged, for whoever configured it.
    pub async fn try_out(&self, link: &LinkConfig) -> Result<(), String> {
        // A module that can't be loaded now says nothing about its configuration.
        let Ok(ready) = self.ready(&link.module.0).await else { return Ok(()) };
        let tried = run(self, &link.module.0.source.network(), &ready, link.module.points(), &link.config).await;
        tried.map_err(|failed| failed.said)
    }
}

/// A trial call that failed.
pub(crate) struct Failed {
    /// How, and what it last logged.
    said: String,
    /// Where; may be empty.
    backtrace: String,
}

impl Failed {
    /// All of it, for the module's author.
    pub(crate) fn in_full(self) -> String {
        if self.backtrace.is_empty() { self.said } else { format!("{}\n{}", self.said, self.backtrace) }
    }
}

/// Tries every function of the points.
pub(crate) async fn run(
    sandbox: &Sandbox,
    network: &str,
    ready: &Arc<Ready>,
    points: &[Point],
    config: &str,
) -> Result<(), Failed> {
    for point in points {
        match point {
            Point::Matchmaking => {
                attempt::<RankServers>(sandbox, network, ready, config, servers()).await?;
                attempt::<RankWorlds>(sandbox, network, ready, config, worlds()).await?;
            }
            Point::Chat => attempt::<FilterChat>(sandbox, network, ready, config, line()).await?,
            Point::Punishment => attempt::<ReviewPunishment>(sandbox, network, ready, config, proposal()).await?,
        }
    }
    Ok(())
}

async fn attempt<O: Operation>(
    sandbox: &Sandbox,
    network: &str,
    ready: &Arc<Ready>,
    config: &str,
    input: O::Input,
) -> Result<(), Failed> {
    let limits = Limits { wall: WALL, ..Limits::of(O::POINT) };
    let context = CallContext {
        call_id: "trial".into(),
        network_id: network.into(),
        now_ms: 1_700_000_000_000,
        seed: 1,
        config: config.into(),
    };
    let deadline = monotonic() + limits.wall;
    let terms = Terms { gives_way: true, ..Terms::default() };
    let report = sandbox
        .run::<O>(terms, Arc::clone(ready), limits, deadline, Arc::new(EmptyHost), context, Arc::new(input))
        .await;
    let Err(failure) = report.result else {
        return Ok(());
    };
    let function = O::POINT.functions().get(O::FUNCTION).unwrap_or(&"");
    let mut said = format!("its trial call of {}.{function} failed: {failure}", O::POINT);
    if let Some(last) = report.logs.last() {
        said = format!("{said}. It last logged: {}", last.message);
    }
    let backtrace = match failure {
        CallFailure::Trap { backtrace, .. } => backtrace,
        _ => String::new(),
    };
    Err(Failed { said, backtrace })
}

fn player() -> PlayerRef {
    PlayerRef { uuid: "00000000-0000-4000-8000-000000000001".into(), name: "Trial".into() }
}

fn request(world_type: Option<String>) -> Arc<MatchRequest> {
    Arc::new(MatchRequest {
        player_uuid: Some(player().uuid),
        player_name: Some(player().name),
        region: 1,
        server_type: "trial".into(),
        world_type,
        affinity_game_id: None,
        affinity_owner_scope: None,
        affinity_owner_id: None,
    })
}

fn texts(world_id: &str) -> Arc<PlainTexts> {
    let candidate = |number: u32| PlainCandidate {
        server_id: format!("trial-{number}"),
        server_type: "trial".into(),
        display_name: format!("Trial {number}"),
        world_id: world_id.into(),
        world_type: world_id.into(),
        state_name: "WAITING".into(),
    };
    Arc::new(PlainTexts {
        candidates: vec![candidate(1), candidate(2)],
        regions: vec!["UNKNOWN".into(), "EUROPE".into()],
    })
}

fn servers() -> Candidates<ServerCandidate> {
    let server = |region, current_players| ServerCandidate {
        index: 0,
        region,
        state: GameState::Waiting,
        affinity: false,
        current_players,
        max_players: 16,
        free_slots: 16 - current_players,
        players_to_start: 8,
        players_needed: 8 - current_players,
    };
    Candidates::new(request(None), vec![server(0, 2), server(1, 5)], texts(""))
}

fn worlds() -> Candidates<WorldCandidate> {
    let world = |region, current_players, server| WorldCandidate {
        index: 0,
        region,
        state: GameState::Idle,
        affinity: false,
        current_players,
        max_players: 16,
        free_slots: 16 - current_players,
        players_to_start: 0,
        players_needed: 0,
        server,
        server_free_slots: 100,
    };
    Candidates::new(request(Some("trial".into())), vec![world(0, 0, 0), world(1, 5, 1)], texts("trial"))
}

fn line() -> chat::Line {
    chat::Line {
        player: player(),
        message: "Hello, world!".into(),
        server_id: "trial-1".into(),
        server_type: "trial".into(),
        world: Some("trial".into()),
        rank: None,
    }
}

fn proposal() -> punishment::Proposal {
    punishment::Proposal {
        player_uuid: Some(player().uuid),
        player_name: Some(player().name),
        terms: punishment::Terms { kind: PunishmentKind::Mute, duration_ms: Some(60_000), reason: "Trial".into() },
        ip_based: false,
        issuer_uuid: None,
        issuer_name: None,
    }
}
