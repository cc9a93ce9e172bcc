//! The operator's routes: people with accounts, other operators, and the first owners of networks.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{OPERATOR_NETWORK, Operator, Role, Unbound};
use crate::clock::Millis;
use crate::email::Email;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Page, PageQuery};
use crate::networks;
use crate::networks::LeftBehind;
use crate::people::model::PersonRow;
use crate::people::routes::manage::{InvitationBody, Invite, MemberBody, RevokeQuery};
use crate::people::service;
use crate::values::NetworkId;

/// A person with an account.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Person)]
pub(super) struct PersonBody {
    #[schema(example = "p_4fTq0ZkX91ab4fTq")]
    person_id: String,
    #[schema(example = "alex@example.org")]
    email: String,
    #[schema(example = "Alex")]
    name: String,
    /// True if this person is an operator of the hub.
    operator: bool,
    created_at: Millis,
}

impl From<PersonRow> for PersonBody {
    fn from(row: PersonRow) -> Self {
        let PersonRow { person_id, email, name, is_operator: operator, created_at, .. } = row;
        Self { person_id, email, name, operator, created_at }
    }
}

/// List the people of the hub
///
/// All people with an account, earliest first.
#[utoipa::path(get, path = "/api/admin/people", operation_id = "list_people_of_hub", tag = "People",
    security(("apiKey" = ["operator"])), params(PageQuery), responses((status = 200, body = Page<PersonBody>)))]
pub(super) async fn list(
    Operator(_caller): Operator,
    State(app): State<App>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<PersonBody>>, ApiError> {
    let (rows, total) = service::persons(&app, query.limit.0, query.page.offset(query.limit)).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total).map(PersonBody::from)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = OperatorInvitationRequest)]
pub(super) struct InviteOperator {
    /// Recipient of the invitation.
    email: Email,
}

/// Invite an operator
///
/// A key that expires, or is bound to servers or addresses, cannot invite (403 `forbidden_origin`).
#[utoipa::path(post, path = "/api/admin/people", operation_id = "invite_operator", tag = "People",
    security(("apiKey" = ["operator"])), responses((status = 201, body = InvitationBody)))]
pub(super) async fn invite(
    Unbound(caller, ..): Unbound<Operator>,
    State(app): State<App>,
    Json(body): Json<InviteOperator>,
) -> Result<(StatusCode, Json<InvitationBody>), ApiError> {
    let link = service::invite_as_operator(&app, &caller.origin(&app), None, &body.email, &Role::Owner.into()).await?;
    Ok((StatusCode::CREATED, Json(link.into())))
}

/// List operator invitations
///
/// Pending ones, latest first.
#[utoipa::path(get, path = "/api/admin/people/invitations", operation_id = "list_operator_invitations", tag = "People",
    security(("apiKey" = ["operator"])), params(PageQuery), responses((status = 200, body = Page<InvitationBody>)))]
pub(super) async fn list_invitations(
    Operator(_caller): Operator,
    State(app): State<App>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<InvitationBody>>, ApiError> {
    invitations(&app, OPERATOR_NETWORK, query).await
}

async fn invitations(app: &App, network: NetworkId, query: PageQuery) -> Result<Json<Page<InvitationBody>>, ApiError> {
    let offset = query.page.offset(query.limit);
    let (rows, total) = service::invitations(app, network, query.limit.0, offset).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total).map(InvitationBody::from)))
}

/// Revoke an operator invitation
#[utoipa::path(delete, path = "/api/admin/people/invitations/{invitationId}", operation_id = "delete_operator_invitation",
    tag = "People", security(("apiKey" = ["operator"])), params(("invitationId" = String, Path)),
    responses((status = 204, description = "Revoked"),
        (status = 404, body = ErrorBody, description = "No such invitation")))]
pub(super) async fn delete_invitation(
    Operator(caller): Operator,
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    service::delete_invitation(&app, &caller.origin(&app), OPERATOR_NETWORK, None, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// List the people of a network
///
/// The same list as its owner's.
#[utoipa::path(get, path = "/api/admin/networks/{id}/people", operation_id = "list_people_of_network", tag = "People",
    security(("apiKey" = ["operator"])),
    params(("id" = String, Path, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5"), PageQuery),
    responses((status = 200, body = Page<MemberBody>), (status = 404, body = ErrorBody, description = "No such network")))]
pub(super) async fn list_of_network(
    Operator(_caller): Operator,
    State(app): State<App>,
    Path(network): Path<NetworkId>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<MemberBody>>, ApiError> {
    networks::admin::network(&app.db, network).await?;
    let (rows, total) = service::members(&app, network, query.limit.0, query.page.offset(query.limit)).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total).map(MemberBody::from)))
}

/// Remove a member of a network
///
/// Any role can be removed. The account remains.
#[utoipa::path(delete, path = "/api/admin/networks/{id}/people/{personId}", operation_id = "remove_person_from_network",
    tag = "People", security(("apiKey" = ["operator"])),
    params(("id" = String, Path, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5"), ("personId" = String, Path), RevokeQuery),
    responses((status = 200, body = LeftBehind, description = "Removed; they left these"),
        (status = 204, description = "Removed; they left nothing"),
        (status = 404, body = ErrorBody, description = "No such network, or no such member")))]
pub(super) async fn remove_from_network(
    Operator(caller): Operator,
    State(app): State<App>,
    Path((network, person)): Path<(NetworkId, String)>,
    Query(query): Query<RevokeQuery>,
) -> Result<Response, ApiError> {
    networks::admin::network(&app.db, network).await?;
    let (origin, revoke) = (caller.origin(&app), query.revoke.unwrap_or(true));
    Ok(LeftBehind::answer(service::remove(&app, &origin, network, None, &person, revoke).await?))
}

/// List the invitations of a network
///
/// Pending ones, latest first.
#[utoipa::path(get, path = "/api/admin/networks/{id}/people/invitations", operation_id = "list_invitations_of_network",
    tag = "People", security(("apiKey" = ["operator"])),
    params(("id" = String, Path, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5"), PageQuery),
    responses((status = 200, body = Page<InvitationBody>),
        (status = 404, body = ErrorBody, description = "No such network")))]
pub(super) async fn list_invitations_of_network(
    Operator(_caller): Operator,
    State(app): State<App>,
    Path(network): Path<NetworkId>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<InvitationBody>>, ApiError> {
    networks::admin::network(&app.db, network).await?;
    invitations(&app, network, query).await
}

/// Revoke an invitation to a network
#[utoipa::path(delete, path = "/api/admin/networks/{id}/people/invitations/{invitationId}",
    operation_id = "delete_invitation_of_network", tag = "People", security(("apiKey" = ["operator"])),
    params(("id" = String, Path, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5"), ("invitationId" = String, Path)),
    responses((status = 204, description = "Revoked"),
        (status = 404, body = ErrorBody, description = "No such network, or no such invitation")))]
pub(super) async fn delete_invitation_of_network(
    Operator(caller): Operator,
    State(app): State<App>,
    Path((network, id)): Path<(NetworkId, String)>,
) -> Result<StatusCode, ApiError> {
    networks::admin::network(&app.db, network).await?;
    service::delete_invitation(&app, &caller.origin(&app), network, None, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Invite a person to a network
///
/// With any role, for example as its first owner. A key that expires, or is bound to servers or addresses, cannot invite
/// (403 `forbidden_origin`).
#[utoipa::path(post, path = "/api/admin/networks/{id}/people", operation_id = "invite_person_to_network", tag = "People",
    security(("apiKey" = ["operator"])),
    params(("id" = String, Path, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")),
    responses((status = 201, body = InvitationBody), (status = 404, body = ErrorBody, description = "No such network")))]
pub(super) async fn invite_to_network(
    Unbound(caller, ..): Unbound<Operator>,
    State(app): State<App>,
    Path(network): Path<NetworkId>,
    Json(body): Json<Invite>,
) -> Result<(StatusCode, Json<InvitationBody>), ApiError> {
    networks::admin::network(&app.db, network).await?;
    let origin = caller.origin(&app);
    let link = service::invite_as_operator(&app, &origin, Some(network), &body.email, &body.role).await?;
    Ok((StatusCode::CREATED, Json(link.into())))
}

/// Delete a person
///
/// Deletes the account with all memberships and sessions. Entries in audit logs remain.
#[utoipa::path(delete, path = "/api/admin/people/{personId}", operation_id = "delete_person", tag = "People",
    security(("apiKey" = ["operator"])), params(("personId" = String, Path), RevokeQuery),
    responses((status = 200, body = LeftBehind, description = "Deleted; they left these in their networks"),
        (status = 204, description = "Deleted; they left nothing"), (status = 404, body = ErrorBody, description = "No such person")))]
pub(super) async fn delete(
    Operator(caller): Operator,
    State(app): State<App>,
    Path(person): Path<String>,
    Query(query): Query<RevokeQuery>,
) -> Result<Response, ApiError> {
    let (origin, revoke) = (caller.origin(&app), query.revoke.unwrap_or(true));
    Ok(LeftBehind::answer(service::delete_person(&app, &origin, &person, revoke).await?))
}
