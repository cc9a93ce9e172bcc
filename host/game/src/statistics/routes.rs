//! Statistics of players (`/api/plugin/players`) and of all owners (`/api/plugin/economy`).

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::Uri;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::{EconomyWrite, PlayersRead, PlayersWrite};
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::ApiError;
use crate::http::extract::{Json, Path, Query};
use crate::http::json::WrittenJson;
use crate::http::page::LeaderboardLimit;
use crate::owner::{self, Owner};
use crate::statistics::model::{FiniteNumber, StatisticKey, StatisticRow};
use crate::statistics::period::{Day, Period};
use crate::statistics::{Leaderboards, service};
use crate::values::{Identifier, Label, NetworkId, PlayerId, blank_as_absent};

/// Routes of this component.
pub(super) fn router() -> Endpoints {
    endpoints![
        get_player_statistics,
        increment_player_statistic: transactional,
        statistic_leaderboard,
        get_owner_statistics,
        increment_owner_statistic: transactional,
    ]
}

/// Value of a statistic in a period.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct StatisticValue {
    #[schema(example = "kills")]
    statistic_name: String,
    game_mode: Label,
    period_type: Period,
    /// First day of the period, in UTC; `1970-01-01` for the lifetime.
    #[schema(example = "2027-03-08")]
    period_start: String,
    value: FiniteNumber,
    #[schema(example = 1_804_680_000_000_i64)]
    updated_at: Millis,
}

impl StatisticValue {
    fn new(game_mode: &Label, row: StatisticRow) -> Self {
        Self {
            statistic_name: row.name,
            game_mode: game_mode.clone(),
            period_type: row.period,
            period_start: row.period_start,
            value: row.value,
            updated_at: row.updated_at,
        }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct ReadQuery {
    #[serde(default = "Label::global")]
    #[param(required = false, default = "global")]
    game_mode: Label,
    /// Selects the periods of this day. Default: the current ones.
    #[param(inline)]
    period_start: Option<Day>,
    /// All periods, latest first, at most 1,000 values.
    #[serde(default)]
    #[param(required = false, default = false)]
    history: bool,
}

async fn read(
    app: &App,
    network: NetworkId,
    owner: &Owner,
    query: &ReadQuery,
) -> Result<Vec<StatisticValue>, ApiError> {
    if query.history && query.period_start.is_some() {
        return Err(ApiError::invalid("In the query, `periodStart`: must not be combined with `history`."));
    }
    let today = || Day::of(app.clock.now());
    let day = (!query.history).then(|| query.period_start.unwrap_or_else(today));
    let rows = service::read(app, network, owner, &query.game_mode, day).await?;
    Ok(rows.into_iter().map(|row| StatisticValue::new(&query.game_mode, row)).collect())
}

/// A player's statistics.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlayerStatistics {
    player_uuid: PlayerId,
    game_mode: Label,
    /// One per name and period.
    statistics: Vec<StatisticValue>,
}

/// A player's statistics of a game mode in the current periods.
pub(crate) async fn player_statistics(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    game_mode: &Label,
) -> Result<PlayerStatistics, ApiError> {
    let query = ReadQuery { game_mode: game_mode.clone(), period_start: None, history: false };
    let statistics = read(app, network, &Owner::player(player), &query).await?;
    Ok(PlayerStatistics { player_uuid: player, game_mode: query.game_mode, statistics })
}

/// Read a player's statistics
///
/// Values of the current day, week, month and lifetime; periods without a value are omitted.
#[utoipa::path(get, path = "/api/plugin/players/{uuid}/statistics", tag = "Players",
    security(("apiKey" = ["players:read", "players:write", "plugin"])), params(("uuid" = PlayerId, Path), ReadQuery),
    responses((status = 200, body = PlayerStatistics)))]
async fn get_player_statistics(
    PlayersRead(caller): PlayersRead,
    State(app): State<App>,
    Path(id): Path<PlayerId>,
    Query(query): Query<ReadQuery>,
) -> Result<Json<PlayerStatistics>, ApiError> {
    let statistics = read(&app, caller.network, &Owner::player(id), &query).await?;
    Ok(Json(PlayerStatistics { player_uuid: id, game_mode: query.game_mode, statistics }))
}

/// An owner's statistics.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct OwnerStatistics {
    #[schema(example = "player")]
    owner_type: String,
    #[schema(example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")]
    owner_key: String,
    game_mode: Label,
    /// One per name and period.
    statistics: Vec<StatisticValue>,
}

/// Read an owner's statistics
///
/// Values of the current day, week, month and lifetime; periods without a value are omitted.
#[utoipa::path(get, path = "/api/plugin/economy/{ownerType}/{ownerKey}/statistics", tag = "Economy",
    security(("apiKey" = ["economy:write", "plugin"])),
    params(("ownerType" = Identifier, Path, example = "player"),
        ("ownerKey" = Identifier, Path, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5"), ReadQuery),
    responses((status = 200, body = OwnerStatistics)))]
async fn get_owner_statistics(
    EconomyWrite(caller): EconomyWrite,
    State(app): State<App>,
    Path(owner): Path<Owner>,
    Query(query): Query<ReadQuery>,
) -> Result<Json<OwnerStatistics>, ApiError> {
    let statistics = read(&app, caller.network, &owner, &query).await?;
    let (owner_type, owner_key) = (owner.owner_type().to_owned(), owner.key().to_owned());
    Ok(Json(OwnerStatistics { owner_type, owner_key, game_mode: query.game_mode, statistics }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StatisticIncrement)]
struct Increment {
    #[schema(example = "kills")]
    name: Identifier,
    /// Default: `global`.
    game_mode: Option<Label>,
    /// Amount to add; may be negative.
    amount: FiniteNumber,
}

/// New values of a statistic.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = IncrementedStatistic)]
struct Incremented {
    #[schema(example = "kills")]
    statistic_name: Identifier,
    game_mode: Label,
    /// By period.
    #[schema(example = json!({"DAILY": 3, "WEEKLY": 10, "MONTHLY": 10, "LIFETIME": 250}))]
    new_values: BTreeMap<Period, FiniteNumber>,
}

async fn increment(
    app: &App,
    network: NetworkId,
    owner: &Owner,
    body: Increment,
) -> Result<Json<Incremented>, ApiError> {
    let key = StatisticKey { game_mode: body.game_mode.unwrap_or_else(Label::global), name: body.name };
    let new_values = service::increment(app, network, owner, &key, body.amount).await?;
    let StatisticKey { game_mode, name } = key;
    Ok(Json(Incremented { statistic_name: name, game_mode, new_values }))
}

/// Add to a player's statistic
///
/// Adds to the day, week, month and lifetime at once. The player need not be known.
#[utoipa::path(post, path = "/api/plugin/players/{uuid}/statistics/increment", tag = "Players",
    security(("apiKey" = ["players:write", "plugin"])), params(("uuid" = PlayerId, Path)),
    responses((status = 200, body = Incremented)))]
async fn increment_player_statistic(
    PlayersWrite(caller): PlayersWrite,
    State(app): State<App>,
    Path(id): Path<PlayerId>,
    Json(body): Json<Increment>,
) -> Result<Json<Incremented>, ApiError> {
    increment(&app, caller.network, &Owner::player(id), body).await
}

/// Add to an owner's statistic
///
/// Adds to the day, week, month and lifetime at once.
#[utoipa::path(post, path = "/api/plugin/economy/{ownerType}/{ownerKey}/statistics/increment", tag = "Economy",
    security(("apiKey" = ["economy:write", "plugin"])),
    params(("ownerType" = Identifier, Path, example = "player"),
        ("ownerKey" = Identifier, Path, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")),
    responses((status = 200, body = Incremented)))]
async fn increment_owner_statistic(
    EconomyWrite(caller): EconomyWrite,
    State(app): State<App>,
    Path(owner): Path<Owner>,
    Json(body): Json<Increment>,
) -> Result<Json<Incremented>, ApiError> {
    increment(&app, caller.network, &owner, body).await
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct LeaderboardQuery {
    #[serde(default = "Label::global")]
    #[param(required = false, default = "global")]
    game_mode: Label,
    #[serde(default)]
    #[param(inline, required = false)]
    limit: LeaderboardLimit,
    /// Statistic to rank by.
    #[param(value_type = String, example = "kills")]
    name: Identifier,
    /// Type of the owners. Default: players.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>, example = "player")]
    owner_type: Option<Identifier>,
    /// Case-insensitive. Default: LIFETIME.
    #[serde(default)]
    #[param(required = false)]
    period: Period,
    /// Selects the period of this day. Default: the current one.
    #[param(inline)]
    period_start: Option<Day>,
}

/// A rank in a statistic's leaderboard.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct StatisticRank {
    /// 1, 2, 3 …, never shared.
    #[schema(example = 1)]
    rank: i64,
    #[schema(example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")]
    owner_key: String,
    value: FiniteNumber,
}

/// Owners with the highest values of a statistic.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct StatisticLeaderboard {
    #[schema(example = "player")]
    owner_type: String,
    #[schema(example = "kills")]
    statistic_name: Identifier,
    game_mode: Label,
    period: Period,
    entries: Vec<StatisticRank>,
}

/// Rank the owners by a statistic
///
/// Highest value first; equal ones in the order they were reached, then by the owner's key.
#[utoipa::path(get, path = "/api/plugin/economy/leaderboard", tag = "Economy", operation_id = "get_statistic_leaderboard", security(("apiKey" = ["economy:write", "plugin"])),
    params(LeaderboardQuery), responses((status = 200, body = StatisticLeaderboard)))]
async fn statistic_leaderboard(
    EconomyWrite(caller): EconomyWrite,
    State(app): State<App>,
    asked_for: Uri,
    Query(query): Query<LeaderboardQuery>,
) -> Result<WrittenJson, ApiError> {
    let read = async {
        let owner_type = query.owner_type.map_or_else(|| owner::PLAYER.to_owned(), Identifier::into_string);
        let key = StatisticKey { game_mode: query.game_mode, name: query.name };
        let day = query.period_start.unwrap_or_else(|| Day::of(app.clock.now()));
        let limit = query.limit.0;
        let owners = service::leaderboard(&app, caller.network, &owner_type, &key, query.period, day, limit).await?;
        let ranked = (1..).zip(owners).map(|(rank, (owner_key, value))| StatisticRank { rank, owner_key, value });
        let (entries, StatisticKey { game_mode, name }) = (ranked.collect(), key);
        let period = query.period;
        WrittenJson::new(&StatisticLeaderboard { owner_type, statistic_name: name, game_mode, period, entries })
    };
    app.state::<Leaderboards>().0.read((caller.network, asked_for.to_string()), read).await
}
