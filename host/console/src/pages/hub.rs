//! The operator's pages.

use serde_json::{Value, json};
use tokio::join;

use crate::action::{Action, Verb};
use crate::form::Field;
use crate::page::{Page, page};
use crate::refusal::Refusal;
use crate::visit::Visit;

pub(super) static PAGES: &[Page] = &[
    page!("/hub/plans", "hub-plans.html", plans),
    page!("/hub/plans/{name}", "hub-plan.html", plan),
    page!("/hub/nodes", "hub-nodes.html", nodes),
];

const NETWORK: &str = "/api/admin/networks/{id}";
const PLAN: &str = "/api/admin/plans/{name}";
const LIMITS: &[Field] = &[Field::numbers("limits"), Field::json("moduleLimits")];
const SUSPENDED: &[Field] = &[Field::choice("suspended")];
const ITS_PLAN: &[Field] = &[Field::text("plan")];
const NAME: &[Field] = &[Field::text("name")];

pub(super) static ACTIONS: &[Action] = &[
    Action::post("/hub/networks/{id}/suspend", NETWORK, SUSPENDED, "/hub", "Changed").verb(Verb::Patch).confirm("name"),
    Action::post("/hub/networks/{id}/plan", NETWORK, ITS_PLAN, "/hub", "Changed").verb(Verb::Patch),
    Action::post("/hub/plans", "/api/admin/plans", NAME, "/hub/plans", "").go("/hub/plans/{name}", "Saved"),
    Action::post("/hub/plans/{name}", PLAN, LIMITS, "/hub/plans/{name}", "Saved").verb(Verb::Put).unless_changed(PLAN),
    Action::post("/hub/plans/{name}/delete", PLAN, &[], "/hub/plans", "Deleted").verb(Verb::Delete).confirm("name"),
];

pub(super) async fn waitlist(visit: &Visit) -> Result<Value, Refusal> {
    let query = [("limit", "50"), ("page", visit.query("page"))];
    let (waitlist, networks) =
        join!(visit.get("/api/admin/waitlist", &query), visit.get("/api/admin/networks", &[("limit", "200")]),);
    Ok(json!({"waitlist": waitlist?, "networks": networks?}))
}

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
    let audit = visit.get("/api/admin/audit", &query).await?;
    Ok(json!({"audit": audit}))
}

/// Plans side by side.
async fn plans(visit: &Visit) -> Result<Value, Refusal> {
    let query = [("limit", "20"), ("page", visit.query("page"))];
    Ok(json!({"plans": visit.get("/api/admin/plans", &query).await?}))
}

async fn plan(visit: &Visit) -> Result<Value, Refusal> {
    Ok(json!({"plan": visit.get(PLAN, &[]).await?}))
}

/// Health of the node that serves this page.
async fn nodes(visit: &Visit) -> Result<Value, Refusal> {
    let (ready, version, networks) = join!(
        visit.get("/readyz", &[]),
        visit.get("/api/version", &[]),
        // The page is the operator's alone.
        visit.get("/api/admin/networks", &[("limit", "1")]),
    );
    let health = match ready {
        Err(refusal) if refusal.details["status"].is_string() => *refusal.details,
        health => health?,
    };
    Ok(json!({"health": health, "version": version?, "networks": networks?["total"]}))
}
