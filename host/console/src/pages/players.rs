//! Players and one player.

use serde_json::{Value, json};
use tokio::join;

use crate::refusal::Refusal;
use crate::visit::Visit;

pub(super) async fn list(visit: &Visit) -> Result<Value, Refusal> {
    let search = visit.query("search");
    let query = [("limit", "50"), ("page", visit.query("page")), ("search", search), ("region", visit.query("region"))];
    Ok(json!({"players": visit.get("/api/plugin/players", &query).await?}))
}

/// A player with what is known of them: the part that all tabs show, and the overview's.
pub(super) async fn one(visit: &Visit) -> Result<Value, Refusal> {
    let (player, history, active, language, notes, playtime) = join!(
        visit.get("/api/plugin/players/{uuid}", &[]),
        visit.part("/api/plugin/punishments/player/{uuid}/history", &[("limit", "10")]),
        visit.part("/api/plugin/punishments/player/{uuid}", &[]),
        visit.part("/api/plugin/localization/players/{uuid}/locale", &[]),
        visit.part("/api/manage/players/{uuid}/notes", &[]),
        visit.part("/api/manage/players/{uuid}/playtime", &[]),
    );
    let addresses = if visit.query("addresses").is_empty() {
        Value::Null
    } else {
        visit.part("/api/plugin/players/{uuid}/ips", &[]).await?
    };
    Ok(json!({
        "player": player?, "history": history?, "active": active?, "locale": language?, "notes": notes?,
        "playtime": playtime?, "addresses": addresses,
    }))
}

pub(super) async fn punishments(visit: &Visit) -> Result<Value, Refusal> {
    let (player, history, active) = join!(
        visit.get("/api/plugin/players/{uuid}", &[]),
        visit.get("/api/plugin/punishments/player/{uuid}/history", &[("limit", "100")]),
        visit.part("/api/plugin/punishments/player/{uuid}", &[]),
    );
    Ok(json!({"player": player?, "history": history?, "active": active?}))
}
