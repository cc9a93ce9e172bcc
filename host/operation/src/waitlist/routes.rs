//! `/api/public/waitlist` for everyone, `/api/admin/waitlist` for the operator.

use std::net::{IpAddr, SocketAddr};

use axum::Extension;
use axum::extract::{ConnectInfo, State};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::{Operator, Role, RoleName, Unbound};
use crate::email::Email;
use crate::endpoints::{Endpoints, endpoints, public_endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::hub_url::HubUrl;
use crate::http::page::{Limit, Page, PageNumber};
use crate::values::{NetworkId, Text, blank_as_absent};
use crate::waitlist::model::WaitlistEntry;
use crate::waitlist::{page, service};

/// Routes without a key.
pub(super) fn public() -> Endpoints {
    public_endpoints![join, confirm]
}

/// Routes of the operator.
pub(super) fn router() -> Endpoints {
    endpoints![list, invite, remove]
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = WaitlistRequest)]
struct JoinWaitlist {
    /// Recipient of the confirmation.
    email: Email,
    /// Source through which the person learned of the hub.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = "a friend")]
    source: Option<Text<255>>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WaitlistState)]
struct JoinedWaitlist {
    /// PENDING, even for an address on the list.
    #[schema(value_type = String, example = "PENDING")]
    status: &'static str,
}

/// Join the waitlist
///
/// Sends a mail with a confirmation link. The answer is the same for new addresses and for those on the list. An
/// address gets at most 3 mails an hour.
#[utoipa::path(post, path = "/api/public/waitlist", operation_id = "join_waitlist", tag = "Waitlist",
    responses((status = 200, body = JoinedWaitlist),
        (status = 429, body = ErrorBody, description = "Too many attempts from one address; see `Retry-After`")))]
async fn join(
    State(app): State<App>,
    Extension(ConnectInfo(remote)): Extension<ConnectInfo<SocketAddr>>,
    hub: HubUrl,
    Json(body): Json<JoinWaitlist>,
) -> Result<Json<JoinedWaitlist>, ApiError> {
    // The mail contains a link.
    hub.required()?;
    let remote: IpAddr = remote.ip().to_canonical();
    service::join(&app, remote, &body.email, body.source.as_ref().map(Text::as_str)).await?;
    Ok(Json(JoinedWaitlist { status: "PENDING" }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct ConfirmQuery {
    /// Token of the link in the mail.
    #[param(required = true, example = "4fTq0ZkX91ab4fTq0ZkX91ab4fTq0ZkX")]
    token: Option<String>,
}

/// Confirm an address
///
/// Opened by the link in the mail. It works once, within 48 hours, and shows a page; afterwards it is 400.
#[utoipa::path(get, path = "/api/public/waitlist/confirm", operation_id = "confirm_waitlist_entry", tag = "Waitlist",
    params(ConfirmQuery),
    responses((status = 200, body = String, content_type = "text/html", description = "A confirmation page")))]
async fn confirm(
    method: Method,
    State(app): State<App>,
    Query(query): Query<ConfirmQuery>,
) -> Result<Response, ApiError> {
    let token = query.token.unwrap_or_default();
    if method == Method::HEAD {
        service::check_link(&app, &token).await?;
    } else {
        service::confirm(&app, &token).await?;
    }
    Ok(page::confirmed())
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    #[serde(default)]
    #[param(inline, required = false)]
    page: PageNumber,
    /// Only confirmed entries, or only unconfirmed ones.
    confirmed: Option<bool>,
}

/// List the waitlist
///
/// Earliest first.
#[utoipa::path(get, path = "/api/admin/waitlist", operation_id = "list_waitlist", tag = "Waitlist",
    security(("apiKey" = ["operator"])), params(ListQuery), responses((status = 200, body = Page<WaitlistEntry>)))]
async fn list(
    Operator(_caller): Operator,
    State(app): State<App>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<WaitlistEntry>>, ApiError> {
    let offset = query.page.offset(query.limit);
    let (entries, total) = service::list(&app, query.confirmed, query.limit.0, offset).await?;
    Ok(Json(Page::new(entries, query.page, query.limit, total)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WaitlistInvitation)]
struct InviteFromWaitlist {
    /// Network to which the person is invited.
    #[schema(value_type = String, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")]
    network_id: NetworkId,
    /// Default: OWNER.
    role: Option<RoleName>,
}

/// Invite a person from the waitlist
///
/// The network must exist, and the address must be confirmed. It is then removed from the list. A key that expires, or is
/// bound to servers or addresses, cannot invite (403 `forbidden_origin`).
#[utoipa::path(post, path = "/api/admin/waitlist/{email}/invite", operation_id = "invite_from_waitlist", tag = "Waitlist",
    security(("apiKey" = ["operator"])), params(("email" = String, Path, example = "alex@example.org")),
    responses((status = 204, description = "Invited"),
        (status = 404, body = ErrorBody, description = "No such confirmed address on the list, or no such network")))]
async fn invite(
    Unbound(caller, ..): Unbound<Operator>,
    State(app): State<App>,
    Path(email): Path<String>,
    Json(body): Json<InviteFromWaitlist>,
) -> Result<StatusCode, ApiError> {
    let role = body.role.unwrap_or_else(|| Role::Owner.into());
    service::invite(&app, &caller.origin(&app), &email, body.network_id, &role).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Remove an address from the waitlist
///
/// Deletes all data about it.
#[utoipa::path(delete, path = "/api/admin/waitlist/{email}", operation_id = "delete_waitlist_entry", tag = "Waitlist",
    security(("apiKey" = ["operator"])), params(("email" = String, Path, example = "alex@example.org")),
    responses((status = 204, description = "Removed"),
        (status = 404, body = ErrorBody, description = "The address is not on the list")))]
async fn remove(
    Operator(caller): Operator,
    State(app): State<App>,
    Path(email): Path<String>,
) -> Result<StatusCode, ApiError> {
    service::remove(&app, &caller.origin(&app), &email).await?;
    Ok(StatusCode::NO_CONTENT)
}
