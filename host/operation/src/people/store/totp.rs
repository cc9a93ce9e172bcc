//! SQL of the sealed secrets of second factors.

use hub_db::{Db, Error};

/// All of them, by person.
pub(in crate::people) async fn sealed(db: &Db) -> Result<Vec<(String, Vec<u8>)>, Error> {
    // Crosses networks: they belong to people.
    db.query("SELECT person_id, totp_secret FROM persons WHERE totp_secret IS NOT NULL ORDER BY person_id").all().await
}

/// Replaces the sealed form of a secret, unless that has changed.
pub(in crate::people) async fn replace(db: &Db, person: &str, before: &[u8], after: &[u8]) -> Result<u64, Error> {
    // Crosses networks: it belongs to a person.
    let replace = "UPDATE persons SET totp_secret = $3 WHERE person_id = $1 AND totp_secret = $2";
    db.write(replace).bind(person).bind(before).bind(after).execute().await
}
