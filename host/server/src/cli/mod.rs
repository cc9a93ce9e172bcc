//! The commands of the one binary.

mod audit;
mod backup;
mod client;
mod completions;
mod demo;
mod doctor;
mod format;
mod import;
mod key;
mod limits;
mod log;
mod module;
mod network;
mod person;
mod plan;
mod player;
mod reference;
mod serve;
#[cfg(test)]
mod tests;
mod usage;
mod webhook;

use clap::{Parser, Subcommand};

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
    /// Serve the hub
    Serve(serve::Serve),
    /// A hub with a demo network, keys, modules, and simulated servers and players, in one command
    Demo(demo::Demo),
    /// Networks (tenants), on the database itself
    #[command(subcommand)]
    Network(network::Network),
    /// Plans: what networks may use, on the database itself
    #[command(subcommand)]
    Plan(plan::Plan),
    /// API keys, on the database itself
    #[command(subcommand)]
    Key(key::Key),
    /// Audit logs, on the database itself
    #[command(subcommand)]
    Audit(audit::Audit),
    /// What networks used, on the database itself
    Usage(usage::Usage),
    /// People who sign in, on the database itself
    #[command(subcommand)]
    Person(person::Person),
    /// Look at everything that the hub needs, and say what to do about what is wrong; the exit status is 1 where something is
    Doctor(doctor::Doctor),
    /// Write all of the hub to a file, while it serves
    Backup(backup::Backup),
    /// Restore a backup into an empty folder or database; run again, it goes on where it was interrupted
    Restore(backup::Restore),
    /// Players: export or delete all that a network keeps of one, on the database itself
    #[command(subcommand)]
    Player(player::Player),
    /// Modules: build one, upload it, put it into a chain
    #[command(subcommand)]
    Module(module::Module),
    /// Move in: import permissions, punishments and balances from other tools
    #[command(subcommand)]
    Import(import::Import),
    /// Webhooks: events that are sent to URLs and to channels in Discord
    #[command(subcommand)]
    Webhook(webhook::Webhook),
    /// Print the OpenAPI document
    Openapi,
    /// Print the bounds of every network as a Markdown table
    Limits(limits::Limits),
    /// Print a shell's completions, to be put where the shell looks for them
    Completions(completions::Completions),
    /// Write the generated parts of the documentation
    #[command(hide = true)]
    Reference(reference::Reference),
    /// Compile the one module that standard input holds; the hub calls itself with it
    #[command(hide = true)]
    CompileModule {
        /// Try instead what the process must not be able to do, confined by `all`, `landlock`, `seccomp` or `none`
        #[arg(long, value_name = "BY", value_parser = ["all", "landlock", "seccomp", "none"])]
        probe: Option<String>,
    },
}

/// Runs the command that the process was started with.
pub fn run() -> anyhow::Result<()> {
    let cli = Cli::parse();
    if let Command::CompileModule { probe } = &cli.command {
        // It sets itself limits that leave no room for a runtime's threads.
        let stdout = std::io::stdout().lock();
        match probe {
            Some(layer) => hub_sandbox::probe_main(layer, stdout)?,
            None => hub_sandbox::child_main(std::io::stdin(), stdout)?,
        }
        return Ok(());
    }
    if !matches!(cli.command, Command::Serve(_) | Command::Demo(_)) {
        // As other programs do, these end where nobody reads on, such as in `hub … | head`.
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
    ) {
        data_folder::create_private_files();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        match cli.command {
            Command::Serve(serve) => serve.run().await,
            Command::Demo(demo) => demo.run().await,
            Command::Network(network) => network.run().await,
            Command::Plan(plan) => plan.run().await,
            Command::Key(key) => key.run().await,
            Command::Audit(audit) => audit.run().await,
            Command::Usage(usage) => usage.run().await,
            Command::Person(person) => person.run().await,
            Command::Doctor(doctor) => {
                if !doctor.run().await? {
                    std::process::exit(1);
                }
                Ok(())
            }
            Command::Backup(backup) => backup.run().await,
            Command::Restore(restore) => restore.run().await,
            Command::Player(player) => player.run().await,
            Command::Module(module) => module.run().await,
            Command::Import(import) => import.run().await,
            Command::Webhook(webhook) => webhook.run().await,
            Command::CompileModule { .. } => Ok(()),
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

/// Opens the database of the hub that the storage options name, for commands that work on it directly. An error where
/// there is no hub: a command in the wrong folder must not make a second one.
async fn open_database(storage: &StorageArgs) -> anyhow::Result<hub_db::Db> {
    let settings = Settings::of_storage(storage)?;
    data_folder::require_hub(&settings)?;
    connect(&settings).await
}

/// Opens the database and brings its tables up to date.
async fn connect(settings: &Settings) -> anyhow::Result<hub_db::Db> {
    let db = hub_db::Db::connect(&settings.database()).await?;
    db.migrate().await?;
    Ok(db)
}
