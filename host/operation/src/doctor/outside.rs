//! Checks of other services: bus, blob store, mail server, public address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use hub_bus::{Cluster, ClusterConfig};
use hub_db::Db;
use jiff::Timestamp;
use serde::Deserialize;

use crate::blobs::Blobs;
use crate::clock::Clock;
use crate::cluster;
use crate::config::Settings;
use crate::data_folder;
use crate::doctor::certificate::not_after;
use crate::doctor::{Check, TIME_LIMIT};
use crate::http_client;
use crate::ids::Ids;
use crate::mail::Mailer;

const DAY: i64 = 24 * 60 * 60 * 1000;

/// Checks that NATS answers and keeps events. `hub` is the hub's id, if it is known.
pub(super) async fn bus(settings: &Settings, hub: Option<String>) -> Check {
    let name = "bus";
    let Some(url) = &settings.bus else { return Check::skipped(name, "this hub is a single node (no --bus)") };
    let mut config = ClusterConfig {
        ca: settings.bus_ca.clone(),
        credentials: settings.bus_credentials.clone(),
        ..ClusterConfig::new(url, &Ids::System.token(10))
    };
    if let Some(hub) = hub {
        config.prefix = cluster::prefix(&hub);
    }
    match Cluster::probe(config).await {
        Ok(Some(bytes)) => Check::ok(name, format!("NATS with JetStream answers; events have {} MiB", bytes >> 20)),
        Ok(None) => Check::ok(name, "NATS with JetStream answers"),
        Err(error) => Check::failed(
            name,
            error.to_string(),
            "check that NATS runs with JetStream (`nats-server -js`) and is reachable, and check --bus",
        ),
    }
}

/// Checks that a blob can be written, read and deleted.
pub(super) async fn blobs(settings: &Settings, db: &Db) -> Check {
    let name = "blobs";
    let probed = async {
        let blobs = Blobs::open(settings, db)?;
        blobs.probe(Clock::System.now(), &Ids::System).await?;
        anyhow::Ok(blobs.is_folder())
    };
    match probed.await {
        Ok(true) => Check::ok(name, "writing, reading and deleting a file succeeded"),
        Ok(false) => Check::ok(name, "writing, reading and deleting an object in the S3 store succeeded"),
        Err(error) => Check::failed(
            name,
            format!("{error:#}"),
            "check that the store is reachable and that its key may put, get, list and delete objects; check --blobs",
        ),
    }
}

/// Checks that mail can be sent.
pub(super) async fn mail(settings: &Settings, to: Option<&str>) -> Check {
    let name = "mail";
    if settings.smtp.is_none() {
        return Check::skipped(name, "no --smtp: mail is written to `outbox/` in the data folder");
    }
    let advice = "check --smtp (HUB_SMTP) and --mail-from; see the mail server's log for the reason";
    let sent = async {
        let mailer = Mailer::new(settings)?;
        let to = to.map_or_else(|| mailer.sender(), str::to_owned);
        let text = "This is a test mail of the Network Hub (`hub admin doctor`). No action is required.\n".to_owned();
        mailer.send(&Ids::System, &to, "Network Hub test mail", text).await?;
        anyhow::Ok(to)
    };
    match sent.await {
        Ok(to) => Check::ok(name, format!("the mail server accepted a mail to {to}")),
        Err(error) => Check::failed(name, format!("{error:#}"), advice),
    }
}

/// Checks that the hub is reachable at its public address, and its certificate's remaining validity.
pub(super) async fn public_url(settings: &Settings, min_days: i64) -> Vec<Check> {
    let (name, certificate) = ("public-url", "certificate");
    let Some(url) = &settings.public_url else {
        return vec![
            Check::skipped(name, "no --public-url: only callers on the hub's own machine get links"),
            Check::skipped(certificate, "no --public-url"),
        ];
    };
    let called = async {
        let client = http_client::builder()?.tls_info(true).timeout(TIME_LIMIT).build()?;
        anyhow::Ok(client.get(format!("{url}/healthz")).send().await?)
    };
    let response = match called.await {
        Ok(response) => response,
        Err(error) => {
            let advice = "check DNS, the proxy and its certificate, the firewall, and --public-url";
            let failed = Check::failed(name, format!("{url}: {error:#}{}", cause(&error)), advice);
            return vec![failed, Check::skipped(certificate, "the public address is unreachable")];
        }
    };
    let status = response.status();
    let reached = if status.is_success() {
        Check::ok(name, format!("{url} leads to a hub"))
    } else {
        let advice = "configure the proxy to forward all paths to the hub";
        Check::failed(name, format!("{url}/healthz answers {status}"), advice)
    };
    let tls = response.extensions().get::<reqwest::tls::TlsInfo>();
    let end = tls.and_then(|tls| tls.peer_certificate()).and_then(not_after);
    vec![reached, end_of_certificate(certificate, url, end, min_days)]
}

fn end_of_certificate(name: &'static str, url: &str, end: Option<i64>, min_days: i64) -> Check {
    if !url.starts_with("https") {
        return Check::skipped(name, "the public address does not use TLS");
    }
    let Some(end) = end else { return Check::failed(name, "unreadable certificate expiry", "check the certificate") };
    let days = (end - Clock::System.now()) / DAY;
    let shown = Timestamp::from_millisecond(end).map_or_else(|_| end.to_string(), |at| at.to_string());
    let message = format!("the certificate expires in {days} days, on {shown}");
    if days < min_days {
        Check::failed(name, message, "renew the certificate and check its automatic renewal")
    } else {
        Check::ok(name, message)
    }
}

/// Innermost cause of an error, which is the most specific.
fn cause(error: &anyhow::Error) -> String {
    error.chain().last().map(|cause| format!(" ({cause})")).unwrap_or_default()
}

/// Checks the answer at `/readyz` of the hub that runs in the data folder: another hub may have the default port.
pub(super) async fn readiness(settings: &Settings) -> Check {
    #[derive(Deserialize)]
    struct Readiness {
        faults: Vec<Fault>,
    }

    #[derive(Deserialize)]
    struct Fault {
        message: String,
    }

    let name = "readiness";
    let (address, is_running) = match data_folder::serving_address(settings) {
        Ok(Some(address)) => (address, true),
        Ok(None) => {
            let folder = data_folder::shown(settings);
            return Check::skipped(name, format!("no hub is running in {}", folder.display()));
        }
        Err(_) => match settings.listen.resolve("--listen").await {
            Ok(address) => (address, false),
            Err(error) => return Check::failed(name, error.to_string(), "check --listen (HUB_LISTEN)"),
        },
    };
    // A hub that listens on all addresses can be reached from its own machine.
    let host = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    let address = SocketAddr::new(host, address.port());
    let called = async {
        let client = http_client::builder()?.timeout(Duration::from_secs(5)).build()?;
        let response = client.get(format!("http://{address}/readyz")).send().await?;
        anyhow::Ok(response.json::<Readiness>().await?)
    };
    match called.await {
        Ok(readiness) if readiness.faults.is_empty() => Check::ok(name, format!("the hub at {address} is ready")),
        Ok(readiness) => {
            let faults = readiness.faults.iter().map(|fault| fault.message.as_str()).collect::<Vec<_>>();
            Check::failed(name, faults.join(" "), "see the other checks and the hub's log")
        }
        Err(error) if is_running => {
            let message = format!("the hub at {address} does not answer: {error:#}{}", cause(&error));
            Check::failed(name, message, "see the hub's log, and start it again")
        }
        Err(_) => Check::skipped(name, format!("no hub answers at {address} (--listen)")),
    }
}
