//! `hub admin plan …`: works on the database directly; running hubs apply changes within a second.

use anyhow::Context as _;
use clap::{Args, Subcommand};
use hub_db::Db;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::auth::Origin;
use crate::cli::open_database;
use crate::clock::Clock;
use crate::config::StorageArgs;
use crate::http::if_match::IfMatch;
use crate::ids::Ids;
use crate::limits::{ModuleLimits, PlanLimits};
use crate::plans::service::{self, Plan as StoredPlan};
use crate::values::Label;

#[derive(Subcommand, Debug)]
pub(super) enum Plan {
    /// List the plans
    List(List),
    /// Create a plan
    Create(Write),
    /// Change some limits of a plan; others stay unchanged
    Set(Write),
    /// Delete a plan that no network uses
    Delete(Named),
}

#[derive(Args, Debug)]
pub(super) struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

#[derive(Args, Debug)]
pub(super) struct Write {
    /// Plan name
    name: Label,
    /// Limit, for example `requestsPerSecond=100`, or `servers=none` for no limit; repeatable. Names:
    /// requestsPerSecond, requestBurst, keyRequestsPerSecond, eventsPerSecond, servers, streams, keys, players,
    /// documents, storageBytes, fileBytes, modules, webhooks, waiting, deliveries, reports, moduleMillisPerSecond,
    /// auditDays, usageDays, addressDays, logDays, ledgerDays, statisticsDays, chatHistoryDays and networkMetrics
    #[arg(long = "limit", value_name = "NAME=N|none", value_parser = parse_limit)]
    limits: Vec<(String, Value)>,
    /// Limit of one module call, for example `chat.computeMillis=5`, or `chat.fuel=none` for the default; repeatable.
    /// Names: computeMillis, fuel, memoryBytes, hostCalls, logLines and concurrency, each of matchmaking, chat,
    /// punishment, login, economy and queue
    #[arg(long = "module-limit", value_name = "POINT.NAME=N|none", value_parser = parse_limit)]
    module_limits: Vec<(String, Value)>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

#[derive(Args, Debug)]
pub(super) struct Named {
    /// Plan name
    name: Label,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

fn parse_limit(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=N or NAME=none")?;
    let value = match value {
        "none" => Value::Null,
        number => number.parse::<i64>().map_err(|_| format!("`{number}` is not an integer"))?.into(),
    };
    Ok((name.to_owned(), value))
}

impl Plan {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self {
            Self::List(list) => list.run().await,
            Self::Create(write) => write.run(false).await,
            Self::Set(write) => write.run(true).await,
            Self::Delete(named) => named.delete().await,
        }
    }
}

/// Opens the database and ensures that the plan `default` exists.
async fn open(storage: &StorageArgs) -> anyhow::Result<Db> {
    let db = open_database(storage).await?;
    service::ensure_default(&db, &Clock::System).await?;
    Ok(db)
}

fn origin() -> Origin {
    Origin::command_line(&Clock::System, &Ids::System)
}

impl List {
    async fn run(self) -> anyhow::Result<()> {
        let db = open(&self.storage).await?;
        let listed = service::list(&db, i64::MAX, 0).await;
        db.close().await;
        let (plans, _) = listed?;
        if self.json {
            let plans = plans.iter().map(to_json).collect::<anyhow::Result<Vec<_>>>()?;
            println!("{}", Value::Array(plans));
            return Ok(());
        }
        for plan in &plans {
            print_plan(plan)?;
        }
        Ok(())
    }
}

impl Write {
    async fn run(self, exists: bool) -> anyhow::Result<()> {
        let db = open(&self.storage).await?;
        let written = self.write(&db, exists).await;
        db.close().await;
        let plan = written?;
        if self.json {
            print_json!(to_json(&plan)?);
            return Ok(());
        }
        print_plan(&plan)
    }

    async fn write(&self, db: &Db, exists: bool) -> anyhow::Result<StoredPlan> {
        let name = self.name.as_str();
        let (limits, module_limits) = if exists {
            let plan = service::find(db, name).await?;
            (plan.limits, plan.module_limits)
        } else {
            (PlanLimits::default(), ModuleLimits::default())
        };
        let limits: PlanLimits = with_limits(&limits, &self.limits)?;
        let module_limits: ModuleLimits = with_limits(&module_limits, &self.module_limits)?;
        anyhow::ensure!(!limits.has_lone_burst(), "requestBurst requires requestsPerSecond");
        let write = if exists {
            service::set(db, &origin(), name, (limits, module_limits), IfMatch(None)).await
        } else {
            service::create(db, &origin(), name, limits, module_limits).await
        };
        Ok(write?)
    }
}

/// Returns the limits with these changes. A name with a dot is a field of a nested object.
fn with_limits<T: Serialize + DeserializeOwned>(limits: &T, changes: &[(String, Value)]) -> anyhow::Result<T> {
    let mut all = serde_json::to_value(limits)?;
    for (name, value) in changes {
        let pointer = format!("/{}", name.replace('.', "/"));
        let place = all.pointer_mut(&pointer).filter(|place| !place.is_object());
        *place.with_context(|| format!("unknown limit `{name}`; see --help"))? = value.clone();
        // Applied one by one, so that the error names the limit.
        serde_json::from_value::<T>(all.clone()).with_context(|| format!("`{name}`"))?;
    }
    Ok(serde_json::from_value(all)?)
}

impl Named {
    async fn delete(self) -> anyhow::Result<()> {
        let db = open(&self.storage).await?;
        let deleted = service::delete(&db, &origin(), self.name.as_str()).await;
        db.close().await;
        deleted?;
        if self.json {
            print_json!(json!({"name": self.name, "deleted": true}));
        } else {
            println!("{} is deleted", self.name);
        }
        Ok(())
    }
}

fn to_json(plan: &StoredPlan) -> anyhow::Result<Value> {
    let StoredPlan { name, limits, module_limits, created_at, updated_at } = plan;
    Ok(json!({
        "name": name,
        "limits": serde_json::to_value(limits)?,
        "moduleLimits": serde_json::to_value(module_limits)?,
        "createdAt": created_at,
        "updatedAt": updated_at,
    }))
}

fn print_plan(plan: &StoredPlan) -> anyhow::Result<()> {
    let mut set = vec![];
    collect(&serde_json::to_value(&plan.limits)?, "", &mut set);
    collect(&serde_json::to_value(plan.module_limits)?, "", &mut set);
    let set = if set.is_empty() { "no limits".to_owned() } else { set.join(" ") };
    println!("{:<20} {set}", plan.name);
    Ok(())
}

/// Collects the limits that are set, in the format of `--limit`.
fn collect(value: &Value, prefix: &str, set: &mut Vec<String>) {
    let none = Map::new();
    for (name, value) in value.as_object().unwrap_or(&none) {
        match value {
            Value::Null => {}
            Value::Object(_) => collect(value, &format!("{prefix}{name}."), set),
            value => set.push(format!("{prefix}{name}={value}")),
        }
    }
}
