//! Addresses and entries.

use std::str::FromStr;

use lettre::Address;
use serde::{Deserialize, Deserializer, Serialize, de};
use sha2::{Digest as _, Sha256};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::clock::Millis;
use crate::ids::Ids;

/// How long a link works.
pub(super) const LINK_TTL: Millis = 48 * 60 * 60 * 1000;
const TOKEN_LENGTH: usize = 32;

/// An address that mail can be sent to.
#[derive(Clone, Debug)]
pub(super) struct Email(Address);

impl Email {
    /// As it was written.
    pub(super) fn as_str(&self) -> &str {
        self.0.as_ref()
    }

    /// What addresses are compared by.
    pub(super) fn folded(&self) -> String {
        fold(self.as_str())
    }
}

/// What addresses are compared by: mailboxes hardly ever tell upper from lower case.
pub(super) fn fold(email: &str) -> String {
    email.to_lowercase()
}

impl FromStr for Email {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.len() > 254 {
            return Err("must be at most 254 characters".to_owned());
        }
        let address: Address = text.parse().map_err(|_| "must be an e-mail address".to_owned())?;
        if text.contains(char::is_control) {
            return Err("must not contain control characters".to_owned());
        }
        Ok(Self(address))
    }
}

impl<'de> Deserialize<'de> for Email {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl PartialSchema for Email {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Email)))
            .pattern(Some(r"^[A-Za-z0-9_+-]{1,64}(\.[A-Za-z0-9_+-]{1,20}){0,3}@[a-z0-9]{1,60}(\.[a-z]{2,20}){1,3}$"))
            .max_length(Some(254))
            .examples(["alex@example.org"])
            .into()
    }
}
impl ToSchema for Email {}

/// Who is on the list.
#[derive(Debug, Serialize, sqlx::FromRow, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WaitlistEntry {
    #[schema(example = "alex@example.org")]
    email: String,
    /// Where they heard of it.
    source: Option<String>,
    #[schema(example = 1804680000000_i64)]
    joined_at: Millis,
    /// When they opened the link; null: not yet.
    confirmed_at: Option<Millis>,
}

/// The secret in a link, and the hash that is stored of it.
pub(super) struct LinkToken {
    pub(super) text: String,
    pub(super) sha256: Vec<u8>,
}

impl LinkToken {
    pub(super) fn generate(ids: &Ids) -> Self {
        let text = ids.token(TOKEN_LENGTH);
        Self { sha256: hash_token(&text), text }
    }
}

pub(super) fn hash_token(token: &str) -> Vec<u8> {
    Sha256::digest(token.as_bytes()).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_addresses_are_refused() {
        for good in ["alex@example.org", " alex@example.org ", "Alex.Smith+hub@mail.example.co.uk"] {
            assert!(good.parse::<Email>().is_ok(), "{good:?}");
        }
        let long = format!("{}@example.org", "x".repeat(250));
        for bad in
            ["", "alex", "alex@", "@example.org", "a b@example.org", "a@b\r\nRcpt-To: c@d", "a@b,c@d", "a@b c", &long]
        {
            assert!(bad.parse::<Email>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn case_does_not_matter() {
        assert_eq!("Alex@Example.org".parse::<Email>().unwrap().folded(), "alex@example.org");
    }
}
