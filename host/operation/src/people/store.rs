//! All SQL of people. Persons, their provider subjects, sessions and failures belong to the hub; members and links
//! belong to a network.

pub(super) mod devices;
pub(super) mod failures;
pub(super) mod roles;
pub(super) mod sessions;
pub(super) mod totp;

use hub_db::{Db, Error, Executor, Tx};

use crate::auth::{OPERATOR_NETWORK, Role, SessionToken};
use crate::clock::{Millis, Settled};
use crate::people::model::{ADDRESS_TTL, LinkKind, LinkRow, MemberRow, MembershipRow, PersonRow};
use crate::people::openid::{Identity, Pending};
use crate::values::NetworkId;

macro_rules! select_person {
    ($condition:literal) => {
        concat!(
            "SELECT person_id, email_folded, email, name, password_hash, is_operator, totp_secret, totp_confirmed, created_at
             FROM persons ",
            $condition
        )
    };
}

pub(super) async fn find_by_email(on: impl Into<Executor<'_>>, folded: &str) -> Result<Option<PersonRow>, Error> {
    on.into().query(select_person!("WHERE email_folded = $1")).bind(folded).optional().await
}

pub(super) async fn find(on: impl Into<Executor<'_>>, person: &str) -> Result<Option<PersonRow>, Error> {
    on.into().query(select_person!("WHERE person_id = $1")).bind(person).optional().await
}

/// Person linked with this subject of a provider.
pub(super) async fn find_by_openid(
    on: impl Into<Executor<'_>>,
    issuer: &str,
    subject: &str,
) -> Result<Option<PersonRow>, Error> {
    on.into()
        .query(select_person!(
            "WHERE person_id = (SELECT person_id FROM person_openid_subjects WHERE issuer = $1 AND subject = $2)"
        ))
        .bind(issuer)
        .bind(subject)
        .optional()
        .await
}

/// True if any provider, or with `issuer` this one, identifies the person.
pub(super) async fn has_openid(on: impl Into<Executor<'_>>, person: &str, issuer: Option<&str>) -> Result<bool, Error> {
    let rows: Vec<(String,)> =
        on.into().query("SELECT issuer FROM person_openid_subjects WHERE person_id = $1").bind(person).all().await?;
    Ok(rows.iter().any(|(known,)| issuer.is_none_or(|issuer| issuer == known)))
}

/// Links a provider's subject with a person. A subject of a deleted person may be linked again.
pub(super) async fn link_openid(
    tx: &mut Tx,
    issuer: &str,
    subject: &str,
    person: &str,
    now: Millis,
) -> Result<(), Error> {
    tx.query(
        "INSERT INTO person_openid_subjects (issuer, subject, person_id, linked_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (issuer, subject) DO UPDATE SET person_id = excluded.person_id, linked_at = excluded.linked_at",
    )
    .bind(issuer)
    .bind(subject)
    .bind(person)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// The hub's people, earliest first, and their number.
pub(super) async fn list(db: &Db, limit: i64, offset: i64) -> Result<(Vec<PersonRow>, i64), Error> {
    let count = "SELECT COUNT(*) FROM persons";
    db.page(count, select_person!("ORDER BY created_at, person_id LIMIT $1 OFFSET $2"), |it| it, limit, offset).await
}

/// True if anybody has an account.
pub(super) async fn has_people(on: impl Into<Executor<'_>>) -> Result<bool, Error> {
    let row: Option<(String,)> = on.into().query("SELECT person_id FROM persons LIMIT 1").optional().await?;
    Ok(row.is_some())
}

/// Adds a person; false if the address has an account.
pub(super) async fn insert(tx: &mut Tx, person: &PersonRow) -> Result<bool, Error> {
    let rows = tx
        .query(
            "INSERT INTO persons (person_id, email_folded, email, name, password_hash, is_operator, totp_confirmed,
                 totp_last_step, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8) ON CONFLICT (email_folded) DO NOTHING",
        )
        .bind(&person.person_id)
        .bind(&person.email_folded)
        .bind(&person.email)
        .bind(&person.name)
        .bind(&person.password_hash)
        .bind(person.is_operator)
        .bind(false)
        .bind(person.created_at)
        .execute()
        .await?;
    Ok(rows > 0)
}

pub(super) async fn make_operator(tx: &mut Tx, person: &str) -> Result<(), Error> {
    tx.query("UPDATE persons SET is_operator = $2 WHERE person_id = $1").bind(person).bind(true).execute().await?;
    Ok(())
}

/// True if the password and the second factor are those of `person`, as they were read earlier: checking a password takes
/// long enough for them to be changed. They stay so until the transaction ends.
pub(super) async fn hold_unchanged(tx: &mut Tx, person: &PersonRow) -> Result<bool, Error> {
    let hold = "UPDATE persons SET name = name
                WHERE person_id = $1 AND password_hash IS NOT DISTINCT FROM $2 AND totp_confirmed = $3";
    let held = tx.query(hold).bind(&person.person_id).bind(&person.password_hash).bind(person.totp_confirmed);
    Ok(held.execute().await? == 1)
}

pub(super) async fn set_password(tx: &mut Tx, person: &str, hash: &str) -> Result<(), Error> {
    tx.query("UPDATE persons SET password_hash = $2 WHERE person_id = $1").bind(person).bind(hash).execute().await?;
    Ok(())
}

/// Deletes a person with their sessions, codes and memberships. Returns their networks and roles.
pub(super) async fn delete(tx: &mut Tx, person: &str) -> Result<Vec<(NetworkId, String)>, Error> {
    tx.query("DELETE FROM person_sessions WHERE person_id = $1").bind(person).execute().await?;
    set_totp(tx, person, None, false).await?;
    // Crosses networks: a person may be a member of many.
    let rows: Vec<(NetworkId, String)> = tx
        .query("DELETE FROM network_members WHERE person_id = $1 RETURNING network_id, role")
        .bind(person)
        .all()
        .await?;
    tx.query("DELETE FROM person_openid_subjects WHERE person_id = $1").bind(person).execute().await?;
    tx.query("DELETE FROM persons WHERE person_id = $1").bind(person).execute().await?;
    Ok(rows)
}

/// Sets or removes the second factor, and deletes its recovery codes.
pub(super) async fn set_totp(tx: &mut Tx, person: &str, secret: Option<&[u8]>, confirmed: bool) -> Result<(), Error> {
    tx.query("UPDATE persons SET totp_secret = $2, totp_confirmed = $3 WHERE person_id = $1")
        .bind(person)
        .bind(secret)
        .bind(confirmed)
        .execute()
        .await?;
    tx.query("DELETE FROM person_recovery_codes WHERE person_id = $1").bind(person).execute().await?;
    Ok(())
}

/// Uses up a step of the second factor; false if it, or a later one, was used.
pub(super) async fn use_totp_step(db: &Db, person: &str, step: i64) -> Result<bool, Error> {
    let rows = db
        .write("UPDATE persons SET totp_last_step = $2 WHERE person_id = $1 AND totp_last_step < $2")
        .bind(person)
        .bind(step)
        .execute()
        .await?;
    Ok(rows > 0)
}

pub(super) async fn insert_recovery_code(tx: &mut Tx, person: &str, sha256: &[u8]) -> Result<(), Error> {
    tx.query("INSERT INTO person_recovery_codes (person_id, sha256) VALUES ($1, $2)")
        .bind(person)
        .bind(sha256)
        .execute()
        .await?;
    Ok(())
}

/// Uses up a recovery code; false if there is none.
pub(super) async fn use_recovery_code(db: &Db, person: &str, sha256: &[u8]) -> Result<bool, Error> {
    let delete = "DELETE FROM person_recovery_codes WHERE person_id = $1 AND sha256 = $2";
    Ok(db.write(delete).bind(person).bind(sha256).execute().await? > 0)
}

/// Addresses at which a person was recently signed in.
pub(super) async fn addresses_of_sessions(db: &Db, folded: &str) -> Result<Vec<String>, Error> {
    let rows: Vec<(String,)> = db
        .query(
            "SELECT s.address FROM persons p JOIN person_sessions s ON s.person_id = p.person_id
             WHERE p.email_folded = $1 AND s.address IS NOT NULL",
        )
        .bind(folded)
        .all()
        .await?;
    Ok(rows.into_iter().map(|(address,)| address).collect())
}

/// Stores a session, and deletes the person's earliest ending ones above `most`.
pub(super) async fn insert_session(
    tx: &mut Tx,
    person: &str,
    token: &SessionToken,
    address: &str,
    (now, expires_at): (Millis, Millis),
    most: i64,
) -> Result<(), Error> {
    tx.query(
        "INSERT INTO person_sessions (session_id, person_id, sha256, created_at, expires_at, address)
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(&token.id)
    .bind(person)
    .bind(&token.sha256)
    .bind(now)
    .bind(expires_at)
    .bind(address)
    .execute()
    .await?;
    tx.query(
        "DELETE FROM person_sessions WHERE session_id IN (
             SELECT session_id FROM person_sessions WHERE person_id = $1 ORDER BY expires_at DESC, session_id
             LIMIT 1000 OFFSET $2)",
    )
    .bind(person)
    .bind(most)
    .execute()
    .await?;
    Ok(())
}

/// True while a session lasts.
pub(super) async fn is_signed_in(tx: &mut Tx, session: &str, now: Millis) -> Result<bool, Error> {
    let found = "SELECT session_id FROM person_sessions WHERE session_id = $1 AND expires_at > $2";
    let found: Option<(String,)> = tx.query(found).bind(session).bind(now).optional().await?;
    Ok(found.is_some())
}

/// Ends a session. Its address stays known for a while.
pub(super) async fn end_session(db: &Db, session: &str, now: Millis) -> Result<(), Error> {
    db.write("UPDATE person_sessions SET expires_at = $2 WHERE session_id = $1 AND expires_at > $2")
        .bind(session)
        .bind(now)
        .execute()
        .await?;
    Ok(())
}

/// Ends all sessions of a person except one.
pub(super) async fn end_sessions(tx: &mut Tx, person: &str, but: Option<&str>, now: Millis) -> Result<(), Error> {
    tx.query(
        "UPDATE person_sessions SET expires_at = $3, sha256 = $4
         WHERE person_id = $1 AND session_id <> $2 AND expires_at > $3",
    )
    .bind(person)
    .bind(but.unwrap_or_default())
    .bind(now)
    // Without their tokens' hashes they are over at every time.
    .bind(&[0_u8; 0][..])
    .execute()
    .await?;
    Ok(())
}

/// Stores a sign-in that waits for its code.
pub(super) async fn insert_pending(db: &Db, sha256: &[u8], pending: &Pending) -> Result<(), Error> {
    db.write(
        "INSERT INTO pending_sign_ins (sha256, subject, email, name, invitation_sha256, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(sha256)
    .bind(&pending.identity.subject)
    .bind(&pending.identity.email)
    .bind(&pending.identity.name)
    .bind(&pending.invitation)
    .bind(pending.expires_at)
    .execute()
    .await?;
    Ok(())
}

type PendingRow = (String, String, String, Option<Vec<u8>>, Millis);

/// The sign-in that waits for its code, by the hash of the browser's token.
pub(super) async fn pending(db: &Db, sha256: &[u8]) -> Result<Option<Pending>, Error> {
    let row: Option<PendingRow> = db
        .query("SELECT subject, email, name, invitation_sha256, expires_at FROM pending_sign_ins WHERE sha256 = $1")
        .bind(sha256)
        .optional()
        .await?;
    Ok(row.map(|(subject, email, name, invitation, expires_at)| {
        let identity = Identity { subject, email, name };
        Pending { identity, invitation, expires_at }
    }))
}

/// Uses up a sign-in that waited for its code; false if another request did.
pub(super) async fn delete_pending(db: &Db, sha256: &[u8]) -> Result<bool, Error> {
    Ok(db.write("DELETE FROM pending_sign_ins WHERE sha256 = $1").bind(sha256).execute().await? > 0)
}

/// Deletes expired sessions, failures and links.
pub(super) async fn delete_ended(db: &Db, settled: Settled) -> Result<(), Error> {
    const DAY: Millis = 24 * 60 * 60 * 1000;
    db.write("DELETE FROM person_sessions WHERE expires_at <= $1")
        .bind(settled.before(ADDRESS_TTL).at())
        .execute()
        .await?;
    db.write("DELETE FROM pending_sign_ins WHERE expires_at <= $1").bind(settled.now()).execute().await?;
    db.write("DELETE FROM sign_in_failures WHERE last_at <= $1").bind(settled.before(DAY).at()).execute().await?;
    // Crosses networks: links end alike in all of them, at a `Settled` time.
    db.write("DELETE FROM person_links WHERE expires_at <= $1").bind(settled.now()).execute().await?;
    // Codes of devices end at a `Settled` time, too.
    db.write("DELETE FROM device_sign_ins WHERE expires_at <= $1").bind(settled.now()).execute().await?;
    Ok(())
}

/// Adds a member, or changes a member's role.
pub(super) async fn put_member(
    tx: &mut Tx,
    network: NetworkId,
    person: &str,
    role: &str,
    (now, by): (Millis, Option<&str>),
) -> Result<(), Error> {
    tx.query(
        "INSERT INTO network_members (network_id, person_id, role, joined_at, created_by) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (network_id, person_id) DO UPDATE SET role = excluded.role, created_by = excluded.created_by",
    )
    .bind(network)
    .bind(person)
    .bind(role)
    .bind(now)
    .bind(by)
    .execute()
    .await?;
    Ok(())
}

/// Keeps a member from being changed or removed by others until the transaction ends.
pub(super) async fn lock_member(tx: &mut Tx, network: NetworkId, person: &str) -> Result<(), Error> {
    let lock = "UPDATE network_members SET role = role WHERE network_id = $1 AND person_id = $2";
    tx.query(lock).bind(network).bind(person).execute().await?;
    Ok(())
}

/// Changes the role of a member, whose row is locked.
pub(super) async fn set_role(
    tx: &mut Tx,
    network: NetworkId,
    person: &str,
    (role, by): (&str, &str),
) -> Result<(), Error> {
    tx.query("UPDATE network_members SET role = $3, created_by = $4 WHERE network_id = $1 AND person_id = $2")
        .bind(network)
        .bind(person)
        .bind(role)
        .bind(by)
        .execute()
        .await?;
    Ok(())
}

macro_rules! select_member {
    ($condition:literal) => {
        concat!(
            "SELECT m.person_id, p.email, p.name, m.role, m.created_by, m.joined_at, p.totp_confirmed AS has_second_factor
             FROM network_members m JOIN persons p ON p.person_id = m.person_id WHERE m.network_id = $1 ",
            $condition
        )
    };
}

/// Addresses of the members with a role.
pub(super) async fn addresses(db: &Db, network: NetworkId, role: Role) -> Result<Vec<String>, Error> {
    let rows: Vec<(String,)> = db
        .query(
            "SELECT p.email FROM network_members m JOIN persons p ON p.person_id = m.person_id
             WHERE m.network_id = $1 AND m.role = $2 ORDER BY m.joined_at, m.person_id",
        )
        .bind(network)
        .bind(role.as_str())
        .all()
        .await?;
    Ok(rows.into_iter().map(|(email,)| email).collect())
}

pub(super) async fn member(tx: &mut Tx, network: NetworkId, person: &str) -> Result<Option<MemberRow>, Error> {
    tx.query(select_member!("AND m.person_id = $2")).bind(network).bind(person).optional().await
}

/// Members by the time they joined, and their number.
pub(super) async fn members(
    db: &Db,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<MemberRow>, i64), Error> {
    db.page(
        "SELECT COUNT(*) FROM network_members WHERE network_id = $1",
        select_member!("ORDER BY m.joined_at, m.person_id LIMIT $2 OFFSET $3"),
        |statement| statement.bind(network),
        limit,
        offset,
    )
    .await
}

pub(super) async fn delete_member(tx: &mut Tx, network: NetworkId, person: &str) -> Result<(), Error> {
    let delete = "DELETE FROM network_members WHERE network_id = $1 AND person_id = $2";
    tx.query(delete).bind(network).bind(person).execute().await?;
    Ok(())
}

/// Networks of a person, by name.
pub(super) async fn memberships(db: &Db, person: &str) -> Result<Vec<MembershipRow>, Error> {
    db.query(
        "SELECT m.network_id, n.name, n.stage, m.role, r.scopes FROM network_members m
         JOIN networks n ON n.network_id = m.network_id
         LEFT JOIN network_roles r ON r.network_id = m.network_id AND r.name = m.role
         WHERE m.person_id = $1 ORDER BY n.name LIMIT 1000",
    )
    .bind(person)
    .all()
    .await
}

/// Number of members of a network and of people invited to it.
pub(super) async fn count_people(tx: &mut Tx, network: NetworkId) -> Result<i64, Error> {
    let (count,): (i64,) = tx
        .query(
            "SELECT (SELECT COUNT(*) FROM network_members WHERE network_id = $1)
                 + (SELECT COUNT(*) FROM person_links WHERE network_id = $1)",
        )
        .bind(network)
        .one()
        .await?;
    Ok(count)
}

macro_rules! select_link {
    ($condition:literal) => {
        concat!(
            "SELECT network_id, link_id, kind, email_folded, email, role, created_by, created_at, expires_at
             FROM person_links ",
            $condition
        )
    };
}

/// Stores a link.
pub(super) async fn insert_link(tx: &mut Tx, link: &LinkRow) -> Result<(), Error> {
    tx.query(
        "INSERT INTO person_links (network_id, link_id, kind, email_folded, email, role, created_at, expires_at, created_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(link.network_id)
    .bind(&link.link_id)
    .bind(&link.kind)
    .bind(&link.email_folded)
    .bind(&link.email)
    .bind(&link.role)
    .bind(link.created_at)
    .bind(link.expires_at)
    .bind(&link.created_by)
    .execute()
    .await?;
    Ok(())
}

/// Latest link of this kind to an address.
pub(super) async fn latest_link(
    tx: &mut Tx,
    network: NetworkId,
    kind: LinkKind,
    folded: &str,
) -> Result<Option<LinkRow>, Error> {
    tx.query(select_link!("WHERE network_id = $1 AND email_folded = $2 AND kind = $3 ORDER BY created_at DESC LIMIT 1"))
        .bind(network)
        .bind(folded)
        .bind(<&str>::from(kind))
        .optional()
        .await
}

/// Link of a token.
pub(super) async fn find_link(tx: &mut Tx, sha256: &[u8]) -> Result<Option<LinkRow>, Error> {
    // Crosses networks: the token names its network.
    tx.query(select_link!("WHERE sha256 = $1")).bind(sha256).optional().await
}

/// Pending invitations to a network, latest first, and their number.
pub(super) async fn invitations(
    db: &Db,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<LinkRow>, i64), Error> {
    db.page(
        "SELECT COUNT(*) FROM person_links WHERE network_id = $1 AND kind = 'INVITATION'",
        select_link!(
            "WHERE network_id = $1 AND kind = 'INVITATION' ORDER BY created_at DESC, link_id DESC LIMIT $2 OFFSET $3"
        ),
        |statement| statement.bind(network),
        limit,
        offset,
    )
    .await
}

pub(super) async fn link(tx: &mut Tx, network: NetworkId, id: &str) -> Result<Option<LinkRow>, Error> {
    tx.query(select_link!("WHERE network_id = $1 AND link_id = $2")).bind(network).bind(id).optional().await
}

/// Invitations that a key or person sent.
pub(super) async fn invitations_by(tx: &mut Tx, network: NetworkId, by: &str) -> Result<Vec<LinkRow>, Error> {
    tx.query(select_link!("WHERE network_id = $1 AND kind = 'INVITATION' AND created_by = $2 ORDER BY created_at"))
        .bind(network)
        .bind(by)
        .all()
        .await
}

/// Open invitations by an operator, or a key of theirs. Crosses networks: operators invite to all.
pub(super) async fn invitations_by_operator(tx: &mut Tx, by: &str) -> Result<Vec<LinkRow>, Error> {
    tx.query(select_link!("WHERE kind = 'INVITATION' AND created_by = $1 ORDER BY created_at")).bind(by).all().await
}

/// Members whose role a key or person granted.
pub(super) async fn members_by(tx: &mut Tx, network: NetworkId, by: &str) -> Result<Vec<MemberRow>, Error> {
    tx.query(select_member!("AND m.created_by = $2 ORDER BY m.joined_at")).bind(network).bind(by).all().await
}

/// Has invitations and memberships of a key count as another's.
pub(super) async fn pass_on(tx: &mut Tx, network: NetworkId, from: &str, to: Option<&str>) -> Result<(), Error> {
    for pass in [
        "UPDATE person_links SET created_by = $3 WHERE network_id = $1 AND created_by = $2",
        "UPDATE network_members SET created_by = $3 WHERE network_id = $1 AND created_by = $2",
    ] {
        tx.query(pass).bind(network).bind(from).bind(to).execute().await?;
    }
    Ok(())
}

/// Deletes a link; false if it is gone.
pub(super) async fn delete_link(tx: &mut Tx, network: NetworkId, id: &str) -> Result<bool, Error> {
    let delete = "DELETE FROM person_links WHERE network_id = $1 AND link_id = $2";
    Ok(tx.query(delete).bind(network).bind(id).execute().await? > 0)
}

/// Gives a link a token. Returns it; none if it was deleted.
pub(super) async fn set_token(db: &Db, network: NetworkId, id: &str, sha256: &[u8]) -> Result<Option<LinkRow>, Error> {
    db.write(
        "UPDATE person_links SET sha256 = $3 WHERE network_id = $1 AND link_id = $2
         RETURNING network_id, link_id, kind, email_folded, email, role, created_by, created_at, expires_at",
    )
    .bind(network)
    .bind(id)
    .bind(sha256)
    .optional()
    .await
}

/// Name of a network in mails; none for the hub itself.
pub(super) async fn network_name(db: &Db, network: NetworkId) -> Result<Option<String>, Error> {
    if network == OPERATOR_NETWORK {
        return Ok(None);
    }
    let row: Option<(String,)> =
        db.query("SELECT name FROM networks WHERE network_id = $1").bind(network).optional().await?;
    Ok(row.map(|(name,)| name))
}
