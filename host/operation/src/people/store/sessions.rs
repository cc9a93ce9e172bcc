//! Sessions of one person.

use hub_db::{Db, Error, Tx};

use crate::clock::Millis;

/// A session that lasts.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(in crate::people) struct SessionRow {
    pub(in crate::people) session_id: String,
    pub(in crate::people) created_at: Millis,
    pub(in crate::people) expires_at: Millis,
    /// Client address of the sign-in.
    pub(in crate::people) address: Option<String>,
}

/// Sessions of a person that last, newest first. A person has few. Crosses networks: a person is in several.
pub(in crate::people) async fn list(db: &Db, person: &str, now: Millis) -> Result<Vec<SessionRow>, Error> {
    db.query(
        "SELECT session_id, created_at, expires_at, address FROM person_sessions
         WHERE person_id = $1 AND expires_at > $2 ORDER BY created_at DESC, session_id LIMIT 1000",
    )
    .bind(person)
    .bind(now)
    .all()
    .await
}

/// Ends a session of a person; false if there is none that lasts. Its address stays known for a while.
/// Crosses networks: a person is in several.
pub(in crate::people) async fn end(tx: &mut Tx, person: &str, session: &str, now: Millis) -> Result<bool, Error> {
    // Without its token's hash it is over at every time.
    let end = "UPDATE person_sessions SET expires_at = $3, sha256 = $4
               WHERE session_id = $2 AND person_id = $1 AND expires_at > $3";
    Ok(tx.query(end).bind(person).bind(session).bind(now).bind(&[0_u8; 0][..]).execute().await? > 0)
}
