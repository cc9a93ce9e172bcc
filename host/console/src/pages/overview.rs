//! A network at a glance.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tokio::join;

use crate::refusal::Refusal;
use crate::visit::Visit;

const POINTS: [&str; 3] = ["matchmaking", "chat", "punishment"];

pub(super) async fn read(visit: &Visit) -> Result<Value, Refusal> {
    let (servers, audit, webhooks, players, modules) = join!(
        visit.get("/api/manage/servers", &[("limit", "200")]),
        visit.part("/api/manage/audit", &[("limit", "10")]),
        visit.part("/api/manage/webhooks", &[]),
        visit.part("/api/plugin/players", &[("limit", "1")]),
        chains(visit),
    );
    let servers = servers?;
    let list = servers["items"].as_array().cloned().unwrap_or_default();
    let of_game = || list.iter().filter(|server| server["role"] != "PROXY");
    let count = |server: &Value, field: &str| server["live"][field].as_i64().unwrap_or(0);
    let mut types: BTreeMap<&str, [i64; 4]> = BTreeMap::new();
    for server in of_game() {
        let sums = types.entry(server["serverType"].as_str().unwrap_or("–")).or_default();
        let online = i64::from(server["online"] == true);
        let added = [1, online, count(server, "currentPlayers"), count(server, "maxPlayers")];
        sums.iter_mut().zip(added).for_each(|(sum, more)| *sum += more);
    }
    let types: Vec<_> = types
        .into_iter()
        .map(|(name, [all, online, players, slots])| {
            json!({"type": name, "servers": all, "online": online, "players": players, "slots": slots})
        })
        .collect();
    let silent: Vec<_> = list.iter().filter(|server| server["status"] == "OFFLINE").take(5).collect();
    let full: Vec<_> = of_game().filter(|server| server["live"]["full"] == true).take(3).collect();
    let hooks = webhooks?;
    let failing: Vec<_> = hooks["items"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|hook| !hook["failingSince"].is_null())
        .take(3)
        .collect();
    Ok(json!({
        "servers": servers["total"],
        "online": list.iter().filter(|server| server["online"] == true).count(),
        "offline": list.iter().filter(|server| server["status"] == "OFFLINE").count(),
        "starting": list.iter().filter(|server| server["status"] == "PROVISIONING").count(),
        "players": of_game().map(|server| count(server, "currentPlayers")).sum::<i64>(),
        "slots": of_game().map(|server| count(server, "maxPlayers")).sum::<i64>(),
        "known": players?["total"], "types": types, "silent": silent, "full": full, "failing": failing,
        "audit": audit?, "chains": modules?,
    }))
}

/// The modules at each extension point.
async fn chains(visit: &Visit) -> Result<Vec<Value>, Refusal> {
    let mut chains = vec![];
    for point in POINTS {
        let chain = visit.part(&format!("/api/manage/extension-points/{point}"), &[]).await?;
        if !chain.is_null() {
            chains.push(json!({"point": point, "chain": chain}));
        }
    }
    Ok(chains)
}
