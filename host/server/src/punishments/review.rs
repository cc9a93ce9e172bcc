//! The network's say: its modules see every punishment before it is made, and may look at a player's record.

use hub_sandbox::ReviewPunishment;
use hub_sandbox::contract::players;
use hub_sandbox::contract::punishment::{self, Decision, Proposal};

use crate::app::App;
use crate::clock::Millis;
use crate::modules::service as modules;
use crate::punishments::model::{Draft, Punishment, Span, Target, Terms};
use crate::punishments::service::PunishmentsError;
use crate::values::NetworkId;

/// The terms it is made on, and what is made after it for the same target.
pub(super) async fn review(
    app: &App,
    network: NetworkId,
    draft: &Draft,
) -> Result<(Terms, Vec<Terms>), PunishmentsError> {
    let verdict = modules::call::<ReviewPunishment>(app, network, proposal(draft)).await;
    let terms = match verdict.decision {
        Decision::Accept => draft.terms.clone(),
        Decision::Amend(terms) => terms.into(),
        Decision::Refuse(reason) => return Err(PunishmentsError::Rejected(reason)),
    };
    Ok((terms, verdict.follow_ups.into_iter().map(Terms::from).collect()))
}

fn proposal(draft: &Draft) -> Proposal {
    let (player_uuid, player_name, ip_based) = match &draft.target {
        Target::Player { id, name, ip_based } => (Some(id.to_string()), name.clone(), *ip_based),
        Target::Name { name, ip_based } => (None, Some(name.clone()), *ip_based),
        Target::Address(_) => (None, None, true),
    };
    let Terms { kind, reason, span } = &draft.terms;
    Proposal {
        player_uuid,
        player_name,
        terms: punishment::Terms {
            kind: (*kind).into(),
            duration_ms: span.map(|span| span.ms().unsigned_abs()),
            reason: reason.clone().unwrap_or_default(),
        },
        ip_based,
        issuer_uuid: draft.issuer.player.map(|id| id.to_string()),
        issuer_name: draft.issuer.name.clone(),
    }
}

/// The contract has no absent reason: an empty one stands for it.
impl From<punishment::Terms> for Terms {
    fn from(terms: punishment::Terms) -> Self {
        Self {
            kind: terms.kind.into(),
            reason: Some(terms.reason).filter(|reason| !reason.is_empty()),
            span: terms.duration_ms.map(Span::of_module),
        }
    }
}

impl Punishment {
    /// As a module sees it at `now`.
    pub fn for_module(&self, now: Millis) -> players::Punishment {
        players::Punishment {
            id: self.id.unsigned_abs(),
            kind: self.kind.into(),
            reason: self.reason.clone().unwrap_or_default(),
            issued_at_ms: u64::try_from(self.issued_at).unwrap_or(0),
            duration_ms: self.duration_ms.map(Millis::unsigned_abs),
            ip_based: self.ip_based,
            issuer_name: self.issuer_name.clone(),
            active: self.is_active(now),
            revoked: self.is_revoked(),
            expired: self.is_expired(now),
        }
    }
}
