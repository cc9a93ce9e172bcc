//! A network at a glance.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tokio::join;

use crate::pages::modules::POINTS;
use crate::refusal::Refusal;
use crate::visit::Visit;

const HOUR: i64 = 60 * 60 * 1000;
const WEEK: i64 = 7 * 24 * HOUR;

pub(super) async fn read(visit: &Visit) -> Result<Value, Refusal> {
    let now = visit.console.app.clock.now();
    let (servers, audit, attention, players, modules, today, before) = join!(
        visit.get("/api/manage/servers", &[("limit", "200")]),
        visit.part("/api/manage/audit", &[("limit", "10")]),
        visit.get("/api/manage/attention", &[]),
        visit.part("/api/plugin/players", &[("limit", "1")]),
        chains(visit),
        hours(visit, now),
        hours(visit, now.saturating_sub(WEEK)),
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
    let full: Vec<_> = of_game().filter(|server| server["live"]["full"] == true).take(3).collect();
    let mut attention = attention?["items"].take();
    for item in attention.as_array_mut().into_iter().flatten().filter(|item| item["kind"] == "SERVER_OFFLINE") {
        // The state of its machine is in the list of servers.
        let server = list.iter().find(|server| server["serverId"] == item["subject"]);
        item["control"] = server.map(|server| server["control"].clone()).unwrap_or_default();
    }
    Ok(json!({
        "servers": servers["total"],
        "online": list.iter().filter(|server| server["online"] == true).count(),
        "offline": list.iter().filter(|server| server["status"] == "OFFLINE").count(),
        "starting": list.iter().filter(|server| server["status"] == "PROVISIONING").count(),
        "players": of_game().map(|server| count(server, "currentPlayers")).sum::<i64>(),
        "slots": of_game().map(|server| count(server, "maxPlayers")).sum::<i64>(),
        "known": players?["total"], "types": types, "attention": attention, "full": full,
        "audit": audit?, "chains": modules?, "curve_of": {"today": today?, "before": before?},
    }))
}

/// Most players of each of the 24 hours before a time, oldest first; null where nothing is known.
async fn hours(visit: &Visit, until: i64) -> Result<Vec<Value>, Refusal> {
    let first = (until - until.rem_euclid(HOUR)).saturating_sub(23 * HOUR);
    let (from, to) = (first.to_string(), until.to_string());
    let usage = visit.part("/api/manage/usage", &[("from", &from), ("to", &to), ("limit", "50")]).await?;
    let peak = |hour: i64| {
        let mut known = usage["items"].as_array().into_iter().flatten();
        known.find(|item| item["hour"] == hour).map_or(Value::Null, |item| item["peakPlayers"].clone())
    };
    Ok((0..24).map(|at| peak(first + at * HOUR)).collect())
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
