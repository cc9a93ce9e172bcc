//! Invitations: created by members, keys and the operator, accepted with the token of a mail.

use hub_db::Tx;
use serde_json::{Value, json};

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::{Caller, KeyCache, KeyId, OPERATOR_NETWORK, Origin, RoleName, Scopes, SignedIn};
use crate::email::Email;
use crate::limits::{self, Limit, Limits};
use crate::people::model::{INVITATION_TTL, LinkKind, LinkRow, MAIL_PAUSE, Password, PersonRow, hash};
use crate::people::service::roles;
use crate::people::service::sign_in::{Failures, Session, begin_session};
use crate::people::service::{PeopleError, Sender, generate_id, origin_of, origin_of_person};
use crate::people::{password, sender, store};
use crate::values::NetworkId;

/// An invitation's form in the audit log.
pub(super) fn shown(link: &LinkRow) -> Value {
    json!({"email": link.email, "role": link.role, "expiresAt": link.expires_at})
}

/// Refuses scopes of a role above the caller's own, and a caller whose key has bounds that a role has not. None is the operator,
/// who has no bounds.
pub(super) fn require_within(caller: Option<&Caller>, scopes: Scopes) -> Result<(), PeopleError> {
    let Some(caller) = caller else { return Ok(()) };
    if !caller.scopes.cover(scopes) {
        return Err(PeopleError::RoleExceedsOwn);
    }
    if !caller.is_unbound() {
        return Err(PeopleError::KeyIsBound);
    }
    Ok(())
}

/// Invites a person to the caller's network.
pub(crate) async fn invite(app: &App, caller: &Caller, email: &Email, role: &RoleName) -> Result<LinkRow, PeopleError> {
    if let Some(given) = role.given() {
        require_within(Some(caller), given.scopes())?;
    }
    app.state::<Limits>().addresses.count_mail(caller.remote, app.clock.now())?;
    let origin = caller.origin(app);
    let link = new_link(app, caller.network, email, Some(role), &origin);
    app.db
        .transaction(async |mut tx| {
            invite_in(app, &mut tx, Some(caller), &origin, &link).await?;
            // Checked last: requests refused for other reasons do not count.
            Ok::<_, PeopleError>(app.state::<Limits>().addresses.count_invitation(
                link.network_id,
                &link.email_folded,
                link.created_at,
            )?)
        })
        .await?;
    Ok(link)
}

/// Invites a person to a network, or without `network` as an operator. Part of the caller's transaction.
pub(crate) async fn invite_by_operator(
    app: &App,
    tx: &mut Tx,
    origin: &Origin,
    network: Option<NetworkId>,
    email: &Email,
    role: &RoleName,
) -> Result<LinkRow, PeopleError> {
    let link = new_link(app, network.unwrap_or(OPERATOR_NETWORK), email, network.map(|_| role), origin);
    invite_in(app, tx, None, origin, &link).await?;
    Ok(link)
}

/// Invites a person in a transaction of its own.
pub(crate) async fn invite_as_operator(
    app: &App,
    origin: &Origin,
    network: Option<NetworkId>,
    email: &Email,
    role: &RoleName,
) -> Result<LinkRow, PeopleError> {
    app.db.transaction(async |mut tx| invite_by_operator(app, &mut tx, origin, network, email, role).await).await
}

fn new_link(app: &App, network_id: NetworkId, email: &Email, role: Option<&RoleName>, origin: &Origin) -> LinkRow {
    let now = app.clock.now();
    LinkRow {
        network_id,
        link_id: generate_id(&app.ids),
        kind: <&str>::from(LinkKind::Invitation).to_owned(),
        email_folded: email.folded(),
        email: email.as_str().to_owned(),
        role: role.map(|role| role.as_str().to_owned()),
        created_by: Some(origin.actor.id.clone()),
        created_at: now,
        expires_at: now.saturating_add(INVITATION_TTL),
    }
}

async fn invite_in(
    app: &App,
    tx: &mut Tx,
    within: Option<&Caller>,
    origin: &Origin,
    link: &LinkRow,
) -> Result<(), PeopleError> {
    let network = link.network_id;
    origin.still_may(tx).await?;
    if let Some(role) = &link.role {
        require_within(within, roles::granted(tx, network, role).await?)?;
    }
    if let Some(person) = store::find_by_email(&mut *tx, &link.email_folded).await?
        && store::member(tx, network, &person.person_id).await?.is_some()
    {
        return Err(PeopleError::AlreadyMember);
    }
    if let Some(before) = store::latest_link(tx, network, LinkKind::Invitation, &link.email_folded).await? {
        if link.created_at < before.created_at.saturating_add(MAIL_PAUSE) {
            return Err(PeopleError::InvitedLately);
        }
        store::delete_link(tx, network, &before.link_id).await?;
    }
    limits::check(app, Limit::People, store::count_people(tx, network).await?, 1)?;
    store::insert_link(tx, link).await?;
    sender::enqueue(app, tx, link).await?;
    let action = if link.role.is_some() { Action::MemberInvited } else { Action::OperatorInvited };
    Ok(audit::record(tx, network, origin, Change::new(action, &link.link_id).after(shown(link))).await?)
}

/// Pending invitations to a network, latest first, and their number.
pub(crate) async fn invitations(
    app: &App,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<LinkRow>, i64), PeopleError> {
    Ok(store::invitations(&app.db, network, limit, offset).await?)
}

/// Revokes an invitation of a network: one that `within` may grant, or any if that is none.
pub(crate) async fn delete_invitation(
    app: &App,
    origin: &Origin,
    network: NetworkId,
    within: Option<&Caller>,
    id: &str,
) -> Result<(), PeopleError> {
    app.db
        .transaction(async |mut tx| {
            let link = store::link(&mut tx, network, id).await?;
            let link = link.filter(|link| link.is(LinkKind::Invitation));
            let link = link.ok_or_else(|| PeopleError::UnknownInvitation(id.to_owned()))?;
            if let Some(role) = &link.role
                && let Some(scopes) = roles::scopes(&mut tx, network, role).await?
            {
                require_within(within, scopes)?;
            }
            store::delete_link(&mut tx, network, id).await?;
            let action =
                if link.role.is_some() { Action::MemberInvitationDeleted } else { Action::OperatorInvitationDeleted };
            let change = Change::new(action, id).before(shown(&link));
            Ok(audit::record(&mut tx, network, origin, change).await?)
        })
        .await
}

/// Input of a person without an account, sent with an invitation's token.
pub(crate) struct NewPerson<'a> {
    pub name: &'a str,
    pub password: &'a Password,
}

/// Creates the invited person's account, makes them a member, and signs them in.
pub(crate) async fn accept(
    app: &App,
    sender: &Sender,
    token: &str,
    new: NewPerson<'_>,
) -> Result<Session, PeopleError> {
    app.state::<Limits>().addresses.count_sign_in(sender.address, app.clock.now())?;
    let sha256 = hash(token.trim());
    let hashed = password::hash(app, new.password).await?;
    let person = app
        .db
        .transaction(async |mut tx| {
            let link = take_invitation(app, &mut tx, &sha256).await?;
            let person = PersonRow {
                person_id: generate_id(&app.ids),
                email_folded: link.email_folded.clone(),
                email: link.email.clone(),
                name: new.name.to_owned(),
                password_hash: Some(hashed.clone()),
                is_operator: false,
                totp_secret: None,
                totp_confirmed: false,
                created_at: app.clock.now(),
            };
            if !store::insert(&mut tx, &person).await? {
                return Err(PeopleError::PersonExists);
            }
            enter(app, &mut tx, &link, &person.person_id, &origin_of_person(app, sender, &person)).await?;
            Ok(person)
        })
        .await?;
    let failures = Failures::of_account(&person.email_folded);
    begin_session(app, person, sender.address, &failures).await
}

/// Makes a signed-in person a member.
pub(crate) async fn join(app: &App, who: &SignedIn, token: &str) -> Result<NetworkId, PeopleError> {
    app.state::<Limits>().addresses.count_sign_in(who.remote, app.clock.now())?;
    let sha256 = hash(token.trim());
    let network = app
        .db
        .transaction(async |mut tx| {
            let link = take_invitation(app, &mut tx, &sha256).await?;
            let person = store::find(&mut tx, &who.person).await?;
            // The invitation is for another address.
            if person.is_none_or(|person| person.email_folded != link.email_folded) {
                return Err(PeopleError::OtherAddress);
            }
            enter(app, &mut tx, &link, &who.person, &origin_of(app, who)).await?;
            Ok(link.network_id)
        })
        .await?;
    app.state::<KeyCache>().invalidate(&KeyId(who.person.clone()));
    Ok(network)
}

/// Uses up an invitation.
pub(super) async fn take_invitation(app: &App, tx: &mut Tx, sha256: &[u8]) -> Result<LinkRow, PeopleError> {
    let link = store::find_link(tx, sha256).await?;
    let is_good = |link: &LinkRow| app.clock.now() < link.expires_at && link.is(LinkKind::Invitation);
    let link = link.filter(is_good).ok_or(PeopleError::UnknownToken)?;
    if store::delete_link(tx, link.network_id, &link.link_id).await? {
        Ok(link)
    } else {
        Err(PeopleError::UnknownToken)
    }
}

/// Grants a person the role of an invitation.
pub(super) async fn enter(
    app: &App,
    tx: &mut Tx,
    link: &LinkRow,
    person: &str,
    origin: &Origin,
) -> Result<(), PeopleError> {
    let network = link.network_id;
    let change = Change::new(Action::MemberJoined, person);
    let change = match (link.role.as_deref(), network) {
        // Not a role known only to a newer hub.
        (Some(role), _) if roles::scopes(tx, network, role).await?.is_some() => {
            store::put_member(tx, network, person, role, (app.clock.now(), link.created_by.as_deref())).await?;
            change.after(json!({"email": link.email, "role": role}))
        }
        (None, OPERATOR_NETWORK) => {
            store::make_operator(tx, person).await?;
            change.after(json!({"email": link.email, "operator": true}))
        }
        _ => return Err(PeopleError::UnknownToken),
    };
    Ok(audit::record(tx, network, origin, change).await?)
}
