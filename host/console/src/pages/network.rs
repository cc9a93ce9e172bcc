//! A network's keys, people, usage and audit log.

use serde_json::{Value, json};
use tokio::join;

use crate::refusal::Refusal;
use crate::visit::Visit;

/// Milliseconds of the time that the page of usage covers.
const WEEK: i64 = 7 * 24 * 60 * 60 * 1000;

pub(super) async fn keys(visit: &Visit) -> Result<Value, Refusal> {
    let query = [("limit", "50"), ("page", visit.query("page"))];
    Ok(json!({"keys": visit.get("/api/manage/keys", &query).await?}))
}

pub(super) async fn people(visit: &Visit) -> Result<Value, Refusal> {
    let query = [("limit", "100"), ("page", visit.query("page"))];
    let (people, invitations, roles) = join!(
        visit.get("/api/manage/people", &query),
        visit.get("/api/manage/people/invitations", &[("limit", "100")]),
        visit.get("/api/manage/roles", &[("limit", "100")]),
    );
    Ok(json!({"people": people?, "invitations": invitations?, "roles": roles?}))
}

pub(super) async fn audit(visit: &Visit) -> Result<Value, Refusal> {
    let query = [
        ("limit", "50"),
        ("actor", visit.query("actor")),
        ("action", visit.query("action")),
        ("before", visit.query("before")),
    ];
    let audit = visit.get("/api/manage/audit", &query).await?;
    Ok(json!({"audit": audit}))
}

pub(super) async fn usage(visit: &Visit) -> Result<Value, Refusal> {
    let from = visit.console.app.clock.now().saturating_sub(WEEK).to_string();
    Ok(json!({"usage": visit.get("/api/manage/usage", &[("from", &from), ("limit", "200")]).await?}))
}

/// The network's plan, with the share of each limit that is used.
pub(super) async fn plan(visit: &Visit) -> Result<Value, Refusal> {
    Ok(json!({"plan": visit.get("/api/manage/plan", &[]).await?}))
}
