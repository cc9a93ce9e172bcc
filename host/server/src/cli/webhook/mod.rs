//! `hub webhook …`: the network's webhooks, over a hub's HTTP API.

mod show;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, Subcommand, ValueEnum};
use network_hub_client::Method;
use serde_json::{Map, Value, json};

use crate::cli::client::HubClient;

const WEBHOOKS: &str = "/api/manage/webhooks";
const LISTED: usize = 200;
/// Between two looks at what became of a test, and how many there are.
const POLL_INTERVAL: Duration = Duration::from_millis(300);
const LOOKS: usize = 60;

#[derive(Subcommand, Debug)]
pub(super) enum Webhook {
    /// List the network's webhooks
    List(Common),
    /// Create a webhook; its secret is shown this once
    Add(Add),
    /// Show a webhook
    Show(One),
    /// Change a webhook; what is not named stays as it is
    Set(Set),
    /// Delete a webhook, and what is kept of its deliveries
    Delete(One),
    /// Send a test, and wait for what becomes of it
    Test(One),
    /// List a webhook's latest deliveries
    Deliveries {
        #[command(flatten)]
        one: One,
        /// Only those in this state
        #[arg(long, value_enum)]
        state: Option<State>,
    },
    /// Send a delivery again, behind those that wait
    Resend {
        /// The webhook's id
        id: String,
        /// The delivery's number
        delivery: i64,
        #[command(flatten)]
        common: Common,
    },
    /// Replace a webhook's secret; the new one is shown this once
    Rotate {
        #[command(flatten)]
        one: One,
        /// How long messages are signed with the old secret, too, in milliseconds [default: a day]
        #[arg(long, value_name = "MS", value_parser = clap::value_parser!(i64).range(0..))]
        overlap: Option<i64>,
    },
}

/// What became of deliveries.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum State {
    /// They wait
    Waiting,
    /// They arrived
    Delivered,
    /// They were given up
    Failed,
}

/// The hub and the key to call it with.
#[derive(Args, Debug)]
pub(super) struct Common {
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
    /// The hub
    #[arg(long = "hub", env = "HUB_URL", value_name = "URL", default_value = "http://127.0.0.1:8080")]
    hub: String,
    /// A key with the scope network:manage
    #[arg(long, env = "HUB_KEY", hide_env_values = true)]
    key: String,
}

#[derive(Args, Debug)]
pub(super) struct One {
    /// The webhook's id
    id: String,
    #[command(flatten)]
    common: Common,
}

#[derive(Args, Debug)]
pub(super) struct Add {
    /// Where events are sent; of a channel in Discord, the URL that its settings show
    url: String,
    /// The events that it is sent, with commas between
    #[arg(long, value_delimiter = ',', required = true, value_name = "A,B")]
    events: Vec<String>,
    /// What you call it
    #[arg(long)]
    name: Option<String>,
    /// Send messages for a channel in Discord
    #[arg(long)]
    discord: bool,
    /// A JSON file with its messages in Discord, by the name of their event
    #[arg(long, value_name = "FILE", requires = "discord")]
    templates: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

#[derive(Args, Debug)]
pub(super) struct Set {
    /// The webhook's id
    id: String,
    /// Where events are sent
    #[arg(long)]
    url: Option<String>,
    /// The events that it is sent from now on, with commas between
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    events: Option<Vec<String>>,
    /// What you call it
    #[arg(long)]
    name: Option<String>,
    /// A JSON file with all of its messages in Discord, by the name of their event
    #[arg(long, value_name = "FILE")]
    templates: Option<PathBuf>,
    /// Send to it again, at once
    #[arg(long, conflicts_with = "disable")]
    enable: bool,
    /// Send nothing to it; what waits fails
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
                common.print(&list, show::list)
            }
            Self::Add(add) => add.run().await,
            Self::Show(one) => {
                let webhook = one.common.client()?.get(&path(&one.id)).await?;
                one.common.print(&webhook, show::webhook)
            }
            Self::Set(set) => set.run().await,
            Self::Delete(one) => {
                one.common.client()?.delete(&path(&one.id)).await?;
                one.common.print(&json!({"webhookId": one.id, "deleted": true}), |_| format!("{} is deleted\n", one.id))
            }
            Self::Test(one) => one.test().await,
            Self::Deliveries { one, state } => {
                let state = match state {
                    None => "",
                    Some(State::Waiting) => "&state=WAITING",
                    Some(State::Delivered) => "&state=DELIVERED",
                    Some(State::Failed) => "&state=FAILED",
                };
                let path = format!("{}/deliveries?limit={LISTED}{state}", path(&one.id));
                one.common.print(&one.common.client()?.get(&path).await?, show::deliveries)
            }
            Self::Resend { id, delivery, common } => {
                let path = format!("{}/deliveries/{delivery}/resend", path(&id));
                common.print(&common.client()?.post(&path, &json!({})).await?, show::delivery)
            }
            Self::Rotate { one, overlap } => {
                let body = overlap.map_or_else(|| json!({}), |overlap| json!({"overlapMs": overlap}));
                let path = format!("{}/rotate-secret", path(&one.id));
                one.common.print(&one.common.client()?.post(&path, &body).await?, show::secret)
            }
        }
    }
}

fn path(id: &str) -> String {
    format!("{WEBHOOKS}/{id}")
}

fn templates(file: &PathBuf) -> anyhow::Result<Value> {
    let text = std::fs::read(file).with_context(|| format!("{} can't be read", file.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("{} is no JSON", file.display()))
}

impl Common {
    fn client(&self) -> anyhow::Result<HubClient> {
        HubClient::new(&self.hub, &self.key)
    }

    fn print(&self, answer: &Value, show: impl Fn(&Value) -> String) -> anyhow::Result<()> {
        if self.json {
            println!("{}", serde_json::to_string_pretty(answer)?);
        } else {
            print!("{}", show(answer));
        }
        Ok(())
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
        self.common.print(&made, |made| format!("{}{}", show::webhook(made), show::secret(made)))
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
            "say what to change: --url, --events, --name, --templates, --enable or --disable"
        );
        let hub = self.common.client()?;
        let webhook = hub.send(hub.request(Method::PATCH, &path(&self.id)).json(&Value::Object(body))).await?;
        self.common.print(&webhook, show::webhook)
    }
}

impl One {
    /// Sends a test and waits; an error where it did not arrive.
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
        self.common.print(&delivery, show::delivery)?;
        match (delivery["state"].as_str(), delivery["error"].as_str()) {
            (Some("DELIVERED"), _) => Ok(()),
            (_, Some(error)) => anyhow::bail!("it did not arrive: {error}"),
            (Some("FAILED"), None) => anyhow::bail!("it did not arrive"),
            _ => anyhow::bail!("it waits behind others; see `hub webhook deliveries {}`", self.id),
        }
    }
}
