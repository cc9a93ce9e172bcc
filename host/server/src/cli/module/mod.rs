//! `hub module …`: for authors and owners. Building, testing and benchmarking need no hub; everything else uses its
//! HTTP API.

mod activation;
mod bench;
mod build;
mod calls;
mod chain;
mod difference;
mod dry_run;
mod index;
mod install;
mod list;
mod local;
mod logs;
mod new;
mod publish;
mod push;
mod recorded;
mod replay;
mod report;
mod test;
mod watch;

pub(in crate::cli) use push::wait_until_compiled;

use anyhow::Context as _;
use clap::Subcommand;

use crate::cli::client::HubClient;
use crate::cli::format;
use crate::cli::remote::Remote;
use crate::modules::{explain, level_name};

#[derive(Subcommand, Debug)]
pub(super) enum Module {
    /// Create a folder with a new module, ready to build
    New(new::New),
    /// Build a module's component from source
    Build(build::Build),
    /// Run a module's test cases in the hub's engine and under its limits
    Test(test::Test),
    /// Measure the cost of a module's test cases
    Bench(bench::Bench),
    /// Upload a module
    Push(push::Push),
    /// Build, upload and activate a module whenever one of its files changes
    Watch(watch::Watch),
    /// Upload a published module, after its publisher and what it asks for were checked
    Install(install::Install),
    /// Sign a version of a module and add it to an index, from which others install it
    Publish(publish::Publish),
    /// Run a version on the hub once, without effect
    DryRun(dry_run::DryRun),
    /// Activate a version at one or more extension points, replacing the module's current version
    Activate(chain::Activate),
    /// Remove a module from an extension point, or from all
    Deactivate(chain::Deactivate),
    /// Restore an extension point's previous chain, or that of a revision, or a module's previous activation
    Rollback(chain::Rollback),
    /// List the revisions of an extension point's chain
    Revisions(chain::Revisions),
    /// Print or follow a module's log
    Logs(logs::Logs),
    /// List the latest calls of an extension point, or save them as test cases
    Calls(calls::Calls),
    /// Repeat recorded calls with a version, on the hub or locally
    Replay(replay::Replay),
    /// List the network's modules and the chains of its extension points
    List(list::List),
    /// Show a module's versions and the statistics of its active ones
    Show(list::Show),
}

/// The extension points.
const POINTS: [&str; 9] =
    ["matchmaking", "chat", "punishment", "login", "economy", "queue", "events", "endpoints", "schedules"];

/// Returns the newest READY version of a module.
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
            Self::Install(install) => install.run().await,
            Self::Publish(publish) => publish.run().await,
            Self::DryRun(dry_run) => dry_run.run().await,
            Self::Activate(activate) => activate.run().await,
            Self::Deactivate(deactivate) => deactivate.run().await,
            Self::Rollback(rollback) => rollback.run().await,
            Self::Revisions(revisions) => revisions.run().await,
            Self::Logs(logs) => logs.run().await,
            Self::Calls(calls) => calls.run().await,
            Self::Replay(replay) => replay.run().await,
            Self::List(list) => list.run().await,
            Self::Show(show) => show.run().await,
        }
    }
}
