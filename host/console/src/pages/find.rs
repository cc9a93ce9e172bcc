//! A match simulated: where a player would go now, which candidates there were, and why each of them lost.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tokio::join;

use crate::action::Action;
use crate::form::Field;
use crate::page::{Page, page};
use crate::refusal::Refusal;
use crate::visit::Visit;

pub(super) static PAGES: &[Page] = &[page!("/n/{network}/find", "find.html", form)];

const REQUEST: &[Field] = &[
    Field::text("serverType"),
    Field::text("worldType"),
    Field::flag("worldMatchmaking"),
    Field::text("serverId"),
    Field::text("worldId"),
    Field::text("playerUuid"),
    Field::lines("party"),
    Field::text("region"),
    Field::text("affinityGameId"),
    Field::text("affinityOwnerScope"),
    Field::text("affinityOwnerId"),
];

/// It reserves nothing: the answer is on the page of the form.
pub(super) static ACTIONS: &[Action] =
    &[Action::post("/n/{network}/find", "/api/plugin/matchmaking/find?explain=true", REQUEST, "/n/{network}/find", "")
        .show()];

/// Choices of the form. Only those who may explain matches have it.
async fn form(visit: &Visit) -> Result<Value, Refusal> {
    let (network, servers, players) = join!(
        visit.get("/api/manage/network", &[]),
        visit.part("/api/manage/servers", &[("limit", "200")]),
        visit.part("/api/plugin/players", &[("limit", "50")]),
    );
    network?;
    let servers = servers?;
    let of = |name: &str| -> BTreeSet<String> {
        let items = servers["items"].as_array().into_iter().flatten();
        items.filter_map(|item| item[name].as_str().map(str::to_owned)).collect()
    };
    Ok(json!({"types": of("serverType"), "servers": of("serverId"), "players": players?}))
}
