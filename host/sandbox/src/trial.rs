//! The trial call: each exported function once, with a small made-up input, before an upload is accepted.

use crate::call::CallOptions;
use crate::chain::link::LinkConfig;
use crate::clock::monotonic;
use crate::contract::matchmaking::{GameState, MatchRequest, ServerCandidate, WorldCandidate};
use crate::contract::{CallContext, PlayerRef, Point, PunishmentKind, chat, punishment};
use crate::host::EmptyHost;
use crate::limits::Limits;
use crate::module::LoadedModule;
use crate::operation::{Candidates, FilterChat, Operation, RankServers, RankWorlds, ReviewPunishment};
use crate::priority::Priority;
use crate::report::CallFailure;
use crate::sandbox::Sandbox;
use crate::texts::{PlainCandidate, PlainTexts};
use std::sync::Arc;
use std::time::Duration;

/// Trials run at background priority, so they are limited by fuel and memory rather than by time.
const WALL: Duration = Duration::from_secs(20);

impl Sandbox {
    /// Makes the trial calls of a module with its configuration in a chain.
    ///
    /// # Errors
    /// How it failed, and what it last logged.
    pub async fn run_trial(&self, link: &LinkConfig) -> Result<(), String> {
        // Whether a module can be loaded does not depend on its configuration.
        let Ok(loaded) = self.load_code(&link.module.0).await else { return Ok(()) };
        let tried = run(self, &link.module.0.source.network(), &loaded, link.module.points(), &link.config).await;
        tried.map_err(|failure| failure.message)
    }
}

/// A trial call that failed.
pub(crate) struct TrialFailure {
    /// How, and what it last logged.
    message: String,
    /// Where; may be empty.
    backtrace: String,
}

impl TrialFailure {
    /// For the module's author.
    pub(crate) fn with_backtrace(self) -> String {
        if self.backtrace.is_empty() { self.message } else { format!("{}\n{}", self.message, self.backtrace) }
    }
}

/// Makes a trial call of every function of the points.
pub(crate) async fn run(
    sandbox: &Sandbox,
    network: &str,
    module: &Arc<LoadedModule>,
    points: &[Point],
    config: &str,
) -> Result<(), TrialFailure> {
    for point in points {
        match point {
            Point::Matchmaking => {
                attempt::<RankServers>(sandbox, network, module, config, servers()).await?;
                attempt::<RankWorlds>(sandbox, network, module, config, worlds()).await?;
            }
            Point::Chat => attempt::<FilterChat>(sandbox, network, module, config, line()).await?,
            Point::Punishment => attempt::<ReviewPunishment>(sandbox, network, module, config, proposal()).await?,
        }
    }
    Ok(())
}

async fn attempt<O: Operation>(
    sandbox: &Sandbox,
    network: &str,
    module: &Arc<LoadedModule>,
    config: &str,
    input: O::Input,
) -> Result<(), TrialFailure> {
    let limits = Limits { wall: WALL, ..Limits::of(O::POINT) };
    let context = CallContext {
        call_id: "trial".into(),
        network_id: network.into(),
        now_ms: 1_700_000_000_000,
        seed: 1,
        config: config.into(),
    };
    let deadline = monotonic() + limits.wall;
    let options = CallOptions { priority: Priority::Background, ..CallOptions::default() };
    let report = sandbox
        .run::<O>(options, Arc::clone(module), limits, deadline, Arc::new(EmptyHost), context, Arc::new(input))
        .await;
    let Err(failure) = report.result else {
        return Ok(());
    };
    let mut message = format!("its trial call of {}.{} failed: {failure}", O::POINT, O::NAME);
    if let Some(last) = report.logs.last() {
        message = format!("{message}. It last logged: {}", last.message);
    }
    let backtrace = match failure {
        CallFailure::Trap { backtrace, .. } => backtrace,
        _ => String::new(),
    };
    Err(TrialFailure { message, backtrace })
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
