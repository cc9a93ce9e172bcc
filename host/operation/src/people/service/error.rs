//! Errors of requests about people.

use axum::http::StatusCode;
use thiserror::Error;

use crate::clock::Millis;
use crate::http::error::ApiError;
use crate::limits::QuotaExceeded;
use crate::people::openid::OpenIdError;

/// Reason for the failure of a request about people.
#[derive(Debug, Error)]
pub enum PeopleError {
    /// The answer does not reveal if the address or the password is wrong.
    #[error("Wrong address, password or code.")]
    WrongCredentials,
    /// The password is right, or the provider identified the person.
    #[error("A code of the second factor, or a recovery code, is required in `code`.")]
    SecondFactorNeeded,
    /// Too many attempts failed for this address; the time it has to wait.
    #[error("Too many failed sign-ins for this address; try again later, or reset the password.")]
    TooMany(Millis),
    /// The token is used, expired or replaced.
    #[error("Invalid, used or expired code.")]
    UnknownToken,
    /// No person has decided about the device yet.
    #[error("Nobody has confirmed this code yet.")]
    DevicePending,
    /// The person refused, or their session ended.
    #[error("The sign-in was refused, or its confirmation no longer holds; begin again.")]
    DeviceRefused,
    /// A new account for an address with an account.
    #[error("An account with this address already exists: sign in and join with it.")]
    PersonExists,
    /// The mail went to another person.
    #[error("This invitation was sent to another address than your account's.")]
    OtherAddress,
    /// No such person in this network, or at all.
    #[error("No person `{0}`.")]
    UnknownPerson(String),
    /// No such invitation.
    #[error("No invitation `{0}`.")]
    UnknownInvitation(String),
    /// The person has no such session, or it has ended.
    #[error("No session `{0}`, or it has ended.")]
    UnknownSession(String),
    /// The invited person is already a member.
    #[error("A member with this address already exists.")]
    AlreadyMember,
    /// The last mail was sent too recently.
    #[error("This address was just invited; try again in ten minutes.")]
    InvitedLately,
    /// No such role, neither given nor of the network's own.
    #[error("No role `{0}`.")]
    UnknownRole(String),
    /// The same, of a request that grants it.
    #[error("No role `{0}`; use OWNER, ADMIN, MODERATOR, VIEWER or one of the network's own.")]
    NoRoleToGrant(String),
    /// The name of a given role.
    #[error("The name `{0}` is that of a given role.")]
    RoleReserved(String),
    /// Members or invitations have the role.
    #[error("Members or invitations have the role `{0}`; give them another first.")]
    RoleInUse(String),
    /// The role is above the caller's.
    #[error("You cannot grant, change or remove a role above your own.")]
    RoleExceedsOwn,
    /// The caller's key expires or is bound, and an invitation would exceed that.
    #[error("A key that expires, or is bound to servers or addresses, cannot invite: a role has no such bounds.")]
    KeyIsBound,
    /// The account has a second factor.
    #[error("A second factor is already enabled; disable it first.")]
    SecondFactorEnabled,
    /// The account has no second factor to confirm.
    #[error("No second factor to confirm; set one up first.")]
    SecondFactorMissing,
    /// The account has no password.
    #[error("This account has no password: it signs in by OpenID Connect. Request a password reset to set one.")]
    NoPassword,
    /// No provider is configured.
    #[error("OpenID Connect is not set up at this hub (--oidc-issuer).")]
    OpenIdNotSetUp,
    /// The cookie of the sign-in is missing or old.
    #[error("This sign-in was begun in another browser, has ended, or took longer than ten minutes; sign in again.")]
    SignInEnded,
    /// The state belongs to another sign-in.
    #[error("This answer of the OpenID provider belongs to another sign-in; sign in again.")]
    StateWrong,
    /// The provider's error code.
    #[error("The OpenID provider did not sign you in: {0}.")]
    RefusedByProvider(String),
    /// The address has an account that is linked with another subject.
    #[error("Another account of the OpenID provider signs in with this address; ask the hub's operator.")]
    OtherSubject,
    /// No account, and no invitation.
    #[error("No account with your address; ask for an invitation and follow its link.")]
    NotInvited,
    /// The provider identified no one.
    #[error(transparent)]
    OpenId(#[from] OpenIdError),
    /// The network's quota is used up.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// Any other refusal.
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
            PeopleError::DevicePending => Self::bad_request("device_pending", message),
            PeopleError::DeviceRefused => Self::new(StatusCode::FORBIDDEN, "device_refused", message),
            PeopleError::PersonExists => Self::bad_request("person_exists", message),
            PeopleError::OtherAddress | PeopleError::KeyIsBound => {
                Self::new(StatusCode::FORBIDDEN, "forbidden_origin", message)
            }
            PeopleError::UnknownPerson(_) => Self::not_found("unknown_person", message),
            PeopleError::UnknownSession(_) => Self::not_found("unknown_session", message),
            PeopleError::UnknownInvitation(_) => Self::not_found("unknown_invitation", message),
            PeopleError::AlreadyMember => Self::bad_request("already_member", message),
            PeopleError::InvitedLately => Self::bad_request("invited_lately", message),
            PeopleError::UnknownRole(_) => Self::not_found("unknown_role", message),
            PeopleError::NoRoleToGrant(_) => Self::bad_request("unknown_role", message),
            PeopleError::RoleReserved(_) => Self::bad_request("role_reserved", message),
            PeopleError::RoleInUse(_) => Self::new(StatusCode::CONFLICT, "in_use", message),
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
