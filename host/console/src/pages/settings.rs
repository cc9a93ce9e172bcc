//! Settings of a network, and the secret that signs its commands.

use serde_json::{Value, json};

use crate::action::{Action, Verb};
use crate::form::Field;
use crate::page::{Page, page};
use crate::refusal::Refusal;
use crate::visit::Visit;

pub(super) static PAGES: &[Page] = &[page!("/n/{network}/settings", "settings.html", read)];

const NETWORK: &str = "/api/manage/network";
const PAGE: &str = "/n/{network}/settings";
const SETTINGS: &[Field] = &[
    Field::text("stage"),
    Field::choice("requireSecondFactor"),
    Field::choice("sessionsRequired"),
    Field::number("chatHistoryDays"),
];
const NAME: &[Field] = &[Field::text("name")];
const OVERLAP: &[Field] = &[Field::number("overlapMs")];

pub(super) static ACTIONS: &[Action] = &[
    Action::post(PAGE, NETWORK, SETTINGS, PAGE, "Saved").verb(Verb::Patch).unless_changed(NETWORK),
    // Its pages have the name in their addresses: the person begins anew.
    Action::post("/n/{network}/settings/name", NETWORK, NAME, PAGE, "").verb(Verb::Patch).go("", "Renamed"),
    Action::post("/n/{network}/settings/signing-secret", "/api/manage/signing-secret/rotate", OVERLAP, PAGE, "")
        .confirm("network")
        .show(),
];

async fn read(visit: &Visit) -> Result<Value, Refusal> {
    Ok(json!({"settings": visit.get(NETWORK, &[]).await?}))
}
