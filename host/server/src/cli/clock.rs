//! `hub admin clock …`: works on the database directly; a running hub notices within a second.

use clap::{Args, Subcommand};
use serde_json::json;

use crate::cli::open_database;
use crate::clock::Clock as Time;
use crate::config::StorageArgs;
use crate::timekeeping;

#[derive(Subcommand, Debug)]
pub(super) enum Clock {
    /// Confirm that the clock is right, after a hub reported the fault `clock`
    Confirm(Confirm),
}

#[derive(Args, Debug)]
pub(super) struct Confirm {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

impl Clock {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let Self::Confirm(confirm) = self;
        let db = open_database(&confirm.storage).await?;
        let now = Time::System.now();
        let confirmed = timekeeping::confirm(&db, now).await;
        db.close().await;
        confirmed?;
        let shown = jiff::Timestamp::from_millisecond(now).map_or_else(|_| now.to_string(), |at| format!("{at:.0}"));
        if confirm.json {
            print_json!(json!({"confirmedAt": now}));
        } else {
            println!("{shown} is confirmed; a hub that doubts this time follows it within a second");
        }
        Ok(())
    }
}
