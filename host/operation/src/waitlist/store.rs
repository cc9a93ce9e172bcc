//! All SQL of the waitlist.

use hub_db::{Db, Error, Tx};

use crate::auth::OPERATOR_NETWORK;
use crate::clock::{Cutoff, Millis};
use crate::email::Email;
use crate::limits::{Limit, Rows};
use crate::waitlist::model::WaitlistEntry;

/// All addresses on the list.
pub(super) const ENTRIES: Rows = Rows::many(
    Limit::WaitlistEntries,
    "SELECT COUNT(*) FROM (SELECT email_folded FROM waitlist WHERE network_id = $1 LIMIT $2) AS counted",
);

pub(super) async fn exists(db: &Db, email: &Email) -> Result<bool, Error> {
    let row: Option<(String,)> = db
        .query("SELECT email FROM waitlist WHERE network_id = $1 AND email_folded = $2")
        .bind(OPERATOR_NETWORK)
        .bind(email.folded())
        .optional()
        .await?;
    Ok(row.is_some())
}

/// Adds an address. True unless it is confirmed.
pub(super) async fn join(tx: &mut Tx, email: &Email, source: Option<&str>, now: Millis) -> Result<bool, Error> {
    let (is_unconfirmed,): (bool,) = tx
        .query(
            "INSERT INTO waitlist (network_id, email_folded, email, source, joined_at) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (network_id, email_folded) DO UPDATE SET email = waitlist.email
             RETURNING confirmed_at IS NULL",
        )
        .bind(OPERATOR_NETWORK)
        .bind(email.folded())
        .bind(email.as_str())
        .bind(source)
        .bind(now)
        .one()
        .await?;
    Ok(is_unconfirmed)
}

/// An address to which a mail is due, as it was first written; none if it is confirmed or gone.
pub(super) async fn unconfirmed_email(db: &Db, folded: &str) -> Result<Option<String>, Error> {
    let row: Option<(String,)> = db
        .query("SELECT email FROM waitlist WHERE network_id = $1 AND email_folded = $2 AND confirmed_at IS NULL")
        .bind(OPERATOR_NETWORK)
        .bind(folded)
        .optional()
        .await?;
    Ok(row.map(|(email,)| email))
}

pub(super) async fn count_sent_since(db: &Db, folded: &str, since: Millis) -> Result<i64, Error> {
    let (count,): (i64,) = db
        .query("SELECT COUNT(*) FROM waitlist_links WHERE network_id = $1 AND email_folded = $2 AND sent_at > $3")
        .bind(OPERATOR_NETWORK)
        .bind(folded)
        .bind(since)
        .one()
        .await?;
    Ok(count)
}

pub(super) async fn insert_link(db: &Db, sha256: &[u8], folded: &str, now: Millis) -> Result<(), Error> {
    db.write("INSERT INTO waitlist_links (network_id, sha256, email_folded, made_at) VALUES ($1, $2, $3, $4)")
        .bind(OPERATOR_NETWORK)
        .bind(sha256)
        .bind(folded)
        .bind(now)
        .execute()
        .await?;
    Ok(())
}

pub(super) async fn set_sent(db: &Db, sha256: &[u8], now: Millis) -> Result<(), Error> {
    db.write("UPDATE waitlist_links SET sent_at = $3 WHERE network_id = $1 AND sha256 = $2")
        .bind(OPERATOR_NETWORK)
        .bind(sha256)
        .bind(now)
        .execute()
        .await?;
    Ok(())
}

/// Deletes links that are too old to work or to count.
pub(super) async fn delete_links(db: &Db, made_before: Cutoff) -> Result<(), Error> {
    db.write("DELETE FROM waitlist_links WHERE network_id = $1 AND made_at < $2")
        .bind(OPERATOR_NETWORK)
        .bind(made_before.at())
        .execute()
        .await?;
    Ok(())
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Link {
    pub(super) made_at: Millis,
    pub(super) used_at: Option<Millis>,
}

pub(super) async fn find_link(db: &Db, sha256: &[u8]) -> Result<Option<Link>, Error> {
    db.query("SELECT made_at, used_at FROM waitlist_links WHERE network_id = $1 AND sha256 = $2")
        .bind(OPERATOR_NETWORK)
        .bind(sha256)
        .optional()
        .await
}

/// Uses a link up and returns its address; none if it is used, expired or unknown.
pub(super) async fn use_link(
    tx: &mut Tx,
    sha256: &[u8],
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

pub(super) async fn confirm(tx: &mut Tx, folded: &str, now: Millis) -> Result<(), Error> {
    tx.query(
        "UPDATE waitlist SET confirmed_at = COALESCE(confirmed_at, $3)
         WHERE network_id = $1 AND email_folded = $2",
    )
    .bind(OPERATOR_NETWORK)
    .bind(folded)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// A page of all entries, or of the confirmed or unconfirmed ones, earliest first; and their number.
pub(super) async fn list(
    db: &Db,
    confirmed: Option<bool>,
    limit: i64,
    offset: i64,
) -> Result<(Vec<WaitlistEntry>, i64), Error> {
    db.page(
        "SELECT COUNT(*) FROM waitlist WHERE network_id = $1 AND ($2 IS NULL OR (confirmed_at IS NOT NULL) = $2)",
        "SELECT email, source, joined_at, confirmed_at FROM waitlist
         WHERE network_id = $1 AND ($2 IS NULL OR (confirmed_at IS NOT NULL) = $2)
         ORDER BY joined_at, email_folded LIMIT $3 OFFSET $4",
        |statement| statement.bind(OPERATOR_NETWORK).bind(confirmed),
        limit,
        offset,
    )
    .await
}

/// A confirmed address in its original spelling.
pub(super) async fn confirmed_email(tx: &mut Tx, folded: &str) -> Result<Option<String>, Error> {
    let row: Option<(String,)> = tx
        .query("SELECT email FROM waitlist WHERE network_id = $1 AND email_folded = $2 AND confirmed_at IS NOT NULL")
        .bind(OPERATOR_NETWORK)
        .bind(folded)
        .optional()
        .await?;
    Ok(row.map(|(email,)| email))
}

/// Deletes an address and its links; false if there is none.
pub(super) async fn remove(tx: &mut Tx, folded: &str) -> Result<bool, Error> {
    let rows = tx
        .query("DELETE FROM waitlist WHERE network_id = $1 AND email_folded = $2")
        .bind(OPERATOR_NETWORK)
        .bind(folded)
        .execute()
        .await?;
    tx.query("DELETE FROM waitlist_links WHERE network_id = $1 AND email_folded = $2")
        .bind(OPERATOR_NETWORK)
        .bind(folded)
        .execute()
        .await?;
    Ok(rows > 0)
}
