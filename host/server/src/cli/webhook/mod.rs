//! `hub webhook …`: manages the network's webhooks over a hub's HTTP API.

mod listen;
mod show;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, Subcommand, ValueEnum};
use network_hub_client::Method;
use serde_json::{Map, Value, json};

use crate::cli::client::{self, HubClient};
use crate::cli::remote::Remote;

const WEBHOOKS: &str = "/api/manage/webhooks";
const LISTED: usize = 200;
/// Interval and number of polls for the result of a test.
const POLL_INTERVAL: Duration = Duration::from_millis(300);
const LOOKS: usize = 60;

#[derive(Subcommand, Debug)]
pub(super) enum Webhook {
    /// List the network's webhooks
    List(Common),
    /// Create a webhook; its secret is shown only once
    Add(Add),
    /// Show a webhook
    Show(One),
    /// Change a webhook; omitted settings stay unchanged
    Set(Set),
    /// Delete a webhook and its recorded deliveries
    Delete(One),
    /// Send a test and wait for the result
    Test(One),
    /// Print events as they happen, or forward them to a machine that the hub cannot reach, signed like a webhook's
    Listen(listen::Listen),
    /// List a webhook's latest deliveries
    Deliveries {
        #[command(flatten)]
        one: One,
        /// Only deliveries in this state
        #[arg(long, value_enum)]
        state: Option<State>,
    },
    /// Queue a delivery again, behind the waiting ones
    Resend {
        /// Webhook id
        #[arg(value_parser = client::segment)]
        id: String,
        /// Delivery number
        delivery: i64,
        #[command(flatten)]
        common: Common,
    },
    /// Replace a webhook's secret; the new one is shown only once
    Rotate {
        #[command(flatten)]
        one: One,
        /// Time during which messages are also signed with the old secret, in milliseconds [default: a day]
        #[arg(long, value_name = "MS", value_parser = clap::value_parser!(i64).range(0..))]
        overlap: Option<i64>,
    },
}

/// States of deliveries.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum State {
    /// Not delivered yet
    Waiting,
    /// Delivered
    Delivered,
    /// Given up
    Failed,
}

/// The hub and its API key.
#[derive(Args, Debug)]
pub(super) struct Common {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Args, Debug)]
pub(super) struct One {
    /// Webhook id
    #[arg(value_parser = client::segment)]
    id: String,
    #[command(flatten)]
    common: Common,
}

#[derive(Args, Debug)]
pub(super) struct Add {
    /// Target URL; for a Discord channel, the webhook URL from its settings
    url: String,
    /// Events to send, separated by commas
    #[arg(long, value_delimiter = ',', required = true, value_name = "A,B")]
    events: Vec<String>,
    /// Display name
    #[arg(long)]
    name: Option<String>,
    /// Send messages for a Discord channel
    #[arg(long)]
    discord: bool,
    /// JSON file with Discord messages, keyed by event name
    #[arg(long, value_name = "FILE", requires = "discord")]
    templates: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

#[derive(Args, Debug)]
pub(super) struct Set {
    /// Webhook id
    #[arg(value_parser = client::segment)]
    id: String,
    /// Target URL
    #[arg(long)]
    url: Option<String>,
    /// Events to send, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    events: Option<Vec<String>>,
    /// Display name
    #[arg(long)]
    name: Option<String>,
    /// JSON file with all Discord messages, keyed by event name
    #[arg(long, value_name = "FILE")]
    templates: Option<PathBuf>,
    /// Enable the webhook again, with immediate effect
    #[arg(long, conflicts_with = "disable")]
    enable: bool,
    /// Disable the webhook; waiting deliveries fail
    #[arg(long)]
    disable: bool,
    #[command(flatten)]
    common: Common,
}

impl Webhook {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self {
            Self::List(common) => {
                let list = common.client()?.get(&format!("{WEBHOOKS}?limit={LISTED}")).await?;
                common.print(&list, show::list);
                Ok(())
            }
            Self::Add(add) => add.run().await,
            Self::Show(one) => {
                let webhook = one.common.client()?.get(&path(&one.id)).await?;
                one.common.print(&webhook, show::webhook);
                Ok(())
            }
            Self::Set(set) => set.run().await,
            Self::Delete(one) => {
                one.common.client()?.delete(&path(&one.id)).await?;
                one.common
                    .print(&json!({"webhookId": one.id, "deleted": true}), |_| format!("{} is deleted\n", one.id));
                Ok(())
            }
            Self::Test(one) => one.test().await,
            Self::Listen(listen) => listen.run().await,
            Self::Deliveries { one, state } => {
                let state = match state {
                    None => "",
                    Some(State::Waiting) => "&state=WAITING",
                    Some(State::Delivered) => "&state=DELIVERED",
                    Some(State::Failed) => "&state=FAILED",
                };
                let path = format!("{}/deliveries?limit={LISTED}{state}", path(&one.id));
                one.common.print(&one.common.client()?.get(&path).await?, show::deliveries);
                Ok(())
            }
            Self::Resend { id, delivery, common } => {
                let path = format!("{}/deliveries/{delivery}/resend", path(&id));
                common.print(&common.client()?.post(&path, &json!({})).await?, show::delivery);
                Ok(())
            }
            Self::Rotate { one, overlap } => {
                let body = overlap.map_or_else(|| json!({}), |overlap| json!({"overlapMs": overlap}));
                let path = format!("{}/rotate-secret", path(&one.id));
                one.common.print(&one.common.client()?.post(&path, &body).await?, show::secret);
                Ok(())
            }
        }
    }
}

fn path(id: &str) -> String {
    format!("{WEBHOOKS}/{id}")
}

fn templates(file: &PathBuf) -> anyhow::Result<Value> {
    let text = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("{} is not valid JSON", file.display()))
}

impl Common {
    fn client(&self) -> anyhow::Result<HubClient> {
        self.remote.client()
    }

    fn print(&self, answer: &Value, show: impl Fn(&Value) -> String) {
        if self.json {
            print_json!(answer);
        } else {
            print!("{}", show(answer));
        }
    }
}

impl Add {
    async fn run(self) -> anyhow::Result<()> {
        let kind = if self.discord { "DISCORD" } else { "STANDARD" };
        let mut body = json!({"kind": kind, "url": self.url, "events": self.events, "name": self.name});
        if let Some(file) = &self.templates {
            body["templates"] = templates(file)?;
        }
        let made = self.common.client()?.post(WEBHOOKS, &body).await?;
        self.common.print(&made, |made| format!("{}{}", show::webhook(made), show::secret(made)));
        Ok(())
    }
}

impl Set {
    async fn run(self) -> anyhow::Result<()> {
        let mut body = Map::new();
        body.extend(self.url.map(|url| ("url".to_owned(), json!(url))));
        body.extend(self.events.map(|events| ("events".to_owned(), json!(events))));
        body.extend(self.name.map(|name| ("name".to_owned(), json!(name))));
        if let Some(file) = &self.templates {
            body.insert("templates".to_owned(), templates(file)?);
        }
        if self.enable || self.disable {
            body.insert("enabled".to_owned(), json!(self.enable));
        }
        anyhow::ensure!(
            !body.is_empty(),
            "nothing to change: pass --url, --events, --name, --templates, --enable or --disable"
        );
        let hub = self.common.client()?;
        let webhook = hub.send(hub.request(Method::PATCH, &path(&self.id)).json(&Value::Object(body))).await?;
        self.common.print(&webhook, show::webhook);
        Ok(())
    }
}

impl One {
    /// Sends a test and waits. Fails if it is not delivered.
    async fn test(&self) -> anyhow::Result<()> {
        let hub = self.common.client()?;
        let sent = hub.post(&format!("{}/test", path(&self.id)), &json!({})).await?;
        let id = sent["deliveryId"].as_i64().context("the hub's answer has no delivery")?;
        let path = format!("{}/deliveries/{id}", path(&self.id));
        let mut delivery = sent;
        for _ in 0..LOOKS {
            if delivery["state"] != "WAITING" || delivery["attempts"] != 0 {
                break;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
            delivery = hub.get(&path).await?;
        }
        self.common.print(&delivery, show::delivery);
        match (delivery["state"].as_str(), delivery["error"].as_str()) {
            (Some("DELIVERED"), _) => Ok(()),
            (_, Some(error)) => anyhow::bail!("delivery failed: {error}"),
            (Some("FAILED"), None) => anyhow::bail!("delivery failed"),
            _ => anyhow::bail!("still waiting behind other deliveries; see `hub webhook deliveries {}`", self.id),
        }
    }
}
