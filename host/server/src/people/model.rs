//! Persons, links and passwords.

use serde::{Deserialize, Deserializer, de};
use sha2::{Digest as _, Sha256};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::auth::Role;
use crate::clock::Millis;
use crate::values::NetworkId;

/// How long an invitation can be accepted, and a lost password be reset.
pub(super) const INVITATION_TTL: Millis = 7 * 24 * 60 * 60 * 1000;
pub(super) const RESET_TTL: Millis = 60 * 60 * 1000;
/// How long somebody stays signed in, and for how long after that it is known from where.
pub(super) const SESSION_TTL: Millis = 14 * 24 * 60 * 60 * 1000;
pub(super) const ADDRESS_TTL: Millis = 30 * 24 * 60 * 60 * 1000;
/// No second mail of one kind goes to one address within this time.
pub(super) const MAIL_PAUSE: Millis = 10 * 60 * 1000;
pub(super) const TOKEN_LENGTH: usize = 40;
/// A random id that is no key's: those have no `_`.
pub(super) const ID_LENGTH: usize = 16;

/// A password as it was sent. Its debug output does not show it.
#[derive(Clone)]
pub(crate) struct Password(String);

impl Password {
    const MIN: usize = 10;
    const MAX: usize = 256;

    /// One that the hub makes.
    pub(super) fn generated(text: String) -> Self {
        Self(text)
    }

    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Password")
    }
}

impl<'de> Deserialize<'de> for Password {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if !(Self::MIN..=Self::MAX).contains(&text.chars().count()) {
            return Err(de::Error::custom(format_args!("must be {} to {} characters", Self::MIN, Self::MAX)));
        }
        Ok(Self(text))
    }
}

impl PartialSchema for Password {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .min_length(Some(Self::MIN))
            .max_length(Some(Self::MAX))
            .examples(["correct horse battery staple"])
            .into()
    }
}
impl ToSchema for Password {}

/// The hash that is stored of a token, a recovery code or an address.
pub(super) fn hash(text: &str) -> Vec<u8> {
    Sha256::digest(text.as_bytes()).to_vec()
}

/// What a mail with a link is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum LinkKind {
    Invitation,
    Reset,
}

/// A person's row.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(crate) struct PersonRow {
    pub(crate) person_id: String,
    pub(crate) email_folded: String,
    pub(crate) email: String,
    pub(crate) name: String,
    pub(crate) password_hash: Option<String>,
    pub(crate) is_operator: bool,
    pub(crate) totp_secret: Option<Vec<u8>>,
    pub(crate) totp_confirmed: bool,
    pub(crate) created_at: Millis,
}

/// A link's row.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(crate) struct LinkRow {
    pub(crate) network_id: NetworkId,
    pub(crate) link_id: String,
    pub(crate) kind: String,
    pub(crate) email_folded: String,
    pub(crate) email: String,
    pub(crate) role: Option<String>,
    pub(crate) created_at: Millis,
    pub(crate) expires_at: Millis,
    pub(crate) due_at: Option<Millis>,
    pub(crate) attempts: i64,
}

impl LinkRow {
    /// Whether the mail is for this.
    pub(super) fn is(&self, kind: LinkKind) -> bool {
        self.kind == <&str>::from(kind)
    }

    /// The role that an invitation gives; none: that of an operator.
    pub(super) fn role(&self) -> Option<Role> {
        self.role.as_ref().and_then(|role| role.parse().ok())
    }
}

/// A member of a network.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(crate) struct MemberRow {
    pub(crate) person_id: String,
    pub(crate) email: String,
    pub(crate) name: String,
    pub(crate) role: String,
    pub(crate) joined_at: Millis,
    pub(crate) has_second_factor: bool,
}

/// A network that a person is a member of.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(crate) struct MembershipRow {
    pub(crate) network_id: NetworkId,
    pub(crate) name: String,
    pub(crate) role: String,
}
