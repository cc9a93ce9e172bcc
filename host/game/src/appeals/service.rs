//! The rules of appeals.

use axum::http::StatusCode;
use hub_db::with_tenant;
use serde::Serialize;
use serde_json::{Value, json};
use thiserror::Error;
use utoipa::ToSchema;

use crate::app::App;
use crate::appeals::model::{Appeal, AppealDecision, AppealState};
use crate::appeals::store::{self, Decided};
use crate::audit::{self, Action, Change};
use crate::auth::Caller;
use crate::clock::Millis;
use crate::cluster::lock_open;
use crate::events::{self, EventKind};
use crate::http::error::ApiError;
use crate::networks::{self, service::NetworksError};
use crate::punishments::service::PunishmentsError;
use crate::punishments::{self, Appealed, NewTerms, PunishmentDuration};
use crate::values::NetworkId;

const ID_LENGTH: usize = 16;
/// Appeals of one punishment.
const MAX_APPEALS: usize = 3;

/// Errors of requests about appeals.
#[derive(Debug, Error)]
pub(super) enum AppealsError {
    /// No such code.
    #[error("There is no punishment with this code, or it ended over 30 days ago.")]
    UnknownCode,
    /// No such appeal in the caller's network.
    #[error("This network has no such appeal.")]
    Unknown,
    /// The punishment has ended.
    #[error("The punishment is not in force.")]
    NotActive,
    /// An appeal waits.
    #[error("An appeal of this punishment waits for its decision.")]
    Open,
    /// No more appeals.
    #[error("This punishment was appealed {MAX_APPEALS} times; that is the most.")]
    Used,
    /// The appeal was decided.
    #[error("The appeal was decided before.")]
    Decided,
    /// The punishment cannot be changed.
    #[error(transparent)]
    Punishment(#[from] PunishmentsError),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<AppealsError> for ApiError {
    fn from(error: AppealsError) -> Self {
        let message = error.to_string();
        let conflict = |code| Self::new(StatusCode::CONFLICT, code, message.clone());
        match error {
            AppealsError::UnknownCode => Self::not_found("unknown_appeal_code", message),
            AppealsError::Unknown => Self::not_found("unknown_appeal", message),
            AppealsError::NotActive => conflict("not_active"),
            AppealsError::Open => conflict("appeal_open"),
            AppealsError::Used => conflict("appeals_used"),
            AppealsError::Decided => conflict("appeal_decided"),
            AppealsError::Punishment(error) => error.into(),
            AppealsError::Database(error) => error.into(),
        }
    }
}

/// A punished player appealed.
#[derive(Serialize, ToSchema)]
pub(super) struct AppealCreated {
    appeal: Appeal,
}

/// The punishment of a code. A suspended network's are not served, like all that it has.
async fn find(app: &App, code: &str) -> Result<Appealed, AppealsError> {
    let found = punishments::appealed(app, code, app.clock.now()).await?.ok_or(AppealsError::UnknownCode)?;
    match networks::service::require_active(&app.db, found.punishment.network_id).await {
        Ok(()) => Ok(found),
        Err(NetworksError::Database(error)) => Err(error.into()),
        Err(_) => Err(AppealsError::UnknownCode),
    }
}

/// Punishment of a code, with its appeals, earliest first.
pub(super) async fn of_code(app: &App, code: &str) -> Result<(Appealed, Vec<Appeal>), AppealsError> {
    let found = find(app, code).await?;
    let (network, id) = (found.punishment.network_id, found.punishment.id);
    let appeals = with_tenant(network.0, store::of_punishment(&app.db, network, id)).await?;
    Ok((found, appeals))
}

/// Appeals the punishment of a code.
pub(super) async fn create(app: &App, code: &str, text: &str, contact: Option<&str>) -> Result<Appeal, AppealsError> {
    let now = app.clock.now();
    let found = find(app, code).await?;
    let (network, id) = (found.punishment.network_id, found.punishment.id);
    let creating = app.db.transaction(async |mut tx| {
        // No key tells whose request it is: a network that moves admits it here.
        if !lock_open(&mut tx, network).await? {
            return Err(hub_db::Error::Busy.into());
        }
        let locked = punishments::lock_appealed(&mut tx, network, id, now).await?.ok_or(AppealsError::UnknownCode)?;
        if !locked.is_active {
            return Err(AppealsError::NotActive);
        }
        let before = store::of_punishment(&mut tx, network, id).await?;
        if before.iter().any(|appeal| appeal.state == AppealState::Open) {
            return Err(AppealsError::Open);
        }
        if before.len() >= MAX_APPEALS {
            return Err(AppealsError::Used);
        }
        let appeal = Appeal {
            appeal_id: app.ids.token(ID_LENGTH),
            punishment_id: id,
            text: text.to_owned(),
            contact: contact.map(str::to_owned),
            state: AppealState::Open,
            decision: None,
            answer: None,
            at: now,
            decided_by: None,
            decided_at: None,
        };
        let player = (locked.punishment.player_uuid, locked.name_folded.as_deref());
        store::insert(&mut tx, network, &appeal, player).await?;
        let event = AppealCreated { appeal: appeal.clone() };
        events::publish_in(app, &mut tx, network, EventKind::AppealCreated, None, event).await?;
        Ok(appeal)
    });
    // The code tells whose work it is.
    with_tenant(network.0, creating).await
}

/// Number of OPEN appeals, counted up to `most`, and the time of the oldest.
pub async fn open(app: &App, network: NetworkId, most: i64) -> Result<(i64, Option<Millis>), hub_db::Error> {
    store::open(&app.db, network, most).await
}

/// Appeals, newest first, and their number.
pub(super) async fn list(
    app: &App,
    network: NetworkId,
    state: Option<AppealState>,
    place: (i64, i64),
) -> Result<(Vec<Appeal>, i64), AppealsError> {
    Ok(store::list(&app.db, network, state, place).await?)
}

/// An appeal's form in the audit log, which keeps no text by a player.
fn shown(appeal: &Appeal) -> Value {
    json!({"punishmentId": appeal.punishment_id, "state": appeal.state, "decision": appeal.decision})
}

/// Decides an appeal, with its effect on the punishment.
pub(super) async fn decide(
    app: &App,
    caller: &Caller,
    id: &str,
    decision: AppealDecision,
    duration: Option<PunishmentDuration>,
    answer: Option<&str>,
) -> Result<Appeal, AppealsError> {
    let (network, origin) = (caller.network, caller.origin(app));
    let by = serde_json::to_string(&origin.actor).unwrap_or_default();
    app.db
        .transaction(async |mut tx| {
            let tx = &mut tx;
            let before = store::get(tx, network, id).await?.ok_or(AppealsError::Unknown)?;
            // Locked before the appeal, like by a new appeal.
            punishments::lock_appealed(tx, network, before.punishment_id, app.clock.now()).await?;
            let decided = Decided { decision, answer, by: &by, at: app.clock.now() };
            let after = store::decide(tx, network, id, &decided).await?.ok_or(AppealsError::Decided)?;
            match decision {
                AppealDecision::Accept => {
                    punishments::revoke_in(app, tx, network, &origin, after.punishment_id, answer).await?;
                }
                AppealDecision::Reduce => {
                    let terms = NewTerms { duration: Some(duration), only_shorter: true, ..NewTerms::default() };
                    punishments::edit_in(app, tx, network, &origin, after.punishment_id, &terms).await?;
                }
                AppealDecision::Reject => {}
            }
            let change = Change::new(Action::AppealDecided, id).before(shown(&before)).after(shown(&after));
            audit::record(tx, network, &origin, change).await?;
            Ok::<_, AppealsError>(after)
        })
        .await
}
