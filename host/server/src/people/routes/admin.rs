//! The operator's side: who has an account, other operators, and the first owners of networks.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{Operator, Role};
use crate::clock::Millis;
use crate::email::Email;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Page, PageQuery};
use crate::networks;
use crate::people::model::PersonRow;
use crate::people::routes::manage::{InvitationBody, Invite};
use crate::people::service;
use crate::values::NetworkId;

/// Somebody with an account.
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
    /// Whether this person may do the operator's work.
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
/// Everybody with an account, the earliest first.
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
    /// Where the invitation goes.
    email: Email,
}

/// Invite an operator
#[utoipa::path(post, path = "/api/admin/people", operation_id = "invite_operator", tag = "People",
    security(("apiKey" = ["operator"])), responses((status = 201, body = InvitationBody)))]
pub(super) async fn invite(
    Operator(caller): Operator,
    State(app): State<App>,
    Json(body): Json<InviteOperator>,
) -> Result<(StatusCode, Json<InvitationBody>), ApiError> {
    let link = service::invite_as_operator(&app, &caller.origin(&app), None, &body.email, Role::Owner).await?;
    Ok((StatusCode::CREATED, Json(link.into())))
}

/// Invite somebody to a network
///
/// With any role, such as its first owner.
#[utoipa::path(post, path = "/api/admin/networks/{id}/people", operation_id = "invite_person_to_network", tag = "People",
    security(("apiKey" = ["operator"])),
    params(("id" = String, Path, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")),
    responses((status = 201, body = InvitationBody), (status = 404, body = ErrorBody, description = "No such network")))]
pub(super) async fn invite_to_network(
    Operator(caller): Operator,
    State(app): State<App>,
    Path(network): Path<NetworkId>,
    Json(body): Json<Invite>,
) -> Result<(StatusCode, Json<InvitationBody>), ApiError> {
    networks::admin::network(&app.db, network).await?;
    let origin = caller.origin(&app);
    let link = service::invite_as_operator(&app, &origin, Some(network), &body.email, body.role).await?;
    Ok((StatusCode::CREATED, Json(link.into())))
}

/// Delete a person
///
/// The account with all memberships and sessions. What the audit logs tell of them stays.
#[utoipa::path(delete, path = "/api/admin/people/{personId}", operation_id = "delete_person", tag = "People",
    security(("apiKey" = ["operator"])), params(("personId" = String, Path)),
    responses((status = 204, description = "Deleted"), (status = 404, body = ErrorBody, description = "No such person")))]
pub(super) async fn delete(
    Operator(caller): Operator,
    State(app): State<App>,
    Path(person): Path<String>,
) -> Result<StatusCode, ApiError> {
    service::delete_person(&app, &caller.origin(&app), &person).await?;
    Ok(StatusCode::NO_CONTENT)
}
