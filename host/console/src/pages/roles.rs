//! Roles of a network's own: sets of scopes, in words, and the members who have them.

use serde_json::{Value, json};
use tokio::join;

use crate::action::{Action, Verb};
use crate::form::Field;
use crate::page::{Page, page};
use crate::refusal::Refusal;
use crate::visit::Visit;

pub(super) static PAGES: &[Page] = &[
    page!("/n/{network}/staff/roles", "roles.html", list),
    page!("/n/{network}/staff/roles/{name}", "role.html", one),
];

const ROLES: &str = "/n/{network}/staff/roles";
const PAGE: &str = "/n/{network}/staff/roles/{name}";
const ROLE: &str = "/api/manage/roles/{name}";
const SCOPES: &[Field] = &[Field::list("scopes")];

/// A new role says that it began from none: one of that name is shown instead of being overwritten.
pub(super) static ACTIONS: &[Action] = &[
    Action::post(ROLES, ROLE, SCOPES, ROLES, "Saved").verb(Verb::Put).unless_changed(ROLE),
    Action::post(PAGE, ROLE, SCOPES, PAGE, "Saved").verb(Verb::Put).unless_changed(ROLE),
    Action::post("/n/{network}/staff/roles/{name}/delete", ROLE, &[], PAGE, "")
        .verb(Verb::Delete)
        .confirm("name")
        .go(ROLES, "Deleted"),
];

async fn list(visit: &Visit) -> Result<Value, Refusal> {
    let query = [("limit", "50"), ("page", visit.query("page"))];
    let (roles, people) =
        join!(visit.get("/api/manage/roles", &query), visit.get("/api/manage/people", &[("limit", "200")]),);
    Ok(json!({"roles": roles?, "people": people?}))
}

async fn one(visit: &Visit) -> Result<Value, Refusal> {
    let (role, people) = join!(visit.get(ROLE, &[]), visit.get("/api/manage/people", &[("limit", "200")]));
    Ok(json!({"role": role?, "people": people?}))
}
