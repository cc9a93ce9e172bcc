//! `hub module …`: for authors and for owners. Building, testing and benchmarking need no hub; all else goes through
//! its HTTP API.

mod bench;
mod build;
mod calls;
mod chain;
mod difference;
mod dry_run;
mod list;
mod local;
mod logs;
mod new;
mod push;
mod recorded;
mod replay;
mod report;
mod test;
mod watch;

use anyhow::Context as _;
use clap::{Args, Subcommand};

use crate::cli::client::HubClient;
use crate::cli::format;
use crate::modules::{explain, level_name};

#[derive(Subcommand, Debug)]
pub(super) enum Module {
    /// Begin a module: write a folder that builds as it is
    New(new::New),
    /// Build a module's component from its source
    Build(build::Build),
    /// Run a module's test cases, in the hub's own engine and with its limits
    Test(test::Test),
    /// Measure what a module's test cases cost
    Bench(bench::Bench),
    /// Upload a module
    Push(push::Push),
    /// Build, upload and activate a module whenever one of its files is saved
    Watch(watch::Watch),
    /// Run a version on the hub once, without effect
    DryRun(dry_run::DryRun),
    /// Put a version into a point's chain, in the place of the version that is there or else at the end
    Activate(chain::Activate),
    /// Take a module out of a point's chain
    Deactivate(chain::Deactivate),
    /// Restore the chain that a point had before
    Rollback(chain::Rollback),
    /// Print the newest lines of a module's log, and follow it
    Logs(logs::Logs),
    /// List the latest calls of an extension point, or save them as test cases
    Calls(calls::Calls),
    /// Run a version over the latest calls, or make one of them again, on the hub or here
    Replay(replay::Replay),
    /// List the network's modules and what its extension points run
    List(list::List),
    /// Show a module's versions, and how it does where it runs
    Show(list::Show),
}

/// The extension points.
const POINTS: [&str; 3] = ["matchmaking", "chat", "punishment"];

/// The hub and the key to call it with.
#[derive(Args, Debug)]
struct Remote {
    /// The hub
    #[arg(long = "hub", env = "HUB_URL", value_name = "URL", default_value = "http://127.0.0.1:8080")]
    url: String,
    /// A key with the scope modules:write
    #[arg(long, env = "HUB_KEY", hide_env_values = true)]
    key: Option<String>,
}

impl Remote {
    fn client(&self) -> anyhow::Result<HubClient> {
        let key = self.key.as_deref().filter(|key| !key.is_empty()).context(
            "there is no key: put one into HUB_KEY, or give it with --key; `hub network create` prints a network's first",
        )?;
        HubClient::new(&self.url, key)
    }
}

/// The newest version of a module that can be put into a chain.
async fn newest_version(hub: &HubClient, name: &str) -> anyhow::Result<i64> {
    let page = hub.get(&format!("/api/manage/modules/{name}?limit=200")).await?;
    let versions = page["items"].as_array().into_iter().flatten().filter(|version| version["state"] == "READY");
    let newest = versions.filter_map(|version| version["version"].as_i64()).max();
    newest.with_context(|| format!("no version of {name} is READY"))
}

impl Module {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self {
            Self::New(new) => new.run(),
            Self::Build(build) => build.run().await,
            Self::Test(test) => test.run().await,
            Self::Bench(bench) => bench.run().await,
            Self::Push(push) => push.run().await,
            Self::Watch(watch) => watch.run().await,
            Self::DryRun(dry_run) => dry_run.run().await,
            Self::Activate(activate) => activate.run().await,
            Self::Deactivate(deactivate) => deactivate.run().await,
            Self::Rollback(rollback) => rollback.run().await,
            Self::Logs(logs) => logs.run().await,
            Self::Calls(calls) => calls.run().await,
            Self::Replay(replay) => replay.run().await,
            Self::List(list) => list.run().await,
            Self::Show(show) => show.run().await,
        }
    }
}
