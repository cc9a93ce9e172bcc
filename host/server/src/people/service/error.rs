//! What can be wrong with a request about people.

use axum::http::StatusCode;
use thiserror::Error;

use crate::clock::Millis;
use crate::http::error::ApiError;
use crate::limits::QuotaExceeded;
use crate::people::openid::OpenIdError;

/// Why a request about people fails.
#[derive(Debug, Error)]
pub(crate) enum PeopleError {
    /// The answer does not say whether the address or the password is wrong.
    #[error("The address, the password or the code is wrong.")]
    WrongCredentials,
    /// The password is right, or the provider knows the person.
    #[error("A code of the second factor, or a recovery code, is needed in `code`.")]
    SecondFactorNeeded,
    /// Too many attempts failed for this address; how long it has to wait.
    #[error("Signing in has failed too often for this address; try again later, or have the password reset.")]
    TooMany(Millis),
    /// The token is used, expired or replaced.
    #[error("This code is none of the hub's, was used, or has expired.")]
    UnknownToken,
    /// A new account for an address that has one.
    #[error("There is an account with this address already: sign in, and join with it.")]
    PersonExists,
    /// The mail went to somebody else.
    #[error("This invitation was sent to another address than that of your account.")]
    OtherAddress,
    /// No such person in this network, or at all.
    #[error("There is no person `{0}` here.")]
    UnknownPerson(String),
    /// No such invitation.
    #[error("There is no invitation `{0}` here.")]
    UnknownInvitation(String),
    /// The invited person is a member already.
    #[error("There is a member with this address already.")]
    AlreadyMember,
    /// A mail went out a moment ago.
    #[error("This address was just invited; try again in ten minutes.")]
    InvitedLately,
    /// The role may do more than the caller.
    #[error("A role beyond your own is not yours to give, to change or to take.")]
    RoleExceedsOwn,
    /// The caller's key expires or is bound, which an invitation would exceed.
    #[error("A key that expires, or is bound to servers or addresses, invites nobody: a role has no such bounds.")]
    KeyIsBound,
    /// There is a second factor.
    #[error("There is a second factor already; disable it first.")]
    SecondFactorEnabled,
    /// There is none to confirm.
    #[error("There is no second factor that could be confirmed.")]
    SecondFactorMissing,
    /// The account has no password.
    #[error("This account has no password: it signs in by OpenID Connect. Say that the password is lost to set one.")]
    NoPassword,
    /// The operator has named no provider.
    #[error("Nobody signs in by OpenID Connect here: the hub's operator has set up no provider (--oidc-issuer).")]
    OpenIdNotSetUp,
    /// No cookie of a sign-in, or an old one.
    #[error(
        "This sign-in was begun in another browser, has ended already, or took longer than ten minutes: sign in again."
    )]
    SignInEnded,
    /// The state is of another sign-in.
    #[error("This answer of the OpenID provider belongs to another sign-in: sign in again.")]
    StateWrong,
    /// What the provider calls the reason.
    #[error("The OpenID provider did not sign you in: {0}.")]
    RefusedByProvider(String),
    /// The address has an account that is linked with another subject.
    #[error("Another account of the OpenID provider signs in with this address; ask the hub's operator.")]
    OtherSubject,
    /// No account, and no invitation.
    #[error("There is no account with your address: have yourself invited, and follow the invitation's link.")]
    NotInvited,
    /// The provider has identified nobody.
    #[error(transparent)]
    OpenId(#[from] OpenIdError),
    /// More than the network may have.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// Whatever else was refused.
    #[error(transparent)]
    Refused(#[from] ApiError),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<PeopleError> for ApiError {
    fn from(error: PeopleError) -> Self {
        let message = error.to_string();
        match error {
            PeopleError::WrongCredentials => Self::new(StatusCode::UNAUTHORIZED, "wrong_credentials", message),
            PeopleError::SecondFactorNeeded => Self::new(StatusCode::UNAUTHORIZED, "second_factor_needed", message),
            PeopleError::TooMany(wait) => Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message)
                .retry_after(wait.unsigned_abs().div_ceil(1000).max(1)),
            PeopleError::UnknownToken => Self::bad_request("unknown_token", message),
            PeopleError::PersonExists => Self::bad_request("person_exists", message),
            PeopleError::OtherAddress | PeopleError::KeyIsBound => {
                Self::new(StatusCode::FORBIDDEN, "forbidden_origin", message)
            }
            PeopleError::UnknownPerson(_) => Self::not_found("unknown_person", message),
            PeopleError::UnknownInvitation(_) => Self::not_found("unknown_invitation", message),
            PeopleError::AlreadyMember => Self::bad_request("already_member", message),
            PeopleError::InvitedLately => Self::bad_request("invited_lately", message),
            PeopleError::RoleExceedsOwn => Self::new(StatusCode::FORBIDDEN, "forbidden_scope", message),
            PeopleError::SecondFactorEnabled => Self::bad_request("second_factor_enabled", message),
            PeopleError::SecondFactorMissing => Self::bad_request("second_factor_missing", message),
            PeopleError::NoPassword => Self::bad_request("no_password", message),
            PeopleError::OpenIdNotSetUp => Self::not_found("openid_not_set_up", message),
            PeopleError::SignInEnded => Self::bad_request("openid_sign_in_ended", message),
            PeopleError::StateWrong => Self::bad_request("openid_state_wrong", message),
            PeopleError::RefusedByProvider(_) => Self::new(StatusCode::FORBIDDEN, "openid_refused", message),
            PeopleError::OtherSubject => Self::new(StatusCode::FORBIDDEN, "openid_subject_differs", message),
            PeopleError::NotInvited => Self::new(StatusCode::FORBIDDEN, "not_invited", message),
            PeopleError::OpenId(OpenIdError::Unavailable) => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "openid_unavailable", message).retry_after(5)
            }
            PeopleError::OpenId(OpenIdError::CodeRefused) => Self::bad_request("openid_code_refused", message),
            PeopleError::OpenId(OpenIdError::Untrusted(_)) => {
                Self::new(StatusCode::FORBIDDEN, "openid_token_invalid", message)
            }
            PeopleError::OpenId(OpenIdError::EmailUnverified) => {
                Self::new(StatusCode::FORBIDDEN, "openid_email_unverified", message)
            }
            PeopleError::Quota(exceeded) => exceeded.into(),
            PeopleError::Refused(error) => error,
            PeopleError::Database(error) => error.into(),
        }
    }
}
