//! A person whom the provider has identified, and who still needs a code of the hub's second factor. The browser has a
//! random token in a cookie; the database has its hash, so that its reader cannot finish a sign-in.

use crate::clock::Millis;
use crate::ids::Ids;
use crate::people::model::hash;
use crate::people::openid::Identity;

/// Time limit for a code.
pub(in crate::people) const PENDING_TTL: Millis = 5 * 60 * 1000;
const TOKEN_LENGTH: usize = 40;

/// A sign-in waiting for its code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::people) struct Pending {
    pub(in crate::people) identity: Identity,
    /// Hash of the invitation's token.
    pub(in crate::people) invitation: Option<Vec<u8>>,
    pub(in crate::people) expires_at: Millis,
}

/// Value of the cookie and the hash to store.
pub(in crate::people) fn new_token(ids: &Ids) -> (String, Vec<u8>) {
    let token = ids.token(TOKEN_LENGTH);
    let sha256 = hash(&token);
    (token, sha256)
}
