//! The trial call: each exported function once, with a small made-up input, before an upload is accepted.

use crate::call::CallOptions;
use crate::chain::Link;
use crate::contract::endpoints::Request;
use crate::contract::events::Event;
use crate::contract::matchmaking::{GameState, MatchRequest, ServerCandidate, WorldCandidate};
use crate::contract::schedules::{Tick, Timer};
use crate::contract::{CallContext, PlayerRef, Point, PunishmentKind, chat, economy, login, punishment, queue};
use crate::error::PrepareError;
use crate::host::EmptyHost;
use crate::limits::Limits;
use crate::manifest::{Manifest, Method};
use crate::module::LoadedModule;
use crate::operation::{
    AnswerRequest, Candidates, CheckLogin, FilterChat, FireTimer, HandleEvent, Operation, PlaceTicket, RankServers,
    RankWorlds, ReviewChange, ReviewPunishment, RunTick,
};
use crate::priority::Priority;
use crate::report::CallFailure;
use crate::sandbox::Sandbox;
use crate::texts::{PlainCandidate, PlainTexts};
use crate::time::CallTime;
use std::sync::Arc;
use std::time::Duration;

/// Trials run at background priority and are limited by fuel and memory: no module that ends within its fuel computes
/// for this long.
const COMPUTE: Duration = Duration::from_secs(20);

impl Sandbox {
    /// Makes the trial calls of a link's module at a point, with its configuration and limits.
    ///
    /// # Errors
    /// The failure, and the last log line.
    pub async fn run_trial(&self, link: &Link, point: Point) -> Result<(), String> {
        self.run_trial_of(link, point, None).await
    }

    /// Variant of [`Sandbox::run_trial`] for a module with a manifest, which decides what a handler is tried with.
    ///
    /// # Errors
    /// The failure, and the last log line.
    pub async fn run_trial_of(&self, link: &Link, point: Point, manifest: Option<&Manifest>) -> Result<(), String> {
        let config = link.config();
        // A module's loading does not depend on its configuration.
        let Ok(loaded) = self.load_code(&config.module.0).await else { return Ok(()) };
        let network = config.module.0.source.network();
        let trial = Trial { sandbox: self, network: &network, module: &loaded, config: &config.config, manifest };
        match trial.run(point, link.limits()).await {
            Err(failure) if !failure.is_hubs => Err(failure.message),
            _ => Ok(()),
        }
    }
}

/// A trial call that failed.
pub(crate) struct TrialFailure {
    /// The failure, and the last log line.
    message: String,
    /// Backtrace; may be empty.
    backtrace: String,
    /// True if the failure does not reflect on the module.
    is_hubs: bool,
}

impl From<TrialFailure> for PrepareError {
    fn from(failure: TrialFailure) -> Self {
        match failure {
            TrialFailure { message, is_hubs: true, .. } => Self::Internal(message),
            TrialFailure { message, backtrace, .. } if backtrace.is_empty() => Self::Invalid(message),
            TrialFailure { message, backtrace, .. } => Self::Invalid(format!("{message}\n{backtrace}")),
        }
    }
}

/// Makes a trial call of every function of a module.
pub(crate) async fn run(
    sandbox: &Sandbox,
    network: &str,
    module: &Arc<LoadedModule>,
    points: &[Point],
    manifest: Option<&Manifest>,
) -> Result<(), TrialFailure> {
    let trial = Trial { sandbox, network, module, config: "{}", manifest };
    for &point in points {
        trial.run(point, Limits::of(point)).await?;
    }
    Ok(())
}

/// The trial calls of a module.
struct Trial<'a> {
    sandbox: &'a Sandbox,
    network: &'a str,
    module: &'a Arc<LoadedModule>,
    config: &'a str,
    manifest: Option<&'a Manifest>,
}

impl Trial<'_> {
    async fn run(&self, point: Point, limits: Limits) -> Result<(), TrialFailure> {
        let limits = limits.with_compute(COMPUTE);
        match point {
            Point::Matchmaking => {
                self.attempt::<RankServers>(limits, servers()).await?;
                self.attempt::<RankWorlds>(limits, worlds()).await
            }
            Point::Chat => self.attempt::<FilterChat>(limits, line()).await,
            Point::Punishment => self.attempt::<ReviewPunishment>(limits, proposal()).await,
            Point::Events => self.attempt::<HandleEvent>(limits, event(self.manifest)).await,
            Point::Endpoints => self.attempt::<AnswerRequest>(limits, endpoint_request(self.manifest)).await,
            Point::Schedules => self.run_schedules(limits).await,
            Point::Login => self.attempt::<CheckLogin>(limits, login_attempt()).await,
            Point::Economy => self.attempt::<ReviewChange>(limits, change()).await,
            Point::Queue => self.attempt::<PlaceTicket>(limits, ticket()).await,
        }
    }

    /// Calls those of its two functions that it exports.
    async fn run_schedules(&self, limits: Limits) -> Result<(), TrialFailure> {
        if self.module.export(RunTick::POINT, RunTick::NAME).is_some() {
            self.attempt::<RunTick>(limits, tick(self.manifest)).await?;
        }
        if self.module.export(FireTimer::POINT, FireTimer::NAME).is_some() {
            let timer = Timer { key: "trial".into(), at_ms: 1_700_000_000_000, payload: "{}".into() };
            self.attempt::<FireTimer>(limits, timer).await?;
        }
        Ok(())
    }

    async fn attempt<O: Operation>(&self, limits: Limits, input: O::Input) -> Result<(), TrialFailure> {
        let context = CallContext {
            call_id: "trial".into(),
            network_id: self.network.into(),
            now_ms: 1_700_000_000_000,
            seed: 1,
            config: self.config.into(),
            root_id: "trial".into(),
            ..CallContext::default()
        };
        let (time, module) = (CallTime::new(&self.sandbox.0.clock, &limits), Arc::clone(self.module));
        let options = CallOptions { priority: Priority::Background, ..CallOptions::default() };
        let (host, input) = (Arc::new(EmptyHost), Arc::new(input));
        let report = self.sandbox.run::<O>(options, module, limits, time, host, context, input).await;
        let Err(failure) = report.result else {
            return Ok(());
        };
        let mut message = format!("its trial call of {}.{} failed: {failure}", O::POINT, O::NAME);
        if let Some(last) = report.logs.last() {
            message = format!("{message}. Last log line: {}", last.message);
        }
        let is_hubs = matches!(failure, CallFailure::Late(_));
        let backtrace = match failure {
            CallFailure::Trap { backtrace, .. } => backtrace,
            _ => String::new(),
        };
        Err(TrialFailure { message, backtrace, is_hubs })
    }
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

fn login_attempt() -> login::Attempt {
    login::Attempt {
        player: player(),
        ip_hash: Some("trial".into()),
        region: "EUROPE".into(),
        server_id: "trial-1".into(),
        first_join: true,
    }
}

fn change() -> economy::Change {
    let amount = 25_000;
    let operation =
        economy::Operation { owner_type: "player".into(), owner_key: player().uuid, currency: "trial".into(), amount };
    economy::Change {
        kind: economy::ChangeKind::Modify,
        operations: vec![operation],
        reason: Some("Trial".into()),
        server_id: Some("trial-1".into()),
    }
}

fn ticket() -> queue::Ticket {
    queue::Ticket {
        player: player(),
        members: vec![],
        server_type: "trial".into(),
        world_type: None,
        region: Some("EUROPE".into()),
    }
}

/// A request to the first endpoint of the module, with an empty object as its body.
fn endpoint_request(manifest: Option<&Manifest>) -> Request {
    let endpoint = manifest.and_then(|manifest| manifest.endpoints.first());
    let path = endpoint.map_or("trial", |endpoint| &endpoint.path);
    let names = path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    let parameters = names.map(|name| (name.to_owned(), "trial".to_owned())).collect();
    let method = endpoint.map_or(Method::Post, |endpoint| endpoint.method);
    let body = if method == Method::Get { vec![] } else { b"{}".to_vec() };
    Request {
        endpoint: endpoint.map_or("trial", |endpoint| &endpoint.name).to_owned(),
        method: method.name().to_owned(),
        path: path.replace(['{', '}'], ""),
        parameters,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body,
        address_hash: "trial".to_owned(),
        ..Request::default()
    }
}

/// A tick of the first schedule that the module declares.
fn tick(manifest: Option<&Manifest>) -> Tick {
    let schedule = manifest.and_then(|manifest| manifest.schedules.first());
    let schedule = schedule.map_or("trial", |schedule| schedule.name.as_str());
    Tick { schedule: schedule.into(), due_at_ms: 1_700_000_000_000, missed: 0, manual: false }
}

/// An event of the first type that the module handles, with the fields that events commonly have.
fn event(manifest: Option<&Manifest>) -> Event {
    let types = manifest.and_then(|manifest| Some(&manifest.events.as_ref()?.types));
    let kind = types.and_then(|types| types.first()).map_or("FIRST_JOIN", String::as_str);
    let PlayerRef { uuid, name } = player();
    let at_ms = 1_700_000_000_000_u64;
    let data = serde_json::json!({
        "type": kind, "at": at_ms, "playerUuid": uuid, "playerName": name, "serverId": "trial-1",
        "serverType": "trial", "worldId": null, "ownerType": "player", "ownerKey": uuid, "currencyName": "coins",
        "balance": 12.5, "applied": 2.5, "ledgerId": 1, "name": "trial", "gameMode": "global", "delta": 1, "value": 1,
        "namespace": "trial", "version": 1, "sizeBytes": 2, "deleted": false, "fence": 1, "key": uuid,
        "module": "trial", "payload": {}, "reason": "Trial", "id": 1, "message": "Hello, world!", "text": "Hello, world!",
    });
    Event {
        id: "trial".into(),
        kind: kind.into(),
        at_ms,
        key: uuid.clone(),
        player_uuid: Some(uuid),
        player_name: Some(name),
        server_id: Some("trial-1".into()),
        data: data.to_string(),
    }
}
