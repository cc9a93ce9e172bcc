//! Rights of a caller at the moment of a change. They were read when the request began, maybe by a cache, and may have
//! ended since: with a removed person, a revoked key, a smaller role.

use hub_db::Tx;

use crate::auth::model::{Credential, Scopes};
use crate::auth::origin::Origin;
use crate::auth::service::{check_still, invalid};
use crate::auth::{KeyRow, session, store};
use crate::http::error::ApiError;

/// Credential of a request, with the rights that it had when the request began.
#[derive(Clone, Debug)]
pub struct Holder {
    pub(super) credential: Credential,
    pub(super) scopes: Scopes,
}

impl Origin {
    /// Refuses a change by a caller who may no longer make it, and keeps the caller's right until the transaction ends.
    /// Whoever ends the right waits for it, and then finds what this transaction made.
    ///
    /// First in each transaction that makes or reveals something that outlives its caller: a key, a role, a webhook, a
    /// secret, a module, an import.
    pub async fn still_may(&self, tx: &mut Tx) -> Result<(), ApiError> {
        let Some(Holder { credential, scopes }) = &self.holder else { return Ok(()) };
        let is_session = session::is_session(&credential.id);
        let row = if is_session {
            session::hold(tx, &credential.id).await?
        } else {
            store::hold_key(tx, &credential.id).await?
        };
        let row: KeyRow = row.ok_or_else(|| invalid(is_session))?;
        check_still(&row, credential, *scopes, self.clock.now())
    }
}
