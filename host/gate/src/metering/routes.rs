//! `/api/manage/usage` for owners, `/api/admin/networks/{id}/usage` for the operator.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::{NetworkManage, Operator};
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Limit, Page, PageNumber};
use crate::metering::service::{self, HourRow, TimeRange};
use crate::values::NetworkId;

/// Routes of usage.
pub(super) fn router() -> Endpoints {
    endpoints![list, list_of_network]
}

/// Usage of a network in an hour.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageHour {
    /// Beginning of the hour.
    #[schema(example = 1_804_680_000_000_i64)]
    hour: Millis,
    /// Requests with a valid key, except those answered with 429 or 5xx.
    #[schema(example = 5_120)]
    requests: i64,
    /// Events sent to streams, each counted on each stream; without pings.
    #[schema(example = 1_200)]
    events: i64,
    /// Module calls in production, including shadows.
    #[schema(example = 310)]
    module_calls: i64,
    /// Processor time of these calls, in milliseconds.
    #[schema(example = 42)]
    module_millis: i64,
    /// WebAssembly instructions, approximately.
    #[schema(example = 9_000_000)]
    fuel: i64,
    /// Peak number of documents in collections.
    #[schema(example = 4_000)]
    documents: i64,
    /// Peak bytes of players' data, documents, config documents, the catalog and modules' stores.
    #[schema(example = 1_048_576)]
    storage_bytes: i64,
    /// Peak bytes of modules' stores, included in `storageBytes`.
    #[schema(example = 65_536)]
    module_store_bytes: i64,
    /// Peak bytes of artifacts, bundles, snapshots, modules and files to import.
    #[schema(example = 52_428_800)]
    file_bytes: i64,
    /// Peak number of players online.
    #[schema(example = 310)]
    peak_players: i64,
    /// Peak number of servers online.
    #[schema(example = 12)]
    peak_servers: i64,
    /// Peak number of open streams.
    #[schema(example = 14)]
    peak_streams: i64,
}

impl From<&HourRow> for UsageHour {
    fn from(row: &HourRow) -> Self {
        Self {
            hour: row.hour,
            requests: row.requests,
            events: row.events,
            module_calls: row.module_calls,
            module_millis: row.module_micros / 1_000,
            fuel: row.fuel,
            documents: row.documents,
            storage_bytes: row.storage_bytes,
            module_store_bytes: row.module_store_bytes,
            file_bytes: row.file_bytes,
            peak_players: row.peak_players,
            peak_servers: row.peak_servers,
            peak_streams: row.peak_streams,
        }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct UsageQuery {
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    #[serde(default)]
    #[param(inline, required = false)]
    page: PageNumber,
    /// Only hours that end after this time, in milliseconds. Default: all.
    #[param(required = false, example = 1_804_680_000_000_i64)]
    from: Option<Millis>,
    /// Only hours that begin before this time, in milliseconds. Default: now.
    #[param(required = false, example = 1_804_766_400_000_i64)]
    to: Option<Millis>,
}

async fn page(app: &App, network: NetworkId, query: UsageQuery) -> Result<Json<Page<UsageHour>>, ApiError> {
    let UsageQuery { limit, page, from, to } = query;
    let range = TimeRange { from: from.unwrap_or(0), to: to.unwrap_or(Millis::MAX) };
    if range.from >= range.to {
        return Err(ApiError::invalid("In the query, `from`: must be before `to`."));
    }
    let (rows, total) = service::page(app, network, range, limit.0, page.offset(limit)).await?;
    Ok(Json(Page::new(rows, page, limit, total).map(|row| UsageHour::from(&row))))
}

/// List the network's usage
///
/// Hour by hour, newest first; the current hour is included, some seconds behind. Storage and peaks are the maximum of
/// the hour. Hours without usage and storage are omitted. An hour never changes later than 15 s after its end.
#[utoipa::path(get, path = "/api/manage/usage", operation_id = "list_usage", tag = "Usage",
    security(("apiKey" = ["network:manage"])), params(UsageQuery), responses((status = 200, body = Page<UsageHour>)))]
async fn list(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Query(query): Query<UsageQuery>,
) -> Result<Json<Page<UsageHour>>, ApiError> {
    page(&app, caller.network, query).await
}

/// List a network's usage
///
/// The same rows as the owner's list; also of a deleted network, until its hours expire.
#[utoipa::path(get, path = "/api/admin/networks/{id}/usage", operation_id = "list_usage_of_network", tag = "Operator",
    security(("apiKey" = ["operator"])),
    params(("id" = String, Path, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5"), UsageQuery),
    responses((status = 200, body = Page<UsageHour>), (status = 404, body = ErrorBody, description = "No such network")))]
async fn list_of_network(
    Operator(_caller): Operator,
    State(app): State<App>,
    Path(id): Path<NetworkId>,
    Query(query): Query<UsageQuery>,
) -> Result<Json<Page<UsageHour>>, ApiError> {
    if !service::is_known(&app.db, id).await? {
        return Err(ApiError::not_found("unknown_network", format!("No network {id}.")));
    }
    page(&app, id, query).await
}
