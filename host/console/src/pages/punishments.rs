//! Punishments: of a player, or of all where the hub lists them.

use serde_json::{Value, json};
use tokio::join;

use crate::refusal::Refusal;
use crate::visit::Visit;

pub(super) async fn list(visit: &Visit) -> Result<Value, Refusal> {
    let player = visit.query("player");
    let mut list = visit
        .part(
            "/api/manage/punishments",
            &[
                ("player", player),
                ("type", visit.query("type")),
                ("active", visit.query("active")),
                ("page", visit.query("page")),
                ("limit", "50"),
            ],
        )
        .await?;
    // A hub without the list knows those of one player.
    if list.is_null() && !player.is_empty() {
        let items = visit.get(&of_name(player), &[("limit", "50")]).await?;
        list = json!({"items": items});
    }
    Ok(json!({"punishments": list}))
}

fn of_name(player: &str) -> String {
    let name = crate::visit::encode(player);
    format!("/api/plugin/punishments/player-name/{name}/history")
}

/// The form, beside the player's history.
pub(super) async fn form(visit: &Visit) -> Result<Value, Refusal> {
    let name = visit.form.get("playerName").unwrap_or(visit.query("player"));
    if name.is_empty() {
        return Ok(json!({"name": ""}));
    }
    let history = of_name(name);
    let query = [("username", name), ("limit", "1")];
    let (history, found) = join!(visit.get(&history, &[("limit", "10")]), visit.part("/api/plugin/players", &query));
    Ok(json!({"name": name, "history": history?, "player": found?["items"][0]}))
}
