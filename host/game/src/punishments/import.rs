//! Imports punishments from another tool, with their times and their ends. No events are published: they are history,
//! or in force when a player joins.

use std::future::ready;

use hub_db::Tx;

use crate::app::App;
use crate::clock::Millis;
use crate::import_outcome::ImportOutcome;
use crate::limits::{self, Limit, check_rows};
use crate::punishments::model::{Actor, Punishment, PunishmentState, Target};
use crate::punishments::service::{Action, PunishmentsError, publish};
use crate::punishments::store::{self, Revocation};
use crate::punishments::values::{FoldedName, IpAddress, PunishmentDuration, PunishmentKind};
use crate::values::{NetworkId, PlayerId};

/// A punishment of another tool.
#[derive(Clone, Debug)]
pub struct ImportedPunishment {
    pub target: Target,
    pub kind: PunishmentKind,
    pub reason: Option<String>,
    pub issuer: Actor,
    pub issued_at: Millis,
    /// None is permanent.
    pub expires_at: Option<Millis>,
    /// Address that it covers, if known.
    pub address: Option<IpAddress>,
    pub state: PunishmentState,
    /// Set if it was revoked.
    pub revocation: Option<ImportedRevocation>,
}

/// Actor, reason and time of a revocation.
#[derive(Clone, Debug)]
pub struct ImportedRevocation {
    pub actor: Actor,
    pub reason: Option<String>,
    pub at: Millis,
}

impl ImportedRevocation {
    fn as_stored(&self) -> Revocation<'_> {
        Revocation { actor: &self.actor, reason: self.reason.as_deref(), at: self.at }
    }
}

/// Refuses new punishments beyond the network's limit.
pub async fn check_new(app: &App, network: NetworkId, new: i64) -> Result<(), PunishmentsError> {
    if new == 0 {
        return Ok(());
    }
    check_rows(app, network, store::PUNISHMENTS, new, ready(Ok(false))).await
}

/// Number of a target's punishments.
pub async fn count_of_target(app: &App, network: NetworkId, target: &Target) -> Result<i64, hub_db::Error> {
    let (player, name, _) = target.parts();
    let address = match target {
        Target::Address(address) => Some(address),
        _ => None,
    };
    store::count_of(&app.db, network, player, name.map(FoldedName::new).as_ref(), address).await
}

/// Writes punishments in order. Returns the id of the first.
pub async fn write_imported(
    tx: &mut Tx,
    network: NetworkId,
    punishments: &[&ImportedPunishment],
) -> Result<i64, hub_db::Error> {
    let count = i64::try_from(punishments.len()).unwrap_or(i64::MAX);
    let first = store::take_ids(tx, network, count).await? - count + 1;
    for (id, import) in (first..).zip(punishments) {
        let (player, name, ip_based) = import.target.parts();
        let address = match &import.target {
            Target::Address(address) => Some(address.clone()),
            _ => import.address.clone(),
        };
        let duration = import.expires_at.map(|at| at.saturating_sub(import.issued_at));
        let punishment = Punishment {
            network_id: network,
            id,
            player_uuid: player,
            player_name: name.map(str::to_owned),
            kind: import.kind,
            reason: import.reason.clone(),
            duration_ms: duration.map(|ms| ms.clamp(1, PunishmentDuration::MAX_MS)),
            expires_at: import.expires_at,
            ip_based,
            ip_address: address,
            issuer_uuid: import.issuer.player,
            issuer_name: import.issuer.name.clone(),
            issued_at: import.issued_at,
            state: import.state,
        };
        store::insert(tx, &punishment).await?;
        if let Some(revocation) = &import.revocation {
            store::insert_revocation(tx, network, id, revocation.as_stored()).await?;
        }
    }
    Ok(first)
}

/// Filters the punishments that are open.
pub async fn open_ones(app: &App, network: NetworkId, ids: &[i64]) -> Result<Vec<i64>, hub_db::Error> {
    if ids.is_empty() {
        return Ok(vec![]);
    }
    Ok(store::open_of(&app.db, network, ids).await?.into_iter().map(|(id,)| id).collect())
}

/// Revokes an imported punishment that was since revoked in its source. The servers are notified.
pub async fn revoke_imported(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    id: i64,
    revocation: &ImportedRevocation,
) -> Result<(), hub_db::Error> {
    let revoked = store::revoke(tx, network, id, revocation.as_stored()).await?;
    publish(app, tx, Action::Revoked, revoked.as_slice()).await
}

/// Records a name and an address that a player was seen with. Without `tx` it only returns the effect.
pub async fn see(
    app: &App,
    tx: Option<&mut Tx>,
    network: NetworkId,
    player: PlayerId,
    (name, address): (Option<&str>, Option<&IpAddress>),
    at: Millis,
) -> Result<ImportOutcome, hub_db::Error> {
    let name = name.map(FoldedName::new);
    let Some(tx) = tx else {
        let (named, located) = store::sightings(&app.db, network, player, name.as_ref(), address).await?;
        let is_named = name.is_none() || named.is_some_and(|seen| seen >= at);
        let is_located = address.is_none() || located.is_some_and(|(first, last)| (first..=last).contains(&at));
        return Ok(ImportOutcome::of(named.is_some() || located.is_some(), !is_named || !is_located));
    };
    if let Some(name) = &name {
        store::see_name(tx, network, player, name, at, limits::bound(app, Limit::NamesPerPlayer)).await?;
    }
    if let Some(address) = address {
        store::see_address(tx, network, player, address, at, limits::bound(app, Limit::AddressesPerPlayer)).await?;
    }
    Ok(ImportOutcome::Changed)
}
