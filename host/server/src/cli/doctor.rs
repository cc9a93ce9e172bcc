//! `hub admin doctor`.

use clap::Args;
use serde_json::json;

use crate::config::{ServeArgs, Settings};
use crate::doctor::{self, Outcome};

#[derive(Args, Debug)]
pub(super) struct Doctor {
    /// Recipient of the test mail [default: the --mail-from address]
    #[arg(long, value_name = "ADDRESS")]
    mail_to: Option<String>,
    /// Minimum free disk space, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    min_free: u64,
    /// Minimum remaining validity of the public address's certificate, in days
    #[arg(long, value_name = "DAYS", default_value_t = 14)]
    min_certificate_days: i64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    args: ServeArgs,
}

impl Doctor {
    /// Runs all checks and returns true if none failed.
    pub(super) async fn run(self) -> anyhow::Result<bool> {
        let settings = Settings::of_serve(&self.args)?;
        crate::components::check_limits(&settings)?;
        let (min_free, min_days) = (self.min_free, self.min_certificate_days);
        let doctor = doctor::Doctor { settings, mail_to: self.mail_to, min_free, min_days };
        let checks = doctor.examine().await;
        let is_well = checks.iter().all(|check| check.outcome != Outcome::Failed);
        if self.json {
            print_json!(json!({"ok": is_well, "checks": checks}));
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
