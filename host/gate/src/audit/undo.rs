//! Undoing what the log has: the inverse change on today's state, by a request to the route that changes the thing. Others'
//! later changes of other fields stay; of the same ones they are a conflict.

use std::fmt::Write as _;

use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::audit::service::EntryRow;
use crate::component::{Components, Inverse, Undo};
use crate::http::error::{ApiError, ChangedValue, ErrorDetails};
use crate::http::own_routes::OwnRoutes;

/// Pages of 200 that are looked through for a value.
const MAX_PAGES: u32 = 100;
/// Routes of the operator, which undo what the hub's own log has.
const OF_HUB: &str = "/api/admin/";

/// A change that was undone, or would be.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Undone {
    /// Method and path of the request that undoes it, which may be sent instead.
    #[schema(value_type = String, example = "PUT")]
    method: String,
    #[schema(example = "/api/manage/economy/currencies/coins")]
    path: String,
    /// Body of that request; null if it has none.
    #[schema(value_type = Option<Object>, example = json!({"minimum": 0, "maximum": null, "startingBalance": 100}))]
    body: Option<Value>,
    /// Fields whose values it changes; none if it is undone already.
    changes: Vec<UndoneField>,
}

/// A field that is put back.
#[derive(Debug, Serialize, ToSchema)]
struct UndoneField {
    #[schema(example = "startingBalance")]
    field: String,
    /// Value now.
    #[schema(value_type = Option<Value>, example = 50)]
    now: Value,
    /// Value after it is undone.
    #[schema(value_type = Option<Value>, example = 100)]
    then: Value,
}

/// Way in which an entry is undone.
#[derive(Clone, Copy, Debug)]
pub(super) struct How {
    pub(super) dry_run: bool,
    pub(super) force: bool,
}

/// The inverse of an entry of a network's log, or of the hub's own.
fn inverse_of(components: &Components, row: &EntryRow, of_hub: bool) -> Option<(&'static Undo, Inverse)> {
    let undo = components.undo_of(&row.action).filter(|undo| undo.route.starts_with(OF_HUB) == of_hub)?;
    let value =
        |text: &Option<String>| text.as_deref().map_or(Some(Value::Null), |text| serde_json::from_str(text).ok());
    let inverse = undo.inverse(&value(&row.value_before)?, &value(&row.value_after)?)?;
    Some((undo, inverse))
}

/// True if an entry can be undone.
pub(super) fn is_undoable(components: &Components, row: &EntryRow, of_hub: bool) -> bool {
    inverse_of(components, row, of_hub).is_some()
}

/// Undoes an entry with the rights of `caller`.
pub(super) async fn undo(
    components: &Components,
    routes: &OwnRoutes,
    caller: &Parts,
    row: &EntryRow,
    of_hub: bool,
    how: How,
) -> Result<Undone, Response> {
    let (undo, inverse) = inverse_of(components, row, of_hub).ok_or_else(|| {
        let message = "This change has no inverse: the log does not have all of it, or nothing takes it back.";
        ApiError::bad_request("not_undoable", message).into_response()
    })?;
    let parameters: Vec<_> = undo.target.iter().copied().zip(row.target.splitn(undo.target.len(), '/')).collect();
    let (now, revision) = read(undo, routes, caller, &parameters).await?;
    let changed: Vec<_> =
        undo.fields.iter().filter(|name| inverse.before.get(**name) != inverse.after.get(**name)).collect();
    let value = |of: &Map<String, Value>, name: &str| of.get(name).cloned().unwrap_or_default();
    // So that it can be sent again.
    let is_done = changed.iter().all(|name| value(&inverse.before, name) == now[**name]);
    let is_conflict = changed.iter().any(|name| value(&inverse.after, name) != now[**name]);
    if is_conflict && !is_done && !how.force {
        return Err(conflict(&inverse, now).into_response());
    }
    let body = (inverse.method != Method::DELETE).then(|| body(undo, &inverse, &now));
    let path = fill(undo.route, &parameters);
    let field = |name: &&&str| UndoneField {
        field: (**name).to_string(),
        now: now[**name].clone(),
        then: value(&inverse.before, name),
    };
    let changes = if is_done { vec![] } else { changed.iter().map(field).collect() };
    if !how.dry_run && !is_done {
        // Between this look and the change the revision decides.
        routes.send(caller, inverse.method.clone(), &path, body.as_ref(), revision).await?;
    }
    Ok(Undone { method: inverse.method.to_string(), path, body, changes })
}

/// The fields that change, and for a PUT the others as they are now.
fn body(undo: &Undo, inverse: &Inverse, now: &Value) -> Value {
    let is_whole = inverse.method == Method::PUT;
    let value = |name: &str| match inverse.before.get(name) {
        Some(value) if inverse.after.get(name) != Some(value) => Some(value.clone()),
        _ if is_whole => now.get(name).cloned(),
        _ => None,
    };
    undo.fields.iter().filter_map(|name| Some(((*name).to_owned(), value(name)?))).collect::<Map<_, _>>().into()
}

fn conflict(inverse: &Inverse, now: Value) -> ApiError {
    let changed = ChangedValue { expected: 0, before: Some(Value::Object(inverse.after.clone())), revision: 0, now };
    let details = ErrorDetails { changed: Some(Box::new(changed)), ..ErrorDetails::default() };
    let message = "This was changed again since. Undoing it would overwrite that, too; `force` does.";
    ApiError::new(StatusCode::CONFLICT, "revision_changed", message).details(details)
}

/// The value as it is now, null if there is none, and its revision.
async fn read(
    undo: &Undo,
    routes: &OwnRoutes,
    caller: &Parts,
    parameters: &[(&str, &str)],
) -> Result<(Value, Option<HeaderValue>), Response> {
    let none = || (Value::Null, Some(HeaderValue::from_static("0")));
    let route = fill(undo.now.route, parameters);
    let (value, revision) = match undo.now.among {
        None => match routes.send(caller, Method::GET, &route, None, None).await {
            Err(refusal) if refusal.status() == StatusCode::NOT_FOUND => return Ok(none()),
            answer => answer.map(|answer| (answer.body, answer.revision))?,
        },
        Some((field, parameter)) => {
            let wanted = parameters.iter().find(|(name, _)| *name == parameter).map(|(_, value)| *value);
            let Some(item) = find(routes, caller, &route, |item| item[field].as_str() == wanted).await? else {
                return Ok(none());
            };
            let revision = item["revision"].as_i64().map(HeaderValue::from);
            (item, revision)
        }
    };
    let value = match undo.now.value {
        Some(name) => {
            undo.fields.iter().map(|field| ((*field).to_owned(), value[name].clone())).collect::<Map<_, _>>().into()
        }
        None => value,
    };
    Ok((value, revision))
}

/// The first item of all pages that is the wanted one.
async fn find(
    routes: &OwnRoutes,
    caller: &Parts,
    route: &str,
    is_wanted: impl Fn(&Value) -> bool,
) -> Result<Option<Value>, Response> {
    for page in 0..MAX_PAGES {
        let answer = routes.send(caller, Method::GET, &format!("{route}&page={page}"), None, None).await?.body;
        let items = answer["items"].as_array().map_or(&[][..], Vec::as_slice);
        if let Some(item) = items.iter().find(|item| is_wanted(item)) {
            return Ok(Some(item.clone()));
        }
        if items.is_empty() {
            break;
        }
    }
    Ok(None)
}

/// A route with its parameters, each one segment or one value of the query.
fn fill(route: &str, parameters: &[(&str, &str)]) -> String {
    let mut path = String::with_capacity(route.len() + 40);
    for (at, part) in route.split('{').enumerate() {
        let (name, rest) = if at == 0 { ("", part) } else { part.split_once('}').unwrap_or((part, "")) };
        let value = parameters.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value);
        for byte in value.bytes() {
            let is_plain = byte.is_ascii_alphanumeric() || b"-_~".contains(&byte);
            let _ = if is_plain { write!(path, "{}", char::from(byte)) } else { write!(path, "%{byte:02X}") };
        }
        path.push_str(rest);
    }
    path
}
