//! Cost of moving a network of a million rows: time, and maximum memory, of each command.
//!
//! `cargo build --release --bin hub && cargo run --release --example moving -- /tmp/moving postgres://user@host/database`
//! (a folder to work in, a database to bring the network to, and the rows, if not a million).

#![allow(clippy::unwrap_used, reason = "a tool for measuring")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use hub::clock::Clock;
use hub::components::tables;
use hub::ids::Ids;
use hub::networks::service::create_network;
use hub::values::NetworkId;
use hub_db::{Cell, Config, Db};
use tokio::time::Instant;
use uuid::Uuid;

/// Rows of each player: one in `players`, one in `player_data`, a balance, three in its ledger, four of a statistic.
const PER_PLAYER: usize = 10;
const AT_ONCE: usize = 1_000;

type Row = Vec<Cell>;

fn text(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}

fn player(at: usize) -> Cell {
    Cell::Uuid(Uuid::from_u128(0x069a_79f4_44e9_4726_a5be_0000_0000_0000 + at as u128))
}

fn owner(at: usize) -> [Cell; 2] {
    let Cell::Uuid(id) = player(at) else { return [Cell::Null, Cell::Null] };
    [text("player"), Cell::Text(id.to_string())]
}

/// A player's rows of a table, in the components' format.
fn rows(table: &str, at: usize) -> Vec<Row> {
    let number = |number: usize| Cell::Integer(1_804_680_000_000 + number as i64);
    let [kind, key] = owner(at);
    match table {
        "players" => {
            let name = Cell::Text(format!("player{at}"));
            vec![vec![
                player(at),
                name.clone(),
                name,
                text("MINECRAFT"),
                text("EUROPE"),
                Cell::Null,
                number(0),
                number(at),
            ]]
        }
        "player_data" => {
            let data = format!(r#"{{"inventory":[{}],"level":{at}}}"#, "\"minecraft:stone\",".repeat(12) + "null");
            vec![vec![player(at), text("global"), text("inventory"), Cell::Text(data), Cell::Integer(3), number(at)]]
        }
        "balances" => vec![vec![kind, key, text("coins"), number(at), number(0), number(at), number(3)]],
        "currency_ledger" => {
            let entry = |id| {
                let (before, after) = (number(id), number(id + 1));
                let [kind, key] = owner(at);
                let asked = Cell::Integer(1);
                vec![
                    kind,
                    key,
                    text("coins"),
                    number(id),
                    asked,
                    before,
                    after,
                    text("a match"),
                    text("TJ9vJr0gAszb"),
                    number(id),
                ]
            };
            (0..3).map(entry).collect()
        }
        "statistics" => ["DAILY", "WEEKLY", "MONTHLY", "LIFETIME"]
            .map(|period| {
                let [kind, key] = owner(at);
                let value = Cell::Float(at as f64 / 7.0);
                vec![
                    kind,
                    key,
                    text("global"),
                    text(period),
                    text("2027-03-08"),
                    text("kills"),
                    value,
                    number(at),
                    number(at),
                ]
            })
            .to_vec(),
        _ => vec![],
    }
}

async fn fill(db: &Db, network: NetworkId, players: usize) {
    for table in tables().moved() {
        for first in (0..players).step_by(AT_ONCE) {
            let last = players.min(first + AT_ONCE);
            let rows: Vec<Row> = (first..last).flat_map(|at| rows(table.name, at)).collect();
            if rows.is_empty() {
                break;
            }
            db.transaction(async |mut tx| tx.insert_rows(table, network.0, &rows).await).await.unwrap();
        }
    }
}

/// Runs `hub admin network …` and prints its cost.
async fn measure(what: &str, arguments: &[&str]) {
    let hub = std::env::current_exe().unwrap().parent().unwrap().with_file_name("hub");
    let begun = Instant::now();
    let mut child = Command::new(hub).args(["admin", "network"]).args(arguments).stdout(Stdio::null()).spawn().unwrap();
    let (mut most, status) = (0, format!("/proc/{}/status", child.id()));
    let ended = loop {
        let lines = std::fs::read_to_string(&status).unwrap_or_default();
        let peak = lines.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        most = most.max(peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse::<u64>().ok()).unwrap_or(0));
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert!(ended.success(), "{what}");
    println!("| {what} | {:.1} s | {} MiB |", begun.elapsed().as_secs_f64(), most / 1024);
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(postgres)) = (arguments.next(), arguments.next()) else {
        eprintln!("which folder, and which PostgreSQL?");
        return;
    };
    let rows: usize = arguments.next().map_or(1_000_000, |rows| rows.parse().unwrap());
    let in_folder = |name: &str| Path::new(&folder).join(name).to_str().unwrap().to_owned();
    let (first, second) = (in_folder("first"), in_folder("second"));
    let db = Db::connect(&Config::Sqlite { path: Path::new(&first).join("hub.db") }).await.unwrap();
    db.migrate().await.unwrap();
    let name = format!("large-{}", Ids::System.token(6));
    let (network, _) = create_network(&db, &Clock::System, &Ids::System, &name).await.unwrap();
    fill(&db, network, rows / PER_PLAYER).await;
    db.close().await;

    let [one, two, three] = ["one.tar", "two.tar", "three.tar"].map(in_folder);
    measure("export from SQLite", &["export", &name, "--data", &first, "--out", &one]).await;
    measure("import into PostgreSQL", &["import", &one, "--data", &second, "--database", &postgres]).await;
    measure("export from PostgreSQL", &["export", &name, "--data", &second, "--database", &postgres, "--out", &two])
        .await;
    measure("import into SQLite", &["import", &two, "--data", &second]).await;
    measure("export from SQLite again", &["export", &name, "--data", &second, "--out", &three]).await;
    let same = Command::new("sha256sum").args([&one, &two, &three]).status().unwrap();
    assert!(same.success());
    println!("{} MiB", std::fs::metadata(&one).unwrap().len() >> 20);
}
