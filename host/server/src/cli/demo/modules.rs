//! Uploads and activates the starter modules, as the demo network's owner.

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::cli::client::HubClient;
use crate::cli::module::wait_until_compiled;

/// A module of `plugins/`, embedded so that the demo needs no WebAssembly toolchain.
struct Starter {
    name: &'static str,
    point: &'static str,
    wasm: &'static [u8],
    config: fn() -> Value,
}

const STARTERS: [Starter; 3] = [
    Starter {
        name: "region-first",
        point: "matchmaking",
        wasm: include_bytes!("../../../../../plugins/region-first/region-first.wasm"),
        config: || json!({}),
    },
    Starter {
        name: "chat-guard",
        point: "chat",
        wasm: include_bytes!("../../../../../plugins/chat-guard/chat-guard.wasm"),
        config: || json!({"words": ["noob", "trash"], "flood": {"messages": 5, "perMs": 5000}}),
    },
    Starter {
        name: "escalation",
        point: "punishment",
        wasm: include_bytes!("../../../../../plugins/escalation/escalation.wasm"),
        config: || json!({}),
    },
];

/// Uploads and activates each module, unless its point already has modules, for example from an earlier run.
pub(super) async fn install(owner: &HubClient) -> anyhow::Result<()> {
    for starter in STARTERS {
        let upload = owner
            .request(reqwest::Method::POST, &format!("/api/manage/modules?name={}", starter.name))
            .body(starter.wasm, "application/wasm");
        let module = owner.send(upload).await?;
        let version = module["version"].as_i64().context("the hub's answer has no version")?;
        // A busy machine answers before it has compiled it.
        wait_until_compiled(owner, starter.name, version, module).await?;
        let path = format!("/api/manage/extension-points/{}", starter.point);
        let chain = owner.get(&path).await?;
        if chain["modules"].as_array().is_some_and(|modules| !modules.is_empty()) {
            continue;
        }
        let link = json!({
            "name": starter.name, "version": version, "config": (starter.config)(),
            "mode": "ACTIVE", "onFailure": "SKIP",
        });
        owner.put(&path, &json!({"modules": [link]})).await?;
    }
    Ok(())
}
