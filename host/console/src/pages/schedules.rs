//! Schedules and timers of a module, and the secrets that its endpoints check signatures with.

use serde_json::{Value, json};
use tokio::join;

use crate::action::{Action, Verb};
use crate::form::Field;
use crate::page::{Page, page};
use crate::refusal::Refusal;
use crate::visit::Visit;

pub(super) static PAGES: &[Page] = &[
    page!("/n/{network}/modules/{name}/schedules", "schedules.html", schedules),
    page!("/n/{network}/secrets", "secrets.html", secrets),
];

const SCHEDULES: &str = "/n/{network}/modules/{name}/schedules";
const SECRETS: &str = "/n/{network}/secrets";
const SECRET: &[Field] = &[Field::exact("value"), Field::number("overlapMs")];

pub(super) static ACTIONS: &[Action] = &[
    Action::post(
        "/n/{network}/modules/{name}/schedules/{schedule}/run",
        "/api/manage/modules/{name}/schedules/{schedule}/run",
        &[],
        SCHEDULES,
        "Started",
    ),
    Action::post(
        "/n/{network}/modules/{name}/timers/{key}/delete",
        "/api/manage/modules/{name}/timers/{key}",
        &[],
        SCHEDULES,
        "Deleted",
    )
    .verb(Verb::Delete),
    // Its name is a field of the form.
    Action::post(SECRETS, "/api/manage/secrets/{name}", SECRET, SECRETS, "Saved").verb(Verb::Put),
    Action::post("/n/{network}/secrets/{name}/delete", "/api/manage/secrets/{name}", &[], SECRETS, "Deleted")
        .verb(Verb::Delete)
        .confirm("name"),
];

/// Schedules, and the timers for those who may read what is in them.
async fn schedules(visit: &Visit) -> Result<Value, Refusal> {
    let query = [("limit", "50"), ("page", visit.query("page"))];
    let (schedules, timers) = join!(
        visit.get("/api/manage/modules/{name}/schedules", &[("limit", "100")]),
        visit.part("/api/manage/modules/{name}/timers", &query),
    );
    Ok(json!({"schedules": schedules?, "timers": timers?}))
}

async fn secrets(visit: &Visit) -> Result<Value, Refusal> {
    Ok(json!({"secrets": visit.get("/api/manage/secrets", &[]).await?["secrets"]}))
}
