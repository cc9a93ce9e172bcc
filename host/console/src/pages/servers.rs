//! Servers, one server, and how to connect the first.

use serde_json::{Value, json};
use tokio::join;

use crate::refusal::Refusal;
use crate::visit::Visit;

/// Rows on a page.
const ROWS: &str = "50";

pub(super) async fn list(visit: &Visit) -> Result<Value, Refusal> {
    let query = [
        ("limit", ROWS),
        ("page", visit.query("page")),
        ("search", visit.query("search")),
        ("serverType", visit.query("type")),
        ("region", visit.query("region")),
        ("online", visit.query("online")),
    ];
    let (servers, types) =
        join!(visit.get("/api/manage/servers", &query), visit.get("/api/manage/servers", &[("limit", "200")]));
    let all = types?;
    let mut types: Vec<_> =
        all["items"].as_array().into_iter().flatten().filter_map(|it| it["serverType"].as_str()).collect();
    types.sort_unstable();
    types.dedup();
    Ok(json!({"servers": servers?, "types": types, "all": all["total"]}))
}

/// A server alone.
pub(super) async fn one(visit: &Visit) -> Result<Value, Refusal> {
    Ok(json!({"server": visit.get("/api/manage/servers/{serverId}", &[]).await?}))
}

pub(super) async fn console(visit: &Visit) -> Result<Value, Refusal> {
    let (server, log, audit) = join!(
        visit.get("/api/manage/servers/{serverId}", &[]),
        visit.part("/api/manage/servers/{serverId}/logs/recent", &[("limit", "200")]),
        changes_of(visit),
    );
    Ok(json!({"server": server?, "log": log?, "changes": audit?}))
}

/// Lines of the log by text and level, or around one of them.
pub(super) async fn history(visit: &Visit) -> Result<Value, Refusal> {
    let query = [
        ("limit", "200"),
        ("page", visit.query("page")),
        ("q", visit.query("q")),
        ("level", visit.query("level")),
        ("after", visit.query("after")),
        ("before", visit.query("before")),
    ];
    let (server, log) = join!(
        visit.get("/api/manage/servers/{serverId}", &[]),
        visit.get("/api/manage/servers/{serverId}/logs/recent", &query),
    );
    Ok(json!({"server": server?, "log": log?}))
}

pub(super) async fn changes(visit: &Visit) -> Result<Value, Refusal> {
    let (server, changes) = join!(visit.get("/api/manage/servers/{serverId}", &[]), changes_of(visit));
    Ok(json!({"server": server?, "changes": changes?}))
}

/// Players on the server, and its worlds.
pub(super) async fn players(visit: &Visit) -> Result<Value, Refusal> {
    let server = visit.get("/api/manage/servers/{serverId}", &[]).await?;
    let of_type = [("serverType", server["serverType"].as_str().unwrap_or_default())];
    let online = visit.part("/api/plugin/servers/players", &of_type).await?;
    let here = |player: &&Value| player["serverId"] == server["serverId"];
    let players: Option<Vec<_>> = online.as_array().map(|all| all.iter().filter(here).take(500).collect());
    Ok(json!({"server": server, "players": players}))
}

/// Changes of this server among the newest of the network.
async fn changes_of(visit: &Visit) -> Result<Value, Refusal> {
    let audit = visit.part("/api/manage/audit", &[("limit", "200")]).await?;
    let server = visit.params.get("serverId").map(String::as_str);
    let entries = audit["items"].as_array().into_iter().flatten();
    let own: Vec<_> = entries.filter(|entry| entry["target"].as_str() == server).take(50).collect();
    Ok(json!(own))
}

/// Names of a new server's key and of the server, and the server once it is there.
pub(super) async fn connect(visit: &Visit) -> Result<Value, Refusal> {
    let server = visit.query.get("serverId").map(String::as_str).or_else(|| visit.form.get("serverId"));
    let found = match server {
        Some(id) => {
            let page = visit.get("/api/manage/servers", &[("search", id), ("limit", "50")]).await?;
            page["items"].as_array().into_iter().flatten().find(|it| it["serverId"].as_str() == Some(id)).cloned()
        }
        None => None,
    };
    let url = visit.console.app.settings.url("");
    Ok(json!({"serverId": server, "server": found, "hubUrl": url.trim_end_matches('/')}))
}
