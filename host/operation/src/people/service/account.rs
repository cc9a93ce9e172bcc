//! People's own accounts, and the operator's first one.

use std::net::IpAddr;

use hub_db::Db;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::{KeyCache, KeyId, OPERATOR_NETWORK, Origin, SignedIn};
use crate::email::Email;
use crate::http::error::ApiError;
use crate::limits::Limits;
use crate::people::model::{LinkKind, LinkRow, MAIL_PAUSE, MembershipRow, Password, PersonRow, RESET_TTL, hash};
use crate::people::service::second_factor::with_password;
use crate::people::service::sign_in::require_unchanged;
use crate::people::service::{PeopleError, Sender, generate_id, origin_of, origin_of_person};
use crate::people::{password, sender, store};
use crate::secret_text::SecretText;

/// Row of the signed-in person.
pub(super) async fn person(app: &App, who: &SignedIn) -> Result<PersonRow, PeopleError> {
    let person = store::find(&app.db, &who.person).await?;
    person.ok_or_else(|| PeopleError::UnknownPerson(who.person.clone()))
}

/// A person with an account.
pub(crate) struct Me {
    pub person: PersonRow,
    /// The person's memberships.
    pub networks: Vec<MembershipRow>,
    /// True if an OpenID provider identifies the person.
    pub(crate) has_openid: bool,
}

/// The signed-in person.
pub(crate) async fn me(app: &App, id: &str) -> Result<Me, PeopleError> {
    let person = store::find(&app.db, id).await?;
    let person = person.ok_or_else(|| PeopleError::UnknownPerson(id.to_owned()))?;
    let networks = store::memberships(&app.db, id).await?;
    Ok(Me { person, networks, has_openid: store::has_openid(&app.db, id, None).await? })
}

/// Ends this session.
pub(crate) async fn sign_out(app: &App, who: &SignedIn) -> Result<(), PeopleError> {
    store::end_session(&app.db, &who.session, app.clock.now()).await?;
    app.state::<KeyCache>().invalidate(&KeyId(who.person.clone()));
    Ok(())
}

/// Ends all sessions of a person, including this one.
pub(crate) async fn sign_out_everywhere(app: &App, who: &SignedIn) -> Result<(), PeopleError> {
    app.db
        .transaction(async |mut tx| {
            store::end_sessions(&mut tx, &who.person, None, app.clock.now()).await?;
            let change = Change::new(Action::PersonSignedOutEverywhere, &who.person);
            audit::record(&mut tx, OPERATOR_NETWORK, &origin_of(app, who), change).await
        })
        .await?;
    app.state::<KeyCache>().invalidate(&KeyId(who.person.clone()));
    Ok(())
}

/// Replaces the password and ends all other sessions.
pub(crate) async fn change_password(
    app: &App,
    who: &SignedIn,
    current: &Password,
    new: &Password,
) -> Result<(), PeopleError> {
    let person = with_password(app, who, current).await?;
    let hashed = password::hash(app, new).await?;
    app.db
        .transaction(async |mut tx| {
            require_unchanged(&mut tx, &person).await?;
            store::set_password(&mut tx, &who.person, &hashed).await?;
            store::end_sessions(&mut tx, &who.person, Some(&who.session), app.clock.now()).await?;
            // A mail from before, which somebody else may have read, sets no other password.
            let folded = &person.email_folded;
            if let Some(link) = store::latest_link(&mut tx, OPERATOR_NETWORK, LinkKind::Reset, folded).await? {
                store::delete_link(&mut tx, OPERATOR_NETWORK, &link.link_id).await?;
            }
            let change = Change::new(Action::PersonPasswordChanged, &who.person);
            Ok::<_, PeopleError>(audit::record(&mut tx, OPERATOR_NETWORK, &origin_of(app, who), change).await?)
        })
        .await?;
    app.state::<KeyCache>().invalidate(&KeyId(who.person.clone()));
    Ok(())
}

/// Sends a mail with a code for a new password. It runs apart from the request, so that neither the answer nor its time
/// reveals the existence of an account.
pub(crate) fn lose_password(app: &App, remote: IpAddr, email: &Email) -> Result<(), PeopleError> {
    app.state::<Limits>().addresses.count_mail(remote, app.clock.now())?;
    let (task, folded) = (app.clone(), email.folded());
    app.spawn(async move {
        if let Err(error) = send_reset(&task, &folded).await {
            tracing::warn!(%error, "could not store the mail for a password reset");
        }
    });
    Ok(())
}

async fn send_reset(app: &App, folded: &str) -> Result<(), hub_db::Error> {
    let Some(person) = store::find_by_email(&app.db, folded).await? else { return Ok(()) };
    let now = app.clock.now();
    let link = LinkRow {
        network_id: OPERATOR_NETWORK,
        link_id: generate_id(&app.ids),
        kind: <&str>::from(LinkKind::Reset).to_owned(),
        email_folded: person.email_folded,
        email: person.email,
        role: None,
        created_by: None,
        created_at: now,
        expires_at: now.saturating_add(RESET_TTL),
    };
    app.db
        .transaction(async |mut tx| {
            if let Some(before) = store::latest_link(&mut tx, OPERATOR_NETWORK, LinkKind::Reset, folded).await? {
                if now < before.created_at.saturating_add(MAIL_PAUSE) {
                    return Ok(());
                }
                store::delete_link(&mut tx, OPERATOR_NETWORK, &before.link_id).await?;
            }
            store::insert_link(&mut tx, &link).await?;
            sender::enqueue(app, &mut tx, &link).await
        })
        .await
}

/// Sets a new password with the token of a mail, and ends all sessions.
pub(crate) async fn reset_password(app: &App, sender: &Sender, token: &str, new: &Password) -> Result<(), PeopleError> {
    let now = app.clock.now();
    app.state::<Limits>().addresses.count_sign_in(sender.address, now)?;
    let sha256 = hash(token.trim());
    let hashed = password::hash(app, new).await?;
    let person = app
        .db
        .transaction(async |mut tx| {
            let link = store::find_link(&mut tx, &sha256).await?;
            let link = link.filter(|link| now < link.expires_at && link.is(LinkKind::Reset));
            let link = link.ok_or(PeopleError::UnknownToken)?;
            if !store::delete_link(&mut tx, link.network_id, &link.link_id).await? {
                return Err(PeopleError::UnknownToken);
            }
            let person = store::find_by_email(&mut tx, &link.email_folded).await?.ok_or(PeopleError::UnknownToken)?;
            store::set_password(&mut tx, &person.person_id, &hashed).await?;
            store::end_sessions(&mut tx, &person.person_id, None, now).await?;
            store::failures::clear(&mut tx, &hash(&person.email_folded)).await?;
            let change = Change::new(Action::PersonPasswordChanged, &person.person_id);
            audit::record(&mut tx, OPERATOR_NETWORK, &origin_of_person(app, sender, &person), change).await?;
            Ok::<_, PeopleError>(person.person_id)
        })
        .await?;
    app.state::<KeyCache>().invalidate(&KeyId(person));
    Ok(())
}

/// Creates an operator, for direct work on the database. Returns the id, and the password, which is shown only once.
pub async fn create_operator(
    db: &Db,
    origin: &Origin,
    email: &Email,
    name: &str,
) -> Result<(String, SecretText), PeopleError> {
    let (id, text) = (generate_id(&origin.ids), origin.ids.token(24));
    let new = Password::generated(text.clone());
    let hashed = password::hash_now(&origin.ids, new.expose());
    let hashed = hashed.map_err(|error| ApiError::internal(std::io::Error::other(error.to_string())))?;
    let person = PersonRow {
        person_id: id.clone(),
        email_folded: email.folded(),
        email: email.as_str().to_owned(),
        name: name.to_owned(),
        password_hash: Some(hashed),
        is_operator: true,
        totp_secret: None,
        totp_confirmed: false,
        created_at: origin.clock.now(),
    };
    db.transaction(async |mut tx| {
        if !store::insert(&mut tx, &person).await? {
            return Err(PeopleError::PersonExists);
        }
        let change =
            Change::new(Action::PersonCreated, &id).after(serde_json::json!({"email": person.email, "operator": true}));
        Ok(audit::record(&mut tx, OPERATOR_NETWORK, origin, change).await?)
    })
    .await?;
    Ok((id, text.into()))
}
