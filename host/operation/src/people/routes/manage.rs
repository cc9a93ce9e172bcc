//! Routes for owners and admins to invite people, change their roles and remove them.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::{NetworkManage, RoleName, Unbound};
use crate::clock::Millis;
use crate::component::Left;
use crate::email::Email;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Page, PageQuery};
use crate::networks::LeftBehind;
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
    #[schema(value_type = RoleName)]
    role: String,
    joined_at: Millis,
    /// Key or person that granted the role.
    #[schema(example = "4fTq0ZkX91ab")]
    created_by: Option<String>,
    /// True if signing in needs a second factor.
    second_factor: bool,
}

impl From<Member> for MemberBody {
    fn from(member: Member) -> Self {
        let Member { person_id, email, name, role, created_by, joined_at, has_second_factor: second_factor } = member;
        Self { person_id, email, name, role, joined_at, created_by, second_factor }
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
    #[schema(value_type = Option<RoleName>)]
    role: Option<String>,
    created_at: Millis,
    /// Key or person that invited.
    #[schema(example = "4fTq0ZkX91ab")]
    created_by: Option<String>,
    /// Expiry of the invitation.
    expires_at: Millis,
}

impl From<LinkRow> for InvitationBody {
    fn from(link: LinkRow) -> Self {
        let LinkRow { link_id: invitation_id, email, role, created_by, created_at, expires_at, .. } = link;
        Self { invitation_id, email, role, created_at, created_by, expires_at }
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
    /// Role of the person, given or of the network's own, not above the caller's.
    pub(super) role: RoleName,
}

/// Invite a person
///
/// Sends a mail; the invitation can be accepted within seven days. A role above the caller's own is 403
/// `forbidden_scope`; a key that expires or is bound to servers or addresses cannot invite (403 `forbidden_origin`).
#[utoipa::path(post, path = "/api/manage/people", operation_id = "invite_person", tag = "People",
    security(("apiKey" = ["network:manage"])), responses((status = 201, body = InvitationBody)))]
pub(super) async fn invite(
    Unbound(caller, ..): Unbound<NetworkManage>,
    State(app): State<App>,
    Json(body): Json<Invite>,
) -> Result<(StatusCode, Json<InvitationBody>), ApiError> {
    let link = service::invite(&app, &caller, &body.email, &body.role).await?;
    Ok((StatusCode::CREATED, Json(link.into())))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = RoleChange)]
pub(super) struct ChangeRole {
    role: RoleName,
}

/// Change a member's role
///
/// In effect everywhere within a second. Neither the old nor the new role may be above the caller's own. `left` lists what
/// the person created and may no longer create: it is ended, unless `revoke` is false; invitations end in any case.
#[utoipa::path(patch, path = "/api/manage/people/{personId}", operation_id = "change_person_role", tag = "People",
    security(("apiKey" = ["network:manage"])), params(("personId" = String, Path), RevokeQuery),
    responses((status = 200, body = ChangedMember), (status = 404, body = ErrorBody, description = "No such member")))]
pub(super) async fn change(
    Unbound(caller, ..): Unbound<NetworkManage>,
    State(app): State<App>,
    Path(person): Path<String>,
    Query(query): Query<RevokeQuery>,
    Json(body): Json<ChangeRole>,
) -> Result<Json<ChangedMember>, ApiError> {
    let revoke = query.revoke.unwrap_or(true);
    let (member, left) = service::change_role(&app, &caller, &person, &body.role, revoke).await?;
    Ok(Json(ChangedMember { member: member.into(), left }))
}

/// A member with a new role.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChangedNetworkMember)]
pub(super) struct ChangedMember {
    #[serde(flatten)]
    member: MemberBody,
    left: Vec<Left>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct RevokeQuery {
    /// End what the person created: keys and webhooks, and those of their keys. Default: true.
    #[param(required = false, example = true)]
    pub(super) revoke: Option<bool>,
}

/// Remove a member
///
/// In effect everywhere within a second. The account and memberships of other networks remain. The answer lists what the
/// person created and left behind, if anything: keys and webhooks, which are ended unless `revoke` is false, invitations,
/// which end in any case, and modules, members and roles of the network's own, which stay.
#[utoipa::path(delete, path = "/api/manage/people/{personId}", operation_id = "remove_person", tag = "People",
    security(("apiKey" = ["network:manage"])), params(("personId" = String, Path), RevokeQuery),
    responses((status = 200, body = LeftBehind, description = "Removed; they left these"),
        (status = 204, description = "Removed; they left nothing"), (status = 404, body = ErrorBody, description = "No such member")))]
pub(super) async fn remove(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(person): Path<String>,
    Query(query): Query<RevokeQuery>,
) -> Result<Response, ApiError> {
    let (origin, revoke) = (caller.origin(&app), query.revoke.unwrap_or(true));
    let left = service::remove(&app, &origin, caller.network, Some(&caller), &person, revoke).await?;
    Ok(LeftBehind::answer(left))
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
