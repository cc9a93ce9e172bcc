//! `hub delivery …`: creates deliveries, lists them and decides about them over a hub's HTTP API.

use anyhow::Context as _;
use clap::{Args, Subcommand, ValueEnum};
use network_hub_client::Method;
use serde_json::{Value, json};

use crate::cli::client::HubClient;
use crate::cli::format::{table, text, timestamp};
use crate::cli::remote::Remote;
use crate::cli::typed;

const DELIVERIES: &str = "/api/manage/deliveries";
const LISTED: usize = 200;

#[derive(Subcommand, Debug)]
pub(super) enum Delivery {
    /// List the latest deliveries
    List(List),
    /// Create a delivery; the same reference again creates no second one
    Add(Add),
    /// Offer a held or failed delivery again
    Retry(One),
    /// Take a pending or held delivery back
    Cancel(One),
    /// Confirm that a held delivery happened
    Confirm(One),
}

/// States of deliveries.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum State {
    /// Waits for its player
    Pending,
    /// Carried out by a server
    Claimed,
    /// Happened
    Delivered,
    /// Waits for a decision: it may have happened
    Held,
    /// Given up
    Failed,
    /// Not in time
    Expired,
    /// Taken back
    Cancelled,
}

impl State {
    /// Name in the API.
    fn name(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Claimed => "CLAIMED",
            Self::Delivered => "DELIVERED",
            Self::Held => "HELD",
            Self::Failed => "FAILED",
            Self::Expired => "EXPIRED",
            Self::Cancelled => "CANCELLED",
        }
    }
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
pub(super) struct List {
    /// Only deliveries in this state
    #[arg(long, value_enum)]
    state: Option<State>,
    /// Only deliveries of this player
    #[arg(long, value_name = "UUID")]
    player: Option<String>,
    /// Only deliveries of this kind
    #[arg(long)]
    kind: Option<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(Args, Debug)]
pub(super) struct One {
    /// Delivery id
    id: i64,
    #[command(flatten)]
    common: Common,
}

#[derive(Args, Debug)]
pub(super) struct Add {
    /// Player's UUID or name
    player: String,
    /// Kind, by which plugins tell what to do
    kind: String,
    /// JSON for the plugin
    #[arg(long, value_name = "JSON")]
    payload: Option<String>,
    /// Type of the servers at which it may happen
    #[arg(long, value_name = "TYPE")]
    server_type: Option<String>,
    /// Server at which it may happen
    #[arg(long, value_name = "ID")]
    server: Option<String>,
    /// Own name for it, such as an order's number
    #[arg(long)]
    reference: Option<String>,
    /// Offer it again if a server claims it and is not heard of again; default: hold it for a decision
    #[arg(long)]
    retry: bool,
    #[command(flatten)]
    common: Common,
}

impl Delivery {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self {
            Self::List(list) => list.run().await,
            Self::Add(add) => add.run().await,
            Self::Retry(one) => one.decide("retry").await,
            Self::Cancel(one) => one.decide("cancel").await,
            Self::Confirm(one) => one.decide("confirm").await,
        }
    }
}

impl Common {
    fn client(&self) -> anyhow::Result<HubClient> {
        self.remote.client()
    }

    fn print(&self, answer: &Value, rows: &[Value]) {
        if self.json {
            print_json!(answer);
        } else {
            print!("{}", show(rows));
        }
    }
}

impl List {
    async fn run(self) -> anyhow::Result<()> {
        let hub = self.common.client()?;
        let state = self.state.map(|state| state.name().to_owned());
        let filters = [("state", state), ("playerUuid", self.player), ("kind", self.kind)];
        let mut url = reqwest::Url::parse("http://hub").context("no URL")?;
        url.set_path(DELIVERIES);
        url.query_pairs_mut().append_pair("limit", &LISTED.to_string());
        for (name, value) in filters {
            if let Some(value) = value {
                url.query_pairs_mut().append_pair(name, &value);
            }
        }
        let path = format!("{DELIVERIES}?{}", url.query().unwrap_or_default());
        let list = hub.get(&path).await?;
        self.common.print(&list, list["items"].as_array().map_or(&[][..], Vec::as_slice));
        Ok(())
    }
}

impl Add {
    async fn run(self) -> anyhow::Result<()> {
        let payload = self.payload.as_deref().map(|typed| typed::json::<Value>("--payload", typed)).transpose()?;
        let is_id = self.player.parse::<crate::values::PlayerId>().is_ok();
        let mut body = json!({
            "kind": self.kind,
            "payload": payload,
            "serverType": self.server_type,
            "serverId": self.server,
            "reference": self.reference,
            "onLost": if self.retry { "RETRY" } else { "HOLD" },
        });
        body[if is_id { "playerUuid" } else { "playerName" }] = self.player.into();
        let made = self.common.client()?.post("/api/plugin/deliveries", &body).await?;
        self.common.print(&made, std::slice::from_ref(&made));
        Ok(())
    }
}

impl One {
    async fn decide(self, decision: &str) -> anyhow::Result<()> {
        let hub = self.common.client()?;
        let decided = hub.send(hub.request(Method::POST, &format!("{DELIVERIES}/{}/{decision}", self.id))).await?;
        self.common.print(&decided, std::slice::from_ref(&decided));
        Ok(())
    }
}

fn show(deliveries: &[Value]) -> String {
    let row = |it: &Value| {
        let player = if it["playerName"].is_null() { text(it, "playerUuid") } else { text(it, "playerName") };
        [
            it["deliveryId"].to_string(),
            player.to_owned(),
            text(it, "kind").to_owned(),
            text(it, "state").to_lowercase(),
            it["attempts"].to_string(),
            timestamp(&it["createdAt"]),
            text(it, "reference").to_owned(),
            text(it, "reason").to_owned(),
        ]
    };
    let rows: Vec<_> = deliveries.iter().map(row).collect();
    table(["id", "player", "kind", "state", "attempts", "created", "reference", "reason"], &rows)
}
