//! Signs people in with a password, and a second factor if they have one.

use std::net::IpAddr;

use hub_db::Tx;

use crate::app::App;
use crate::auth::{SessionToken, SignedIn, csrf_token};
use crate::clock::Millis;
use crate::email::Email;
use crate::limits::{self, Limit, Limits, address_block};
use crate::people::model::{Password, PersonRow, SESSION_TTL, hash};
use crate::people::password;
use crate::people::service::{PeopleError, second_factor};
use crate::people::store;

/// Wrong passwords before an address has to wait.
const FREE_FAILURES: i64 = 5;
const FIRST_PAUSE: Millis = 15 * 1000;
const MAX_PAUSE: Millis = 15 * 60 * 1000;

/// Input of a sign-in.
pub(crate) struct Attempt<'a> {
    pub remote: IpAddr,
    pub email: &'a Email,
    pub password: &'a Password,
    pub code: Option<&'a str>,
}

/// A new session.
pub(crate) struct Session {
    pub person: PersonRow,
    pub token: SessionToken,
    pub(crate) csrf_token: String,
    pub expires_at: Millis,
}

/// Key of the counter of failures.
pub(super) struct Failures {
    key: Vec<u8>,
    /// The account was signed in at the address.
    is_known: bool,
}

impl Failures {
    /// Failures of an account, from anywhere.
    pub(super) fn of_account(folded: &str) -> Self {
        Self { key: hash(folded), is_known: false }
    }

    /// Failures of an account from an address. An address at which the person was signed in has its own counter, so
    /// that guessing from elsewhere does not lock people out of their accounts.
    async fn at_address(app: &App, remote: IpAddr, folded: &str) -> Result<Self, hub_db::Error> {
        let block = address_block(remote);
        let is_block =
            |address: &String| address.parse::<IpAddr>().is_ok_and(|address| address_block(address) == block);
        let is_known = store::addresses_of_sessions(&app.db, folded).await?.iter().any(is_block);
        Ok(if is_known { Self { key: hash(&format!("{folded} {block}")), is_known } } else { Self::of_account(folded) })
    }

    /// Failures of a signed-in person.
    fn of_session(who: &SignedIn) -> Self {
        Self { key: hash(&format!("session {}", who.session)), is_known: true }
    }

    /// Key in the table.
    pub(super) fn key(&self) -> &[u8] {
        &self.key
    }
}

/// Waiting time of an address after its last failure.
fn pause(failures: i64) -> Millis {
    if failures < FREE_FAILURES {
        return 0;
    }
    FIRST_PAUSE.saturating_mul(1 << (failures - FREE_FAILURES).min(20)).min(MAX_PAUSE)
}

/// Counts an attempt as failed beforehand, so that concurrent attempts gain no more guesses than consecutive ones.
/// Refused while the account has to wait. The existence of the account makes no difference.
pub(super) async fn begin_attempt(app: &App, remote: IpAddr, folded: &str) -> Result<Failures, PeopleError> {
    app.state::<Limits>().addresses.count_sign_in(remote, app.clock.now())?;
    begin(app, Failures::at_address(app, remote, folded).await?).await
}

/// Counts an attempt of a signed-in person.
pub(super) async fn begin_attempt_in_session(app: &App, who: &SignedIn) -> Result<Failures, PeopleError> {
    app.state::<Limits>().addresses.count_sign_in(who.remote, app.clock.now())?;
    begin(app, Failures::of_session(who)).await
}

async fn begin(app: &App, counted: Failures) -> Result<Failures, PeopleError> {
    let now = app.clock.now();
    app.db
        .transaction(async |mut tx| {
            let (failures, last_at) = store::failures::lock(&mut tx, counted.key()).await?;
            let until = last_at.saturating_add(pause(failures));
            if now < until {
                return Err(PeopleError::TooMany(until - now));
            }
            Ok(store::failures::add(&mut tx, counted.key(), now).await?)
        })
        .await?;
    Ok(counted)
}

/// True if the password is the person's. Without a person it is false, after the same time.
pub(super) async fn check_password(
    app: &App,
    person: Option<PersonRow>,
    password: &Password,
    failures: &Failures,
) -> Result<PersonRow, PeopleError> {
    let stored = person.as_ref().and_then(|person| person.password_hash.clone());
    let is_right = password::verify(app, stored, password, failures.is_known).await?;
    person.filter(|_| is_right).ok_or(PeopleError::WrongCredentials)
}

/// Begins a session for a correct password and, if the account has one, a code of the second factor.
pub(crate) async fn sign_in(app: &App, attempt: Attempt<'_>) -> Result<Session, PeopleError> {
    let folded = attempt.email.folded();
    let failures = begin_attempt(app, attempt.remote, &folded).await?;
    let person = store::find_by_email(&app.db, &folded).await?;
    let person = check_password(app, person, attempt.password, &failures).await?;
    if person.totp_confirmed {
        let Some(code) = attempt.code else {
            // This attempt was not a guess; earlier wrong codes still count.
            store::failures::remove(&app.db, failures.key()).await?;
            return Err(PeopleError::SecondFactorNeeded);
        };
        second_factor::check(app, &person, code).await?;
    }
    begin_session(app, person, attempt.remote, &failures).await
}

/// Refuses what relies on a password or second factor that was changed since it was checked.
pub(super) async fn require_unchanged(tx: &mut Tx, person: &PersonRow) -> Result<(), PeopleError> {
    if store::hold_unchanged(tx, person).await? { Ok(()) } else { Err(PeopleError::WrongCredentials) }
}

/// Begins a session and clears the person's failures.
pub(super) async fn begin_session(
    app: &App,
    person: PersonRow,
    remote: IpAddr,
    failures: &Failures,
) -> Result<Session, PeopleError> {
    let token = SessionToken::generate(&app.ids);
    let now = app.clock.now();
    let expires_at = now.saturating_add(SESSION_TTL);
    let most = limits::bound(app, Limit::SessionsPerPerson).max(1);
    app.db
        .transaction(async |mut tx| {
            require_unchanged(&mut tx, &person).await?;
            store::failures::clear(&mut tx, failures.key()).await?;
            let times = (now, expires_at);
            store::insert_session(&mut tx, &person.person_id, &token, &remote.to_string(), times, most).await?;
            Ok::<_, PeopleError>(())
        })
        .await?;
    Ok(Session { csrf_token: csrf_token(token.text.expose()), person, token, expires_at })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_with_failures() {
        assert_eq!((pause(0), pause(4), pause(5), pause(6)), (0, 0, 15_000, 30_000));
        assert_eq!((pause(12), pause(i64::MAX)), (MAX_PAUSE, MAX_PAUSE));
    }
}
