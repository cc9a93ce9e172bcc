//! `hub admin doctor`: checks the hub's dependencies and suggests fixes.
//!
//! It leaves no changes behind: it writes a temporary file and a temporary blob, and sends one mail.

mod certificate;
mod database;
mod disk;
mod outside;
mod secrets_key;
mod store;

use std::time::Duration;

use hub_db::Db;
use serde::Serialize;

use crate::component::Component;
use crate::config::Settings;
use crate::identity;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "`hub admin doctor`: checks what the hub depends on ([doctor](../operate/doctor.md))",
    ..Component::new(module_path!())
};

/// Time limit of one check.
const TIME_LIMIT: Duration = Duration::from_secs(15);

/// Options of the checks.
pub struct Doctor {
    pub settings: Settings,
    /// Recipient of a test mail; none: only a connection to the server is made.
    pub mail_to: Option<String>,
    /// Minimum free disk space, in MiB.
    pub min_free: u64,
    /// Minimum remaining validity of the certificate, in days.
    pub min_days: i64,
}

/// Outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Outcome {
    Ok,
    /// Not applicable.
    Skipped,
    Failed,
}

/// Result of one check.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    pub name: &'static str,
    pub outcome: Outcome,
    /// Finding.
    pub message: String,
    /// Suggested fix; null if the check passed.
    pub advice: Option<String>,
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

/// Runs a check with the time limit.
async fn in_time(name: &'static str, advice: &str, check: impl Future<Output = Check>) -> Check {
    match tokio::time::timeout(TIME_LIMIT, check).await {
        Ok(check) => check,
        Err(_) => Check::failed(name, format!("no answer within {} s", TIME_LIMIT.as_secs()), advice),
    }
}

impl Doctor {
    /// Runs all checks.
    pub async fn examine(&self) -> Vec<Check> {
        let settings = &self.settings;
        let mut checks = vec![disk::permissions(settings), disk::space(settings, self.min_free), disk::clock()];
        let (reached, db) = database::connect(settings).await;
        checks.push(reached);
        let mut hub = None;
        if let Some(db) = &db {
            checks.extend(self.examine_database(db).await);
            hub = identity::find_id(db).await.ok().flatten();
            db.close().await;
        }
        checks.push(in_time("bus", "start NATS or check --bus", outside::bus(settings, hub)).await);
        checks.push(in_time("mail", "check --smtp", outside::mail(settings, self.mail_to.as_deref())).await);
        checks.extend(outside::public_url(settings, self.min_days).await);
        checks.push(in_time("readiness", "check the hub's log", outside::readiness(settings)).await);
        checks
    }

    async fn examine_database(&self, db: &Db) -> Vec<Check> {
        let migrated = database::migrations(db).await;
        let is_migrated = migrated.outcome == Outcome::Ok;
        let drift = in_time("database-clock", "check the database's load", database::clock(db));
        let mut checks = vec![migrated, drift.await];
        let blobs = outside::blobs(&self.settings, db);
        checks.push(in_time("blobs", "check --blobs, or start the blob store", blobs).await);
        if is_migrated {
            let advice = "check the database's load";
            checks.push(in_time("secrets-key", advice, secrets_key::check(&self.settings, db)).await);
            checks.push(in_time("restore", advice, database::restore(db)).await);
            checks.push(in_time("nodes", advice, database::nodes(db)).await);
            checks.push(in_time("breakers", advice, database::breakers(db)).await);
        }
        checks
    }
}
