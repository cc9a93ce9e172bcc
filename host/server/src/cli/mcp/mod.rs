//! `hub mcp`: the hub's API as tools of an AI client, by the Model Context Protocol over standard input and output.

mod call;
mod server;
mod tools;

use anyhow::Context as _;
use clap::Args;
use rmcp::ServiceExt as _;
use rmcp::transport::stdio;

use super::remote::Remote;
use server::Server;
use tools::Tools;

/// Arguments of `hub mcp`.
#[derive(Args, Debug)]
#[command(after_help = "Most clients are told of it so:\n\n  \
    {\"mcpServers\": {\"network-hub\": {\"command\": \"hub\", \"args\": [\"mcp\"], \"env\": {\"HUB_URL\": \"…\", \"HUB_KEY\": \"…\"}}}}")]
pub(super) struct Mcp {
    /// Offer the tools that change something, too
    #[arg(long)]
    allow_writes: bool,
    /// Offer only the tools of these commands, such as `player,punishment`
    #[arg(long, value_name = "NOUN", value_delimiter = ',')]
    only: Vec<String>,
    #[command(flatten)]
    remote: Remote,
}

impl Mcp {
    /// Serves one client, until it closes standard input.
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let tools = Tools::new(&crate::router::document(), self.allow_writes, &self.only)?;
        let server = Server::new(self.remote.client()?, tools);
        let serving = server.serve(stdio()).await.context("the client did not begin as the protocol says")?;
        serving.waiting().await.context("the session broke off")?;
        Ok(())
    }
}
