//! The operator's pages.

use serde_json::{Value, json};
use tokio::join;

use crate::refusal::Refusal;
use crate::visit::Visit;

pub(super) async fn networks(visit: &Visit) -> Result<Value, Refusal> {
    let query = [("limit", "50"), ("page", visit.query("page"))];
    let (networks, plans, version) = join!(
        visit.get("/api/admin/networks", &query),
        visit.get("/api/admin/plans", &[("limit", "200")]),
        visit.get("/api/version", &[]),
    );
    Ok(json!({"networks": networks?, "plans": plans?, "version": version?}))
}

pub(super) async fn people(visit: &Visit) -> Result<Value, Refusal> {
    let query = [("limit", "50"), ("page", visit.query("page"))];
    let (people, invitations) =
        join!(visit.get("/api/admin/people", &query), visit.get("/api/admin/people/invitations", &[("limit", "100")]),);
    Ok(json!({"people": people?, "invitations": invitations?}))
}

pub(super) async fn audit(visit: &Visit) -> Result<Value, Refusal> {
    let query = [
        ("limit", "50"),
        ("actor", visit.query("actor")),
        ("action", visit.query("action")),
        ("before", visit.query("before")),
    ];
    Ok(json!({"audit": visit.get("/api/admin/audit", &query).await?}))
}
