//! `hub import …`: imports data from other tools over a hub's HTTP API.

mod pack;
mod show;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, Subcommand, ValueEnum};
use network_hub_client::{HubError, Method};
use serde_json::Value;

use crate::cli::client::{self, HubClient};
use crate::cli::output::shown;
use crate::cli::remote::Remote;

/// Interval between polls of an import's progress.
const POLL_INTERVAL: Duration = Duration::from_millis(300);
const LISTED: usize = 50;

#[derive(Subcommand, Debug)]
pub(super) enum Import {
    /// LuckPerms groups and players' nodes: the file written by `/lp export NAME`, compressed or not
    Luckperms(Upload),
    /// LiteBans punishments: a dump of its database, or its SQLite database file
    Litebans {
        #[command(flatten)]
        tables: Tables,
        /// Handling of punishments limited to single servers; the hub's apply to the whole network
        #[arg(long, value_enum, default_value_t = Scopes::Skip)]
        scopes: Scopes,
        #[command(flatten)]
        upload: Upload,
    },
    /// AdvancedBan punishments: a MySQL dump, or storage.script of its HSQLDB
    Advancedban {
        #[command(flatten)]
        tables: Tables,
        #[command(flatten)]
        upload: Upload,
    },
    /// LibertyBans punishments: a dump of its MySQL, MariaDB or PostgreSQL database
    Libertybans {
        #[command(flatten)]
        tables: Tables,
        /// Handling of punishments limited to scopes; the hub's apply to the whole network
        #[arg(long, value_enum, default_value_t = Scopes::Skip)]
        scopes: Scopes,
        #[command(flatten)]
        upload: Upload,
    },
    /// BanManager punishments: a dump of its MySQL, MariaDB or H2 database
    Banmanager {
        #[command(flatten)]
        tables: Tables,
        #[command(flatten)]
        upload: Upload,
    },
    /// Game server lists: banned-players.json, banned-ips.json or whitelist.json
    Vanilla(Upload),
    /// Balances: EssentialsX's `userdata` folder, or a table with the columns `uuid` and `balance`
    Balances {
        /// Target currency in the hub
        #[arg(long)]
        currency: String,
        #[command(flatten)]
        upload: Upload,
    },
    /// PlayerPoints balances: a MySQL dump, or its SQLite database file
    Playerpoints {
        /// Target currency in the hub
        #[arg(long)]
        currency: String,
        #[command(flatten)]
        tables: Tables,
        #[command(flatten)]
        upload: Upload,
    },
    /// XConomy balances: a MySQL dump, or its SQLite database file
    Xconomy {
        /// Target currency in the hub
        #[arg(long)]
        currency: String,
        #[command(flatten)]
        tables: Tables,
        #[command(flatten)]
        upload: Upload,
    },
    /// List the network's imports
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        remote: Remote,
    },
    /// Show an import and its report
    Show(One),
    /// Cancel an import; data already written stays
    Cancel(One),
}

/// Handling of punishments limited to single servers.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Scopes {
    /// Skip them
    Skip,
    /// Apply them to the whole network
    Everywhere,
}

/// Tables of a database.
#[derive(Args, Debug)]
pub(super) struct Tables {
    /// Prefix of the table names [default: the plugin's own]
    #[arg(long)]
    prefix: Option<String>,
}

#[derive(Args, Debug)]
pub(super) struct Upload {
    /// File, or folder of files
    file: PathBuf,
    /// Dry run: report changes without writing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Args, Debug)]
pub(super) struct One {
    /// Import id
    #[arg(value_parser = client::segment)]
    id: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    remote: Remote,
}

impl Import {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Luckperms(upload) => upload.run("LUCKPERMS", &[]).await,
            Self::Litebans { tables, scopes, upload } => upload.run("LITEBANS", &tables.with(scopes.query())).await,
            Self::Advancedban { tables, upload } => upload.run("ADVANCEDBAN", &tables.with(vec![])).await,
            Self::Libertybans { tables, scopes, upload } => {
                upload.run("LIBERTYBANS", &tables.with(scopes.query())).await
            }
            Self::Banmanager { tables, upload } => upload.run("BANMANAGER", &tables.with(vec![])).await,
            Self::Vanilla(upload) => upload.run("VANILLA", &[]).await,
            Self::Balances { currency, upload } => upload.run("BALANCES", &[("currency", &currency)]).await,
            Self::Playerpoints { currency, tables, upload } => {
                upload.run("PLAYERPOINTS", &tables.with(vec![("currency", &currency)])).await
            }
            Self::Xconomy { currency, tables, upload } => {
                upload.run("XCONOMY", &tables.with(vec![("currency", &currency)])).await
            }
            Self::List { json, remote } => {
                let imports = remote.client()?.get(&format!("/api/manage/imports?limit={LISTED}")).await?;
                print_answer(&imports, json, show::list);
                Ok(())
            }
            Self::Show(one) => {
                let import = one.remote.client()?.get(&format!("/api/manage/imports/{}", one.id)).await?;
                print_answer(&import, one.json, show::import);
                Ok(())
            }
            Self::Cancel(one) => {
                let path = format!("/api/manage/imports/{}/cancel", one.id);
                let hub = one.remote.client()?;
                let import = hub.send(hub.request(Method::POST, &path)).await?;
                print_answer(&import, one.json, show::import);
                Ok(())
            }
        }
    }
}

impl Tables {
    fn with<'t>(&'t self, mut options: Vec<(&'static str, &'t str)>) -> Vec<(&'static str, &'t str)> {
        options.extend(self.prefix.as_deref().map(|prefix| ("prefix", prefix)));
        options
    }
}

impl Scopes {
    fn query(self) -> Vec<(&'static str, &'static str)> {
        let scopes = match self {
            Self::Skip => "SKIP",
            Self::Everywhere => "EVERYWHERE",
        };
        vec![("scopes", scopes)]
    }
}

fn print_answer(answer: &Value, json: bool, show: impl Fn(&Value) -> String) {
    if json {
        print_json!(answer);
    } else {
        print!("{}", show(answer));
    }
}

impl Upload {
    async fn run(&self, kind: &str, options: &[(&'static str, &str)]) -> anyhow::Result<()> {
        let hub = self.remote.client()?;
        let packed = pack::pack(&self.file)?;
        let file = packed.as_ref().map_or(self.file.as_path(), |packed| packed.path());
        let created = send(&hub, file, kind, self.dry_run, options).await?;
        let id = created["importId"].as_str().context("the hub's answer has no import id")?;
        let import = wait(&hub, id).await?;
        print_answer(&import, self.json, show::import);
        match import["state"].as_str() {
            Some("DONE") => Ok(()),
            Some("CANCELLED") => anyhow::bail!("the import was cancelled"),
            _ => anyhow::bail!("the import failed: {}", show::failure(&import)),
        }
    }
}

async fn send(
    hub: &HubClient,
    path: &Path,
    kind: &str,
    dry_run: bool,
    options: &[(&'static str, &str)],
) -> anyhow::Result<Value> {
    let cant_read = || format!("cannot read {}", path.display());
    let file = tokio::fs::read(path).await.with_context(cant_read)?;
    let request = hub.request(Method::POST, "/api/manage/imports").query("kind", kind).query("dryRun", dry_run);
    let request = options.iter().fold(request, |request, (name, value)| request.query(name, value));
    let request = request.body(file, "application/octet-stream");
    Ok(hub.send(request).await?)
}

/// Waits for an import to end and shows its progress on a terminal.
async fn wait(hub: &HubClient, id: &str) -> anyhow::Result<Value> {
    let path = format!("/api/manage/imports/{id}");
    let is_terminal = std::io::stderr().is_terminal();
    let mut unreachable = 0;
    loop {
        match hub.get(&path).await {
            Ok(import) => {
                unreachable = 0;
                if is_terminal {
                    eprint!("\r{}", shown(format_args!("{}", show::progress(&import))));
                }
                if !matches!(import["state"].as_str(), Some("QUEUED" | "RUNNING")) {
                    if is_terminal {
                        eprintln!();
                    }
                    return Ok(import);
                }
            }
            // The import continues without this command; a restarting hub is back soon.
            Err(HubError::Unreachable { .. }) if unreachable < 100 => unreachable += 1,
            Err(error) => {
                return Err(error).with_context(|| format!("the import continues; see `hub import show {id}`"));
            }
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}
