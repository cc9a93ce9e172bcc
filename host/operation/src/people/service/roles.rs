//! Roles of a network's own: sets of scopes, none beyond those of who makes them.

use hub_db::Tx;
use serde_json::{Value, json};

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::{Caller, KeyCache, Role, RoleName, Scopes};
use crate::http::error::ApiError;
use crate::http::if_match::{IfMatch, revision_of};
use crate::limits::check_rows;
use crate::networks::left;
use crate::people::service::PeopleError;
use crate::people::service::invitations::require_within;
use crate::people::store::roles::{self as store, RoleRow};
use crate::values::NetworkId;

/// A role of the network's own.
#[derive(Clone, Debug)]
pub(crate) struct OwnRole {
    pub(crate) name: String,
    pub(crate) scopes: Scopes,
    /// Key or person that set it last.
    pub(crate) created_by: Option<String>,
}

impl OwnRole {
    /// Revision of its scopes.
    pub(crate) fn revision(&self) -> i64 {
        revision_of(&shown(self.scopes))
    }
}

impl From<RoleRow> for OwnRole {
    fn from(row: RoleRow) -> Self {
        Self { name: row.name, scopes: Scopes::from_text(&row.scopes), created_by: row.created_by }
    }
}

/// A role's form in the audit log.
fn shown(scopes: Scopes) -> Value {
    json!({"scopes": scopes.iter().collect::<Vec<_>>()})
}

/// Scopes of a role, given or of the network's own; none if there is no such role. One of its own is locked until the
/// transaction ends.
pub(super) async fn scopes(tx: &mut Tx, network: NetworkId, role: &str) -> Result<Option<Scopes>, hub_db::Error> {
    if let Ok(given) = role.parse::<Role>() {
        return Ok(Some(given.scopes()));
    }
    Ok(store::lock(tx, network, role).await?.map(|text| Scopes::from_text(&text)))
}

/// Scopes of a role that a request grants.
pub(super) async fn granted(tx: &mut Tx, network: NetworkId, role: &str) -> Result<Scopes, PeopleError> {
    scopes(tx, network, role).await?.ok_or_else(|| PeopleError::NoRoleToGrant(role.to_owned()))
}

/// A role of the network's own.
pub(crate) async fn role(app: &App, network: NetworkId, name: &RoleName) -> Result<OwnRole, PeopleError> {
    let row = store::get(&app.db, network, name.as_str()).await?;
    row.map(OwnRole::from).ok_or_else(|| PeopleError::UnknownRole(name.to_string()))
}

/// A page of the roles of the network's own, and their number.
pub(crate) async fn roles(
    app: &App,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<OwnRole>, i64), PeopleError> {
    let (rows, total) = store::list(&app.db, network, limit, offset).await?;
    Ok((rows.into_iter().map(OwnRole::from).collect(), total))
}

/// Stores a role, replacing the one at the revision `expected`, or any. Keys and webhooks that its members created and may
/// no longer create end.
pub(crate) async fn put_role(
    app: &App,
    caller: &Caller,
    name: &RoleName,
    scopes: Scopes,
    expected: IfMatch,
) -> Result<(), PeopleError> {
    if name.is_reserved() {
        return Err(PeopleError::RoleReserved(name.to_string()));
    }
    require_within(Some(caller), scopes)?;
    let (network, origin) = (caller.network, caller.origin(app));
    let is_there = async { Ok(store::get(&app.db, network, name.as_str()).await?.is_some()) };
    let _adding = check_rows::<PeopleError>(app, network, store::NETWORK_ROLES, 1, is_there).await?;
    app.db
        .transaction(async |mut tx| {
            origin.still_may(&mut tx).await?;
            let before = store::lock(&mut tx, network, name.as_str()).await?.map(|text| Scopes::from_text(&text));
            if let Some(before) = before {
                require_within(Some(caller), before)?;
            }
            expected.check(before.map(shown).as_ref()).map_err(ApiError::from)?;
            store::put(&mut tx, network, name.as_str(), (&scopes.to_text(), &caller.key.0)).await?;
            let change = Change::new(Action::RolePut, name.as_str()).after(shown(scopes));
            let change = before.into_iter().fold(change, |change, before| change.before(shown(before)));
            audit::record(&mut tx, network, &origin, change).await?;
            if before.is_none_or(|before| scopes.cover(before)) {
                return Ok(());
            }
            // In turn: members of one network, in one transaction.
            for person in store::holders(&mut tx, network, name.as_str()).await? {
                let kept = (person.as_str(), Some(scopes));
                left::find(app.components(), &mut tx, &origin, network, kept, true).await?;
            }
            Ok::<_, PeopleError>(())
        })
        .await?;
    app.state::<KeyCache>().invalidate_network(network);
    Ok(())
}

/// Deletes a role that no member and no invitation has.
pub(crate) async fn delete_role(app: &App, caller: &Caller, name: &RoleName) -> Result<(), PeopleError> {
    let (network, origin) = (caller.network, caller.origin(app));
    app.db
        .transaction(async |mut tx| {
            origin.still_may(&mut tx).await?;
            let before = store::lock(&mut tx, network, name.as_str()).await?;
            let before = before.ok_or_else(|| PeopleError::UnknownRole(name.to_string()))?;
            let before = Scopes::from_text(&before);
            if !caller.scopes.cover(before) {
                return Err(PeopleError::RoleExceedsOwn);
            }
            let is_held = !store::holders(&mut tx, network, name.as_str()).await?.is_empty();
            if is_held || store::is_invited(&mut tx, network, name.as_str()).await? {
                return Err(PeopleError::RoleInUse(name.to_string()));
            }
            store::delete(&mut tx, network, name.as_str()).await?;
            let change = Change::new(Action::RoleDeleted, name.as_str()).before(shown(before));
            Ok(audit::record(&mut tx, network, &origin, change).await?)
        })
        .await
}
