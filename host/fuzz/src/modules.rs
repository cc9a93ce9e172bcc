//! Shared parts of the targets with modules.

use hub_sandbox::contract::HostError;
use hub_sandbox::contract::PunishmentKind;
use hub_sandbox::contract::players::{Location, PermissionState, Punishment};
use hub_sandbox::{BoxFuture, Compiler, Host, HostAnswer, HostCall, Sandbox, SandboxConfig};
use std::path::Path;
use wit_component::StringEncoding;
use wit_parser::Resolve;

/// A sandbox that compiles in this process, so that the compiler is fuzzed too.
pub fn sandbox(folder: &Path) -> Sandbox {
    let config = SandboxConfig {
        max_calls: 4,
        cache_bytes: 8 << 20,
        ..SandboxConfig::new(Compiler::InProcess, folder.into(), [7; 32])
    };
    Sandbox::new(config).expect("the sandbox starts")
}

/// A core module with the type of one of the contract's worlds.
pub fn embed(world: &str, mut core: Vec<u8>) -> Option<Vec<u8>> {
    let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins-sdk/wit/1.0");
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(wit).expect("the contract is there");
    let world = resolve.select_world(&[package], Some(world)).expect("the world is there");
    wit_component::embed_component_metadata(&mut core, &resolve, world, StringEncoding::UTF8).ok()?;
    Some(core)
}

/// A host that answers every call, some with long answers.
pub struct VerboseHost;

impl Host for VerboseHost {
    fn answer<'a>(&'a self, call: &'a HostCall) -> BoxFuture<'a, Result<HostAnswer, HostError>> {
        let answer = match call {
            HostCall::StoreGet { key } => Ok(HostAnswer::Value((key.len() > 1).then(|| key.repeat(200)))),
            HostCall::StoreSet { .. } => Err(HostError::QuotaExceeded),
            HostCall::StoreIncrement { by, .. } => Ok(HostAnswer::Number(*by)),
            HostCall::StoreDelete { key } => Ok(HostAnswer::Deleted(key.len() > 1)),
            HostCall::StateGet { keys } => Ok(HostAnswer::Values(keys.iter().map(|key| Some(key.repeat(200))).collect())),
            HostCall::StateList { .. } => Err(HostError::Forbidden),
            HostCall::Statistics { players, .. } => {
                Ok(HostAnswer::Statistics(players.iter().map(|player| Some(player.len() as f64)).collect()))
            }
            HostCall::Balance { player, .. } => Ok(HostAnswer::Balance(Some(player.len() as i64))),
            HostCall::Permission { .. } => Ok(HostAnswer::Permission(PermissionState::Denied)),
            HostCall::Punishments { filter, .. } => {
                Ok(HostAnswer::Punishments((0..u64::from(filter.limit)).map(punishment).collect()))
            }
            HostCall::Online { player } => Ok(HostAnswer::Online(Some(Location {
                server_id: player.clone(),
                server_type: "lobby".into(),
                world_id: Some("world".into()),
            }))),
            HostCall::OnlinePlayers { .. } | HostCall::PlayersOn { .. } => Ok(HostAnswer::Players(vec!["somebody".into(); 200])),
        };
        Box::pin(std::future::ready(answer))
    }
}

fn punishment(id: u64) -> Punishment {
    Punishment {
        id,
        kind: PunishmentKind::Warn,
        reason: "because ".repeat(id as usize % 32),
        issued_at_ms: id,
        duration_ms: id.is_multiple_of(2).then_some(id),
        ip_based: false,
        issuer_name: Some("Alex".into()),
        active: true,
        revoked: false,
        expired: false,
    }
}
