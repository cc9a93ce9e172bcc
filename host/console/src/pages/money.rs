//! Currencies, and leaderboards of currencies and statistics.

use serde_json::{Value, json};
use tokio::join;

use crate::action::{Action, Verb};
use crate::form::Field;
use crate::page::{Page, page};
use crate::pages::names;
use crate::refusal::Refusal;
use crate::visit::Visit;

pub(super) static PAGES: &[Page] = &[
    page!("/n/{network}/money", "money.html", currencies),
    page!("/n/{network}/leaderboards", "leaderboards.html", leaderboards),
];

const CURRENCIES: &str = "/api/manage/economy/currencies";
const CURRENCY: &str = "/api/manage/economy/currencies/{name}";
const BOUNDS: &[Field] = &[Field::number("minimum"), Field::number("maximum"), Field::number("startingBalance")];
const MONEY: &str = "/n/{network}/money";

pub(super) static ACTIONS: &[Action] = &[Action::post(MONEY, CURRENCY, BOUNDS, MONEY, "Saved")
    .verb(Verb::Put)
    .unless_changed_among("/api/manage/economy/currencies?limit=200", ("items", "currencyName", "name"))];

async fn currencies(visit: &Visit) -> Result<Value, Refusal> {
    let query = [("limit", "50"), ("page", visit.query("page"))];
    Ok(json!({"currencies": visit.get(CURRENCIES, &query).await?}))
}

/// Owners by a currency, or by a statistic.
async fn leaderboards(visit: &Visit) -> Result<Value, Refusal> {
    let (currency, statistic) = (visit.query("currency"), visit.query("statistic"));
    let owner = ("ownerType", visit.query("ownerType"));
    let of_currency = [("currency", currency), ("limit", "50"), owner];
    let of_statistic = [
        ("name", statistic),
        ("limit", "50"),
        owner,
        ("gameMode", visit.query("gameMode")),
        ("period", visit.query("period")),
    ];
    let board = async {
        match (currency, statistic) {
            ("", "") => Ok(Value::Null),
            (_, "") => visit.get("/api/plugin/economy/currencies/leaderboard", &of_currency).await,
            _ => visit.get("/api/plugin/economy/leaderboard", &of_statistic).await,
        }
    };
    let (currencies, board) = join!(visit.part(CURRENCIES, &[("limit", "200")]), board);
    let board = board?;
    let is_of_players = board["ownerType"] == "player";
    let keys = board["entries"].as_array().into_iter().flatten().map(|entry| &entry["ownerKey"]);
    let players = names::players(visit, keys.filter(|_| is_of_players)).await;
    Ok(json!({"currencies": currencies?, "board": board, "players": players}))
}
