//! `hub admin jobs`: reads the database directly, even while a hub is running.

use clap::{Args, Subcommand};
use hub_db::Db;
use serde_json::{Value, json};

use crate::cli::format::{table, text, timestamp};
use crate::cli::open_database;
use crate::clock::Clock;
use crate::config::StorageArgs;
use crate::jobs::{self, JobId, JobState, StoredJob};

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Jobs {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    output: Output,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// List the jobs of a kind
    List(List),
    /// Try a job again now: one that was given up, or that waits after a failure
    Retry(Retry),
}

#[derive(Args, Debug)]
struct Output {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

#[derive(Args, Debug)]
struct List {
    /// Kind of the jobs, as `hub admin jobs` prints it
    #[arg(long)]
    kind: String,
    /// Maximum number of jobs
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u32,
    #[command(flatten)]
    output: Output,
}

#[derive(Args, Debug)]
struct Retry {
    /// Id of the job, as `hub admin jobs list` prints it
    id: JobId,
    #[command(flatten)]
    output: Output,
}

impl Jobs {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self.command {
            None => self.output.run(summary).await,
            Some(Command::List(List { kind, limit, output })) => {
                output.run(async |db, is_json| list(db, &kind, limit, is_json).await).await
            }
            Some(Command::Retry(Retry { id, output })) => {
                output.run(async |db, is_json| retry(db, &id, is_json).await).await
            }
        }
    }
}

impl Output {
    async fn run(&self, print: impl AsyncFnOnce(&Db, bool) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let db = open_database(&self.storage).await?;
        let printed = print(&db, self.json).await;
        db.close().await;
        printed
    }
}

async fn summary(db: &Db, is_json: bool) -> anyhow::Result<()> {
    let mut rows = vec![];
    for kind in jobs::kinds(db).await? {
        let stats = jobs::stats(db, &kind, i64::MAX).await?;
        rows.push(json!({
            "kind": kind,
            "waiting": stats.waiting,
            "running": stats.running,
            "failing": stats.failing,
            "dead": stats.dead,
            "nextAttemptAt": stats.next_at,
            "lastError": stats.last_error,
        }));
    }
    if is_json {
        print_json!(Value::Array(rows));
        return Ok(());
    }
    let headers = ["KIND", "WAITING", "RUNNING", "FAILING", "DEAD", "NEXT ATTEMPT", "LAST ERROR"];
    let cells = |row: &Value| {
        let number = |field: &str| row[field].to_string();
        [
            text(row, "kind").to_owned(),
            number("waiting"),
            number("running"),
            number("failing"),
            number("dead"),
            time(&row["nextAttemptAt"]),
            text(row, "lastError").to_owned(),
        ]
    };
    print!("{}", table(headers, &rows.iter().map(cells).collect::<Vec<_>>()));
    Ok(())
}

async fn list(db: &Db, kind: &str, limit: u32, is_json: bool) -> anyhow::Result<()> {
    let rows: Vec<_> = jobs::list(db, kind, i64::from(limit)).await?.iter().map(shown).collect();
    if is_json {
        print_json!(Value::Array(rows));
        return Ok(());
    }
    let cells = |row: &Value| {
        [
            text(row, "id").to_owned(),
            text(row, "state").to_owned(),
            row["attempts"].to_string(),
            time(&row["nextAttemptAt"]),
            text(row, "lastError").to_owned(),
        ]
    };
    let headers = ["ID", "STATE", "ATTEMPTS", "NEXT ATTEMPT", "LAST ERROR"];
    print!("{}", table(headers, &rows.iter().map(cells).collect::<Vec<_>>()));
    Ok(())
}

async fn retry(db: &Db, id: &JobId, is_json: bool) -> anyhow::Result<()> {
    let job = jobs::retry(db, id, Clock::System.now()).await?;
    let job = job.ok_or_else(|| anyhow::anyhow!("there is no job {id}"))?;
    anyhow::ensure!(job.state() != JobState::Running, "{id} is running");
    if is_json {
        print_json!(shown(&job));
    } else {
        println!("{id} will be tried now");
    }
    Ok(())
}

fn time(at: &Value) -> String {
    if at.is_null() { "-".to_owned() } else { timestamp(at) }
}

fn shown(job: &StoredJob) -> Value {
    let state = job.state();
    json!({
        "id": job.id().to_string(),
        "kind": job.kind,
        "networkId": job.network_id,
        "key": job.job_key,
        "state": <&str>::from(state),
        "attempts": job.attempts,
        "nextAttemptAt": if state == JobState::Running { None } else { job.due_at },
        "lastError": job.last_error,
        "createdAt": job.created_at,
    })
}
