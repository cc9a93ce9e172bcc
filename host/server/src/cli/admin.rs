//! `hub admin …`: commands that work on a hub's data, on its machine.

use std::ffi::OsString;

use clap::Subcommand;

use super::{audit, backup, clock, cluster, doctor, jobs, key, network, person, plan, player, secrets, usage};

/// Arguments with `admin` before the commands that a hub is set up and kept with: they have a short form without it.
pub(super) fn expand(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let word = |at: usize| arguments.get(at).and_then(|word| word.to_str()).unwrap_or_default();
    let is_short = matches!(
        (word(1), word(2)),
        ("network", "create" | "export" | "import")
            | ("key" | "person", "create")
            | ("backup" | "restore" | "doctor" | "secrets" | "clock" | "plan", _)
    );
    if is_short {
        arguments.insert(1, "admin".into());
    }
    arguments
}

#[derive(Subcommand, Debug)]
pub(super) enum Admin {
    /// Create, change, move and delete networks
    #[command(subcommand)]
    Network(network::Network),
    /// Manage plans: limits for networks
    #[command(subcommand)]
    Plan(plan::Plan),
    /// Create, list and revoke API keys
    #[command(subcommand)]
    Key(key::Key),
    /// Create accounts of people
    #[command(subcommand)]
    Person(person::Person),
    /// Export or erase a player's data
    #[command(subcommand)]
    Player(player::Player),
    /// Show the usage of networks
    Usage(usage::Usage),
    /// Export audit logs
    #[command(subcommand)]
    Audit(audit::Audit),
    /// Show the jobs that wait, run or fail, and retry them
    Jobs(jobs::Jobs),
    /// Check the hub's dependencies and suggest fixes (exit status 1 on problems)
    Doctor(Box<doctor::Doctor>),
    /// Back up the whole hub to a file, while it runs
    Backup(backup::Backup),
    /// Restore a backup into an empty folder or database; rerun to continue after an interruption
    Restore(backup::Restore),
    /// Replace the secrets that sign links, node agents' updates and requests between nodes
    #[command(subcommand)]
    Secrets(secrets::Secrets),
    /// Confirm a clock that the hub doubts
    #[command(subcommand)]
    Clock(clock::Clock),
    /// Separate a copied database from its original
    #[command(subcommand)]
    Cluster(cluster::Cluster),
}

impl Admin {
    /// True if the command may write files that only the hub's user may read.
    pub(super) fn creates_files(&self) -> bool {
        matches!(self, Self::Network(_) | Self::Key(_) | Self::Person(_) | Self::Restore(_) | Self::Secrets(_))
    }

    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Network(network) => network.run().await,
            Self::Plan(plan) => plan.run().await,
            Self::Key(key) => key.run().await,
            Self::Person(person) => person.run().await,
            Self::Player(player) => player.run().await,
            Self::Usage(usage) => usage.run().await,
            Self::Audit(audit) => audit.run().await,
            Self::Jobs(jobs) => jobs.run().await,
            Self::Doctor(doctor) => {
                if !doctor.run().await? {
                    std::process::exit(1);
                }
                Ok(())
            }
            Self::Backup(backup) => backup.run().await,
            Self::Restore(restore) => restore.run().await,
            Self::Secrets(secrets) => secrets.run().await,
            Self::Clock(clock) => clock.run().await,
            Self::Cluster(cluster) => cluster.run().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_for_setting_up_have_a_short_form() {
        let expand = |line: &str| {
            let words = expand(line.split(' ').map(OsString::from).collect());
            words.join(std::ffi::OsStr::new(" ")).into_string().unwrap()
        };
        for line in ["network create n --json", "key create --operator", "backup --data d f", "restore f", "doctor"] {
            assert_eq!(expand(&format!("hub {line}")), format!("hub admin {line}"));
        }
        for line in ["hub network get", "hub admin key create", "hub serve", "hub"] {
            assert_eq!(expand(line), line);
        }
    }
}
