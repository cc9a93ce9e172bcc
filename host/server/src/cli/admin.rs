//! `hub admin …`: commands that work on a hub's data, on its machine.

use clap::Subcommand;

use super::{audit, backup, clock, cluster, doctor, jobs, key, network, person, plan, player, secrets, usage};

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
