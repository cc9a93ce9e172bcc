//! The second factor: codes of an authenticator app (TOTP), and recovery codes.

use hub_db::Db;
use serde::Serialize;
use totp_rs::Builder;
use utoipa::ToSchema;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::{KeyCache, KeyId, OPERATOR_NETWORK, SignedIn};
use crate::people::model::{Password, PersonRow, hash};
use crate::people::service::sign_in::{Failures, begin_attempt_in_session, check_password, require_unchanged};
use crate::people::service::{PeopleError, account, origin_of};
use crate::people::store::{self, totp};
use crate::secret_text::SecretText;
use crate::secrets::{self, SealingKey};

/// 160 bits, as RFC 4226 recommends.
const SECRET_BYTES: usize = 20;
const RECOVERY_CODES: usize = 10;
const RECOVERY_CODE_LENGTH: usize = 16;

/// Step of a code that is valid at this time; the steps before and after are valid, too.
fn step_of(secret: &[u8], code: &str, seconds: u64) -> Option<i64> {
    let totp = Builder::new().with_secret(secret.to_vec()).with_skew(1).build().ok()?;
    totp.check(code.trim(), seconds).and_then(|step| i64::try_from(step).ok())
}

fn seconds(app: &App) -> u64 {
    u64::try_from(app.clock.now() / 1000).unwrap_or(0)
}

/// Checks a code of the second factor, or a recovery code. Each is valid once.
pub(super) async fn check(app: &App, person: &PersonRow, code: &str) -> Result<(), PeopleError> {
    let id = &person.person_id;
    // Without it, its key was lost: a recovery code still works.
    let step = unsealed(app, person).and_then(|secret| step_of(&secret, code, seconds(app)));
    let is_right = match step {
        Some(step) => store::use_totp_step(&app.db, id, step).await?,
        None => store::use_recovery_code(&app.db, id, &hash(code.trim())).await?,
    };
    if is_right { Ok(()) } else { Err(PeopleError::WrongCredentials) }
}

/// Context of a person's sealed secret.
fn context(person: &str) -> String {
    format!("totp {person}")
}

/// Secret of the person's second factor.
fn unsealed(app: &App, person: &PersonRow) -> Option<Vec<u8>> {
    secrets::unseal(app, &context(&person.person_id), person.totp_secret.as_ref()?)
}

/// Seals all secrets of second factors with the newest generation of the key; returns their number.
pub async fn reseal_second_factors(db: &Db, key: &SealingKey) -> Result<u64, hub_db::Error> {
    let mut count = 0;
    for (person, sealed) in totp::sealed(db).await? {
        if let Some(resealed) = key.reseal(&context(&person), &sealed)? {
            count += totp::replace(db, &person, &sealed, &resealed).await?;
        }
    }
    Ok(count)
}

/// Data for an authenticator app.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SecondFactorEnrollment)]
pub(crate) struct Enrollment {
    /// Secret in base 32.
    #[schema(value_type = String, example = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")]
    secret: SecretText,
    /// The secret as a link, for a QR code.
    #[schema(value_type = String, example = "otpauth://totp/…")]
    uri: SecretText,
}

/// Creates a second factor, which takes effect once a code is confirmed.
pub(crate) async fn enroll(app: &App, who: &SignedIn, password: &Password) -> Result<Enrollment, PeopleError> {
    let person = with_password(app, who, password).await?;
    if person.totp_confirmed {
        return Err(PeopleError::SecondFactorEnabled);
    }
    let secret: Vec<u8> = (0..SECRET_BYTES).map(|_| app.ids.seed().to_be_bytes()[0]).collect();
    let sealed = secrets::seal(app, &context(&person.person_id), &secret)?;
    app.db
        .transaction(async |mut tx| {
            require_unchanged(&mut tx, &person).await?;
            Ok::<_, PeopleError>(store::set_totp(&mut tx, &person.person_id, Some(&sealed), false).await?)
        })
        .await?;
    let base32 = totp_rs::Secret::from(secret).to_base32();
    let account: String = form_urlencoded::byte_serialize(person.email.as_bytes()).collect();
    let uri = format!("otpauth://totp/Network%20Hub:{account}?secret={base32}&issuer=Network%20Hub");
    Ok(Enrollment { secret: base32.into(), uri: uri.into() })
}

/// Enables the second factor. Returns its recovery codes, which are shown only once.
pub(crate) async fn confirm(app: &App, who: &SignedIn, code: &str) -> Result<Vec<SecretText>, PeopleError> {
    let person = account::person(app, who).await?;
    let failures = begin_attempt_in_session(app, who).await?;
    let secret = unsealed(app, &person).filter(|_| !person.totp_confirmed).ok_or(PeopleError::SecondFactorMissing)?;
    let step = step_of(&secret, code, seconds(app)).ok_or(PeopleError::WrongCredentials)?;
    if !store::use_totp_step(&app.db, &who.person, step).await? {
        return Err(PeopleError::WrongCredentials);
    }
    let codes: Vec<_> = (0..RECOVERY_CODES).map(|_| app.ids.token(RECOVERY_CODE_LENGTH)).collect();
    app.db
        .transaction(async |mut tx| {
            require_unchanged(&mut tx, &person).await?;
            // The request may have begun before all sessions were ended.
            if !store::is_signed_in(&mut tx, &who.session, app.clock.now()).await? {
                return Err(PeopleError::WrongCredentials);
            }
            store::set_totp(&mut tx, &who.person, person.totp_secret.as_deref(), true).await?;
            for code in &codes {
                store::insert_recovery_code(&mut tx, &who.person, &hash(code)).await?;
            }
            // Other sessions end: they were opened with the password alone.
            store::end_sessions(&mut tx, &who.person, Some(&who.session), app.clock.now()).await?;
            store::failures::clear(&mut tx, failures.key()).await?;
            let change = Change::new(Action::PersonSecondFactorEnabled, &who.person);
            Ok::<_, PeopleError>(audit::record(&mut tx, OPERATOR_NETWORK, &origin_of(app, who), change).await?)
        })
        .await?;
    app.state::<KeyCache>().invalidate(&KeyId(who.person.clone()));
    Ok(codes.into_iter().map(SecretText::from).collect())
}

/// Removes the second factor.
pub(crate) async fn disable(
    app: &App,
    who: &SignedIn,
    password: &Password,
    code: Option<&str>,
) -> Result<(), PeopleError> {
    let (person, failures) = try_password(app, who, password).await?;
    // A wrong code counts as a failure: otherwise a holder of the password could guess codes without limit.
    if let Some(code) = code.filter(|_| person.totp_confirmed) {
        check(app, &person, code).await?;
    }
    store::failures::remove(&app.db, failures.key()).await?;
    if person.totp_confirmed && code.is_none() {
        return Err(PeopleError::SecondFactorNeeded);
    }
    app.db
        .transaction(async |mut tx| {
            require_unchanged(&mut tx, &person).await?;
            store::set_totp(&mut tx, &who.person, None, false).await?;
            let change = Change::new(Action::PersonSecondFactorDisabled, &who.person);
            Ok::<_, PeopleError>(audit::record(&mut tx, OPERATOR_NETWORK, &origin_of(app, who), change).await?)
        })
        .await?;
    Ok(())
}

/// The signed-in person, if this is their password.
pub(super) async fn with_password(app: &App, who: &SignedIn, password: &Password) -> Result<PersonRow, PeopleError> {
    let (person, failures) = try_password(app, who, password).await?;
    store::failures::remove(&app.db, failures.key()).await?;
    Ok(person)
}

/// Checks the password; the attempt counts as failed until the caller removes the failure.
async fn try_password(app: &App, who: &SignedIn, password: &Password) -> Result<(PersonRow, Failures), PeopleError> {
    let person = account::person(app, who).await?;
    if person.password_hash.is_none() {
        return Err(PeopleError::NoPassword);
    }
    let failures = begin_attempt_in_session(app, who).await?;
    Ok((check_password(app, Some(person), password, &failures).await?, failures))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From RFC 6238, appendix B, in six digits.
    #[test]
    fn codes_match_rfc_6238() {
        let secret = b"12345678901234567890";
        assert_eq!(step_of(secret, "287082", 59), Some(1));
        assert_eq!(step_of(secret, "005924", 1_234_567_890), Some(41_152_263));
        // A step before and after, and no further.
        assert_eq!(step_of(secret, "287082", 89), Some(1));
        assert_eq!(step_of(secret, "287082", 90), None);
        for wrong in ["", "28708", "2870820", "x87082", "287083"] {
            assert_eq!(step_of(secret, wrong, 59), None, "{wrong}");
        }
    }
}
