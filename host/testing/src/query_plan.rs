//! Query plans of SQLite, for tests that statements use their indexes: it has no statistics to plan by.

use hub_db::{Config, Db};

/// Steps by which SQLite runs each statement.
pub async fn query_plans(statements: &[&str]) -> Vec<Vec<String>> {
    let folder = tempfile::TempDir::new().unwrap();
    let db = Db::connect(&Config::Sqlite { path: folder.path().join("hub.db") }).await.unwrap();
    db.migrate().await.unwrap();
    let mut plans = vec![];
    for sql in statements {
        let explain: &'static str = format!("EXPLAIN QUERY PLAN {sql}").leak();
        let plan: Vec<(i64, i64, i64, String)> = db.query(explain).all().await.unwrap();
        plans.push(plan.into_iter().map(|(.., step)| step).collect());
    }
    plans
}
