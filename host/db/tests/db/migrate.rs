//! The embedded schema.

use std::fs;

use hub_db::Db;
use tokio::task::JoinSet;

use crate::common::on_both;

fn names(backend: &str) -> Vec<String> {
    let folder = format!("{}/../../migrations/{backend}", env!("CARGO_MANIFEST_DIR"));
    let paths = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut names: Vec<String> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "sql"))
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn both_databases_have_the_same_history() {
    assert_eq!(names("sqlite"), names("postgres"));
}

/// The schema of the first release. Later migrations run while nodes of the previous release still work.
const FIRST: &str = "0001_schema.sql";

/// The text without the statements inside of functions and triggers.
fn without_bodies(text: &str) -> String {
    // Between dollar signs, every second part is a function's.
    let outside = text.split("$$").step_by(2).collect::<Vec<_>>().join(" ");
    let mut left = String::new();
    for (at, part) in outside.split(" BEGIN ").enumerate() {
        left.push_str(if at == 0 { part } else { part.split_once("END;").map_or("", |(_, after)| after) });
        left.push(';');
    }
    left
}

/// The first statement of a migration that would break a running node of the previous release.
fn breaks_previous_release(migration: &str) -> Option<String> {
    let lines = migration.lines().map(|line| line.split("--").next().unwrap_or_default());
    let text = without_bodies(&lines.collect::<Vec<_>>().join(" ").to_uppercase());
    let words = |statement: &str| statement.split_whitespace().collect::<Vec<_>>().join(" ");
    let statements: Vec<String> = text.split(';').map(words).filter(|statement| !statement.is_empty()).collect();
    let creates = |table: &str| {
        let is_creation = |it: &String, kind| it.starts_with(&format!("CREATE {kind} {table} "));
        statements.iter().any(|it| is_creation(it, "TABLE") || is_creation(it, "VIRTUAL TABLE"))
    };
    let is_breaking = |statement: &&String| {
        let of = |before: &str| statement.split_once(before).and_then(|(_, rest)| rest.split([' ', '(']).next());
        // A trigger that runs afterwards, as one that counts, leaves the rows as they were written.
        let counts = statement.starts_with("CREATE TRIGGER ") && statement.contains(" AFTER ");
        let creates_new = ["CREATE TABLE ", "CREATE VIRTUAL TABLE ", "CREATE FUNCTION "];
        if counts || creates_new.iter().any(|beginning| statement.starts_with(beginning)) {
            return false;
        }
        if let Some(table) = statement.strip_prefix("INSERT INTO ").and_then(|rest| rest.split([' ', '(']).next()) {
            return !creates(table);
        }
        if let Some(table) = of(" ON ").filter(|_| statement.starts_with("CREATE ") && statement.contains("INDEX ")) {
            // On a table in use it blocks writers while it is built, and a unique one refuses their rows.
            return !creates(table) && (statement.contains("UNIQUE") || !statement.contains(" CONCURRENTLY "));
        }
        let adds_column = statement.starts_with("ALTER TABLE ") && statement.contains(" ADD COLUMN ");
        let is_optional = !statement.contains("NOT NULL") || statement.contains(" DEFAULT ");
        // One change per statement, because the rest of it is not parsed.
        !(adds_column && is_optional && !statement.contains(','))
    };
    statements.iter().find(is_breaking).cloned()
}

#[test]
fn migrations_only_add() {
    for backend in ["sqlite", "postgres"] {
        for name in names(backend).into_iter().filter(|name| name.as_str() > FIRST) {
            let file = format!("{}/../../migrations/{backend}/{name}", env!("CARGO_MANIFEST_DIR"));
            // SQLite has one process, so an index there need not be concurrent.
            let text = fs::read_to_string(file).unwrap().replace("WITHOUT ROWID", "");
            let text = if backend == "sqlite" { text.replace("INDEX ", "INDEX CONCURRENTLY ") } else { text };
            assert_eq!(breaks_previous_release(&text), None, "{backend}/{name}");
        }
    }
}

#[test]
fn changes_that_break_the_previous_release_are_found() {
    for additive in [
        "CREATE TABLE a (b TEXT NOT NULL); CREATE UNIQUE INDEX c ON a (b);",
        "-- DROP TABLE a;\nALTER TABLE a ADD COLUMN b TEXT; ALTER TABLE a ADD COLUMN c BIGINT NOT NULL DEFAULT 0;",
        "CREATE INDEX CONCURRENTLY c ON a (b);",
        "CREATE TRIGGER t AFTER INSERT ON a WHEN NEW.b > 1 BEGIN\n  DELETE FROM c; UPDATE c SET d = 1;\nEND;",
        "CREATE FUNCTION f() RETURNS TRIGGER LANGUAGE plpgsql AS $$\nBEGIN\n DELETE FROM c;\nEND $$;
         CREATE TRIGGER t AFTER INSERT OR UPDATE OF b ON a FOR EACH ROW EXECUTE FUNCTION f();",
    ] {
        assert_eq!(breaks_previous_release(additive), None);
    }
    for wrong in [
        "INSERT INTO a (b) VALUES (1)",
        "DROP TABLE a",
        "ALTER TABLE a DROP COLUMN b",
        "ALTER TABLE a RENAME COLUMN b TO c",
        "ALTER TABLE a ALTER COLUMN b TYPE BIGINT",
        "ALTER TABLE a ALTER COLUMN b SET NOT NULL",
        "ALTER TABLE a ADD COLUMN b BIGINT NOT NULL",
        "ALTER TABLE a ADD CONSTRAINT c CHECK (b > 0)",
        "ALTER TABLE a ADD COLUMN b TEXT, DROP COLUMN c",
        "CREATE INDEX c ON a (b)",
        "CREATE UNIQUE INDEX CONCURRENTLY c ON a (b)",
        "CREATE TRIGGER t BEFORE INSERT ON a EXECUTE FUNCTION f()",
        "UPDATE a SET b = 1",
        "CREATE TRIGGER t BEFORE INSERT ON a BEGIN",
    ] {
        let migration = format!("CREATE TABLE other (b TEXT); {wrong};");
        assert_eq!(breaks_previous_release(&migration), Some(wrong.to_uppercase()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_node_starts_on_a_newer_schema() {
    on_both(async |fixture| {
        fixture.db.migrate().await.unwrap();
        fixture
            .db
            .write(
                "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
                 VALUES (9999, 'from the future', true, $1, 0)",
            )
            .bind(vec![1_u8])
            .execute()
            .await
            .unwrap();
        fixture.db.migrate().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_and_repeated_migrations_succeed() {
    on_both(async |fixture| {
        let mut tasks = JoinSet::new();
        for _ in 0..6 {
            let config = fixture.config.clone();
            tasks.spawn(async move {
                let db = Db::connect(&config).await.unwrap();
                db.migrate().await.unwrap();
                db.close().await;
            });
        }
        while let Some(task) = tasks.join_next().await {
            task.unwrap();
        }
        fixture.db.migrate().await.unwrap();
        let (applied,): (i64,) =
            fixture.db.query("SELECT COUNT(*) FROM _sqlx_migrations WHERE success").one().await.unwrap();
        assert_eq!(usize::try_from(applied).unwrap(), names("sqlite").len());
    })
    .await;
}
