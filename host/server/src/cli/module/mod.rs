//! `hub module …`: what an author does, and what an owner does with the result. All but building goes through the
//! hub's HTTP API.

mod build;
mod chain;
mod logs;
mod push;

use clap::{Args, Subcommand};

use crate::cli::client::HubClient;

#[derive(Subcommand, Debug)]
pub(super) enum Module {
    /// Build a module's component from its Rust source
    Build(build::Build),
    /// Upload a module
    Push(push::Push),
    /// Put a version into a point's chain, in the place of the version that is there or else at the end
    Activate(chain::Activate),
    /// Restore the chain that a point had before
    Rollback(chain::Rollback),
    /// Print the newest lines of a module's log
    Logs(logs::Logs),
}

/// The hub and the key to call it with.
#[derive(Args, Debug)]
struct Remote {
    /// The hub
    #[arg(long = "hub", env = "HUB_URL", value_name = "URL", default_value = "http://127.0.0.1:8080")]
    url: String,
    /// A key with the scope modules:write
    #[arg(long, env = "HUB_KEY", hide_env_values = true)]
    key: String,
}

impl Remote {
    fn client(&self) -> HubClient {
        HubClient::new(&self.url, &self.key)
    }
}

impl Module {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Build(build) => build.run().await,
            Self::Push(push) => push.run().await,
            Self::Activate(activate) => activate.run().await,
            Self::Rollback(rollback) => rollback.run().await,
            Self::Logs(logs) => logs.run().await,
        }
    }
}
