//! Rules of staff's work on punishments: changes, and revocation of many at once.

use hub_db::Tx;
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::audit::{self, Action as AuditAction, Change};
use crate::auth::Origin;
use crate::clock::Millis;
use crate::http::answer::{AnswerBudget, json_size};
use crate::http::if_match::IfMatch;
use crate::limits;
use crate::punishments::body::PunishmentBody;
use crate::punishments::managed::{Edit, EditedField, ManagedPunishment};
use crate::punishments::model::{Actor, Punishment, PunishmentState};
use crate::punishments::service::{Action, PunishmentsError, publish};
use crate::punishments::store::managed::{self as store, Issuer};
use crate::punishments::store::{self as punishments, Revocation};
use crate::punishments::values::PunishmentDuration;
use crate::punishments::{EDITS, appeal_code};
use crate::values::NetworkId;

/// The most punishments that one request revokes.
const REVOKED_AT_ONCE: usize = 1_000;
/// Time after its end for which a punishment can be read by its code.
const READABLE_AFTER_END: Millis = 30 * 24 * 60 * 60 * 1000;

/// Changes; absent fields stay.
#[derive(Clone, Debug, Default)]
#[allow(clippy::option_option, reason = "null and absent differ")]
pub(crate) struct NewTerms {
    pub(crate) reason: Option<Option<String>>,
    /// From the issue; none is permanent.
    pub(crate) duration: Option<Option<PunishmentDuration>>,
    pub(crate) evidence: Option<Vec<String>>,
    /// True if it may not last longer than before.
    pub(crate) only_shorter: bool,
}

/// Staff as issuer or revoker.
fn actor(origin: &Origin) -> Actor {
    Actor { player: None, name: Some(origin.actor.name.clone()) }
}

/// Changes a punishment. Its servers are told, unless nothing changed.
pub(super) async fn edit(
    app: &App,
    network: NetworkId,
    origin: &Origin,
    id: i64,
    (new, expected): (&NewTerms, IfMatch),
) -> Result<ManagedPunishment, PunishmentsError> {
    app.db
        .transaction(async |mut tx| {
            if expected.0.is_some() {
                let now = store::lock(&mut tx, network, id).await?.ok_or(PunishmentsError::NotFound(id))?;
                expected.check(Some(&now.terms()))?;
            }
            edit_in(app, &mut tx, network, origin, id, new).await
        })
        .await
}

/// The same as part of a transaction, whatever its terms are.
pub(crate) async fn edit_in(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    origin: &Origin,
    id: i64,
    new: &NewTerms,
) -> Result<ManagedPunishment, PunishmentsError> {
    let now = app.clock.now();
    let mut changed = store::lock(tx, network, id).await?.ok_or(PunishmentsError::NotFound(id))?;
    let mut edits = vec![];
    let mut record = |field, before: Value, after: Value| {
        edits.push(Edit { at: now, actor: origin.actor.clone(), field, before, after });
    };
    let punishment = &mut changed.punishment;
    if let Some(duration) = new.duration {
        if !punishment.is_active(now) {
            return Err(PunishmentsError::NotActive);
        }
        let duration = duration.map(PunishmentDuration::ms);
        let is_shorter = || duration.is_some_and(|ms| punishment.duration_ms.is_none_or(|before| ms < before));
        if new.only_shorter && !is_shorter() {
            return Err(PunishmentsError::NotShorter);
        }
        if duration != punishment.duration_ms {
            record(EditedField::DurationMs, json!(punishment.duration_ms), json!(duration));
            punishment.duration_ms = duration;
            punishment.expires_at = duration.map(|ms| punishment.issued_at.saturating_add(ms));
        }
    }
    if let Some(reason) = &new.reason
        && *reason != punishment.reason
    {
        record(EditedField::Reason, json!(punishment.reason), json!(reason));
        punishment.reason.clone_from(reason);
    }
    if let Some(evidence) = &new.evidence
        && *evidence != changed.evidence
    {
        record(EditedField::Evidence, json!(changed.evidence), json!(evidence));
        changed.evidence.clone_from(evidence);
    }
    if edits.is_empty() {
        return Ok(changed);
    }
    let has_ended = punishment.state == PunishmentState::Open && !punishment.is_active(now);
    if has_ended && new.duration.is_some() {
        punishment.state = PunishmentState::Expired;
    }
    let fields =
        |value: fn(&Edit) -> Value| edits.iter().map(|edit| (name(edit.field), value(edit))).collect::<Map<_, _>>();
    let change = Change::new(AuditAction::PunishmentChanged, id.to_string());
    let change = change.before(fields(|edit| edit.before.clone())).after(fields(|edit| edit.after.clone()));
    let all = changed.edits.get_or_insert_default();
    limits::check(app, EDITS, all.len() as i64, edits.len() as i64)?;
    all.extend(edits);
    store::update(tx, &changed).await?;
    let after = std::slice::from_ref(&changed.punishment);
    publish(app, tx, Action::Updated, after).await?;
    if after[0].state == PunishmentState::Expired && new.duration.is_some() {
        publish(app, tx, Action::Expired, after).await?;
    }
    audit::record(tx, network, origin, change).await?;
    Ok(changed)
}

fn name(field: EditedField) -> String {
    let name = match field {
        EditedField::Reason => "reason",
        EditedField::DurationMs => "durationMs",
        EditedField::Evidence => "evidence",
    };
    name.to_owned()
}

/// Revokes a punishment as part of a transaction. One that has ended stays unchanged.
pub(crate) async fn revoke_in(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    origin: &Origin,
    id: i64,
    reason: Option<&str>,
) -> Result<(), PunishmentsError> {
    let revocation = Revocation { actor: &actor(origin), reason, at: app.clock.now() };
    let revoked = punishments::revoke(tx, network, id, revocation).await?;
    Ok(publish(app, tx, Action::Revoked, revoked.as_slice()).await?)
}

/// Punishments to revoke at once.
pub(super) struct BulkRevocation<'a> {
    pub(super) issuer: Issuer,
    /// Issued from one time to another, both included.
    pub(super) issued: (Option<Millis>, Option<Millis>),
    pub(super) reason: Option<&'a str>,
    /// Only tells what it would revoke.
    pub(super) is_dry_run: bool,
}

/// Revokes the punishments in force that one of the staff made, newest first. Returns them, and true if there are more.
pub(super) async fn revoke_many(
    app: &App,
    network: NetworkId,
    origin: &Origin,
    bulk: &BulkRevocation<'_>,
) -> Result<(Vec<Punishment>, bool), PunishmentsError> {
    let now = app.clock.now();
    let issued = (bulk.issued.0.unwrap_or(Millis::MIN), bulk.issued.1.unwrap_or(Millis::MAX));
    let limit = REVOKED_AT_ONCE as i64 + 1;
    if bulk.is_dry_run {
        let found = store::active_of(&app.db, network, &bulk.issuer, issued, now, limit).await?;
        return Ok(first(app, found, now));
    }
    let actor = actor(origin);
    let revocation = Revocation { actor: &actor, reason: bulk.reason, at: now };
    app.db
        .transaction(async |mut tx| {
            let found = store::active_of(&mut tx, network, &bulk.issuer, issued, now, limit).await?;
            let (chosen, more) = first(app, found, now);
            if chosen.is_empty() {
                return Ok((chosen, more));
            }
            let ids: Vec<_> = chosen.iter().map(|punishment| punishment.id).collect();
            let revoked = store::revoke_many(&mut tx, network, &ids, revocation).await?;
            publish(app, &mut tx, Action::Revoked, &revoked).await?;
            let issuer = match &bulk.issuer {
                Issuer::Player(player) => player.to_string(),
                Issuer::Name(name) => name.clone(),
            };
            let after = json!({"ids": ids, "reason": bulk.reason});
            let change = Change::new(AuditAction::PunishmentsRevoked, issuer).after(after);
            audit::record(&mut tx, network, origin, change).await?;
            Ok::<_, PunishmentsError>((revoked, more))
        })
        .await
}

/// The number that one request revokes and one answer holds, and true if there are more.
fn first(app: &App, found: Vec<Punishment>, now: Millis) -> (Vec<Punishment>, bool) {
    let (count, mut budget) = (found.len(), AnswerBudget::default());
    let fits = |punishment: &Punishment| budget.take(json_size(&PunishmentBody::new(app, punishment.clone(), now)));
    let first: Vec<_> = found.into_iter().take(REVOKED_AT_ONCE).take_while(fits).collect();
    let more = first.len() < count;
    (first, more)
}

/// A punishment that can be appealed, or could until lately.
pub(crate) struct Appealed {
    pub(crate) punishment: Punishment,
    pub(crate) is_active: bool,
    /// The player's name in lower case.
    pub(crate) name_folded: Option<String>,
}

impl Appealed {
    fn new(punishment: Punishment, now: Millis) -> Self {
        let name_folded = punishment.player_name.as_deref().map(str::to_lowercase);
        Self { is_active: punishment.is_active(now), name_folded, punishment }
    }
}

/// Punishment of a code, until 30 days after its end.
pub(crate) async fn appealed(app: &App, code: &str, now: Millis) -> Result<Option<Appealed>, hub_db::Error> {
    let mut found = None;
    for mac in appeal_code::macs(app, code) {
        found = found.or(store::by_appeal_mac(&app.db, &mac).await?);
    }
    let found = found.filter(|(punishment, _)| appeal_code::is_of(app, punishment, code));
    let Some((punishment, revoked_at)) = found else { return Ok(None) };
    let ended_at = revoked_at.or(punishment.expires_at).unwrap_or(punishment.issued_at);
    let appealed = Appealed::new(punishment, now);
    let is_readable = appealed.is_active || now < ended_at.saturating_add(READABLE_AFTER_END);
    Ok(Some(appealed).filter(|_| is_readable))
}

/// The same punishment, locked until the transaction ends.
pub(crate) async fn lock_appealed(
    tx: &mut Tx,
    network: NetworkId,
    id: i64,
    now: Millis,
) -> Result<Option<Appealed>, hub_db::Error> {
    Ok(store::lock(tx, network, id).await?.map(|managed| Appealed::new(managed.punishment, now)))
}
