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

/// A blank order counts as absent.
fn parse_order<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Order>, D::Error> {
    match String::deserialize(deserializer)?.trim().to_ascii_lowercase().as_str() {
        "" => Ok(None),
        "asc" => Ok(Some(Order::Asc)),
        "desc" => Ok(Some(Order::Desc)),
        _ => Err(de::Error::custom("must be asc or desc")),
    }
}

/// Parses a finite number; blank counts as absent.
fn parse_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let Some(text) = not_blank(Some(&text)) else { return Ok(None) };
    let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    number.map(Some).ok_or_else(|| de::Error::custom("must be a number"))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct PartQuery {
    /// `nextCursor` of the previous response; if absent, the list starts at the beginning.
    cursor: Option<String>,
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
}

impl PartQuery {
    /// A blank cursor counts as absent.
    fn part(&self) -> ListPart<'_> {
        ListPart { cursor: not_blank(self.cursor.as_deref()), limit: self.limit.0 }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct OrderQuery {
    /// `asc` (default) or `desc`.
    #[serde(default, deserialize_with = "parse_order")]
    #[param(inline)]
    order: Option<Order>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct ByQuery {
    /// Value of the field: text, number, or `true` or `false`, depending on the index.
    #[param(example = "7")]
    value: String,
}

/// Find documents by a value
///
/// Documents whose indexed field has exactly this value, ordered by id. If there are more, `nextCursor` continues the
/// list.
#[utoipa::path(get, path = "/api/plugin/collections/{collection}/by/{field}", tag = "Collections",
    security(("apiKey" = ["plugin"])), params(("collection" = CollectionName, Path), ("field" = FieldPath, Path), ByQuery, PartQuery),
    responses((status = 200, body = CollectionItems), (status = 404, body = ErrorBody, description = "No such collection")))]
async fn find_documents_by(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Path((collection, field)): Path<(CollectionName, FieldPath)>,
    Query(ByQuery { value }): Query<ByQuery>,
    Query(part): Query<PartQuery>,
) -> Result<Json<CollectionItems>, ApiError> {
    let found = service::find_by_value(&app, caller.network, &collection, &field, &value, part.part()).await?;
    Ok(Json(found.into()))
}

/// Page through documents
///
/// All documents whose field has the index's type, ordered by its value, then by id. Concurrent inserts and deletions
/// do not repeat or skip other documents; a document whose own value changes meanwhile may appear at both positions.
#[utoipa::path(get, path = "/api/plugin/collections/{collection}/page/{field}", tag = "Collections", operation_id = "list_documents",
    security(("apiKey" = ["plugin"])),
    params(("collection" = CollectionName, Path), ("field" = FieldPath, Path), PartQuery, OrderQuery),
    responses((status = 200, body = CollectionPage), (status = 404, body = ErrorBody, description = "No such collection")))]
async fn page_documents(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Path((collection, field)): Path<(CollectionName, FieldPath)>,
    Query(part): Query<PartQuery>,
    Query(OrderQuery { order }): Query<OrderQuery>,
) -> Result<Json<CollectionPage>, ApiError> {
    let list = List { collection: &collection, field: &field, order: order.unwrap_or(Order::Asc) };
    let (found, next_cursor) = service::find_all(&app, caller.network, list, part.part()).await?;
    Ok(Json(CollectionPage { items: found.into_iter().map(CollectionItem::from).collect(), next_cursor }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct RangeQuery {
    /// Lowest number; unbounded if absent.
    #[serde(default, deserialize_with = "parse_number")]
    #[param(example = 5.0)]
    min: Option<f64>,
    /// Highest number; unbounded if absent.
    #[serde(default, deserialize_with = "parse_number")]
    #[param(example = 10.0)]
    max: Option<f64>,
}

/// Find documents in a range
///
/// Documents whose field, indexed as `number`, is from `min` to `max`, both inclusive. Another index type is 400
/// `wrong_index_type`. If there are more, `nextCursor` continues the list.
#[utoipa::path(get, path = "/api/plugin/collections/{collection}/range/{field}", tag = "Collections",
    security(("apiKey" = ["plugin"])),
    params(("collection" = CollectionName, Path), ("field" = FieldPath, Path), RangeQuery, PartQuery, OrderQuery),
    responses((status = 200, body = CollectionItems), (status = 404, body = ErrorBody, description = "No such collection")))]
async fn find_documents_in_range(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Path((collection, field)): Path<(CollectionName, FieldPath)>,
    Query(RangeQuery { min, max }): Query<RangeQuery>,
    Query(part): Query<PartQuery>,
    Query(OrderQuery { order }): Query<OrderQuery>,
) -> Result<Json<CollectionItems>, ApiError> {
    let range = NumberRange { min, max };
    let list = List { collection: &collection, field: &field, order: order.unwrap_or(Order::Asc) };
    let found = service::find_in_range(&app, caller.network, list, range, part.part()).await?;
    Ok(Json(found.into()))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct TopQuery {
    /// `desc` (default) for the highest values, `asc` for the lowest.
    #[serde(default, deserialize_with = "parse_order")]
    #[param(inline)]
    order: Option<Order>,
}

/// Find the top documents
///
/// Documents with the highest or lowest values of the field. If there are more, `nextCursor` continues the list.
#[utoipa::path(get, path = "/api/plugin/collections/{collection}/top/{field}", tag = "Collections",
    security(("apiKey" = ["plugin"])),
    params(("collection" = CollectionName, Path), ("field" = FieldPath, Path), PartQuery, TopQuery),
    responses((status = 200, body = CollectionItems), (status = 404, body = ErrorBody, description = "No such collection")))]
async fn find_top_documents(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Path((collection, field)): Path<(CollectionName, FieldPath)>,
    Query(part): Query<PartQuery>,
    Query(TopQuery { order }): Query<TopQuery>,
) -> Result<Json<CollectionItems>, ApiError> {
    let list = List { collection: &collection, field: &field, order: order.unwrap_or(Order::Desc) };
    let found = service::find_all(&app, caller.network, list, part.part()).await?;
    Ok(Json(found.into()))
}
