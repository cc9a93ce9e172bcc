//! `/api/admin/networks`: the operator creates networks, puts them on plans, suspends and deletes them.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::{KeyId, Operator, Unbound};
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Page, PageQuery};
use crate::networks::admin::{self, FoundNetwork, NetworkChange, NetworkRow};
use crate::networks::admin_store::DeletedNetworkRow;
use crate::networks::routes::{CreateKey, CreatedKey, Key, LeftBehind, RevokeQuery};
use crate::plans::announce_change;
use crate::secret_text::SecretText;
use crate::values::{Identifier, Label, NetworkId};

/// Routes of the operator.
pub(super) fn router() -> Endpoints {
    endpoints![
        list,
        create: transactional secret,
        find,
        change,
        delete,
        list_keys,
        create_key: transactional secret,
        revoke_key,
    ]
}

/// A network from the operator's view.
#[allow(clippy::struct_field_names, reason = "the interface names the field")]
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Network {
    #[schema(value_type = String, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")]
    network_id: NetworkId,
    #[schema(example = "mynetwork")]
    name: String,
    #[schema(example = "default")]
    plan: String,
    /// True if its keys are refused with 403 `network_suspended`.
    suspended: bool,
    created_at: Millis,
    /// Time of its permanent deletion; null if none is scheduled.
    delete_at: Option<Millis>,
}

impl From<NetworkRow> for Network {
    fn from(row: NetworkRow) -> Self {
        let NetworkRow { network_id, name, plan, suspended, created_at, delete_at } = row;
        Self { network_id, name, plan, suspended, created_at, delete_at }
    }
}

/// Remains of a deleted network.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DeletedNetwork {
    #[schema(value_type = String, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")]
    network_id: NetworkId,
    /// Former name, which another network may have by now.
    #[schema(example = "mynetwork")]
    name: String,
    /// Time at which its deletion was complete.
    #[schema(example = 1_804_680_000_000_i64)]
    deleted_at: Millis,
}

/// A network, or the remains of a deleted one.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NetworkOrDeleted)]
#[serde(untagged)]
enum NetworkAnswer {
    There(Network),
    Deleted(DeletedNetwork),
}

impl From<FoundNetwork> for NetworkAnswer {
    fn from(found: FoundNetwork) -> Self {
        match found {
            FoundNetwork::There(row) => Self::There(row.into()),
            FoundNetwork::Deleted(DeletedNetworkRow { network_id, name, deleted_at }) => {
                Self::Deleted(DeletedNetwork { network_id, name, deleted_at })
            }
        }
    }
}

/// A network with its first key, which is shown only once.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NewNetwork)]
#[serde(rename_all = "camelCase")]
struct CreatedNetwork {
    #[serde(flatten)]
    network: Network,
    #[schema(value_type = String, example = "4fTq0ZkX91ab")]
    key_id: KeyId,
    /// Key of the network's owner, with all scopes except `operator`.
    #[schema(example = "hub_4fTq0ZkX91ab_…")]
    api_key: SecretText,
}

/// List the networks
///
/// Oldest first, without deleted ones.
#[utoipa::path(get, path = "/api/admin/networks", operation_id = "list_networks", tag = "Operator",
    security(("apiKey" = ["operator"])), params(PageQuery), responses((status = 200, body = Page<Network>)))]
async fn list(
    Operator(_caller): Operator,
    State(app): State<App>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<Network>>, ApiError> {
    let (rows, total) = admin::list(&app.db, query.limit.0, query.page.offset(query.limit)).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total).map(Network::from)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = NetworkRequest)]
struct CreateNetwork {
    /// Unique name; an existing one is 400 `name_taken`.
    #[schema(value_type = String, example = "mynetwork")]
    name: Identifier,
    /// Default: `default`.
    #[schema(value_type = Option<String>, example = "default")]
    plan: Option<Label>,
}

/// Create a network
///
/// Its first key is shown only in this answer. It has no end and no bindings, so an operator's key with some is refused (403
/// `forbidden_origin`).
#[utoipa::path(post, path = "/api/admin/networks", operation_id = "create_network", tag = "Operator",
    security(("apiKey" = ["operator"])),
    responses((status = 201, body = CreatedNetwork), (status = 404, body = ErrorBody, description = "No such plan")))]
async fn create(
    Unbound(caller, ..): Unbound<Operator>,
    State(app): State<App>,
    Json(body): Json<CreateNetwork>,
) -> Result<(StatusCode, Json<CreatedNetwork>), ApiError> {
    let (row, key) =
        admin::create(&app, &caller.origin(&app), body.name.as_str(), body.plan.as_ref().map(Label::as_str)).await?;
    let created = CreatedNetwork { network: row.into(), key_id: key.id, api_key: key.text };
    Ok((StatusCode::CREATED, Json(created)))
}

/// Get a network
///
/// For a deleted network, only its name and `deletedAt`.
#[utoipa::path(get, path = "/api/admin/networks/{id}", operation_id = "get_network", tag = "Operator",
    security(("apiKey" = ["operator"])), params(("id" = String, Path, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")),
    responses((status = 200, body = NetworkAnswer), (status = 404, body = ErrorBody, description = "No such network")))]
async fn find(
    Operator(_caller): Operator,
    State(app): State<App>,
    Path(id): Path<NetworkId>,
) -> Result<Json<NetworkAnswer>, ApiError> {
    Ok(Json(admin::find(&app.db, id).await?.into()))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = NetworkChange)]
struct ChangeNetwork {
    #[schema(value_type = Option<String>, example = "mynetwork")]
    name: Option<Identifier>,
    #[schema(value_type = Option<String>, example = "default")]
    plan: Option<Label>,
    /// True refuses its keys and ends its streams within a second; false resumes it, and cancels a deletion that has
    /// not begun.
    #[schema(example = false)]
    suspended: Option<bool>,
}

/// Change a network
///
/// Absent fields keep their values. In effect within a second, at every node of the hub.
#[utoipa::path(patch, path = "/api/admin/networks/{id}", operation_id = "update_network", tag = "Operator",
    security(("apiKey" = ["operator"])), params(("id" = String, Path, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")),
    responses((status = 200, body = Network),
        (status = 404, body = ErrorBody, description = "No such network, or no such plan"),
        (status = 409, body = ErrorBody, description = "The network is being deleted")))]
async fn change(
    Operator(caller): Operator,
    State(app): State<App>,
    Path(id): Path<NetworkId>,
    Json(body): Json<ChangeNetwork>,
) -> Result<Json<Network>, ApiError> {
    let change = NetworkChange {
        name: body.name.as_ref().map(Identifier::as_str),
        plan: body.plan.as_ref().map(Label::as_str),
        suspended: body.suspended,
    };
    let row = admin::change(&app.db, &caller.origin(&app), id, change).await?;
    announce_change(&app).await;
    Ok(Json(row.into()))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct DeleteQuery {
    /// Delete at once instead of in seven days.
    #[param(required = false, example = false)]
    now: Option<bool>,
}

/// Delete a network
///
/// From now on its keys are refused with 403 `network_suspended` and its streams end. All its data is deleted
/// permanently in seven days, or at once; until then `PATCH` with `suspended: false` cancels the deletion. Its name is
/// free afterwards.
#[utoipa::path(delete, path = "/api/admin/networks/{id}", operation_id = "delete_network", tag = "Operator",
    security(("apiKey" = ["operator"])),
    params(("id" = String, Path, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5"), DeleteQuery),
    responses((status = 204, description = "Deletion scheduled"),
        (status = 404, body = ErrorBody, description = "No such network")))]
async fn delete(
    Operator(caller): Operator,
    State(app): State<App>,
    Path(id): Path<NetworkId>,
    Query(query): Query<DeleteQuery>,
) -> Result<StatusCode, ApiError> {
    admin::delete(&app.db, &caller.origin(&app), id, query.now.unwrap_or(false)).await?;
    announce_change(&app).await;
    Ok(StatusCode::NO_CONTENT)
}

/// List a network's keys
///
/// Live keys only, oldest first.
#[utoipa::path(get, path = "/api/admin/networks/{id}/keys", operation_id = "list_keys_of_network", tag = "Operator",
    security(("apiKey" = ["operator"])),
    params(("id" = String, Path, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5"), PageQuery),
    responses((status = 200, body = Page<Key>), (status = 404, body = ErrorBody, description = "No such network")))]
async fn list_keys(
    Operator(_caller): Operator,
    State(app): State<App>,
    Path(id): Path<NetworkId>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<Key>>, ApiError> {
    let (rows, total) = admin::list_keys(&app, id, query.limit.0, query.page.offset(query.limit)).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total).map(Key::from)))
}

/// Create a key of a network
///
/// All scopes except `operator` are allowed. The key's text is shown only in this answer. It gets the bindings of the
/// operator's key, and must not outlive it (403 `forbidden_scope`).
#[utoipa::path(post, path = "/api/admin/networks/{id}/keys", operation_id = "create_key_of_network", tag = "Operator",
    security(("apiKey" = ["operator"])),
    params(("id" = String, Path, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")),
    responses((status = 201, body = CreatedKey), (status = 404, body = ErrorBody, description = "No such network")))]
async fn create_key(
    Operator(caller): Operator,
    State(app): State<App>,
    Path(id): Path<NetworkId>,
    Json(body): Json<CreateKey>,
) -> Result<(StatusCode, Json<CreatedKey>), ApiError> {
    let key = admin::create_key(&app, &caller, id, body.into_new_key(app.clock.now())?).await?;
    Ok((StatusCode::CREATED, Json(key.into())))
}

/// Revoke a key of a network
///
/// In effect everywhere within a second. The answer lists what the key created and left behind, as for the owner.
#[utoipa::path(delete, path = "/api/admin/networks/{id}/keys/{keyId}", operation_id = "revoke_key_of_network",
    tag = "Operator", security(("apiKey" = ["operator"])),
    params(("id" = String, Path, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5"), ("keyId" = String, Path), RevokeQuery),
    responses((status = 200, body = LeftBehind, description = "Revoked; it left these"),
        (status = 204, description = "Revoked; it left nothing"),
        (status = 404, body = ErrorBody, description = "No such network, or no such key")))]
async fn revoke_key(
    Operator(caller): Operator,
    State(app): State<App>,
    Path((id, key)): Path<(NetworkId, KeyId)>,
    Query(query): Query<RevokeQuery>,
) -> Result<Response, ApiError> {
    let all = query.revoke.unwrap_or(false);
    Ok(LeftBehind::answer(admin::revoke_key(&app, &caller.origin(&app), id, &key, all).await?))
}
