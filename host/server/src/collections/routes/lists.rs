//! Documents by an indexed field.

use axum::extract::State;
use serde::{Deserialize, Deserializer, de};
use utoipa::IntoParams;

use crate::app::App;
use crate::auth::Plugin;
use crate::collections::body::{CollectionItem, CollectionItems, CollectionPage};
use crate::collections::cursor::List;
use crate::collections::model::{CollectionName, FieldPath, Order};
use crate::collections::service::{self, ListPart, NumberRange};
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::Limit;
use crate::values::not_blank;

pub(super) fn router() -> Endpoints {
    endpoints![
        find_documents_by: large_answer,
        page_documents: large_answer,
        find_documents_in_range: large_answer,
        find_top_documents: large_answer,
    ]
}

/// A blank order is the same as none.
fn parse_order<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Order>, D::Error> {
    match String::deserialize(deserializer)?.trim().to_ascii_lowercase().as_str() {
        "" => Ok(None),
        "asc" => Ok(Some(Order::Asc)),
        "desc" => Ok(Some(Order::Desc)),
        _ => Err(de::Error::custom("must be asc or desc")),
    }
}

/// A finite number; blank is the same as none.
fn parse_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let Some(text) = not_blank(Some(&text)) else { return Ok(None) };
    let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    number.map(Some).ok_or_else(|| de::Error::custom("must be a number"))
}

/// A blank cursor is the same as none.
fn part(cursor: Option<&str>, limit: Limit) -> ListPart<'_> {
    ListPart { cursor: not_blank(cursor), limit: limit.0 }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct ByQuery {
    /// The value the field has: text, a number, or `true` or `false`, as the field is indexed.
    #[param(example = "7")]
    value: String,
    /// The `nextCursor` of the answer before; from the beginning when absent.
    cursor: Option<String>,
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
}

/// Find documents by a value
///
/// Those whose indexed field has exactly this value, by id. Where there are more, `nextCursor` says where they begin.
#[utoipa::path(get, path = "/api/plugin/collections/{collection}/by/{field}", tag = "Collections",
    security(("apiKey" = ["plugin"])), params(("collection" = CollectionName, Path), ("field" = FieldPath, Path), ByQuery),
    responses((status = 200, body = CollectionItems), (status = 404, body = ErrorBody, description = "No such collection")))]
async fn find_documents_by(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Path((collection, field)): Path<(CollectionName, FieldPath)>,
    Query(query): Query<ByQuery>,
) -> Result<Json<CollectionItems>, ApiError> {
    let part = part(query.cursor.as_deref(), query.limit);
    let found = service::find_by_value(&app, caller.network, &collection, &field, &query.value, part).await?;
    Ok(Json(found.into()))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct PageQuery {
    /// The `nextCursor` of the page before; the first page when absent.
    cursor: Option<String>,
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    /// `asc` or `desc`; `asc` when absent.
    #[serde(default, deserialize_with = "parse_order")]
    #[param(inline)]
    order: Option<Order>,
}

/// Page through documents
///
/// All whose field is of the index's type, by its value and then by id. Documents that come and go meanwhile make no
/// page repeat or skip another; one whose own value changes meanwhile may be seen where it was and where it is.
#[utoipa::path(get, path = "/api/plugin/collections/{collection}/page/{field}", tag = "Collections", operation_id = "list_documents",
    security(("apiKey" = ["plugin"])),
    params(("collection" = CollectionName, Path), ("field" = FieldPath, Path), PageQuery),
    responses((status = 200, body = CollectionPage), (status = 404, body = ErrorBody, description = "No such collection")))]
async fn page_documents(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Path((collection, field)): Path<(CollectionName, FieldPath)>,
    Query(query): Query<PageQuery>,
) -> Result<Json<CollectionPage>, ApiError> {
    let list = List { collection: &collection, field: &field, order: query.order.unwrap_or(Order::Asc) };
    let part = part(query.cursor.as_deref(), query.limit);
    let (found, next_cursor) = service::find_all(&app, caller.network, list, part).await?;
    Ok(Json(CollectionPage { items: found.into_iter().map(CollectionItem::from).collect(), next_cursor }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct RangeQuery {
    /// The least number wanted; from the very least when absent.
    #[serde(default, deserialize_with = "parse_number")]
    #[param(example = 5.0)]
    min: Option<f64>,
    /// The greatest number wanted; to the very greatest when absent.
    #[serde(default, deserialize_with = "parse_number")]
    #[param(example = 10.0)]
    max: Option<f64>,
    /// The `nextCursor` of the answer before; from the beginning when absent.
    cursor: Option<String>,
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    /// `asc` or `desc`; `asc` when absent.
    #[serde(default, deserialize_with = "parse_order")]
    #[param(inline)]
    order: Option<Order>,
}

/// Find documents in a range
///
/// Those whose field, indexed as `number`, lies between `min` and `max`, both included. Another type of index is 400
/// `wrong_index_type`. Where there are more, `nextCursor` says where they begin.
#[utoipa::path(get, path = "/api/plugin/collections/{collection}/range/{field}", tag = "Collections",
    security(("apiKey" = ["plugin"])),
    params(("collection" = CollectionName, Path), ("field" = FieldPath, Path), RangeQuery),
    responses((status = 200, body = CollectionItems), (status = 404, body = ErrorBody, description = "No such collection")))]
async fn find_documents_in_range(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Path((collection, field)): Path<(CollectionName, FieldPath)>,
    Query(query): Query<RangeQuery>,
) -> Result<Json<CollectionItems>, ApiError> {
    let range = NumberRange { min: query.min, max: query.max };
    let list = List { collection: &collection, field: &field, order: query.order.unwrap_or(Order::Asc) };
    let part = part(query.cursor.as_deref(), query.limit);
    let found = service::find_in_range(&app, caller.network, list, range, part).await?;
    Ok(Json(found.into()))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct TopQuery {
    /// The `nextCursor` of the answer before; from the beginning when absent.
    cursor: Option<String>,
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    /// `desc` for the greatest, `asc` for the least; `desc` when absent.
    #[serde(default, deserialize_with = "parse_order")]
    #[param(inline)]
    order: Option<Order>,
}

/// Find the top documents
///
/// Those with the greatest values in the field, or the least. Where there are more, `nextCursor` says where they begin.
#[utoipa::path(get, path = "/api/plugin/collections/{collection}/top/{field}", tag = "Collections",
    security(("apiKey" = ["plugin"])),
    params(("collection" = CollectionName, Path), ("field" = FieldPath, Path), TopQuery),
    responses((status = 200, body = CollectionItems), (status = 404, body = ErrorBody, description = "No such collection")))]
async fn find_top_documents(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Path((collection, field)): Path<(CollectionName, FieldPath)>,
    Query(query): Query<TopQuery>,
) -> Result<Json<CollectionItems>, ApiError> {
    let list = List { collection: &collection, field: &field, order: query.order.unwrap_or(Order::Desc) };
    let part = part(query.cursor.as_deref(), query.limit);
    let found = service::find_all(&app, caller.network, list, part).await?;
    Ok(Json(found.into()))
}
