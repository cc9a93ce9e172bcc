//! Waiting lines, and who waits in each.

use serde_json::{Value, json};
use tokio::join;

use crate::action::{Action, Verb};
use crate::form::Field;
use crate::page::{Page, page};
use crate::pages::names;
use crate::refusal::Refusal;
use crate::visit::Visit;

pub(super) static PAGES: &[Page] =
    &[page!("/n/{network}/queues", "lines.html", list), page!("/n/{network}/queues/{line}", "line.html", one)];

const LINES: &str = "/api/manage/matchmaking/lines";
const LINE: &str = "/api/manage/matchmaking/lines/{line}";
const TICKET: &str = "/api/manage/matchmaking/tickets/{ticketId}";
const SETTINGS: &[Field] = &[Field::choice("paused"), Field::number("pausedUntil"), Field::number("maxWaiting")];
const PRIORITY: &[Field] = &[Field::number("priority")];

pub(super) static ACTIONS: &[Action] = &[
    Action::post("/n/{network}/queues", LINE, SETTINGS, "/n/{network}/queues", "Changed").verb(Verb::Put),
    Action::post("/n/{network}/queues/{line}", LINE, SETTINGS, "/n/{network}/queues/{line}", "Changed")
        .verb(Verb::Put)
        .unless_changed_among(LINES, ("items", "line", "line")),
    Action::post("/n/{network}/queues/{line}/priority", TICKET, PRIORITY, "/n/{network}/queues/{line}", "Changed")
        .verb(Verb::Patch),
    Action::post("/n/{network}/queues/{line}/remove", TICKET, &[], "/n/{network}/queues/{line}", "Removed")
        .verb(Verb::Delete),
];

async fn list(visit: &Visit) -> Result<Value, Refusal> {
    let query = [("limit", "50"), ("page", visit.query("page"))];
    Ok(json!({"lines": visit.get(LINES, &query).await?}))
}

async fn one(visit: &Visit) -> Result<Value, Refusal> {
    let query = [("limit", "25"), ("page", visit.query("page"))];
    let (lines, tickets) = join!(
        visit.get(LINES, &[("limit", "200")]),
        visit.get("/api/manage/matchmaking/lines/{line}/tickets", &query),
    );
    let (lines, tickets) = (lines?, tickets?);
    let name = visit.params.get("line").map(String::as_str);
    let line = lines["items"].as_array().into_iter().flatten().find(|line| line["line"].as_str() == name);
    let waiting = || tickets["items"].as_array().into_iter().flatten();
    let players = names::players(visit, waiting().map(|ticket| &ticket["playerUuid"])).await;
    // Reasons of servers, with the number of tickets that wait for each.
    let mut why: Vec<(Value, usize)> = vec![];
    for reason in waiting().filter_map(|ticket| ticket["why"].as_array()).flatten() {
        match why.iter_mut().find(|(known, _)| known == reason) {
            Some((_, count)) => *count += 1,
            None => why.push((reason.clone(), 1)),
        }
    }
    let why: Vec<_> = why.into_iter().take(20).map(|(why, count)| json!({"why": why, "tickets": count})).collect();
    Ok(json!({"line": line, "tickets": tickets, "players": players, "why": why}))
}
