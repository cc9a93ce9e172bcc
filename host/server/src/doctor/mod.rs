//! `hub doctor`: checks everything a hub needs, and gives advice for what is wrong.
//!
//! It leaves no changes: it writes a temporary file and a temporary blob, and sends one mail.

mod certificate;
mod database;
mod disk;
mod outside;
mod store;

use std::time::Duration;

use hub_db::Db;
use serde::Serialize;

use crate::config::Settings;

/// How long any one check may take.
const TIME_LIMIT: Duration = Duration::from_secs(15);

/// What to check, and with which thresholds.
pub(crate) struct Doctor {
    pub(crate) settings: Settings,
    /// The recipient of a test mail; none: the server is only greeted.
    pub(crate) mail_to: Option<String>,
    /// Free disk space that is enough, in MiB.
    pub(crate) min_free: u64,
    /// Days that a certificate must be good for.
    pub(crate) min_days: i64,
}

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Outcome {
    Ok,
    /// It does not apply here.
    Skipped,
    Failed,
}

/// The result of one check.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) outcome: Outcome,
    /// What was found.
    pub(crate) message: String,
    /// What to do about it; null where nothing is wrong.
    pub(crate) advice: Option<String>,
}

impl Check {
    fn ok(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, outcome: Outcome::Ok, message: message.into(), advice: None }
    }

    fn skipped(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, outcome: Outcome::Skipped, message: message.into(), advice: None }
    }

    fn failed(name: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { name, outcome: Outcome::Failed, message: message.into(), advice: Some(advice.into()) }
    }
}

/// The check's result, or that it took too long.
async fn in_time(name: &'static str, advice: &str, check: impl Future<Output = Check>) -> Check {
    match tokio::time::timeout(TIME_LIMIT, check).await {
        Ok(check) => check,
        Err(_) => Check::failed(name, format!("no answer within {} s", TIME_LIMIT.as_secs()), advice),
    }
}

impl Doctor {
    /// Runs all checks.
    pub(crate) async fn examine(&self) -> Vec<Check> {
        let settings = &self.settings;
        let mut checks = vec![disk::permissions(settings), disk::space(settings, self.min_free), disk::clock()];
        let (reached, db) = database::connect(settings).await;
        checks.push(reached);
        if let Some(db) = &db {
            checks.extend(self.examine_database(db).await);
            db.close().await;
        }
        checks.push(in_time("bus", "start NATS, or correct --bus", outside::bus(settings)).await);
        checks.push(in_time("mail", "correct --smtp", outside::mail(settings, self.mail_to.as_deref())).await);
        checks.extend(outside::public_url(settings, self.min_days).await);
        checks.push(in_time("readiness", "look into the hub's log", outside::readiness(settings)).await);
        checks
    }

    async fn examine_database(&self, db: &Db) -> Vec<Check> {
        let migrated = database::migrations(db).await;
        let is_migrated = migrated.outcome == Outcome::Ok;
        let drift = in_time("database-clock", "look at the database's load", database::clock(db));
        let mut checks = vec![migrated, drift.await];
        let blobs = outside::blobs(&self.settings, db);
        checks.push(in_time("blobs", "correct --blobs, or start the store", blobs).await);
        if is_migrated {
            checks.extend([database::restore(db).await, database::nodes(db).await, database::breakers(db).await]);
        }
        checks
    }
}
