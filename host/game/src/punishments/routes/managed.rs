//! `/api/manage/punishments`: staff's work on punishments.

use axum::extract::State;
use axum::http::HeaderName;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::Reason;
use crate::app::App;
use crate::auth::{NetworkManage, PunishmentsManage};
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::if_match::{IF_MATCH_DESCRIPTION, IfMatch, entity_tag};
use crate::http::page::{Limit, Page, PageNumber};
use crate::punishments::edit::{self, BulkRevocation, NewTerms};
use crate::punishments::managed::{EvidenceUrl, MAX_EVIDENCE, ManagedBody, ManagedPunishment};
use crate::punishments::service;
use crate::punishments::store::managed::{Issuer, ListFilter};
use crate::punishments::{Identity, PunishmentBody, PunishmentDuration, PunishmentKind};
use crate::values::{Identifier, PlayerId, Text, not_blank, present};

pub(super) fn router() -> Endpoints {
    endpoints![
        list_all_punishments: large_answer,
        read_punishment: large_answer,
        change_punishment,
        revoke_punishments: transactional,
    ]
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
    /// Only those of this kind.
    #[param(inline)]
    r#type: Option<PunishmentKind>,
    /// Only those in force, or only the others.
    active: Option<bool>,
    /// Only those issued by this UUID, or under this name, compared without case.
    #[param(example = "Alex")]
    issuer: Option<String>,
    /// Only those that match this player, by UUID or name.
    #[param(example = "Steve")]
    player: Option<String>,
    /// Only those issued at this time or later.
    #[param(value_type = Option<i64>, example = 1_804_680_000_000_i64)]
    since: Option<Millis>,
    /// Only those issued at this time or earlier.
    #[param(value_type = Option<i64>, example = 1_804_680_000_000_i64)]
    until: Option<Millis>,
}

impl ListQuery {
    fn filter(&self) -> ListFilter {
        let player = not_blank(self.player.as_deref()).map(|text| match text.trim().parse::<PlayerId>() {
            Ok(player) => Identity { player: Some(player), ..Identity::default() },
            Err(_) => Identity { name: Some(text.to_owned()), ..Identity::default() },
        });
        let issuer = not_blank(self.issuer.as_deref()).map(|text| match text.trim().parse::<PlayerId>() {
            Ok(player) => Issuer::Player(player),
            Err(_) => Issuer::Name(text.to_owned()),
        });
        let issued = (self.since, self.until);
        ListFilter { kind: self.r#type, is_active: self.active, issuer, player, issued }
    }
}

/// List all punishments
///
/// Newest first. An item whose evidence and edits have no room says so in `detailsOmitted`.
#[utoipa::path(get, path = "/api/manage/punishments", operation_id = "list_all_punishments", tag = "Punishments",
    security(("apiKey" = ["punishments:manage", "network:manage"])), params(ListQuery),
    responses((status = 200, body = Page<ManagedBody>)))]
async fn list_all_punishments(
    PunishmentsManage(caller): PunishmentsManage,
    State(app): State<App>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<ManagedBody>>, ApiError> {
    let place = (query.limit.0, query.page.offset(query.limit));
    let (rows, total) = service::list(&app, caller.network, &query.filter(), place).await?;
    let items = ManagedBody::list(&app, rows, app.clock.now());
    Ok(Json(Page::new(items, query.page, query.limit, total)))
}

/// A punishment, with the revision of its terms as `ETag`.
type Tagged = ([(HeaderName, String); 1], Json<ManagedBody>);

fn tagged(app: &App, punishment: ManagedPunishment) -> Tagged {
    let tag = entity_tag(punishment.revision());
    (tag, Json(ManagedBody::new(app, punishment, app.clock.now())))
}

/// Read a punishment
///
/// The header `ETag` has the revision of its reason, duration and evidence, for `If-Match` of a change.
#[utoipa::path(get, path = "/api/manage/punishments/{id}", operation_id = "get_punishment", tag = "Punishments",
    security(("apiKey" = ["punishments:manage", "network:manage"])), params(("id" = i64, Path, description = "Id of the punishment", example = 1)),
    responses((status = 200, body = ManagedBody, headers(("ETag" = String, description = "Revision of its terms"))),
        (status = 404, body = ErrorBody, description = "No such punishment")))]
async fn read_punishment(
    PunishmentsManage(caller): PunishmentsManage,
    State(app): State<App>,
    Path(id): Path<i64>,
) -> Result<Tagged, ApiError> {
    Ok(tagged(&app, service::managed(&app, caller.network, id).await?))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PunishmentChanges)]
#[allow(clippy::option_option, reason = "null and absent differ")]
struct ChangePunishment {
    /// Null: none. Absent: unchanged.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<Reason>, example = "Griefing at spawn")]
    reason: Option<Option<Reason>>,
    /// Milliseconds from its issue; null is permanent. Absent: unchanged.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<PunishmentDuration>, example = 3_600_000)]
    duration_ms: Option<Option<PunishmentDuration>>,
    /// URLs that prove the reason, at most 8. Absent: unchanged.
    #[serde(default)]
    #[schema(max_items = 8)]
    evidence: Option<Vec<EvidenceUrl>>,
}

/// Change a punishment
///
/// Each change is kept in `edits`. A punishment whose new duration is over ends at once; the duration of one that has
/// ended is 409 `not_active`. Every server gets a `PUNISHMENT` event with the action `UPDATED`.
///
/// With `If-Match` only at that revision, the `ETag` of reading it: else it is 409 `revision_changed` with its terms of
/// now.
#[utoipa::path(patch, path = "/api/manage/punishments/{id}", operation_id = "change_punishment", tag = "Punishments",
    security(("apiKey" = ["punishments:manage", "network:manage"])), params(("id" = i64, Path, description = "Id of the punishment", example = 1),
        ("If-Match" = Option<String>, Header, description = IF_MATCH_DESCRIPTION)),
    responses((status = 200, body = ManagedBody, headers(("ETag" = String, description = "The new revision"))),
        (status = 404, body = ErrorBody, description = "No such punishment"),
        (status = 409, body = ErrorBody, description = "It has ended, so that it has no duration to change, or somebody changed it since the revision of `If-Match`")))]
async fn change_punishment(
    PunishmentsManage(caller): PunishmentsManage,
    State(app): State<App>,
    Path(id): Path<i64>,
    expected: IfMatch,
    Json(body): Json<ChangePunishment>,
) -> Result<Tagged, ApiError> {
    if body.evidence.as_ref().is_some_and(|evidence| evidence.len() > MAX_EVIDENCE) {
        return Err(ApiError::invalid(format!("In the body, `evidence`: must have at most {MAX_EVIDENCE} URLs.")));
    }
    let terms = NewTerms {
        reason: body.reason.map(|reason| reason.map(Text::into_string)),
        duration: body.duration_ms,
        evidence: body.evidence.map(|urls| urls.into_iter().map(EvidenceUrl::into_string).collect()),
        only_shorter: false,
    };
    Ok(tagged(&app, edit::edit(&app, caller.network, &caller.origin(&app), id, (&terms, expected)).await?))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BulkRevocation)]
struct RevokeMany {
    /// One of the staff; without it `issuerName` is required.
    issuer_uuid: Option<PlayerId>,
    /// Compared without case; ignored with `issuerUuid`.
    #[schema(example = "Alex")]
    issuer_name: Option<Identifier>,
    /// Only those issued at this time or later.
    #[schema(example = 1_804_680_000_000_i64)]
    since: Option<Millis>,
    /// Only those issued at this time or earlier.
    #[schema(example = 1_804_680_000_000_i64)]
    until: Option<Millis>,
    /// Reason for the revocation.
    #[schema(example = "Account was stolen")]
    reason: Option<Reason>,
    /// Only tell what it would revoke.
    dry_run: Option<bool>,
}

/// Punishments that were revoked at once.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BulkRevocationResult)]
struct RevokedMany {
    /// Newest first. Of a dry run, those that it would revoke.
    punishments: Vec<PunishmentBody>,
    dry_run: bool,
    /// True if there are more: repeat the request.
    more: bool,
}

/// Revoke the punishments of one of the staff
///
/// All those in force that they issued, for example when their account was stolen: 1,000 with each request. Every server
/// gets a `PUNISHMENT` event for each.
#[utoipa::path(post, path = "/api/manage/punishments/revoke", operation_id = "revoke_punishments", tag = "Punishments",
    security(("apiKey" = ["network:manage"])), responses((status = 200, body = RevokedMany)))]
async fn revoke_punishments(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Json(body): Json<RevokeMany>,
) -> Result<Json<RevokedMany>, ApiError> {
    let issuer = match (body.issuer_uuid, body.issuer_name) {
        (Some(player), _) => Issuer::Player(player),
        (None, Some(name)) => Issuer::Name(name.into_string()),
        (None, None) => return Err(ApiError::invalid("In the body, `issuerUuid` or `issuerName` is required.")),
    };
    let is_dry_run = body.dry_run.unwrap_or(false);
    let reason = body.reason.as_ref().map(Text::as_str);
    let bulk = BulkRevocation { issuer, issued: (body.since, body.until), reason, is_dry_run };
    let (revoked, more) = edit::revoke_many(&app, caller.network, &caller.origin(&app), &bulk).await?;
    let now = app.clock.now();
    let punishments = revoked.into_iter().map(|punishment| PunishmentBody::new(&app, punishment, now)).collect();
    Ok(Json(RevokedMany { punishments, dry_run: is_dry_run, more }))
}
