//! Data that games stored about a player, its snapshots, and the way back; and the player's money.

use axum::http::StatusCode;
use serde_json::{Value, json};
use tokio::join;

use crate::action::Action;
use crate::page::{Page, page};
use crate::refusal::Refusal;
use crate::visit::Visit;

pub(super) static PAGES: &[Page] = &[
    page!("/n/{network}/players/{uuid}/data", "player-data.html", namespaces),
    page!("/n/{network}/players/{uuid}/data/{gameMode}/{namespace}", "player-data.html", snapshots),
    page!("/n/{network}/players/{uuid}/money", "player-money.html", money),
];

/// Page of a namespace.
const NAMESPACE: &str = "/n/{network}/players/{uuid}/data/{gameMode}/{namespace}";
/// Most lines of two versions that are shown side by side.
const MOST_LINES: usize = 2_000;

pub(super) static ACTIONS: &[Action] = &[
    Action::post(
        "/n/{network}/players/{uuid}/data/{gameMode}/{namespace}/restore",
        "/api/manage/players/{uuid}/data/{gameMode}/{namespace}/snapshots/{snapshotId}/restore",
        &[],
        NAMESPACE,
        "Restored",
    )
    .confirm("namespace"),
    // Ends the session that the player has open: the form names it.
    Action::post(
        "/n/{network}/players/{uuid}/data/{gameMode}/{namespace}/restore/now",
        "/api/manage/players/{uuid}/data/{gameMode}/{namespace}/snapshots/{snapshotId}/restore?force=true",
        &[],
        NAMESPACE,
        "Restored",
    )
    .confirm("namespace"),
];

async fn namespaces(visit: &Visit) -> Result<Value, Refusal> {
    let query = [("limit", "100"), ("page", visit.query("page"))];
    let (player, namespaces, session) = join!(
        visit.get("/api/plugin/players/{uuid}", &[]),
        visit.get("/api/manage/players/{uuid}/data", &query),
        if_any(visit, "/api/plugin/players/{uuid}/session"),
    );
    Ok(json!({"player": player?, "namespaces": namespaces?, "session": session?}))
}

/// Answer of a route, or null if there is nothing.
async fn if_any(visit: &Visit, route: &str) -> Result<Value, Refusal> {
    match visit.part(route, &[]).await {
        Err(refusal) if refusal.status == StatusCode::NOT_FOUND => Ok(Value::Null),
        answer => answer,
    }
}

/// A namespace with its snapshots; one of them beside what is stored now.
async fn snapshots(visit: &Visit) -> Result<Value, Refusal> {
    let list = "/api/manage/players/{uuid}/data/{gameMode}/{namespace}/snapshots";
    let (mut data, snapshots, now) = join!(
        namespaces(visit),
        visit.get(list, &[("limit", "50")]),
        if_any(visit, "/api/plugin/players/{uuid}/data/{gameMode}/{namespace}"),
    );
    let chosen = visit.form.get("snapshotId").unwrap_or(visit.query("snapshot"));
    let chosen = match chosen {
        "" => Value::Null,
        id => visit.get(&format!("{list}/{}", crate::visit::encode(id)), &[]).await?,
    };
    // A person who may not read the data itself sees that there are snapshots, and no more.
    let (snapshots, now) = (snapshots?, now?);
    let lines = match (chosen["data"].as_str(), now["data"].as_str()) {
        (Some(then), Some(now)) => differences(&pretty(then), &pretty(now)),
        _ => Value::Null,
    };
    if let Ok(Value::Object(data)) = &mut data {
        data.extend([("snapshots".to_owned(), snapshots), ("chosen".to_owned(), chosen), ("lines".to_owned(), lines)]);
    }
    data
}

/// The lines of JSON; other text as it is.
fn pretty(text: &str) -> Vec<String> {
    let parsed = serde_json::from_str::<Value>(text).and_then(|value| serde_json::to_string_pretty(&value));
    parsed.as_deref().unwrap_or(text).lines().take(MOST_LINES).map(str::to_owned).collect()
}

/// Lines that only one of two texts has, around them two that both have.
fn differences(then: &[String], now: &[String]) -> Value {
    let same_at_start = then.iter().zip(now).take_while(|(one, other)| one == other).count();
    let rest = || then[same_at_start..].iter().rev().zip(now[same_at_start..].iter().rev());
    let same_at_end = rest().take_while(|(one, other)| one == other).count();
    let line = |kind: &str, text: &String| json!({"kind": kind, "text": text});
    let mut lines: Vec<_> =
        then[same_at_start.saturating_sub(2)..same_at_start].iter().map(|text| line("same", text)).collect();
    lines.extend(then[same_at_start..then.len() - same_at_end].iter().map(|text| line("then", text)));
    lines.extend(now[same_at_start..now.len() - same_at_end].iter().map(|text| line("now", text)));
    lines.extend(now[now.len() - same_at_end..].iter().take(2).map(|text| line("same", text)));
    let is_equal = same_at_start == then.len() && then.len() == now.len();
    if is_equal { json!([]) } else { json!(lines) }
}

async fn money(visit: &Visit) -> Result<Value, Refusal> {
    let query = [("limit", "50"), ("page", visit.query("page")), ("currency", visit.query("currency"))];
    let mut owner = visit.clone();
    let key = visit.params.get("uuid").cloned().unwrap_or_default();
    owner.params.extend([("ownerType".to_owned(), "player".to_owned()), ("ownerKey".to_owned(), key)]);
    let (player, ledger) = join!(
        visit.get("/api/plugin/players/{uuid}", &[]),
        owner.get("/api/manage/economy/{ownerType}/{ownerKey}/ledger", &query),
    );
    Ok(json!({"player": player?, "ledger": ledger?}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_differ_are_shown_with_their_neighbours() {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let line = |kind: &str, text: &str| json!({"kind": kind, "text": text});
        let found = differences(&lines("1\n2\n3\nold\n4\n5\n6"), &lines("1\n2\n3\nnew\nnewer\n4\n5\n6"));
        let same = |text: &str| line("same", text);
        assert_eq!(
            found,
            json!([
                same("2"),
                same("3"),
                line("then", "old"),
                line("now", "new"),
                line("now", "newer"),
                same("4"),
                same("5")
            ])
        );
        assert_eq!(differences(&lines("1\n2"), &lines("1\n2")), json!([]));
        assert_eq!(differences(&lines(""), &lines("a")), json!([line("now", "a")]));
        assert_eq!(differences(&lines("a\na"), &lines("a")), json!([same("a"), line("then", "a")]));
    }
}
