//! Signing in by OpenID Connect.

use hub_db::{Executor, Tx};
use serde_json::json;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::{KeyCache, KeyId, OPERATOR_NETWORK};
use crate::email::fold;
use crate::http::error::ApiError;
use crate::limits::Limits;
use crate::people::model::{PersonRow, hash};
use crate::people::openid::{Flow, Identity, PENDING_TTL, Pending, Provider, ReturnPath, new_token};
use crate::people::service::invitations::{enter, take_invitation};
use crate::people::service::sign_in::{Failures, Session, begin_attempt, begin_session};
use crate::people::service::{PeopleError, Sender, generate_id, origin_of_person, second_factor};
use crate::people::{People, store};

fn provider(app: &App) -> Result<&Provider, PeopleError> {
    app.state::<People>().openid.as_ref().ok_or(PeopleError::OpenIdNotSetUp)
}

/// Begins a sign-in. Returns the URL of the provider's page and the browser's cookie.
pub(crate) async fn begin_openid(
    app: &App,
    return_to: Option<ReturnPath>,
    invitation: Option<String>,
) -> Result<(String, Flow), PeopleError> {
    let (provider, now) = (provider(app)?, app.clock.now());
    let flow = Flow::begin(&app.ids, now, return_to, invitation).map_err(ApiError::internal)?;
    Ok((provider.sign_in_url(now, &flow).await?, flow))
}

/// Parameters of the provider's redirect.
#[derive(Debug)]
pub(crate) struct Callback {
    pub state: Option<String>,
    pub code: Option<String>,
    /// Reason for which the provider did not sign the person in.
    pub error: Option<String>,
}

/// State of a sign-in after the provider identified the person.
pub(crate) enum SignedInByOpenId {
    Session(Box<Session>),
    /// A code of the second factor is needed; the browser's cookie until then.
    CodeNeeded(String),
}

/// Finishes a sign-in, or leaves it to a code of the second factor.
pub(crate) async fn finish_openid(
    app: &App,
    sender: &Sender,
    flow: Option<&Flow>,
    callback: Callback,
) -> Result<SignedInByOpenId, PeopleError> {
    let (provider, now) = (provider(app)?, app.clock.now());
    let flow = flow.ok_or(PeopleError::SignInEnded)?;
    app.state::<Limits>().addresses.count_sign_in(sender.address, now)?;
    if !callback.state.is_some_and(|state| flow.is_answered_by(&state)) {
        return Err(PeopleError::StateWrong);
    }
    if let Some(error) = callback.error {
        // The text is shown to people, so only a well-formed code is accepted.
        let is_code =
            (1..=64).contains(&error.len()) && error.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        return Err(PeopleError::RefusedByProvider(if is_code { error } else { "unknown".to_owned() }));
    }
    let code = callback.code.ok_or_else(|| PeopleError::RefusedByProvider("no_code".to_owned()))?;
    let identity = provider.identify(&app.clock, flow, code).await?;
    let known = find(&app.db, provider.issuer(), &identity).await?;
    let invitation = flow.invitation().map(|token| hash(token.trim()));
    if known.is_some_and(|person| person.totp_confirmed) {
        let pending = Pending { identity, invitation, expires_at: now.saturating_add(PENDING_TTL) };
        let (token, sha256) = new_token(&app.ids);
        store::insert_pending(&app.db, &sha256, &pending).await?;
        return Ok(SignedInByOpenId::CodeNeeded(token));
    }
    let person = admit(app, sender, provider.issuer(), &identity, invitation.as_deref(), false).await?;
    let failures = Failures::of_account(&person.email_folded);
    Ok(SignedInByOpenId::Session(Box::new(begin_session(app, person, sender.address, &failures).await?)))
}

/// Finishes a sign-in with a code of the second factor, or a recovery code.
pub(crate) async fn finish_openid_with_code(
    app: &App,
    sender: &Sender,
    cookie: &str,
    code: &str,
) -> Result<Session, PeopleError> {
    let provider = provider(app)?;
    let sha256 = hash(cookie);
    let pending = store::pending(&app.db, &sha256).await?.filter(|pending| app.clock.now() < pending.expires_at);
    let pending = pending.ok_or(PeopleError::SignInEnded)?;
    let person = find(&app.db, provider.issuer(), &pending.identity).await?.ok_or(PeopleError::SignInEnded)?;
    let failures = begin_attempt(app, sender.address, &person.email_folded).await?;
    if person.totp_confirmed {
        second_factor::check(app, &person, code).await?;
    }
    if !store::delete_pending(&app.db, &sha256).await? {
        return Err(PeopleError::SignInEnded);
    }
    let invitation = pending.invitation.as_deref();
    let person = admit(app, sender, provider.issuer(), &pending.identity, invitation, true).await?;
    begin_session(app, person, sender.address, &failures).await
}

/// Account of the identified person: that of the subject, else that of the address.
async fn find(
    on: impl Into<Executor<'_>>,
    issuer: &str,
    identity: &Identity,
) -> Result<Option<PersonRow>, PeopleError> {
    let mut on = on.into();
    if let Some(person) = store::find_by_openid(&mut on, issuer, &identity.subject).await? {
        return Ok(Some(person));
    }
    let Some(person) = store::find_by_email(&mut on, &fold(&identity.email)).await? else { return Ok(None) };
    // An address may pass to another person; a subject never does.
    if store::has_openid(&mut on, &person.person_id, Some(issuer)).await? {
        return Err(PeopleError::OtherSubject);
    }
    Ok(Some(person))
}

/// Admits a person: their first sign-in links them with the provider's subject, and an invitation makes them a member.
async fn admit(
    app: &App,
    sender: &Sender,
    issuer: &str,
    identity: &Identity,
    invitation: Option<&[u8]>,
    has_code: bool,
) -> Result<PersonRow, PeopleError> {
    let now = app.clock.now();
    let person = app
        .db
        .transaction(async |mut tx| {
            let found = find(&mut tx, issuer, identity).await?;
            if found.as_ref().is_some_and(|person| person.totp_confirmed && !has_code) {
                return Err(PeopleError::SecondFactorNeeded);
            }
            let link = match invitation {
                Some(sha256) => Some(take_invitation(app, &mut tx, sha256).await?),
                None if found.is_none() => return Err(PeopleError::NotInvited),
                None => None,
            };
            let person = match found {
                Some(person) => person,
                None => create(app, &mut tx, identity).await?,
            };
            let origin = origin_of_person(app, sender, &person);
            if let Some(link) = link {
                // The invitation is for another address.
                if link.email_folded != person.email_folded {
                    return Err(PeopleError::OtherAddress);
                }
                enter(app, &mut tx, &link, &person.person_id, &origin).await?;
            }
            if !store::has_openid(&mut tx, &person.person_id, Some(issuer)).await? {
                store::link_openid(&mut tx, issuer, &identity.subject, &person.person_id, now).await?;
                let change = Change::new(Action::PersonOpenIdLinked, &person.person_id);
                let change = change.after(json!({"issuer": issuer, "subject": identity.subject}));
                audit::record(&mut tx, OPERATOR_NETWORK, &origin, change).await?;
            }
            Ok(person)
        })
        .await?;
    app.state::<KeyCache>().invalidate(&KeyId(person.person_id.clone()));
    Ok(person)
}

/// Creates an account without a password.
async fn create(app: &App, tx: &mut Tx, identity: &Identity) -> Result<PersonRow, PeopleError> {
    let person = PersonRow {
        person_id: generate_id(&app.ids),
        email_folded: fold(&identity.email),
        email: identity.email.clone(),
        name: identity.name.clone(),
        password_hash: None,
        is_operator: false,
        totp_secret: None,
        totp_confirmed: false,
        created_at: app.clock.now(),
    };
    if store::insert(tx, &person).await? { Ok(person) } else { Err(PeopleError::PersonExists) }
}
