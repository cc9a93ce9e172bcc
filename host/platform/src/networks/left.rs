//! Leftovers of a person or key that goes: keys, and other components' resources that act without them.

use hub_db::{Error, Tx};
use serde_json::json;

use crate::audit::{self, Action, Change};
use crate::auth::{OPERATOR_NETWORK, Origin, Scopes};
use crate::clock::Cutoff;
use crate::component::{Components, Heir, Left, LeftKind, Search};
use crate::networks::service::shown_row;
use crate::networks::store;
use crate::values::NetworkId;

/// Forgets the network's ended keys except for the `kept` newest. What they created counts as their own creators'.
pub(super) async fn forget_ended_keys(
    components: &Components,
    tx: &mut Tx,
    network: NetworkId,
    ended: Cutoff,
    kept: i64,
) -> Result<(), Error> {
    // In turn: keys of one network, in one transaction.
    for key in store::ended_keys(tx, network, ended, kept).await? {
        let creator = store::creator_of(tx, network, &key).await?;
        let heir = Heir { network, of: &key, to: creator.as_deref() };
        for creations in components.creations() {
            creations.pass_on(tx, heir).await?;
        }
        store::forget_key(tx, network, &key, creator.as_deref()).await?;
    }
    Ok(())
}

/// Finds the leftovers of a key or person: their own, and those of keys that they created or rotated last, revoked ones
/// among them. `revoke` ends them, except for members
/// and modules, and keys that an operator made for networks, which are theirs, and ends the overlap of secrets that they know and others replaced; invitations end in any case.
pub async fn find(
    components: &Components,
    tx: &mut Tx,
    origin: &Origin,
    network: NetworkId,
    (creator, kept): (&str, Option<Scopes>),
    revoke: bool,
) -> Result<Vec<Left>, Error> {
    let (mut creators, mut left) = (vec![creator.to_owned()], vec![]);
    let mut next = 0;
    while let Some(creator) = creators.get(next).cloned() {
        next += 1;
        for row in store::keys_of(tx, network, &creator).await? {
            if creators.contains(&row.key_id.0) {
                continue;
            }
            // Things that it created stayed when it was revoked.
            if row.revoked_at.is_some() {
                creators.push(row.key_id.0);
                continue;
            }
            if kept.is_some_and(|kept| kept.cover(Scopes::from_text(&row.scopes))) {
                continue;
            }
            if revoke {
                store::revoke_key(tx, network, &row.key_id, origin.clock.now()).await?;
                let change = Change::new(Action::KeyRevoked, &row.key_id.0).before(shown_row(&row));
                audit::record(tx, network, origin, change).await?;
            }
            creators.push(row.key_id.0.clone());
            left.push(Left::new(LeftKind::Key, row.key_id.0, Some(row.name), revoke));
        }
    }
    if revoke {
        let now = origin.clock.now();
        // In turn: holders of one network's secrets, in one transaction.
        for holder in &creators {
            for row in store::overlaps_of(tx, network, holder, now).await? {
                if kept.is_some_and(|kept| kept.cover(Scopes::from_text(&row.scopes))) {
                    continue;
                }
                store::end_overlap(tx, network, &row.key_id, now).await?;
                let change = Change::new(Action::KeyRolled, &row.key_id.0).after(json!({"overlapUntil": now}));
                audit::record(tx, network, origin, change).await?;
            }
        }
    }
    if network == OPERATOR_NETWORK && kept.is_none() {
        // In turn: the few keys and people that one operator's right became.
        for creator in &creators {
            for (network, row) in store::keys_elsewhere_of(tx, creator).await? {
                let key = Left::new(LeftKind::Key, row.key_id.0, Some(row.name), false);
                left.push(Left { network_id: Some(network), ..key });
            }
        }
    }
    let search = Search { network, creators: &creators, kept, end: revoke.then_some(origin), origin };
    for creations in components.creations() {
        left.extend(creations.find(tx, &search).await?);
    }
    Ok(left)
}
