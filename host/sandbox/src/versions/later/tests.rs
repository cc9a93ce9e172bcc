//! Modules of two versions, side by side.

use crate::contract::chat::{Decision, Line, Mute};
use crate::contract::{PlayerRef, Point};
use crate::{
    Call, Chain, Compiler, EmptyHost, FilterChat, Instances, Limits, Link, LinkConfig, MAX_CHAIN_CALLS, Mode,
    ModuleHandle, OnFailure, PrepareError, Prepared, Sandbox, SandboxConfig,
};
use std::sync::Arc;
use std::time::Duration;
use wit_component::StringEncoding;
use wit_parser::Resolve;

const WIT: &str = "package network-hub:module@1.8.0;
    interface types {
        record cause { call-id: string, event-id: option<string>, module: string, version: u32 }
        record call-context {
            call-id: string, network-id: string, now-ms: u64, seed: u64, config: string,
            version: u32, attempt: u32, cause: option<cause>, depth: u32, root-id: string
        }
        record player-ref { uuid: string, name: string }
    }
    interface log {
        enum level { debug, info, warn, error }
        write: func(level: level, message: string, topic: string);
    }
    interface chat {
        use types.{call-context, player-ref};
        record line { player: player-ref, message: string, channel: string, server-id: string }
        variant decision { allow, rewrite(string), refuse(string) }
        record mute { duration-s: u32, reason: string }
        record verdict { decision: decision, mute: option<mute> }
        filter: func(context: call-context, line: line) -> verdict;
    }
    world chat-module { import log; export chat; }";

/// Logs the message with the channel as its topic, rewrites the line to the channel's name, mutes for three seconds. The
/// arguments lie in memory: the message at 112, the channel at 120. So does the answer, at 64.
const LATER: &str = r#"(module
    (import "network-hub:module/log@1.8.0" "write" (func $log (param i32 i32 i32 i32 i32)))
    (memory (export "memory") 1)
    (global $next (mut i32) (i32.const 4096))
    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
        (local $at i32)
        (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
        (global.set $next (i32.add (local.get $at) (local.get 3)))
        (local.get $at))
    (func (export "network-hub:module/chat@1.8.0#filter") (param $arguments i32) (result i32)
        (call $log (i32.const 1)
            (i32.load offset=112 (local.get $arguments)) (i32.load offset=116 (local.get $arguments))
            (i32.load offset=120 (local.get $arguments)) (i32.load offset=124 (local.get $arguments)))
        (i32.store8 (i32.const 64) (i32.const 1))
        (i32.store (i32.const 68) (i32.load offset=120 (local.get $arguments)))
        (i32.store (i32.const 72) (i32.load offset=124 (local.get $arguments)))
        (i32.store8 (i32.const 76) (i32.const 1))
        (i32.store (i32.const 80) (i32.const 3))
        (i32.store (i32.const 84) (i32.const 512))
        (i32.store (i32.const 88) (i32.const 4))
        (i32.const 64))
    (data (i32.const 512) "rude"))"#;

fn later() -> Vec<u8> {
    let mut module = wat::parse_str(LATER).unwrap();
    let mut resolve = Resolve::default();
    let package = resolve.push_str("later.wit", WIT).unwrap();
    let world = resolve.select_world(&[package], Some("chat-module")).unwrap();
    wit_component::embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    module
}

async fn link(sandbox: &Sandbox, prepared: &Prepared, config: &str) -> Arc<Link> {
    let source = Arc::new(prepared.component.clone());
    let module: ModuleHandle = sandbox.load(prepared.id, source).await.unwrap();
    Arc::new(Link::new(LinkConfig {
        module,
        name: prepared.world_version.clone(),
        version: 1,
        config: config.into(),
        on_failure: OnFailure::Refuse,
        mode: Mode::Active,
        instances: Instances::Fresh,
        limits: Limits::of(Point::Chat).with_compute(Duration::from_secs(20)),
        host: Arc::new(EmptyHost),
    }))
}

fn sandbox() -> (Sandbox, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let config = SandboxConfig::new(Compiler::InProcess, folder.path().into(), [7; 32]);
    (Sandbox::new(SandboxConfig { max_calls: 4, ..config }).unwrap(), folder)
}

#[tokio::test]
async fn modules_of_two_versions_run_in_one_chain() {
    let (sandbox, _folder) = sandbox();
    let now = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugins/chat-guard/chat-guard.wasm")).unwrap();
    let now = sandbox.prepare(now).await.unwrap();
    let later = sandbox.prepare(later()).await.unwrap();
    assert_eq!((&*now.world_version, &*later.world_version), ("1.0.0", "1.8.0"));

    let line = Line {
        player: PlayerRef { uuid: "p".into(), name: "Steve".into() },
        message: "heck".into(),
        server_id: "lobby-1".into(),
        server_type: "lobby".into(),
        world: Some("darn".into()),
        rank: None,
    };
    let call = Call { call_id: "1".into(), network_id: "n".into(), now_ms: 1, seed: 4 };
    let guard = link(&sandbox, &now, r#"{"words": ["heck", "darn"]}"#).await;
    let channel = link(&sandbox, &later, "{}").await;

    let muted = Some(Mute { duration_ms: 3000, reason: "rude".into() });
    for (links, decision, logged) in
        [([&guard, &channel], "darn", "darn: ****"), ([&channel, &guard], "****", "darn: heck")]
    {
        let chain = Chain::new(links.map(Arc::clone).to_vec(), MAX_CHAIN_CALLS);
        let outcome = sandbox.run_chain::<FilterChat>(&chain, &call, line.clone()).await;
        assert_eq!(outcome.ruling.decision, Decision::Rewrite(decision.into()));
        assert_eq!(outcome.ruling.mute, muted);
        let logs: Vec<_> =
            outcome.steps.iter().filter_map(|step| step.report.as_ref()).flat_map(|report| &report.logs).collect();
        assert_eq!(logs.iter().map(|line| &*line.message).collect::<Vec<_>>(), [logged]);
    }
}

#[tokio::test]
async fn an_unknown_version_is_refused_with_the_supported_ones() {
    let (sandbox, _folder) = sandbox();
    for unknown in ["2.0.0", "1.9.0", "1.0.1", "0.9.0"] {
        let upload = format!(r#"(component (import "network-hub:module/log@{unknown}" (instance)))"#);
        let Err(PrepareError::Invalid(why)) = sandbox.prepare(wat::parse_str(upload).unwrap()).await else {
            panic!("{unknown} became a module")
        };
        assert!(why.contains(unknown) && why.contains("this hub supports 1.8.0, 1.1.0, 1.0.0"), "{why}");
    }
}
