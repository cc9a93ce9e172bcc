//! `hub webhook listen`: events as a webhook would get them, for a machine that the hub cannot reach, such as one behind NAT.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::Args;
use network_hub_client::Method;
use reqwest::{Url, redirect};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::cli::remote::Remote;
use crate::cli::stream::{self, Event};
use crate::clock::Clock;
use crate::http_client;
use crate::ids::Ids;
use crate::webhooks;

/// Time limit of a receiver, as of webhooks.
const TIMEOUT: Duration = Duration::from_secs(10);
const EVENTS: &str = "/api/plugin/events";

#[derive(Args, Debug)]
pub(in crate::cli) struct Listen {
    /// Send each event to this URL, signed; without it the events are only printed
    #[arg(long, value_name = "URL")]
    forward: Option<Url>,
    /// Only these events, separated by commas [default: all that webhooks can have]
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    events: Vec<String>,
    /// Secret to sign with [default: a new one, which is printed]
    #[arg(long, env = "HUB_WEBHOOK_SECRET", hide_env_values = true, value_name = "SECRET")]
    secret: Option<String>,
    /// Print JSON, one line for each event
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    remote: Remote,
}

/// Receiver of the events, on this machine or near it.
struct Receiver {
    http: reqwest::Client,
    url: Url,
    secret: String,
}

impl Listen {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        for event in &self.events {
            ensure!(webhooks::is_subscribable(event), "--events: `{event}` is not an event that webhooks can have");
        }
        let receiver = self.forward.as_ref().map(|url| self.receiver(url)).transpose()?;
        let hub = self.remote.client()?;
        let request = || {
            let request = hub.request(Method::GET, EVENTS);
            Ok(if self.events.is_empty() { request } else { request.query("types", self.events.join(",")) })
        };
        stream::follow(&hub, request, false, async |event: Event| {
            if !webhooks::is_subscribable(&event.name) {
                return;
            }
            let mut outcome = None;
            if let Some(receiver) = &receiver {
                outcome = Some(receiver.send(&event).await);
            }
            self.print(&event, outcome);
        })
        .await
    }

    fn receiver(&self, url: &Url) -> anyhow::Result<Receiver> {
        ensure!(matches!(url.scheme(), "http" | "https"), "--forward: must be a URL like http://127.0.0.1:3000/hub");
        let secret = if let Some(secret) = &self.secret {
            webhooks::check_secret(secret).map_err(|why| anyhow::anyhow!("--secret: {why}"))?;
            secret.clone()
        } else {
            let secret = webhooks::new_secret(&Ids::System).expose().to_owned();
            eprintln!("Signing with the secret {secret}");
            secret
        };
        let http = http_client::builder()?.redirect(redirect::Policy::none()).timeout(TIMEOUT);
        let http = http.build().context("cannot set up a client for --forward")?;
        Ok(Receiver { http, url: url.clone(), secret })
    }

    fn print(&self, event: &Event, outcome: Option<Outcome>) {
        if self.json {
            let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
            let mut line = json!({"id": event.id, "type": event.name, "data": data});
            if let Some(outcome) = outcome {
                line["status"] = json!(outcome.status);
                line["error"] = json!(outcome.error);
                line["durationMs"] = json!(outcome.duration);
            }
            println!("{line}");
            return;
        }
        let shown = match outcome {
            None => event.data.clone(),
            Some(Outcome { status: Some(status), duration, .. }) => format!("{status} in {duration} ms"),
            Some(Outcome { error, .. }) => format!("failed: {}", error.unwrap_or_default()),
        };
        println!("{:<20} {shown}", event.name);
    }
}

/// Answer of the receiver.
struct Outcome {
    status: Option<u16>,
    error: Option<String>,
    duration: u64,
}

impl Receiver {
    /// Sends an event once, as a person watches.
    async fn send(&self, event: &Event) -> Outcome {
        let now = Clock::System.now();
        let at = serde_json::from_str::<Value>(&event.data).ok().and_then(|data| data["at"].as_i64()).unwrap_or(now);
        let id: String = event.id.iter().flat_map(|id| id.chars()).filter(char::is_ascii_alphanumeric).collect();
        let (body, headers) =
            webhooks::signed_message(&self.secret, &format!("msg_{id}"), (&event.name, at, &event.data), now);
        let request = self.http.post(self.url.clone()).header("content-type", "application/json").body(body);
        let request = headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
        let began = Instant::now();
        let answer = request.send().await;
        let duration = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        match answer {
            Ok(answer) => Outcome { status: Some(answer.status().as_u16()), error: None, duration },
            Err(error) => Outcome { status: None, error: Some(http_client::with_causes(&error)), duration },
        }
    }
}
