//! Signs in devices without a browser of their own, such as a command line: the device shows a code, and a signed-in person
//! types it into the console and confirms (as RFC 8628 describes it).

use std::net::IpAddr;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::{OPERATOR_NETWORK, SessionToken, SignedIn, csrf_token};
use crate::clock::Millis;
use crate::limits::{self, Limit, Limits};
use crate::people::model::{
    DEVICE_TTL, DeviceRow, SESSION_TTL, TOKEN_LENGTH, USER_CODE_ALPHABET, USER_CODE_LENGTH, Verdict, hash,
};
use crate::people::service::{PeopleError, Session, origin_of};
use crate::people::store::{self, devices};

/// A sign-in that a device begins.
pub(crate) struct DeviceSignIn {
    /// Secret of the device, by which it gets its session.
    pub(crate) device_code: String,
    /// Code that a person types.
    pub(crate) user_code: String,
    pub(crate) expires_at: Millis,
}

/// Begins a sign-in. Nothing is bound to it yet but the address that began it.
pub(crate) async fn begin_device(app: &App, remote: IpAddr, client: &str) -> Result<DeviceSignIn, PeopleError> {
    let now = app.clock.now();
    app.state::<Limits>().addresses.count_sign_in(remote, now)?;
    let device_code = app.ids.token(TOKEN_LENGTH);
    let code = app.ids.code(USER_CODE_ALPHABET, USER_CODE_LENGTH);
    let expires_at = now.saturating_add(DEVICE_TTL);
    let row = DeviceRow {
        sha256: hash(&device_code),
        client: client.to_owned(),
        address: remote.to_canonical().to_string(),
        expires_at,
    };
    devices::insert(&app.db, &row, &user_hash(&code)).await?;
    let (first, second) = code.split_at(USER_CODE_LENGTH / 2);
    Ok(DeviceSignIn { device_code, user_code: format!("{first}-{second}"), expires_at })
}

/// Hash of a typed code, whatever its case, and with or without its hyphen.
fn user_hash(typed: &str) -> Vec<u8> {
    let letters: String = typed.chars().filter(char::is_ascii_alphanumeric).collect();
    hash(&format!("device {}", letters.to_ascii_uppercase()))
}

/// The sign-in of a code that a signed-in person typed.
pub(crate) async fn device_of_code(app: &App, who: &SignedIn, code: &str) -> Result<DeviceRow, PeopleError> {
    let now = app.clock.now();
    app.state::<Limits>().addresses.count_sign_in(who.remote, now)?;
    devices::undecided(&app.db, &user_hash(code), now).await?.ok_or(PeopleError::UnknownToken)
}

/// Confirms or refuses a sign-in.
pub(crate) async fn decide_device(app: &App, who: &SignedIn, code: &str, verdict: Verdict) -> Result<(), PeopleError> {
    let now = app.clock.now();
    let row = device_of_code(app, who, code).await?;
    app.db
        .transaction(async |mut tx| {
            let decision = (verdict, who.person.as_str(), who.session.as_str());
            if !devices::decide(&mut tx, &user_hash(code), decision, now).await? {
                return Err(PeopleError::UnknownToken);
            }
            if verdict == Verdict::Confirmed {
                let after = serde_json::json!({"client": &row.client, "address": &row.address});
                let change = Change::new(Action::PersonDeviceSignedIn, &who.person).after(after);
                audit::record(&mut tx, OPERATOR_NETWORK, &origin_of(app, who), change).await?;
            }
            Ok(())
        })
        .await
}

/// Begins the session of a device whose sign-in was confirmed, once. The session that confirmed it must still last: to sign
/// out everywhere, or to reset the password, ends what it confirmed.
pub(crate) async fn finish_device(app: &App, remote: IpAddr, device_code: &str) -> Result<Session, PeopleError> {
    let (sha256, now) = (hash(device_code), app.clock.now());
    let token = SessionToken::generate(&app.ids);
    let expires_at = now.saturating_add(SESSION_TTL);
    let most = limits::bound(app, Limit::SessionsPerPerson).max(1);
    let person = app
        .db
        .transaction(async |mut tx| {
            let decision = devices::decision(&mut tx, &sha256, now).await?.ok_or(PeopleError::UnknownToken)?;
            let (Some(verdict), Some(person), Some(session)) = decision else { return Err(PeopleError::DevicePending) };
            devices::delete(&mut tx, &sha256).await?;
            let person = store::find(&mut tx, &person).await?;
            let is_confirmed = verdict == <&str>::from(Verdict::Confirmed);
            let Some(person) = person.filter(|_| is_confirmed) else { return Ok(None) };
            if !store::is_signed_in(&mut tx, &session, now).await? {
                return Ok(None);
            }
            let times = (now, expires_at);
            store::insert_session(&mut tx, &person.person_id, &token, &remote.to_string(), times, most).await?;
            Ok::<_, PeopleError>(Some(person))
        })
        .await?;
    // Its row is deleted all the same: a refusal is told once.
    let person = person.ok_or(PeopleError::DeviceRefused)?;
    Ok(Session { csrf_token: csrf_token(token.text.expose()), person, token, expires_at })
}

#[cfg(test)]
mod tests {
    use super::user_hash;

    #[test]
    fn a_code_may_be_typed_in_any_form() {
        assert!(["wdjb-mjht", "WDJB MJHT", " WDJBMJHT"].iter().all(|typed| user_hash(typed) == user_hash("WDJB-MJHT")));
        assert_ne!(user_hash("WDJB-MJHT"), user_hash("WDJB-MJHX"));
    }
}
