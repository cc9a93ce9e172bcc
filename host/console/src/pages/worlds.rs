//! Worlds that are up, on all servers.

use serde_json::{Value, json};

use crate::action::Action;
use crate::form::Field;
use crate::page::{Page, page};
use crate::refusal::Refusal;
use crate::visit::Visit;

pub(super) static PAGES: &[Page] = &[page!("/n/{network}/worlds", "worlds.html", list)];

const REASON: &[Field] = &[Field::text("reason")];
const WORLDS: &str = "/n/{network}/worlds";

pub(super) static ACTIONS: &[Action] = &[
    Action::post("/n/{network}/worlds/snapshot", "/api/plugin/worlds/{id}/snapshot", REASON, WORLDS, "Sent"),
    Action::post("/n/{network}/worlds/release", "/api/plugin/worlds/{id}/release", &[], WORLDS, "Released"),
];

async fn list(visit: &Visit) -> Result<Value, Refusal> {
    let query = [("limit", "200"), ("online", "true"), ("search", visit.query("search"))];
    let servers = visit.get("/api/manage/servers", &query).await?;
    let of_server = |server: &Value| -> Vec<Value> {
        let worlds = server["live"]["worlds"].as_array().into_iter().flatten();
        // A world that the hub opened has the number of its lease as its id.
        let is_leased = |world: &Value| world["worldId"].as_str().is_some_and(|id| id.parse::<i64>().is_ok());
        let id = &server["serverId"];
        worlds.map(|world| json!({"world": world, "serverId": id, "leased": is_leased(world)})).collect()
    };
    let worlds: Vec<_> = servers["items"].as_array().into_iter().flatten().flat_map(of_server).take(500).collect();
    Ok(json!({"worlds": worlds, "servers": servers["total"]}))
}
