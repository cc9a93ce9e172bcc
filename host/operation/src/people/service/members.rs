//! Members of a network, and the hub's people.

use serde_json::{Value, json};

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::{Caller, KeyCache, OPERATOR_NETWORK, Origin, Role, RoleName};
use crate::component::Left;
use crate::networks::left;
pub(crate) use crate::people::model::MemberRow as Member;
use crate::people::model::PersonRow;
use crate::people::service::PeopleError;
use crate::people::service::invitations::require_within;
use crate::people::service::roles;
use crate::people::store;
use crate::values::NetworkId;

/// A member's form in the audit log.
fn shown(member: &Member) -> Value {
    json!({"email": member.email, "role": member.role})
}

/// A page of a network's members, and their number.
pub(crate) async fn members(
    app: &App,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Member>, i64), PeopleError> {
    Ok(store::members(&app.db, network, limit, offset).await?)
}

/// A member whose role is not above the caller's own, and that no other request changes or removes before the transaction ends.
async fn managed(
    tx: &mut hub_db::Tx,
    network: NetworkId,
    within: Option<&Caller>,
    person: &str,
) -> Result<Member, PeopleError> {
    store::lock_member(tx, network, person).await?;
    let member = store::member(tx, network, person).await?;
    let member = member.ok_or_else(|| PeopleError::UnknownPerson(person.to_owned()))?;
    // Roles of newer hubs permit nothing here.
    if let Some(scopes) = roles::scopes(tx, network, &member.role).await? {
        require_within(within, scopes)?;
    }
    Ok(member)
}

/// Changes a member's role. Returns what they created and may no longer; `revoke` ends it.
pub(crate) async fn change_role(
    app: &App,
    caller: &Caller,
    person: &str,
    role: &RoleName,
    revoke: bool,
) -> Result<(Member, Vec<Left>), PeopleError> {
    let origin = caller.origin(app);
    let changed = app
        .db
        .transaction(async |mut tx| {
            origin.still_may(&mut tx).await?;
            let scopes = roles::granted(&mut tx, caller.network, role.as_str()).await?;
            require_within(Some(caller), scopes)?;
            let before = managed(&mut tx, caller.network, Some(caller), person).await?;
            let by = Some(caller.key.0.as_str());
            store::set_role(&mut tx, caller.network, person, (role.as_str(), &caller.key.0)).await?;
            let created_by = by.map(str::to_owned);
            let after = Member { role: role.as_str().to_owned(), created_by, ..before.clone() };
            let change = Change::new(Action::MemberChanged, person).before(shown(&before)).after(shown(&after));
            audit::record(&mut tx, caller.network, &origin, change).await?;
            let components = app.components();
            let kept = (person, Some(scopes));
            let left = left::find(components, &mut tx, &origin, caller.network, kept, revoke).await?;
            Ok::<_, PeopleError>((after, left))
        })
        .await?;
    app.state::<KeyCache>().invalidate_network(caller.network);
    Ok(changed)
}

/// Removes a member whose role is within that of `within`, or any if that is none; the account remains. Returns what they
/// left behind; `revoke` ends it.
pub(crate) async fn remove(
    app: &App,
    origin: &Origin,
    network: NetworkId,
    within: Option<&Caller>,
    person: &str,
    revoke: bool,
) -> Result<Vec<Left>, PeopleError> {
    let left = app
        .db
        .transaction(async |mut tx| {
            origin.still_may(&mut tx).await?;
            let before = managed(&mut tx, network, within, person).await?;
            store::delete_member(&mut tx, network, person).await?;
            let change = Change::new(Action::MemberRemoved, person).before(shown(&before));
            audit::record(&mut tx, network, origin, change).await?;
            let components = app.components();
            Ok::<_, PeopleError>(left::find(components, &mut tx, origin, network, (person, None), revoke).await?)
        })
        .await?;
    app.state::<KeyCache>().invalidate_network(network);
    Ok(left)
}

/// A page of the hub's people, and their number.
pub(crate) async fn persons(app: &App, limit: i64, offset: i64) -> Result<(Vec<PersonRow>, i64), PeopleError> {
    Ok(store::list(&app.db, limit, offset).await?)
}

/// Deletes a person's account with all memberships. Entries in audit logs remain.
pub(crate) async fn delete_person(
    app: &App,
    origin: &Origin,
    person: &str,
    revoke: bool,
) -> Result<Vec<Left>, PeopleError> {
    let left = app
        .db
        .transaction(async |mut tx| {
            // The account may be the caller's own.
            origin.still_may(&mut tx).await?;
            let mut all = vec![];
            let before = store::find(&mut tx, person).await?;
            let PersonRow { email, is_operator, .. } =
                before.ok_or_else(|| PeopleError::UnknownPerson(person.to_owned()))?;
            let memberships = store::delete(&mut tx, person).await?;
            // In turn: one person's networks, in one transaction.
            for (network, role) in &memberships {
                let change = Change::new(Action::MemberRemoved, person);
                let change = change.before(json!({"email": email, "role": role}));
                audit::record(&mut tx, *network, origin, change).await?;
            }
            let networks = memberships.into_iter().map(|(network, _)| network);
            // In turn: one person's networks, in one transaction.
            for network in networks.chain(is_operator.then_some(OPERATOR_NETWORK)) {
                all.extend(left::find(app.components(), &mut tx, origin, network, (person, None), revoke).await?);
            }
            let change = Change::new(Action::PersonDeleted, person);
            let change = change.before(json!({"email": email, "operator": is_operator}));
            audit::record(&mut tx, OPERATOR_NETWORK, origin, change).await?;
            Ok::<_, PeopleError>(all)
        })
        .await?;
    app.state::<KeyCache>().clear();
    Ok(left)
}

/// Mail addresses of the network's owners.
pub(crate) async fn owner_addresses(app: &App, network: NetworkId) -> Result<Vec<String>, hub_db::Error> {
    store::addresses(&app.db, network, Role::Owner).await
}
