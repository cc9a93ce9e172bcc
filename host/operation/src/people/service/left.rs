//! Invitations, roles of members, and roles of the network's own whose giver lost the right to them.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hub_db::{Error, Tx};

use crate::audit::{self, Action, Change};
use crate::auth::{OPERATOR_NETWORK, Scope};
use crate::component::{Creations, Heir, Left, LeftKind, Search};
use crate::people::service::invitations::shown;
use crate::people::service::roles;
use crate::people::store;
use crate::people::store::roles as role_store;

/// Invitations and roles by their givers.
pub struct GivenRoles;

impl Creations for GivenRoles {
    fn find<'a>(&'a self, tx: &'a mut Tx, search: &'a Search<'a>) -> BoxFuture<'a, Result<Vec<Left>, Error>> {
        async move {
            let mut found = vec![];
            for creator in search.creators {
                let links = if search.network == OPERATOR_NETWORK {
                    store::invitations_by_operator(tx, creator).await?
                } else {
                    store::invitations_by(tx, search.network, creator).await?
                };
                for link in links {
                    let may_invite = search.kept.filter(|kept| kept.allow(Scope::NetworkManage));
                    let granted = match &link.role {
                        Some(role) => roles::scopes(tx, link.network_id, role).await?,
                        None => None,
                    };
                    if may_invite.is_some_and(|kept| granted.is_some_and(|granted| kept.cover(granted))) {
                        continue;
                    }
                    // It would let people in by a right that is gone.
                    store::delete_link(tx, link.network_id, &link.link_id).await?;
                    let change = Change::new(Action::MemberInvitationDeleted, &link.link_id).before(shown(&link));
                    audit::record(tx, link.network_id, search.origin, change).await?;
                    found.push(Left::new(LeftKind::Invitation, link.link_id, Some(link.email), true));
                }
                if search.kept.is_some() {
                    continue;
                }
                for member in store::members_by(tx, search.network, creator).await? {
                    found.push(Left::new(LeftKind::Member, member.person_id, Some(member.email), false));
                }
                // Its members go on with it.
                for role in role_store::set_by(tx, search.network, creator).await? {
                    found.push(Left::new(LeftKind::Role, role.clone(), Some(role), false));
                }
            }
            Ok(found)
        }
        .boxed()
    }

    fn pass_on<'a>(&'a self, tx: &'a mut Tx, heir: Heir<'a>) -> BoxFuture<'a, Result<(), Error>> {
        async move {
            store::pass_on(tx, heir.network, heir.of, heir.to).await?;
            role_store::pass_on(tx, heir.network, heir.of, heir.to).await
        }
        .boxed()
    }
}
