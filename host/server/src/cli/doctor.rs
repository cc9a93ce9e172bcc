//! `hub doctor`.

use clap::Args;
use serde_json::json;

use crate::config::{ServeArgs, Settings};
use crate::doctor::{self, Outcome};

#[derive(Args, Debug)]
pub(super) struct Doctor {
    /// Who gets the test mail [default: the address of --mail-from]
    #[arg(long, value_name = "ADDRESS")]
    mail_to: Option<String>,
    /// Free disk space that is enough, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    min_free: u64,
    /// Days that the certificate of the public address must be good for
    #[arg(long, value_name = "DAYS", default_value_t = 14)]
    min_certificate_days: i64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    args: ServeArgs,
}

impl Doctor {
    /// Examines the hub; whether nothing is wrong.
    pub(super) async fn run(self) -> anyhow::Result<bool> {
        let settings = Settings::of_serve(&self.args)?;
        let (min_free, min_days) = (self.min_free, self.min_certificate_days);
        let doctor = doctor::Doctor { settings, mail_to: self.mail_to, min_free, min_days };
        let checks = doctor.examine().await;
        let is_well = checks.iter().all(|check| check.outcome != Outcome::Failed);
        if self.json {
            println!("{}", json!({"ok": is_well, "checks": checks}));
            return Ok(is_well);
        }
        for check in &checks {
            let outcome = match check.outcome {
                Outcome::Ok => "ok     ",
                Outcome::Skipped => "skipped",
                Outcome::Failed => "FAILED ",
            };
            println!("{outcome}  {:<15} {}", check.name, check.message);
            if let Some(advice) = &check.advice {
                println!("{:>25}→ {advice}", "");
            }
        }
        Ok(is_well)
    }
}
