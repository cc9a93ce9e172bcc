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

/// Note in a transaction that its caller's right was looked at.
const LOOKED_AT: &str = "the caller's right";

impl Origin {
    /// Refuses a change by a caller who may no longer make it, and keeps the caller's right until the transaction ends.
    /// A change that ends the right waits for it, and then finds what this transaction made.
    ///
    /// First in each transaction that makes or reveals something that outlives its caller, and in those that may end the
    /// caller's own right: [`Origin::must_still`] does it at the end of all others.
    pub async fn still_may(&self, tx: &mut Tx) -> Result<(), ApiError> {
        let Some(Holder { credential, scopes }) = &self.holder else { return Ok(()) };
        tx.note(LOOKED_AT);
        let is_session = session::is_session(&credential.id);
        let row = if is_session {
            session::hold(tx, &credential.id).await?
        } else {
            store::hold_key(tx, &credential.id).await?
        };
        let row: KeyRow = row.ok_or_else(|| invalid(is_session))?;
        check_still(&row, credential, *scopes, self.clock.now())
    }

    /// The same, unless the transaction did it before: it may have ended the caller's own right since. The audit log
    /// asks for each entry, so that no change by a caller goes without.
    pub async fn must_still(&self, tx: &mut Tx) -> Result<(), hub_db::Error> {
        if self.holder.is_none() || !tx.note(LOOKED_AT) {
            return Ok(());
        }
        self.still_may(tx).await.map_err(|refusal| hub_db::Error::Refused(Box::new(refusal)))
    }
}
