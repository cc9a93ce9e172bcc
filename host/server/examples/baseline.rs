//! Lower bound for a service on the same stack, as a reference for the hub's figures: a bare axum route that answers
//! text, one that reads a heartbeat, one that does one prepared read, one that does one durable write. `scripts/bench`
//! runs it beside the hub.
//!
//! `cargo run --release --example baseline -- 127.0.0.1:9090 sqlite:/tmp/baseline.db` (or a `postgres://` URL)

#![allow(clippy::unwrap_used, reason = "a tool for measuring")]

use std::str::FromStr as _;

use axum::extract::{Path, State};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use sqlx::postgres::PgPoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{PgPool, SqlitePool};

const TABLE: &str =
    "CREATE TABLE IF NOT EXISTS entries (id TEXT PRIMARY KEY, data TEXT NOT NULL, version BIGINT NOT NULL)";
const READ: &str = "SELECT data, version FROM entries WHERE id = $1";
const WRITE: &str = "INSERT INTO entries (id, data, version) VALUES ($1, $2, 1)
     ON CONFLICT (id) DO UPDATE SET data = excluded.data, version = entries.version + 1 RETURNING version";

#[derive(Clone)]
enum Database {
    /// Readers, and the one writer that requests take in turn.
    Sqlite(SqlitePool, SqlitePool),
    Postgres(PgPool),
}

async fn open(url: &str) -> Database {
    if url.starts_with("postgres") {
        let pool = PgPoolOptions::new().max_connections(20).connect(url).await.unwrap();
        sqlx::query(TABLE).execute(&pool).await.unwrap();
        return Database::Postgres(pool);
    }
    let options = SqliteConnectOptions::from_str(url)
        .unwrap()
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full);
    let writer = SqlitePoolOptions::new().max_connections(1).connect_with(options.clone()).await.unwrap();
    sqlx::query(TABLE).execute(&writer).await.unwrap();
    let readers = SqlitePoolOptions::new().max_connections(4).connect_with(options).await.unwrap();
    Database::Sqlite(readers, writer)
}

async fn read(State(db): State<Database>, Path(id): Path<String>) -> Json<Option<(String, i64)>> {
    Json(match db {
        Database::Sqlite(readers, _) => sqlx::query_as(READ).bind(id).fetch_optional(&readers).await.unwrap(),
        Database::Postgres(pool) => sqlx::query_as(READ).bind(id).fetch_optional(&pool).await.unwrap(),
    })
}

async fn write(State(db): State<Database>, Path(id): Path<String>, body: String) -> Json<i64> {
    Json(match db {
        Database::Sqlite(_, writer) => sqlx::query_scalar(WRITE).bind(id).bind(body).fetch_one(&writer).await.unwrap(),
        Database::Postgres(pool) => sqlx::query_scalar(WRITE).bind(id).bind(body).fetch_one(&pool).await.unwrap(),
    })
}

/// Part of a heartbeat that has to be read.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "it is read and dropped")]
struct Heartbeat {
    server_id: String,
    server_type: String,
    game_state: String,
    players_to_start: i32,
    worlds: Vec<World>,
    players: Vec<Player>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, clippy::struct_field_names, reason = "as on the wire; it is read and dropped")]
struct World {
    world_id: String,
    display_name: String,
    current_players: i32,
    max_players: i32,
    game_state: String,
    players_to_start: i32,
    world_type: String,
}

#[derive(serde::Deserialize)]
#[allow(dead_code, reason = "it is read and dropped")]
struct Player {
    uuid: uuid::Uuid,
    name: String,
}

async fn heartbeat(Json(beat): Json<Heartbeat>) -> Json<usize> {
    Json(beat.players.len() + beat.worlds.len())
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let (address, url) = (arguments.next().unwrap(), arguments.next().unwrap());
    let routes = Router::new()
        .route("/text", get(async || "ok"))
        .route("/heartbeat", post(heartbeat))
        .route("/entries/{id}", get(read))
        .route("/entries/{id}", put(write))
        .with_state(open(&url).await);
    let listener = tokio::net::TcpListener::bind(&address).await.unwrap();
    println!("listening on http://{address}");
    axum::serve(listener, routes).await.unwrap();
}
