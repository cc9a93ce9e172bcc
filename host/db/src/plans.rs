//! Plans of statements on SQLite, judged before each one runs for the first time. For tests: it has no statistics to plan by,
//! so that a scan is one for every hub.

use std::collections::HashSet;
use std::sync::OnceLock;

use parking_lot::Mutex;
use sqlx::SqliteConnection;

/// Reason against running a statement by these steps, if there is one.
type Judge = fn(&str, &[String]) -> Option<String>;

static JUDGE: OnceLock<Judge> = OnceLock::new();
static JUDGED: Mutex<Option<HashSet<String>>> = Mutex::new(None);

/// Has `judge` see the text and the plan of each statement of this process. One that it has a reason against fails.
pub fn judge_plans(judge: fn(&str, &[String]) -> Option<String>) {
    let _ = JUDGE.set(judge);
}

/// Fails if the plan of a statement is refused.
pub(crate) async fn check(conn: &mut SqliteConnection, text: &str) -> sqlx::Result<()> {
    let Some(judge) = JUDGE.get() else { return Ok(()) };
    let is_planned =
        ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].iter().any(|verb| text.trim_start().starts_with(verb));
    if !is_planned || JUDGED.lock().get_or_insert_default().contains(text) {
        return Ok(());
    }
    // Statistics of a few rows make it scan small tables.
    let analyzed = "SELECT name FROM sqlite_master WHERE name = 'sqlite_stat1'";
    let analyzed: Option<(String,)> = sqlx::query_as(analyzed).fetch_optional(&mut *conn).await?;
    if analyzed.is_some() {
        return Ok(());
    }
    let explain = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {text}"));
    let plan: Vec<(i64, i64, i64, String)> = sqlx::query_as(explain).persistent(false).fetch_all(conn).await?;
    let steps: Vec<_> = plan.into_iter().map(|(.., step)| step).collect();
    if let Some(reason) = judge(text, &steps) {
        return Err(sqlx::Error::Protocol(format!("{reason}: {text}")));
    }
    JUDGED.lock().get_or_insert_default().insert(text.to_owned());
    Ok(())
}
