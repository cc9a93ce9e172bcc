//! Commands of the binary.

#[macro_use]
mod output;

mod admin;
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
mod help;
mod import;
mod jobs;
mod key;
mod limits;
mod log;
mod login;
mod man;
mod mcp;
mod module;
mod network;
mod network_move;
mod person;
mod plan;
mod player;
mod profiles;
mod progress;
mod reference;
mod remote;
mod secrets;
mod serve;
mod stream;
#[cfg(test)]
mod tests;
mod typed;
mod usage;
mod webhook;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use network_hub_client::HubError;

use crate::config::{Settings, StorageArgs};
use crate::data_folder;

/// The Network Hub: one service for a network of game servers.
#[derive(Parser, Debug)]
#[command(name = "hub", version = crate::health::VERSION, about, propagate_version = true)]
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
    /// Work on a hub's data: networks, keys, plans, backups, checks
    #[command(
        subcommand,
        after_help = "Without `admin`, too: network create|export|import, key create, backup, restore, doctor"
    )]
    Admin(admin::Admin),
    /// Sign in at a hub as a person, for the commands that call it
    Login(login::Login),
    /// Sign out of a hub, and forget its profile
    Logout(login::Logout),
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
    /// Offer the hub's API as tools to an AI client (Model Context Protocol, standard input and output)
    Mcp(mcp::Mcp),
    /// Print the OpenAPI document
    Openapi,
    /// Print the limits of each network as a Markdown table
    Limits(limits::Limits),
    /// Print shell completions
    Completions(completions::Completions),
    /// Write manual pages into a folder
    Man(man::Man),
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

/// Reports the error of a command: as JSON if its answer would be.
pub fn report(error: &anyhow::Error) {
    let text = told(error);
    if std::env::args().skip(1).take_while(|it| it != "--").any(|it| it == "--json") {
        let code = error.downcast_ref::<HubError>().map(HubError::code);
        let code = code.or_else(|| Some(error.downcast_ref::<client::Told>()?.code.as_str()));
        eprintln!("{}", serde_json::json!({"error": text, "code": code}));
    } else {
        eprintln!("hub: {text}");
    }
}

/// Words of an error, in which the fields of a body are arguments.
fn told(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    text.replace("In the body, `", "`").replace("In the query, `", "`").replace("In the path, `", "`")
}

/// Commands of the API, to be called one after the other in this process: making them takes longer than most calls.
#[derive(Debug)]
pub struct ApiCommands(clap::Command);

impl Default for ApiCommands {
    fn default() -> Self {
        Self(help::arrange(api::extend(Cli::command(), |_| true)))
    }
}

impl ApiCommands {
    /// Calls one with its arguments; an error is in the words that [`report`] prints.
    pub async fn call(&mut self, arguments: &[&str]) -> Result<(), String> {
        let arguments = ["hub"].iter().chain(arguments);
        let matches = self.0.try_get_matches_from_mut(arguments).map_err(|error| error.to_string())?;
        match api::run(&matches).await {
            Ok(true) => Ok(()),
            Ok(false) => Err("not made from the document".to_owned()),
            Err(error) => Err(format!("hub: {}", told(&error))),
        }
    }
}

/// Runs the command given on the command line.
pub fn run() -> anyhow::Result<()> {
    let arguments = admin::expand(std::env::args_os().collect());
    let words: Vec<_> = arguments.iter().skip(1).take(2).map(|word| word.to_string_lossy().into_owned()).collect();
    // `hub NOUN …` and `hub help NOUN`.
    let noun = words.iter().find(|word| *word != "help").cloned().unwrap_or_default();
    let mut command = help::arrange(api::extend(Cli::command(), |it| it == noun));
    let matches = command.try_get_matches_from_mut(arguments).unwrap_or_else(|error| error.exit());
    let by_hand = Cli::from_arg_matches(&matches).ok().filter(|_| !api::is_made(&matches));
    let Some(cli) = by_hand else {
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
    let creates_files = match &cli.command {
        Command::Serve(_) | Command::Demo(_) => true,
        Command::Admin(admin) => admin.creates_files(),
        _ => false,
    };
    if creates_files {
        data_folder::create_private_files();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        match cli.command {
            Command::Serve(serve) => Box::pin(serve.run()).await,
            Command::Demo(demo) => demo.run().await,
            Command::Admin(admin) => admin.run().await,
            Command::Login(login) => login.run().await,
            Command::Logout(logout) => logout.run().await,
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
            Command::Man(man) => man.write(),
            Command::Mcp(mcp) => mcp.run().await,
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
