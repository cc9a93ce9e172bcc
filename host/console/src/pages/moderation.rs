//! Reports, appeals, punishments one by one, and deliveries.

use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use tokio::join;

use crate::action::{Action, Verb};
use crate::form::Field;
use crate::page::{Page, page};
use crate::pages::names;
use crate::refusal::Refusal;
use crate::visit::{Visit, encode};

pub(super) static PAGES: &[Page] = &[
    page!("/n/{network}/reports", "reports.html", reports),
    page!("/n/{network}/reports/{reportId}", "report.html", report),
    page!("/n/{network}/appeals", "appeals.html", appeals),
    page!("/n/{network}/deliveries", "deliveries.html", deliveries),
    page!("/n/{network}/punishments/{id}", "punishment.html", punishment),
];

const REPORT: &str = "/api/manage/reports/{reportId}";
const REPORT_PAGE: &str = "/n/{network}/reports/{reportId}";
const REPORTED: &[Field] = &[Field::text("state"), Field::text("resolution")];
const PUNISHED: &[Field] = &[
    Field::text("playerUuid"),
    Field::text("playerName"),
    Field::text("type"),
    Field::text("reason"),
    Field::number("durationMs"),
    Field::flag("ipBased"),
    Field::text("issuerName"),
];
const RULING: &[Field] = &[Field::text("decision"), Field::number("durationMs"), Field::text("answer")];
static DURATION: Field = Field::number("durationMs");
static REASON: Field = Field::text("reason");
const TERMS: &[Field] = &[Field::or_null(&REASON), Field::or_null(&DURATION), Field::lines("evidence")];
const DELIVERIES: &str = "/n/{network}/deliveries";

pub(super) static ACTIONS: &[Action] = &[
    Action::post(REPORT_PAGE, REPORT, REPORTED, REPORT_PAGE, "Changed").verb(Verb::Patch),
    Action::post("/n/{network}/reports/{reportId}/punish", "/api/plugin/punishments/create", PUNISHED, REPORT_PAGE, "")
        .also("state", Verb::Patch, REPORT, REPORTED)
        .go("/n/{network}/reports", "Punished"),
    Action::post(
        "/n/{network}/appeals/{appealId}/decide",
        "/api/manage/appeals/{appealId}/decide",
        RULING,
        "/n/{network}/appeals",
        "Decided",
    ),
    Action::post(
        "/n/{network}/punishments/{id}",
        "/api/manage/punishments/{id}",
        TERMS,
        "/n/{network}/punishments/{id}",
        "Changed",
    )
    .verb(Verb::Patch)
    .unless_changed("/api/manage/punishments/{id}"),
    Action::post(
        "/n/{network}/deliveries/{deliveryId}/retry",
        "/api/manage/deliveries/{deliveryId}/retry",
        &[],
        DELIVERIES,
        "Offered again",
    ),
    Action::post(
        "/n/{network}/deliveries/{deliveryId}/cancel",
        "/api/manage/deliveries/{deliveryId}/cancel",
        &[],
        DELIVERIES,
        "Taken back",
    ),
    Action::post(
        "/n/{network}/deliveries/{deliveryId}/confirm",
        "/api/manage/deliveries/{deliveryId}/confirm",
        &[],
        DELIVERIES,
        "Confirmed",
    ),
];

/// The state that a list shows: without one in the address, what waits for staff.
fn state_of(visit: &Visit) -> &str {
    match visit.query("state") {
        "" => "OPEN",
        "ALL" => "",
        state => state,
    }
}

async fn reports(visit: &Visit) -> Result<Value, Refusal> {
    let query = [("limit", "20"), ("page", visit.query("page")), ("state", state_of(visit))];
    let reports = visit.get("/api/manage/reports", &query).await?;
    let items = reports["items"].as_array().cloned().unwrap_or_default();
    let uuids = items.iter().flat_map(|report| [&report["playerUuid"], &report["reporterUuid"]]);
    let players = names::players(visit, uuids).await;
    Ok(json!({"reports": reports, "players": players}))
}

async fn report(visit: &Visit) -> Result<Value, Refusal> {
    let report = visit.get(REPORT, &[]).await?;
    let uuid = encode(report["playerUuid"].as_str().unwrap_or_default());
    let (history, active) =
        (format!("/api/plugin/punishments/player/{uuid}/history"), format!("/api/plugin/punishments/player/{uuid}"));
    let (players, history, active) = join!(
        names::players(visit, [&report["playerUuid"], &report["reporterUuid"]].into_iter()),
        visit.part(&history, &[("limit", "5")]),
        visit.part(&active, &[]),
    );
    Ok(json!({"report": report, "players": players, "history": history?, "active": active?}))
}

async fn appeals(visit: &Visit) -> Result<Value, Refusal> {
    let query = [("limit", "20"), ("page", visit.query("page")), ("state", state_of(visit))];
    let appeals = visit.get("/api/manage/appeals", &query).await?;
    let items = appeals["items"].as_array().cloned().unwrap_or_default();
    let ids = items.iter().filter_map(|appeal| appeal["punishmentId"].as_i64());
    let asked = ids.map(async |id| {
        let found = visit.part(&format!("/api/manage/punishments/{id}"), &[]).await;
        Some((id.to_string(), found.ok()?))
    });
    let punishments: Map<String, Value> = join_all(asked).await.into_iter().flatten().collect();
    Ok(json!({"appeals": appeals, "punishments": punishments}))
}

async fn deliveries(visit: &Visit) -> Result<Value, Refusal> {
    let query = [
        ("limit", "50"),
        ("page", visit.query("page")),
        ("state", visit.query("state")),
        ("kind", visit.query("kind")),
        ("playerUuid", visit.query("player")),
    ];
    let held = [("limit", "1"), ("state", "HELD")];
    let (deliveries, held) =
        join!(visit.get("/api/manage/deliveries", &query), visit.get("/api/manage/deliveries", &held));
    Ok(json!({"deliveries": deliveries?, "held": held?["total"]}))
}

async fn punishment(visit: &Visit) -> Result<Value, Refusal> {
    Ok(json!({"punishment": visit.get("/api/manage/punishments/{id}", &[]).await?}))
}
