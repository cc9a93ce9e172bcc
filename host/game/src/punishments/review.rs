//! Has punishments reviewed by the network's modules, then creates them.

use hub_sandbox::ReviewPunishment;
use hub_sandbox::contract::punishment::{self, Decision, Proposal};

use crate::app::App;
use crate::modules::service::{self as modules, DryStep, ModulesError};
use crate::punishments::managed::PunishmentOrigin;
use crate::punishments::service::{self as punishments, PunishmentsError};
use crate::punishments::{Actor, NewPunishment, Punishment, PunishmentDuration, PunishmentTerms, Target};
use crate::values::NetworkId;

/// Creates a punishment in its reviewed form, and those that the review adds.
pub async fn create(app: &App, network: NetworkId, new: NewPunishment) -> Result<Punishment, PunishmentsError> {
    create_because(app, network, new, None).await
}

/// The same for a punishment with an origin.
pub(crate) async fn create_because(
    app: &App,
    network: NetworkId,
    new: NewPunishment,
    cause: Option<PunishmentOrigin>,
) -> Result<Punishment, PunishmentsError> {
    let reviewed = review(app, network, new, cause).await?;
    create_reviewed(app, network, &reviewed).await
}

/// A punishment as the network's review left it, with those that the review adds.
#[derive(Debug)]
pub(super) struct Reviewed {
    target: Target,
    issuer: Actor,
    terms: Vec<PunishmentTerms>,
    origins: Vec<Option<PunishmentOrigin>>,
}

/// Has a punishment reviewed.
pub(super) async fn review(
    app: &App,
    network: NetworkId,
    new: NewPunishment,
    cause: Option<PunishmentOrigin>,
) -> Result<Reviewed, PunishmentsError> {
    let (verdict, trace) = modules::traced_call::<ReviewPunishment>(app, network, proposal(&new)).await;
    let origin = trace.map(|trace| {
        let cause = cause.clone().unwrap_or_default();
        PunishmentOrigin { chat_id: cause.chat_id, report_id: cause.report_id, ..PunishmentOrigin::from(trace) }
    });
    let (terms, first_origin) = match verdict.decision {
        Decision::Accept => (new.terms, cause),
        Decision::Amend(terms) => (terms.into(), origin.clone()),
        Decision::Refuse(reason) => return Err(PunishmentsError::Rejected(reason)),
    };
    let follow_ups = verdict.follow_ups.into_iter().map(PunishmentTerms::from);
    let terms: Vec<_> = std::iter::once(terms).chain(follow_ups).collect();
    let follow_up_origins = std::iter::repeat_n(origin, terms.len() - 1);
    let origins: Vec<_> = std::iter::once(first_origin).chain(follow_up_origins).collect();
    Ok(Reviewed { target: new.target, issuer: new.issuer, terms, origins })
}

/// A punishment as the network's review would leave it.
#[derive(Debug)]
pub(super) struct Preview {
    /// Reason of the modules, if they reject it.
    pub(super) rejection: Option<String>,
    /// True if they change its terms.
    pub(super) is_amended: bool,
    /// The punishment, and those that the review adds; none if it is rejected.
    pub(super) terms: Vec<PunishmentTerms>,
    pub(super) steps: Vec<DryStep>,
}

/// Asks the network's modules about a punishment, without effect.
pub(super) async fn preview(app: &App, network: NetworkId, new: NewPunishment) -> Result<Preview, ModulesError> {
    let (verdict, steps) = modules::dry_call::<ReviewPunishment>(app, network, proposal(&new)).await?;
    let (terms, is_amended) = match verdict.decision {
        Decision::Accept => (new.terms, false),
        Decision::Amend(terms) => (terms.into(), true),
        Decision::Refuse(reason) => {
            return Ok(Preview { rejection: Some(reason), is_amended: false, terms: vec![], steps });
        }
    };
    let follow_ups = verdict.follow_ups.into_iter().map(PunishmentTerms::from);
    let terms = std::iter::once(terms).chain(follow_ups).collect();
    Ok(Preview { rejection: None, is_amended, terms, steps })
}

/// Creates a reviewed punishment, and those that the review adds.
pub(super) async fn create_reviewed(
    app: &App,
    network: NetworkId,
    reviewed: &Reviewed,
) -> Result<Punishment, PunishmentsError> {
    let Reviewed { target, issuer, terms, origins } = reviewed;
    let created = punishments::create_from(app, network, target, issuer, terms, origins).await?;
    created.into_iter().next().ok_or(PunishmentsError::Database(hub_db::Error::NotFound))
}

fn proposal(new: &NewPunishment) -> Proposal {
    let (player, name, ip_based) = new.target.parts();
    let PunishmentTerms { kind, reason, duration } = &new.terms;
    Proposal {
        player_uuid: player.map(|id| id.to_string()),
        player_name: name.map(str::to_owned),
        terms: punishment::Terms {
            kind: (*kind).into(),
            duration_ms: duration.map(|duration| duration.ms().unsigned_abs()),
            reason: reason.clone().unwrap_or_default(),
        },
        ip_based,
        issuer_uuid: new.issuer.player.map(|id| id.to_string()),
        issuer_name: new.issuer.name.clone(),
    }
}

/// In the contract an empty reason means none.
impl From<punishment::Terms> for PunishmentTerms {
    fn from(terms: punishment::Terms) -> Self {
        Self {
            kind: terms.kind.into(),
            reason: Some(terms.reason).filter(|reason| !reason.is_empty()),
            duration: terms.duration_ms.map(PunishmentDuration::clamped),
        }
    }
}
