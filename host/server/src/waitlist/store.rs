//! All SQL of the room.

use hub_db::{Db, Error, Tx};

use crate::auth::OPERATOR_NETWORK;
use crate::clock::Millis;
use crate::waitlist::model::Entry;

/// Puts an address on the list and has a mail sent: at once, unless one is on its way or the address is confirmed.
pub(super) async fn join(
    db: &Db,
    folded: String,
    email: String,
    source: Option<String>,
    now: Millis,
) -> Result<(), Error> {
    db.write(
        "INSERT INTO waitlist (network_id, email_folded, email, source, joined_at, due_at, attempts)
         VALUES ($1, $2, $3, $4, $5, $5, 0)
         ON CONFLICT (network_id, email_folded) DO UPDATE SET
             attempts = CASE WHEN waitlist.due_at IS NULL THEN 0 ELSE waitlist.attempts END,
             due_at = CASE WHEN waitlist.confirmed_at IS NULL THEN COALESCE(waitlist.due_at, excluded.due_at) END",
    )
    .bind(OPERATOR_NETWORK)
    .bind(folded)
    .bind(email)
    .bind(source)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// A mail that is to be sent.
#[allow(clippy::struct_field_names, reason = "the columns' names")]
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Due {
    pub(super) email_folded: String,
    pub(super) email: String,
    pub(super) due_at: Millis,
    pub(super) attempts: i64,
}

/// The mails due next, the longest due first.
pub(super) async fn due(db: &Db, most: i64) -> Result<Vec<Due>, Error> {
    db.query(
        "SELECT email_folded, email, due_at, attempts FROM waitlist
         WHERE network_id = $1 AND due_at IS NOT NULL ORDER BY due_at LIMIT $2",
    )
    .bind(OPERATOR_NETWORK)
    .bind(most)
    .all()
    .await
}

/// Takes a mail on: nobody else does before `until`, when it is tried again if nothing is heard of it. False where
/// somebody else has it.
pub(super) async fn claim(db: &Db, due: &Due, until: Millis) -> Result<bool, Error> {
    let rows = db
        .write(
            "UPDATE waitlist SET due_at = $4, attempts = attempts + 1
             WHERE network_id = $1 AND email_folded = $2 AND due_at = $3",
        )
        .bind(OPERATOR_NETWORK)
        .bind(due.email_folded.clone())
        .bind(due.due_at)
        .bind(until)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// No mail is to be sent any more, unless one was asked for since it was claimed until `claimed`.
pub(super) async fn settle(tx: &mut Tx, folded: &str, claimed: Millis) -> Result<(), Error> {
    tx.query(
        "UPDATE waitlist SET due_at = NULL, attempts = 0
         WHERE network_id = $1 AND email_folded = $2 AND due_at = $3",
    )
    .bind(OPERATOR_NETWORK)
    .bind(folded.to_owned())
    .bind(claimed)
    .execute()
    .await?;
    Ok(())
}

/// How many mails the address was sent since.
pub(super) async fn sent_since(db: &Db, folded: &str, since: Millis) -> Result<i64, Error> {
    let (count,): (i64,) = db
        .query("SELECT COUNT(*) FROM waitlist_links WHERE network_id = $1 AND email_folded = $2 AND sent_at > $3")
        .bind(OPERATOR_NETWORK)
        .bind(folded.to_owned())
        .bind(since)
        .one()
        .await?;
    Ok(count)
}

pub(super) async fn add_link(db: &Db, sha256: Vec<u8>, folded: &str, now: Millis) -> Result<(), Error> {
    db.write("INSERT INTO waitlist_links (network_id, sha256, email_folded, made_at) VALUES ($1, $2, $3, $4)")
        .bind(OPERATOR_NETWORK)
        .bind(sha256)
        .bind(folded.to_owned())
        .bind(now)
        .execute()
        .await?;
    Ok(())
}

pub(super) async fn note_sent(tx: &mut Tx, sha256: Vec<u8>, now: Millis) -> Result<(), Error> {
    tx.query("UPDATE waitlist_links SET sent_at = $3 WHERE network_id = $1 AND sha256 = $2")
        .bind(OPERATOR_NETWORK)
        .bind(sha256)
        .bind(now)
        .execute()
        .await?;
    Ok(())
}

/// Links that nobody can use and that count for nothing any more.
pub(super) async fn forget_links(db: &Db, made_before: Millis) -> Result<(), Error> {
    db.write("DELETE FROM waitlist_links WHERE network_id = $1 AND made_at < $2")
        .bind(OPERATOR_NETWORK)
        .bind(made_before)
        .execute()
        .await?;
    Ok(())
}

/// A link as it stands.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Link {
    pub(super) made_at: Millis,
    pub(super) used_at: Option<Millis>,
}

pub(super) async fn find_link(db: &Db, sha256: Vec<u8>) -> Result<Option<Link>, Error> {
    db.query("SELECT made_at, used_at FROM waitlist_links WHERE network_id = $1 AND sha256 = $2")
        .bind(OPERATOR_NETWORK)
        .bind(sha256)
        .optional()
        .await
}

/// Uses a link up; the address it was sent to. None where it was used already, is too old or is no link.
pub(super) async fn use_link(
    tx: &mut Tx,
    sha256: Vec<u8>,
    made_after: Millis,
    now: Millis,
) -> Result<Option<String>, Error> {
    let row: Option<(String,)> = tx
        .query(
            "UPDATE waitlist_links SET used_at = $4
             WHERE network_id = $1 AND sha256 = $2 AND used_at IS NULL AND made_at > $3 RETURNING email_folded",
        )
        .bind(OPERATOR_NETWORK)
        .bind(sha256)
        .bind(made_after)
        .bind(now)
        .optional()
        .await?;
    Ok(row.map(|(folded,)| folded))
}

pub(super) async fn confirm(tx: &mut Tx, folded: String, now: Millis) -> Result<(), Error> {
    tx.query(
        "UPDATE waitlist SET confirmed_at = COALESCE(confirmed_at, $3), due_at = NULL, attempts = 0
         WHERE network_id = $1 AND email_folded = $2",
    )
    .bind(OPERATOR_NETWORK)
    .bind(folded)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// Who is on the list, or only who is, or is not, confirmed; the earliest first; and how many those are.
pub(super) async fn list(
    db: &Db,
    confirmed: Option<bool>,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Entry>, i64), Error> {
    let (total,): (i64,) = db
        .query(
            "SELECT COUNT(*) FROM waitlist
             WHERE network_id = $1 AND ($2 IS NULL OR (confirmed_at IS NOT NULL) = $2)",
        )
        .bind(OPERATOR_NETWORK)
        .bind(confirmed)
        .one()
        .await?;
    let rows = db
        .query(
            "SELECT email, source, joined_at, confirmed_at FROM waitlist
             WHERE network_id = $1 AND ($2 IS NULL OR (confirmed_at IS NOT NULL) = $2)
             ORDER BY joined_at, email_folded LIMIT $3 OFFSET $4",
        )
        .bind(OPERATOR_NETWORK)
        .bind(confirmed)
        .bind(limit)
        .bind(offset)
        .all()
        .await?;
    Ok((rows, total))
}

/// Takes an address off the list, with its links; false where it is not there.
pub(super) async fn remove(tx: &mut Tx, folded: &str) -> Result<bool, Error> {
    let rows = tx
        .query("DELETE FROM waitlist WHERE network_id = $1 AND email_folded = $2")
        .bind(OPERATOR_NETWORK)
        .bind(folded.to_owned())
        .execute()
        .await?;
    tx.query("DELETE FROM waitlist_links WHERE network_id = $1 AND email_folded = $2")
        .bind(OPERATOR_NETWORK)
        .bind(folded.to_owned())
        .execute()
        .await?;
    Ok(rows > 0)
}
