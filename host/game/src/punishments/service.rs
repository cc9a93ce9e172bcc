//! Rules of punishments.

use std::future::ready;

use axum::http::StatusCode;
use hub_db::{Executor, Tx};
use serde::Serialize;
use thiserror::Error;
use utoipa::ToSchema;

use crate::app::App;
use crate::clock::{Cutoff, Millis};
use crate::events::{self, EventKind};
use crate::http::error::ApiError;
use crate::http::if_match::Changed;
use crate::limits::{self, Limit, QuotaExceeded, check_rows};
use crate::punishments::appeal_code;
use crate::punishments::body::PunishmentBody;
use crate::punishments::managed::{ManagedPunishment, PunishmentOrigin};
use crate::punishments::model::{
    Actor, Identity, KnownAddress, Punishment, PunishmentFilter, PunishmentState, PunishmentTerms, Target,
};
use crate::punishments::name_right::NameRight;
use crate::punishments::store::managed::{self, ListFilter};
use crate::punishments::store::{self, Revocation};
use crate::punishments::values::{FoldedName, IpAddress, PunishmentDuration, PunishmentKind};
use crate::values::{NetworkId, PlayerId};

/// The most punishments in one answer: the newest ones, bans before all others.
pub(crate) const MAX_ANSWERED: usize = 400;

/// Reason for the failure of a request about punishments.
#[derive(Debug, Error)]
pub enum PunishmentsError {
    /// No such punishment in the caller's network.
    #[error("This network has no punishment {0}.")]
    Unknown(i64),
    /// The same, of staff's routes.
    #[error("This network has no punishment {0}.")]
    NotFound(i64),
    /// It has ended.
    #[error("The punishment is not in force.")]
    NotActive,
    /// A reduction that reduces nothing.
    #[error(
        "In the body, `durationMs`: must be shorter than the punishment's own duration, which counts from its issue."
    )]
    NotShorter,
    /// Changed since its caller read it.
    #[error(transparent)]
    Changed(#[from] Changed),
    /// The network's review rejected it, for this reason.
    #[error("{0}")]
    Rejected(String),
    /// The network's quota is used up.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<PunishmentsError> for ApiError {
    fn from(error: PunishmentsError) -> Self {
        let message = error.to_string();
        match error {
            PunishmentsError::Unknown(_) => Self::bad_request("unknown_punishment", message),
            PunishmentsError::NotFound(_) => Self::not_found("unknown_punishment", message),
            PunishmentsError::NotShorter => Self::invalid(message),
            PunishmentsError::NotActive => Self::new(StatusCode::CONFLICT, "not_active", message),
            PunishmentsError::Rejected(_) => Self::bad_request("punishment_rejected", message),
            PunishmentsError::Changed(changed) => changed.into(),
            PunishmentsError::Quota(exceeded) => exceeded.into(),
            PunishmentsError::Database(error) => error.into(),
        }
    }
}

/// Change of a punishment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = PunishmentAction)]
pub(super) enum Action {
    Created,
    Updated,
    Revoked,
    Expired,
}

/// Creates and publishes a punishment of `target` for each of `terms`, without review.
pub async fn create(
    app: &App,
    network: NetworkId,
    target: &Target,
    issuer: &Actor,
    terms: &[PunishmentTerms],
) -> Result<Vec<Punishment>, PunishmentsError> {
    create_from(app, network, target, issuer, terms, &[]).await
}

/// The same, with the origins of the first ones.
pub(super) async fn create_from(
    app: &App,
    network: NetworkId,
    target: &Target,
    issuer: &Actor,
    terms: &[PunishmentTerms],
    origins: &[Option<PunishmentOrigin>],
) -> Result<Vec<Punishment>, PunishmentsError> {
    let now = app.clock.now();
    let (player, name, ip_based) = target.parts();
    let count = terms.len() as i64;
    let _adding = check_rows::<PunishmentsError>(app, network, store::PUNISHMENTS, count, ready(Ok(false))).await?;
    let names = limits::bound(app, Limit::NamesPerPlayer);
    app.db
        .transaction(async |mut tx| {
            let tx = &mut tx;
            if let (Some(player), Some(name)) = (player, name) {
                let name = FoldedName::new(name);
                if !store::record_name(&mut *tx, network, player, &name, now, names).await? {
                    store::forget_names(&mut *tx, network, player, names - 1).await?;
                    store::record_name(&mut *tx, network, player, &name, now, names).await?;
                }
            }
            let address = match (target, player, name) {
                (Target::Address(address), _, _) => Some(address.clone()),
                (_, Some(player), _) if ip_based => store::last_address(tx, network, player).await?,
                (_, None, Some(name)) if ip_based => {
                    store::last_address_of_name(tx, network, &FoldedName::new(name)).await?
                }
                _ => None,
            };
            let folded = name.map(FoldedName::new);
            let used = store::count_of(&mut *tx, network, player, folded.as_ref(), address.as_ref()).await?;
            limits::check(app, Limit::PunishmentsPerPlayer, used, count)?;
            let first = store::take_ids(tx, network, count).await? - count + 1;
            let mut created = Vec::with_capacity(terms.len());
            for (id, terms) in (first..).zip(terms) {
                let is_kick = terms.kind == PunishmentKind::Kick;
                let code = appeal_code::new(app, terms.kind, PunishmentState::Open)?;
                let punishment = Punishment {
                    network_id: network,
                    id,
                    player_uuid: player,
                    player_name: name.map(str::to_owned),
                    kind: terms.kind,
                    reason: terms.reason.clone(),
                    duration_ms: terms.duration.map(PunishmentDuration::ms),
                    expires_at: terms.duration.map(|duration| now.saturating_add(duration.ms())),
                    ip_based,
                    ip_address: address.clone(),
                    issuer_uuid: issuer.player,
                    issuer_name: issuer.name.clone(),
                    issued_at: now,
                    state: if is_kick { PunishmentState::Done } else { PunishmentState::Open },
                    appeal_code: code.as_ref().map(|code| code.sealed.clone()),
                };
                store::insert(tx, &punishment, code.map(|code| code.mac)).await?;
                if let Some(Some(origin)) = origins.get(created.len()) {
                    managed::set_origin(tx, network, id, origin).await?;
                }
                created.push(punishment);
            }
            publish(app, tx, Action::Created, &created).await?;
            Ok(created)
        })
        .await
}

/// Punishments of an identity, newest first.
pub async fn find(
    app: &App,
    network: NetworkId,
    identity: &Identity,
    filter: &PunishmentFilter,
) -> Result<Vec<Punishment>, PunishmentsError> {
    Ok(store::find(&app.db, network, identity, filter, app.clock.now()).await?)
}

/// Punishments of all players, newest first, and their number.
pub(super) async fn list(
    app: &App,
    network: NetworkId,
    filter: &ListFilter,
    place: (i64, i64),
) -> Result<(Vec<ManagedPunishment>, i64), PunishmentsError> {
    Ok(managed::list(&app.db, network, filter, app.clock.now(), place).await?)
}

/// A punishment with its details.
pub(super) async fn managed(app: &App, network: NetworkId, id: i64) -> Result<ManagedPunishment, PunishmentsError> {
    managed::get(&app.db, network, id).await?.ok_or(PunishmentsError::NotFound(id))
}

/// Revokes a punishment. An inactive one stays unchanged.
pub async fn revoke(
    app: &App,
    network: NetworkId,
    id: i64,
    actor: &Actor,
    reason: Option<&str>,
) -> Result<Punishment, PunishmentsError> {
    let revocation = Revocation { actor, reason, at: app.clock.now() };
    let revoked = app
        .db
        .transaction(async |mut tx| {
            let revoked = store::revoke(&mut tx, network, id, revocation).await?;
            publish(app, &mut tx, Action::Revoked, revoked.as_slice()).await?;
            Ok::<_, PunishmentsError>(revoked)
        })
        .await?;
    if let Some(revoked) = revoked {
        return Ok(revoked);
    }
    store::get(&app.db, network, id).await?.ok_or(PunishmentsError::Unknown(id))
}

/// Revokes every active ban of a name; with `and_last_address`, also those on the player's last address.
pub(crate) async fn unban_name(
    app: &App,
    network: NetworkId,
    name: &str,
    and_last_address: bool,
    actor: &Actor,
    reason: Option<&str>,
) -> Result<Vec<Punishment>, PunishmentsError> {
    let revocation = Revocation { actor, reason, at: app.clock.now() };
    let folded = FoldedName::new(name);
    let mut revoked = app
        .db
        .transaction(async |mut tx| {
            let mut address = None;
            if and_last_address {
                address = store::last_address_of_name(&mut tx, network, &folded).await?;
            }
            let identity = Identity { name: Some(name.to_owned()), address, player: None };
            revoke_bans(app, tx, network, &identity, revocation).await
        })
        .await?;
    revoked.truncate(MAX_ANSWERED);
    Ok(revoked)
}

/// Revokes every active ban that covers an address.
pub(crate) async fn unban_address(
    app: &App,
    network: NetworkId,
    address: IpAddress,
    actor: &Actor,
    reason: Option<&str>,
) -> Result<Vec<Punishment>, PunishmentsError> {
    let revocation = Revocation { actor, reason, at: app.clock.now() };
    let identity = Identity { address: Some(address), ..Identity::default() };
    let mut revoked = app.db.transaction(async |tx| revoke_bans(app, tx, network, &identity, revocation).await).await?;
    revoked.truncate(MAX_ANSWERED);
    Ok(revoked)
}

async fn revoke_bans(
    app: &App,
    mut tx: Tx,
    network: NetworkId,
    identity: &Identity,
    revocation: Revocation<'_>,
) -> Result<Vec<Punishment>, PunishmentsError> {
    let revoked = store::revoke_bans(&mut tx, network, identity, revocation).await?;
    publish(app, &mut tx, Action::Revoked, &revoked).await?;
    Ok(revoked)
}

/// Records that a player was seen with an address, and a name.
pub(crate) async fn record_address(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    name: Option<(&str, NameRight)>,
    address: &IpAddress,
) -> Result<(), PunishmentsError> {
    let now = app.clock.now();
    let names = limits::bound(app, Limit::NamesPerPlayer);
    let addresses = limits::bound(app, Limit::AddressesPerPlayer);
    app.db
        .transaction(async |mut tx| {
            if let Some(name) = name.map(|(name, _)| FoldedName::new(name))
                && !store::record_name(&mut tx, network, player, &name, now, names).await?
            {
                store::forget_names(&mut tx, network, player, names - 1).await?;
                store::record_name(&mut tx, network, player, &name, now, names).await?;
            }
            store::record_address(&mut tx, network, player, address, now, addresses).await?;
            Ok(())
        })
        .await
}

/// Records that a player was seen with a name, so that punishments of the name match the player.
pub(crate) async fn record_name(
    app: &App,
    _: NameRight,
    network: NetworkId,
    player: PlayerId,
    name: &str,
) -> Result<(), PunishmentsError> {
    let (name, now) = (FoldedName::new(name), app.clock.now());
    let most = limits::bound(app, Limit::NamesPerPlayer);
    if !store::record_name(&app.db, network, player, &name, now, most).await? {
        store::forget_names(&app.db, network, player, most - 1).await?;
        store::record_name(&app.db, network, player, &name, now, most).await?;
    }
    Ok(())
}

/// Records that players were seen with names, like [`record_name`], at most one of each player.
pub(crate) async fn record_names(
    app: &App,
    right: NameRight,
    network: NetworkId,
    seen: &[(PlayerId, &str, Millis)],
) -> Result<(), PunishmentsError> {
    let folded: Vec<_> = seen.iter().map(|(player, name, at)| (*player, FoldedName::new(name), *at)).collect();
    let names: Vec<_> = folded.iter().map(|(player, name, at)| (*player, name, *at)).collect();
    let most = limits::bound(app, Limit::NamesPerPlayer);
    store::see_names(&app.db, network, &names, most).await?;
    // Of those who have as many names as a player may have, another one goes.
    let known = store::names_of(&app.db, network, names.iter().map(|(player, ..)| *player)).await?;
    for (player, name, _) in names {
        if !known.contains_key(&(player, name.clone())) {
            record_name(app, right, network, player, name.as_str()).await?;
        }
    }
    Ok(())
}

/// The player who was seen last with a name, in any case.
pub(crate) async fn player_named(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    name: &str,
) -> Result<Option<PlayerId>, hub_db::Error> {
    store::player_named(on, network, &FoldedName::new(name)).await
}

/// Addresses a player was seen with, latest first; at most 1,000.
pub async fn addresses(app: &App, network: NetworkId, player: PlayerId) -> Result<Vec<KnownAddress>, PunishmentsError> {
    Ok(store::addresses(&app.db, network, player).await?)
}

/// A punishment was created, changed or revoked, or has expired.
#[derive(Serialize, ToSchema)]
pub(crate) struct PunishmentChange {
    action: Action,
    punishment: PunishmentBody,
}

/// Publishes changes to the servers of each network.
pub(super) async fn publish(
    app: &App,
    tx: &mut Tx,
    action: Action,
    punishments: &[Punishment],
) -> Result<(), hub_db::Error> {
    for punishment in punishments {
        let body = PunishmentBody::new(app, punishment.clone(), app.clock.now());
        let event = PunishmentChange { action, punishment: body };
        events::publish_in(app, tx, punishment.network_id, EventKind::Punishment, None, event).await?;
    }
    Ok(())
}

/// Records up to `limit` expired punishments of a network, publishes each, and returns their number. Each moves from open
/// to expired, so that of several nodes, or of two runs of one, only one publishes it.
pub(super) async fn expire(app: &App, network: NetworkId, due: Cutoff, limit: i64) -> Result<usize, hub_db::Error> {
    app.db
        .transaction(async |mut tx| {
            let mut expired = store::expire(&mut tx, network, due, limit).await?;
            expired.sort_by_key(|punishment| (punishment.expires_at, punishment.id));
            publish(app, &mut tx, Action::Expired, &expired).await?;
            Ok(expired.len())
        })
        .await
}
