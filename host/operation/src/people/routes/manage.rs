//! Routes for owners and admins to invite people, change their roles and remove them.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{NetworkManage, Role};
use crate::clock::Millis;
use crate::email::Email;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Page, PageQuery};
use crate::people::model::LinkRow;
use crate::people::service::{self, Member};

/// A member of a network.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NetworkMember)]
pub(super) struct MemberBody {
    #[schema(example = "p_4fTq0ZkX91ab4fTq")]
    person_id: String,
    #[schema(example = "alex@example.org")]
    email: String,
    #[schema(example = "Alex")]
    name: String,
    #[schema(value_type = Role)]
    role: String,
    joined_at: Millis,
    /// True if signing in needs a second factor.
    second_factor: bool,
}

impl From<Member> for MemberBody {
    fn from(member: Member) -> Self {
        let Member { person_id, email, name, role, joined_at, has_second_factor: second_factor } = member;
        Self { person_id, email, name, role, joined_at, second_factor }
    }
}

/// A pending invitation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Invitation)]
pub(super) struct InvitationBody {
    #[schema(example = "p_4fTq0ZkX91ab4fTq")]
    invitation_id: String,
    #[schema(example = "alex@example.org")]
    email: String,
    /// Role that it grants; null for an operator.
    #[schema(value_type = Option<Role>)]
    role: Option<String>,
    created_at: Millis,
    /// Expiry of the invitation.
    expires_at: Millis,
}

impl From<LinkRow> for InvitationBody {
    fn from(link: LinkRow) -> Self {
        let LinkRow { link_id: invitation_id, email, role, created_at, expires_at, .. } = link;
        Self { invitation_id, email, role, created_at, expires_at }
    }
}

/// List the people of the network
///
/// Sorted by the time they joined.
#[utoipa::path(get, path = "/api/manage/people", operation_id = "list_people", tag = "People",
    security(("apiKey" = ["network:manage"])), params(PageQuery), responses((status = 200, body = Page<MemberBody>)))]
pub(super) async fn list(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<MemberBody>>, ApiError> {
    let offset = query.page.offset(query.limit);
    let (rows, total) = service::members(&app, caller.network, query.limit.0, offset).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total).map(MemberBody::from)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = InvitationRequest)]
pub(super) struct Invite {
    /// Recipient of the invitation.
    pub(super) email: Email,
    /// Role of the person, not above the caller's own.
    pub(super) role: Role,
}

/// Invite a person
///
/// Sends a mail; the invitation can be accepted within seven days. A role above the caller's own is 403
/// `forbidden_scope`; a key that expires or is bound to servers or addresses cannot invite (403 `forbidden_origin`).
#[utoipa::path(post, path = "/api/manage/people", operation_id = "invite_person", tag = "People",
    security(("apiKey" = ["network:manage"])), responses((status = 201, body = InvitationBody)))]
pub(super) async fn invite(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Json(body): Json<Invite>,
) -> Result<(StatusCode, Json<InvitationBody>), ApiError> {
    let link = service::invite(&app, &caller, &body.email, body.role).await?;
    Ok((StatusCode::CREATED, Json(link.into())))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = RoleChange)]
pub(super) struct ChangeRole {
    role: Role,
}

/// Change a member's role
///
/// In effect everywhere within a second. Neither the old nor the new role may be above the caller's own.
#[utoipa::path(patch, path = "/api/manage/people/{personId}", operation_id = "change_person_role", tag = "People",
    security(("apiKey" = ["network:manage"])), params(("personId" = String, Path)),
    responses((status = 200, body = MemberBody), (status = 404, body = ErrorBody, description = "No such member")))]
pub(super) async fn change(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(person): Path<String>,
    Json(body): Json<ChangeRole>,
) -> Result<Json<MemberBody>, ApiError> {
    Ok(Json(service::change_role(&app, &caller, &person, body.role).await?.into()))
}

/// Remove a member
///
/// In effect everywhere within a second. The account and memberships of other networks remain.
#[utoipa::path(delete, path = "/api/manage/people/{personId}", operation_id = "remove_person", tag = "People",
    security(("apiKey" = ["network:manage"])), params(("personId" = String, Path)),
    responses((status = 204, description = "Removed"), (status = 404, body = ErrorBody, description = "No such member")))]
pub(super) async fn remove(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(person): Path<String>,
) -> Result<StatusCode, ApiError> {
    service::remove(&app, &caller.origin(&app), caller.network, Some(&caller), &person).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// List the invitations
///
/// Pending ones, latest first.
#[utoipa::path(get, path = "/api/manage/people/invitations", operation_id = "list_invitations", tag = "People",
    security(("apiKey" = ["network:manage"])), params(PageQuery),
    responses((status = 200, body = Page<InvitationBody>)))]
pub(super) async fn list_invitations(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<InvitationBody>>, ApiError> {
    let offset = query.page.offset(query.limit);
    let (rows, total) = service::invitations(&app, caller.network, query.limit.0, offset).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total).map(InvitationBody::from)))
}

/// Revoke an invitation
#[utoipa::path(delete, path = "/api/manage/people/invitations/{invitationId}", operation_id = "delete_invitation",
    tag = "People", security(("apiKey" = ["network:manage"])), params(("invitationId" = String, Path)),
    responses((status = 204, description = "Revoked"),
        (status = 404, body = ErrorBody, description = "No such invitation")))]
pub(super) async fn delete_invitation(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    service::delete_invitation(&app, &caller.origin(&app), caller.network, Some(&caller), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
