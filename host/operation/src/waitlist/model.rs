//! Addresses and entries.

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use crate::clock::Millis;
use crate::ids::Ids;

/// Validity of a link.
pub(super) const LINK_TTL: Millis = 48 * 60 * 60 * 1000;
const TOKEN_LENGTH: usize = 32;

/// An entry of the waitlist.
#[derive(Debug, Serialize, sqlx::FromRow, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WaitlistEntry {
    #[schema(example = "alex@example.org")]
    email: String,
    /// Source named by the person.
    source: Option<String>,
    #[schema(example = 1804680000000_i64)]
    joined_at: Millis,
    /// Time at which the link was opened; null until then.
    confirmed_at: Option<Millis>,
}

/// Secret in a link, and its stored hash.
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
