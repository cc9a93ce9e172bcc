//! The commands of the one binary.

mod audit;
mod client;
mod demo;
mod key;
mod module;
mod network;
mod person;
mod plan;
mod serve;

use clap::{Parser, Subcommand};

/// The Network Hub: one service for a network of game servers.
#[derive(Parser, Debug)]
#[command(name = "hub", version, about, disable_help_subcommand = true)]
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
    /// People who sign in, on the database itself
    #[command(subcommand)]
    Person(person::Person),
    /// Modules: build one, upload it, put it into a chain
    #[command(subcommand)]
    Module(module::Module),
    /// Print the OpenAPI document
    Openapi,
    /// Print the bounds of every network as a Markdown table
    Limits,
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
    if matches!(
        cli.command,
        Command::Serve(_) | Command::Demo(_) | Command::Network(_) | Command::Key(_) | Command::Person(_)
    ) {
        crate::data_folder::create_private_files();
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
            Command::Person(person) => person.run().await,
            Command::Module(module) => module.run().await,
            Command::CompileModule { .. } => Ok(()),
            Command::Limits => {
                print!("{}", crate::limits::document());
                Ok(())
            }
            Command::Openapi => {
                println!("{}", serde_json::to_string_pretty(&crate::router::document())?);
                Ok(())
            }
        }
    })
}

/// Opens the database that the storage options name, for commands that work on it directly.
async fn open_database(storage: &crate::config::StorageArgs) -> anyhow::Result<hub_db::Db> {
    let settings = crate::config::Settings::of_storage(storage)?;
    let db = hub_db::Db::connect(&settings.database()).await?;
    db.migrate().await?;
    Ok(db)
}
