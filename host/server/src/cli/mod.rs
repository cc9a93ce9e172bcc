//! Commands of the binary.

#[macro_use]
mod output;

mod api;
mod audit;
mod backup;
mod chat;
mod client;
mod clock;
mod cluster;
mod completions;
mod delivery;
mod demo;
mod doctor;
mod format;
mod import;
mod jobs;
mod key;
mod limits;
mod log;
mod module;
mod network;
mod person;
mod plan;
mod player;
mod reference;
mod secrets;
mod serve;
#[cfg(test)]
mod tests;
mod usage;
mod webhook;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::config::{Settings, StorageArgs};
use crate::data_folder;

/// The Network Hub: one service for a network of game servers.
#[derive(Parser, Debug)]
#[command(name = "hub", version, about, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Run the hub
    Serve(serve::Serve),
    /// Run a hub with a demo network, keys, modules, and simulated servers and players
    Demo(demo::Demo),
    /// Manage networks (direct database access)
    #[command(subcommand)]
    Network(network::Network),
    /// Manage plans: limits for networks (direct database access)
    #[command(subcommand)]
    Plan(plan::Plan),
    /// Manage API keys (direct database access)
    #[command(subcommand)]
    Key(key::Key),
    /// Export audit logs (direct database access)
    #[command(subcommand)]
    Audit(audit::Audit),
    /// Show the usage of networks (direct database access)
    Usage(usage::Usage),
    /// Show the jobs that wait, run or fail, and retry them (direct database access)
    Jobs(jobs::Jobs),
    /// Manage user accounts (direct database access)
    #[command(subcommand)]
    Person(person::Person),
    /// Confirm a clock that the hub doubts (direct database access)
    #[command(subcommand)]
    Clock(clock::Clock),
    /// Separate a copied database from its original (direct database access)
    #[command(subcommand)]
    Cluster(cluster::Cluster),
    /// Check the hub's dependencies and suggest fixes (exit status 1 on problems)
    Doctor(doctor::Doctor),
    /// Back up the whole hub to a file, while it runs
    Backup(backup::Backup),
    /// Restore a backup into an empty folder or database; rerun to continue after an interruption
    Restore(backup::Restore),
    /// Replace the secrets that sign links, node agents' updates and requests between nodes (direct database access)
    #[command(subcommand)]
    Secrets(secrets::Secrets),
    /// Export or erase a player's data (direct database access)
    #[command(subcommand)]
    Player(player::Player),
    /// Build, upload and activate modules
    #[command(subcommand)]
    Module(module::Module),
    /// Import permissions, punishments and balances from other tools
    #[command(subcommand)]
    Import(import::Import),
    /// Print what players said
    Chat(chat::Chat),
    /// Create, list and decide about deliveries: things owed to players
    #[command(subcommand)]
    Delivery(delivery::Delivery),
    /// Manage webhooks: events sent to URLs and Discord channels
    #[command(subcommand)]
    Webhook(webhook::Webhook),
    /// Print the OpenAPI document
    Openapi,
    /// Print the limits of each network as a Markdown table
    Limits(limits::Limits),
    /// Print shell completions
    Completions(completions::Completions),
    /// Write the generated parts of the documentation
    #[command(hide = true)]
    Reference(reference::Reference),
    /// Compile one module from standard input; used internally by the hub
    #[command(hide = true)]
    CompileModule {
        /// Try forbidden operations instead, confined by `all`, `landlock`, `seccomp` or `none`
        #[arg(long, value_name = "BY", value_parser = ["all", "landlock", "seccomp", "none"])]
        probe: Option<String>,
    },
    /// Read one uploaded file of another tool; used internally by the hub
    #[command(hide = true)]
    ReadImport,
}

/// Reports the error of a command.
pub fn report(error: &anyhow::Error) {
    eprintln!("hub: {error:#}");
}

/// Runs the command given on the command line.
pub fn run() -> anyhow::Result<()> {
    let words: Vec<_> = std::env::args().skip(1).take(2).collect();
    // `hub NOUN …` and `hub help NOUN`.
    let noun = words.iter().find(|word| *word != "help").cloned().unwrap_or_default();
    let mut command = api::extend(Cli::command(), |it| it == noun);
    let matches = command.get_matches_mut();
    let Ok(cli) = Cli::from_arg_matches(&matches) else {
        sigpipe::reset();
        return tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
            anyhow::ensure!(api::run(&matches).await?, "no such command");
            Ok(())
        });
    };
    // The hub's child processes set resource limits that leave no room for a runtime's threads.
    let (stdin, stdout) = (std::io::stdin(), std::io::stdout().lock());
    match &cli.command {
        Command::CompileModule { probe: Some(layer) } => return Ok(hub_sandbox::confined::probe_main(layer, stdout)?),
        Command::CompileModule { probe: None } => return Ok(hub_sandbox::child_main(stdin, stdout)?),
        Command::ReadImport => return Ok(crate::imports::child_main(stdin, stdout)?),
        _ => drop(stdout),
    }
    if !matches!(cli.command, Command::Serve(_) | Command::Demo(_)) {
        // End silently when the reader closes the pipe, for example in `hub … | head`.
        sigpipe::reset();
    }
    if matches!(
        cli.command,
        Command::Serve(_)
            | Command::Demo(_)
            | Command::Network(_)
            | Command::Key(_)
            | Command::Person(_)
            | Command::Restore(_)
            | Command::Secrets(_)
    ) {
        data_folder::create_private_files();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        match cli.command {
            Command::Serve(serve) => Box::pin(serve.run()).await,
            Command::Demo(demo) => demo.run().await,
            Command::Network(network) => network.run().await,
            Command::Plan(plan) => plan.run().await,
            Command::Key(key) => key.run().await,
            Command::Audit(audit) => audit.run().await,
            Command::Usage(usage) => usage.run().await,
            Command::Jobs(jobs) => jobs.run().await,
            Command::Person(person) => person.run().await,
            Command::Clock(clock) => clock.run().await,
            Command::Cluster(cluster) => cluster.run().await,
            Command::Doctor(doctor) => {
                if !doctor.run().await? {
                    std::process::exit(1);
                }
                Ok(())
            }
            Command::Backup(backup) => backup.run().await,
            Command::Restore(restore) => restore.run().await,
            Command::Secrets(secrets) => secrets.run().await,
            Command::Player(player) => player.run().await,
            Command::Module(module) => module.run().await,
            Command::Import(import) => import.run().await,
            Command::Chat(chat) => chat.run().await,
            Command::Delivery(delivery) => delivery.run().await,
            Command::Webhook(webhook) => webhook.run().await,
            Command::CompileModule { .. } | Command::ReadImport => Ok(()),
            Command::Reference(reference) => reference.run(),
            Command::Limits(limits) => {
                limits.print();
                Ok(())
            }
            Command::Completions(completions) => {
                completions.print();
                Ok(())
            }
            Command::Openapi => {
                println!("{}", serde_json::to_string_pretty(&crate::router::document())?);
                Ok(())
            }
        }
    })
}

/// Opens the database given by the storage options, for commands that work on it directly. Fails if there is none: a
/// command run in the wrong folder must not create a second hub.
async fn open_database(storage: &StorageArgs) -> anyhow::Result<hub_db::Db> {
    let settings = Settings::of_storage(storage)?;
    data_folder::require_hub(&settings)?;
    connect(&settings).await
}

/// Opens the database and migrates it.
async fn connect(settings: &Settings) -> anyhow::Result<hub_db::Db> {
    let db = hub_db::Db::connect(&settings.database()).await?;
    db.migrate().await?;
    Ok(db)
}
