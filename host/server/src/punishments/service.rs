//! The rules of punishments.

use serde::Serialize;
use thiserror::Error;

use crate::app::App;
use crate::clock::Millis;
use crate::events::{self, EventKind};
use crate::http::error::ApiError;
use crate::punishments::body::PunishmentBody;
use crate::punishments::model::{
    Draft, Filter, IpAddress, Kind, KnownAddress, Party, Punishment, State, Subject, Target,
};
use crate::punishments::review::review;
use crate::punishments::store::{self, NewPunishment, Revocation};
use crate::punishments::values::FoldedName;
use crate::values::{NetworkId, PlayerId};

/// What can be wrong with a request about punishments.
#[derive(Debug, Error)]
pub enum PunishmentsError {
    /// No such punishment in the caller's network.
    #[error("This network has no punishment {0}.")]
    Unknown(i64),
    /// The network's review refused it, for this reason.
    #[error("{0}")]
    Rejected(String),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<PunishmentsError> for ApiError {
    fn from(error: PunishmentsError) -> Self {
        let message = error.to_string();
        match error {
            PunishmentsError::Unknown(_) => Self::bad_request("unknown_punishment", message),
            PunishmentsError::Rejected(_) => Self::bad_request("punishment_rejected", message),
            PunishmentsError::Database(error) => error.into(),
        }
    }
}

/// What is told of a punishment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Action {
    /// It was made.
    Created,
    /// It was taken back.
    Revoked,
    /// Its time ran out.
    Expired,
}

/// Makes a punishment, on the terms the network's review leaves it, and what that review adds to it.
pub async fn create(app: &App, network: NetworkId, draft: Draft) -> Result<Punishment, PunishmentsError> {
    let (terms, follow_ups) = review(app, network, &draft).await?;
    let now = app.clock.now();
    let made = app
        .db
        .transaction(async |mut tx| {
            let tx = &mut tx;
            let (player, name, ip_based) = match &draft.target {
                Target::Player { id, name, ip_based } => (Some(*id), name.as_deref(), *ip_based),
                Target::Name { name, ip_based } => (None, Some(name.as_str()), *ip_based),
                Target::Address(_) => (None, None, true),
            };
            if let (Some(player), Some(name)) = (player, name) {
                store::note_name(tx, network, player, &FoldedName::of(name), now).await?;
            }
            let address = match (&draft.target, player, name) {
                (Target::Address(address), _, _) => Some(address.clone()),
                (_, Some(player), _) if ip_based => store::last_address(tx, network, player).await?,
                (_, None, Some(name)) if ip_based => {
                    store::last_address_of_name(tx, network, &FoldedName::of(name)).await?
                }
                _ => None,
            };
            let count = 1 + follow_ups.len() as i64;
            let first = store::take_ids(tx, network, count).await? - count + 1;
            let mut made = Vec::with_capacity(1 + follow_ups.len());
            for (id, terms) in (first..).zip(std::iter::once(&terms).chain(&follow_ups)) {
                let state = if terms.kind == Kind::Kick { State::Done } else { State::Open };
                let new = NewPunishment {
                    id,
                    player,
                    name,
                    terms,
                    expires_at: terms.span.map(|span| now.saturating_add(span.ms())),
                    ip_based,
                    address: address.clone(),
                    issuer: &draft.issuer,
                    issued_at: now,
                    state,
                };
                made.push(store::insert(tx, network, new).await?);
            }
            Ok::<_, PunishmentsError>(made)
        })
        .await?;
    tell_all(app, Action::Created, &made).await;
    made.into_iter().next().ok_or(PunishmentsError::Database(hub_db::Error::NotFound))
}

/// The punishments of `subject`, newest first.
pub async fn find(
    app: &App,
    network: NetworkId,
    subject: &Subject,
    filter: &Filter,
) -> Result<Vec<Punishment>, PunishmentsError> {
    Ok(store::find(&app.db, network, subject, filter, app.clock.now()).await?)
}

/// A player's whole record since `since`, of one kind or of all, at most `limit` and the newest of them.
pub async fn history(
    app: &App,
    network: NetworkId,
    subject: &Subject,
    since: Option<Millis>,
    kind: Option<Kind>,
    limit: i64,
) -> Result<Vec<Punishment>, PunishmentsError> {
    find(app, network, subject, &Filter { active_only: false, since, kind, limit, offset: 0 }).await
}

/// Takes a punishment back. One that is not in force stays as it is.
pub async fn revoke(
    app: &App,
    network: NetworkId,
    id: i64,
    actor: &Party,
    reason: Option<&str>,
) -> Result<Punishment, PunishmentsError> {
    let by = Revocation { actor, reason, at: app.clock.now() };
    if let Some(revoked) = store::revoke(&app.db, network, id, by).await? {
        tell(app, Action::Revoked, &revoked).await;
        return Ok(revoked);
    }
    store::get(&app.db, network, id).await?.ok_or(PunishmentsError::Unknown(id))
}

/// Takes back every ban in force under a name; `and_last_address`: those on the player's last address, too.
pub async fn unban_name(
    app: &App,
    network: NetworkId,
    name: &str,
    and_last_address: bool,
    actor: &Party,
    reason: Option<&str>,
) -> Result<Vec<Punishment>, PunishmentsError> {
    let by = Revocation { actor, reason, at: app.clock.now() };
    let folded = FoldedName::of(name);
    let revoked = app
        .db
        .transaction(async |mut tx| {
            let mut address = None;
            if and_last_address {
                address = store::last_address_of_name(&mut tx, network, &folded).await?;
            }
            let subject = Subject { name: Some(name.to_owned()), address, player: None };
            store::revoke_bans(&mut tx, network, &subject, by).await
        })
        .await?;
    tell_all(app, Action::Revoked, &revoked).await;
    Ok(revoked)
}

/// Takes back every ban in force that covers an address.
pub async fn unban_address(
    app: &App,
    network: NetworkId,
    address: IpAddress,
    actor: &Party,
    reason: Option<&str>,
) -> Result<Vec<Punishment>, PunishmentsError> {
    let by = Revocation { actor, reason, at: app.clock.now() };
    let subject = Subject { address: Some(address), ..Subject::default() };
    let revoked = app.db.transaction(async |mut tx| store::revoke_bans(&mut tx, network, &subject, by).await).await?;
    tell_all(app, Action::Revoked, &revoked).await;
    Ok(revoked)
}

/// Notes that a player was seen with a name and an address.
pub async fn note_address(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    name: Option<&str>,
    address: &IpAddress,
) -> Result<(), PunishmentsError> {
    let now = app.clock.now();
    app.db
        .transaction(async |mut tx| {
            if let Some(name) = name {
                store::note_name(&mut tx, network, player, &FoldedName::of(name), now).await?;
            }
            store::note_address(&mut tx, network, player, address, now).await?;
            Ok(())
        })
        .await
}

/// Notes that a player was seen with a name, so that what was made by that name matches the player. For the rooms
/// through which players come in.
pub async fn note_name(app: &App, network: NetworkId, player: PlayerId, name: &str) -> Result<(), PunishmentsError> {
    Ok(store::note_name_alone(&app.db, network, player, FoldedName::of(name), app.clock.now()).await?)
}

/// The addresses a player was seen with, the last first; the newest 1,000.
pub async fn addresses(app: &App, network: NetworkId, player: PlayerId) -> Result<Vec<KnownAddress>, PunishmentsError> {
    Ok(store::addresses(&app.db, network, player).await?)
}

#[derive(Serialize)]
struct Payload {
    action: Action,
    punishment: PunishmentBody,
}

/// Tells the network's servers. What is told is committed already: a bus that takes nothing any more (the hub is
/// stopping) is no failure, its clients read anew when they come back.
pub(super) async fn tell(app: &App, action: Action, punishment: &Punishment) {
    let payload = Payload { action, punishment: PunishmentBody::at(punishment.clone(), app.clock.now()) };
    let network = punishment.network_id;
    if let Err(error) = events::publish(app, network, EventKind::Punishment, None, payload).await {
        tracing::warn!(%error, id = punishment.id, ?action, "could not tell of a punishment");
    }
}

async fn tell_all(app: &App, action: Action, punishments: &[Punishment]) {
    for punishment in punishments {
        tell(app, action, punishment).await;
    }
}
