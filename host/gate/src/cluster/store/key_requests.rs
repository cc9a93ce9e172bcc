//! SQL of requests for the key of the hub's secrets. They belong to no network; times are by the database's clock.

use hub_db::{Db, Error};

/// Stores a request, and deletes those of nodes that have ended. Not for good: a node that lives asks again.
pub(in crate::cluster) async fn ask(db: &Db, request: &str) -> Result<(), Error> {
    // Crosses networks: they belong to the hub.
    let sql = "DELETE FROM key_requests
               WHERE asked_at < CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) - 60000";
    db.write(sql).execute().await?;
    let sql = "INSERT INTO key_requests (request, asked_at)
               VALUES ($1, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT))";
    db.write(sql).bind(request).execute().await?;
    Ok(())
}

/// The answer to a request, once there is one.
pub(in crate::cluster) async fn answer(db: &Db, request: &str) -> Result<Option<String>, Error> {
    // Crosses networks: they belong to the hub.
    let row = db.query("SELECT answer FROM key_requests WHERE request = $1").bind(request).optional().await?;
    Ok(row.and_then(|(answer,): (Option<String>,)| answer))
}

/// Requests of the last minute without an answer.
pub(in crate::cluster) async fn unanswered(db: &Db) -> Result<Vec<String>, Error> {
    // Crosses networks: they belong to the hub.
    let sql = "SELECT request FROM key_requests
               WHERE answer IS NULL
                 AND asked_at > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) - 60000
               ORDER BY asked_at LIMIT 100";
    let rows: Vec<(String,)> = db.query(sql).all().await?;
    Ok(rows.into_iter().map(|(request,)| request).collect())
}

/// Answers a request.
pub(in crate::cluster) async fn put_answer(db: &Db, request: &str, answer: &str) -> Result<(), Error> {
    // Crosses networks: they belong to the hub.
    let sql = "UPDATE key_requests SET answer = $2 WHERE request = $1";
    db.write(sql).bind(request).bind(answer).execute().await?;
    Ok(())
}

/// Ends a request.
pub(in crate::cluster) async fn delete(db: &Db, request: &str) -> Result<(), Error> {
    // Crosses networks: they belong to the hub.
    db.write("DELETE FROM key_requests WHERE request = $1").bind(request).execute().await?;
    Ok(())
}
