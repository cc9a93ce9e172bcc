//! Shared sandboxes, hosts and inputs of the tests.

use hub_sandbox::contract::events::Event;
use hub_sandbox::contract::matchmaking::{GameState, MatchRequest, ServerCandidate};
use hub_sandbox::contract::{
    CallContext, HostError, PlayerRef, Point, PunishmentKind, chat, economy, login, punishment, queue,
};
use hub_sandbox::{
    BoxFuture, CallReport, Candidates, Chain, Compiler, Host, HostAnswer, HostCall, Instances, Limits, Link,
    LinkConfig, Mode, ModuleHandle, OnFailure, Operation, PlainCandidate, PlainTexts, PrepareError, Prepared, Sandbox,
    SandboxConfig,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A sandbox that compiles in this process, with its folder.
pub(crate) struct TestSandbox {
    pub(crate) sandbox: Sandbox,
    pub(crate) folder: tempfile::TempDir,
}

pub(crate) fn config(folder: &Path) -> SandboxConfig {
    SandboxConfig { max_calls: 4, ..SandboxConfig::new(Compiler::InProcess, folder.into(), [7; 32]) }
}

impl TestSandbox {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut SandboxConfig)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut config = config(folder.path());
        change(&mut config);
        let sandbox = Sandbox::new(config).unwrap();
        Self { sandbox, folder }
    }

    /// Reason for refusing an upload.
    pub(crate) async fn refusal(&self, upload: Vec<u8>) -> String {
        match self.sandbox.prepare(upload).await {
            Err(PrepareError::Invalid(why)) => why,
            Err(PrepareError::Internal(why)) => panic!("{why}"),
            Ok(_) => panic!("it became a module"),
        }
    }

    pub(crate) async fn module(&self, upload: Vec<u8>) -> ModuleHandle {
        let prepared = self.sandbox.prepare(upload).await.unwrap();
        load(&self.sandbox, prepared).await
    }

    /// Calls a module once, with time for a busy machine.
    pub(crate) async fn call<O: Operation>(&self, upload: Vec<u8>, input: O::Input) -> CallReport<O::Answer> {
        let module = self.module(upload).await;
        self.call_with::<O>(&module, relaxed_limits(O::POINT), Arc::new(StoreHost::default()), "{}", input).await
    }

    pub(crate) async fn call_with<O: Operation>(
        &self,
        module: &ModuleHandle,
        limits: Limits,
        host: Arc<dyn Host>,
        config: &str,
        input: O::Input,
    ) -> CallReport<O::Answer> {
        let context = context(config);
        self.sandbox.call::<O>(module, limits, host, context, Arc::new(input)).await
    }
}

pub(crate) async fn load(sandbox: &Sandbox, prepared: Prepared) -> ModuleHandle {
    let source = Arc::new(prepared.component);
    sandbox.load(prepared.id, source).await.unwrap()
}

/// A link that runs in this mode.
pub(crate) fn link_in(mode: Mode, module: ModuleHandle, name: &str, config: &str) -> Arc<Link> {
    link_as(mode, Instances::Fresh, module, name, config)
}

pub(crate) fn link_as(mode: Mode, instances: Instances, module: ModuleHandle, name: &str, config: &str) -> Arc<Link> {
    let (limits, host) = (relaxed_limits(module.points()[0]), Arc::new(StoreHost::default()));
    let (name, config) = (name.into(), config.into());
    let on_failure = OnFailure::Skip;
    Arc::new(Link::new(LinkConfig { module, name, version: 2, config, mode, instances, on_failure, limits, host }))
}

/// The limits of a point, with time for a busy machine.
pub(crate) fn relaxed_limits(point: Point) -> Limits {
    Limits::of(point).with_compute(Duration::from_secs(20))
}

/// The checked-in component of a starter module.
pub(crate) fn starter(name: &str) -> Vec<u8> {
    std::fs::read(root().join("plugins").join(name).join(format!("{name}.wasm"))).unwrap()
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn context(config: &str) -> CallContext {
    CallContext {
        call_id: "call".into(),
        network_id: "network".into(),
        now_ms: NOW,
        seed: 42,
        config: config.into(),
        ..CallContext::default()
    }
}

pub(crate) const NOW: u64 = 1_700_000_000_000;

pub(crate) fn player() -> PlayerRef {
    PlayerRef { uuid: "6f1c1c1e-0000-4000-8000-000000000001".into(), name: "Steve".into() }
}

pub(crate) fn line(message: &str) -> chat::Line {
    chat::Line {
        player: player(),
        message: message.into(),
        server_id: "lobby-1".into(),
        server_type: "lobby".into(),
        world: None,
        rank: Some("VIP".into()),
    }
}

pub(crate) fn proposal(kind: PunishmentKind) -> punishment::Proposal {
    punishment::Proposal {
        player_uuid: Some(player().uuid),
        player_name: Some(player().name),
        terms: punishment::Terms { kind, duration_ms: Some(60_000), reason: "spam".into() },
        ip_based: false,
        issuer_uuid: None,
        issuer_name: Some("Alex".into()),
    }
}

/// A player who wants to join.
pub(crate) fn login_attempt() -> login::Attempt {
    login::Attempt {
        player: player(),
        ip_hash: Some("b1946ac9".into()),
        region: "EUROPE".into(),
        server_id: "lobby-1".into(),
        first_join: false,
    }
}

/// A single change of a player's coins.
pub(crate) fn change(amount: i64) -> economy::Change {
    let (owner_type, owner_key, currency) = ("player".into(), player().uuid, "coins".into());
    economy::Change {
        kind: economy::ChangeKind::Modify,
        operations: vec![economy::Operation { owner_type, owner_key, currency, amount }],
        reason: Some("quest".into()),
        server_id: Some("lobby-1".into()),
    }
}

/// A ticket of one player.
pub(crate) fn ticket() -> queue::Ticket {
    queue::Ticket {
        player: player(),
        members: vec![],
        server_type: "bedwars".into(),
        world_type: None,
        region: Some("EUROPE".into()),
    }
}

/// An event of a player.
pub(crate) fn event(kind: &str) -> Event {
    Event {
        id: "1700000000000-1".into(),
        kind: kind.into(),
        at_ms: NOW,
        key: player().uuid,
        player_uuid: Some(player().uuid),
        player_name: Some(player().name),
        server_id: Some("lobby-1".into()),
        data: format!(r#"{{"type": "{kind}", "at": {NOW}, "playerUuid": "{}"}}"#, player().uuid),
    }
}

/// Regions of [`servers`]: UNKNOWN, EUROPE, ASIA.
pub(crate) const EUROPE: u16 = 1;

/// Servers in these regions, for a player in Europe.
pub(crate) fn servers(regions: &[u16]) -> Candidates<ServerCandidate> {
    let candidate = |&region| ServerCandidate {
        index: 0,
        region,
        state: GameState::Idle,
        affinity: false,
        current_players: 3,
        max_players: 20,
        free_slots: 17,
        players_to_start: 0,
        players_needed: 0,
    };
    let texts = |number| PlainCandidate { server_id: format!("s-{number}"), ..PlainCandidate::default() };
    let request = MatchRequest {
        player_uuid: Some(player().uuid),
        player_name: Some(player().name),
        region: EUROPE,
        server_type: "lobby".into(),
        world_type: None,
        affinity_game_id: None,
        affinity_owner_scope: None,
        affinity_owner_id: None,
    };
    let texts = PlainTexts {
        candidates: (0..regions.len()).map(texts).collect(),
        regions: ["UNKNOWN", "EUROPE", "ASIA"].map(String::from).to_vec(),
    };
    Candidates::new(Arc::new(request), regions.iter().map(candidate).collect(), Arc::new(texts))
}

pub(crate) fn link(module: ModuleHandle, name: &str, config: &str, on_failure: OnFailure) -> Arc<Link> {
    let point = module.points()[0];
    link_with(module, name, config, on_failure, relaxed_limits(point), Arc::new(StoreHost::default()))
}

pub(crate) fn link_with(
    module: ModuleHandle,
    name: &str,
    config: &str,
    on_failure: OnFailure,
    limits: Limits,
    host: Arc<dyn Host>,
) -> Arc<Link> {
    Arc::new(Link::new(LinkConfig {
        module,
        name: name.into(),
        version: 1,
        config: config.into(),
        mode: Mode::Active,
        instances: Instances::Fresh,
        on_failure,
        limits,
        host,
    }))
}

pub(crate) fn chain(links: &[Arc<Link>]) -> Chain {
    Chain::new(links.to_vec(), 8)
}

pub(crate) fn call(now_ms: u64) -> hub_sandbox::Call {
    hub_sandbox::Call { call_id: "call".into(), network_id: "network".into(), now_ms, seed: 42 }
}

/// A host with a key-value store that never expires, and one player's record.
#[derive(Default)]
pub(crate) struct StoreHost {
    pub(crate) numbers: Mutex<BTreeMap<String, i64>>,
    pub(crate) record: Vec<hub_sandbox::contract::players::Punishment>,
}

impl Host for StoreHost {
    fn answer<'a>(&'a self, call: &'a HostCall) -> BoxFuture<'a, Result<HostAnswer, HostError>> {
        let answer = match call {
            HostCall::StoreIncrement { key, by, .. } => {
                let mut numbers = self.numbers.lock().unwrap();
                let number = numbers.entry(key.clone()).or_default();
                *number += by;
                Ok(HostAnswer::Number(*number))
            }
            HostCall::StoreDelete { key } => {
                let deleted = self.numbers.lock().unwrap().remove(key).is_some();
                Ok(HostAnswer::Deleted(deleted))
            }
            HostCall::Punishments { .. } => Ok(HostAnswer::Punishments(self.record.clone())),
            _ => Err(HostError::Unavailable),
        };
        Box::pin(std::future::ready(answer))
    }
}

/// A host that never answers.
pub(crate) struct SilentHost;

impl Host for SilentHost {
    fn answer<'a>(&'a self, _: &'a HostCall) -> BoxFuture<'a, Result<HostAnswer, HostError>> {
        Box::pin(std::future::pending())
    }
}
