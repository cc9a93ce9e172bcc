//! Imports punishments from another tool, with their times and their ends. No events are published: they are history,
//! or in force when a player joins.

use std::collections::{HashMap, HashSet};
use std::future::ready;

use hub_db::Tx;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::clock::Millis;
use crate::import_outcome::ImportOutcome;
use crate::limits::{self, Limit, check_rows};
use crate::punishments::appeal_code;
use crate::punishments::model::{Actor, Punishment, PunishmentState, Target};
use crate::punishments::service::{Action, PunishmentsError, publish};
use crate::punishments::store::{self, Revocation};
use crate::punishments::values::{FoldedName, IpAddress, PunishmentDuration, PunishmentKind};
use crate::values::{NetworkId, PlayerId};

/// A punishment of another tool.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    check_rows(app, network, store::PUNISHMENTS, new, ready(Ok(false))).await.map(drop)
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
    app: &App,
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
        let code = appeal_code::new(app, import.kind, import.state)?;
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
            appeal_code: code.as_ref().map(|code| code.sealed.clone()),
        };
        store::insert(tx, &punishment, code.map(|code| code.mac)).await?;
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

/// A name and an address that a player was seen with.
#[derive(Clone, Copy, Debug)]
pub struct Sighting<'s> {
    pub player: PlayerId,
    pub name: Option<&'s str>,
    pub address: Option<&'s IpAddress>,
    pub at: Millis,
}

/// Effects of sightings.
pub async fn plan_sightings(
    app: &App,
    network: NetworkId,
    sightings: &[Sighting<'_>],
) -> Result<Vec<ImportOutcome>, hub_db::Error> {
    if sightings.is_empty() {
        return Ok(vec![]);
    }
    let players = || sightings.iter().map(|sighting| sighting.player).collect::<HashSet<_>>().into_iter();
    let names = store::names_of(&app.db, network, players()).await?;
    let addresses = store::addresses_of(&app.db, network, players()).await?;
    let plan = |sighting: &Sighting<'_>| {
        let Sighting { player, name, address, at } = *sighting;
        let named = name.and_then(|name| names.get(&(player, FoldedName::new(name))));
        let located = address.and_then(|address| addresses.get(&(player, address.clone())));
        let is_named = name.is_none() || named.is_some_and(|seen| *seen >= at);
        let is_located = address.is_none() || located.is_some_and(|(first, last)| (*first..=*last).contains(&at));
        ImportOutcome::of(named.is_some() || located.is_some(), !is_named || !is_located)
    };
    Ok(sightings.iter().map(plan).collect())
}

/// Writes sightings.
pub async fn write_sightings(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    sightings: &[Sighting<'_>],
) -> Result<(), hub_db::Error> {
    let mut names = HashMap::<_, Millis>::new();
    let mut addresses = HashMap::<_, (Millis, Millis)>::new();
    for Sighting { player, name, address, at } in sightings {
        if let Some(name) = name {
            let last = names.entry((*player, FoldedName::new(name))).or_insert(*at);
            *last = (*last).max(*at);
        }
        if let Some(address) = address {
            let (first, last) = addresses.entry((*player, *address)).or_insert((*at, *at));
            (*first, *last) = ((*first).min(*at), (*last).max(*at));
        }
    }
    let names: Vec<_> = names.iter().map(|((player, name), at)| (*player, name, *at)).collect();
    for names in one_of_each_player(names, |(player, ..)| *player) {
        store::see_names(&mut *tx, network, &names, limits::bound(app, Limit::NamesPerPlayer)).await?;
    }
    let addresses: Vec<_> = addresses.iter().map(|((player, address), seen)| (*player, *address, *seen)).collect();
    for addresses in one_of_each_player(addresses, |(player, ..)| *player) {
        store::see_addresses(tx, network, &addresses, limits::bound(app, Limit::AddressesPerPlayer)).await?;
    }
    Ok(())
}

/// Splits rows so that no part has two of one player: a statement counts what was there before it.
fn one_of_each_player<T>(rows: Vec<T>, player: impl Fn(&T) -> PlayerId) -> Vec<Vec<T>> {
    let (mut parts, mut counts) = (vec![], HashMap::<PlayerId, usize>::new());
    for row in rows {
        let part = counts.entry(player(&row)).or_default();
        if parts.len() <= *part {
            parts.push(vec![]);
        }
        parts[*part].push(row);
        *part += 1;
    }
    parts
}
