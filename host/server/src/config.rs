//! Settings: the command line over the environment over the config file over the defaults.

#[cfg(test)]
mod tests;
mod values;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use figment::Figment;
use figment::providers::{Env, Format as _, Serialized, Toml};
use futures_util::future::BoxFuture;
use hub_sandbox::contract::Point;
use hub_sandbox::{CallClock, Limits};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use crate::limits::Bounds;

/// Options that say where the truth is kept. Every option is also an environment variable (`HUB_DATA` …) and a line
/// of the config file.
#[derive(Args, Clone, Default, Serialize)]
pub struct StorageArgs {
    /// Folder for everything the hub keeps on disk [default: hub-data]
    #[arg(long, value_name = "DIR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,
    /// PostgreSQL to use instead of the embedded SQLite, as `postgres://user:password@host/database`; with
    /// `?pgbouncer=true` where a pooler gives every transaction another session
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// Where artifacts, bundles, snapshots of worlds and large modules are kept: a folder, or an S3-compatible store as
    /// `s3://KEY:SECRET@HOST[:PORT]/BUCKET[/PREFIX][?region=R&tls=off&style=virtual]`; several nodes share it [default:
    /// `blobs` in the data folder]
    #[arg(long, value_name = "DIR|URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blobs: Option<String>,
    /// Config file (TOML; one line per option, such as `listen = "0.0.0.0:8080"`), also by `HUB_CONFIG`
    #[arg(long, value_name = "FILE", env = "HUB_CONFIG", hide_env = true)]
    #[serde(skip)]
    pub config: Option<PathBuf>,
}

/// Options of a hub that serves.
#[derive(Args, Clone, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ServeArgs {
    /// Where the truth is kept.
    #[command(flatten)]
    #[serde(flatten)]
    pub storage: StorageArgs,
    /// Address to serve on [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<SocketAddr>,
    /// Connections to PostgreSQL that this node opens at most [default: 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database_connections: Option<u32>,
    /// Longest that the database may take for one statement, in milliseconds [default: 15000]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database_timeout: Option<u64>,
    /// NATS (with JetStream) that several nodes share, as `nats://HOST:PORT` or `tls://HOST:PORT`, with `USER:PASSWORD@` or
    /// `TOKEN@` before the host; they share the database, too. With a password better set as `HUB_BUS`, which other users
    /// cannot see [default: this node is alone]
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bus: Option<String>,
    /// File with the certificate authority of the bus, in PEM [default: the system's authorities]
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bus_ca: Option<PathBuf>,
    /// File with what this hub shows the bus: NATS credentials (`.creds`) or the seed of an nkey
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bus_credentials: Option<PathBuf>,
    /// Address under which the other nodes reach this one, as `http://10.0.0.7:8080` [default: the address it serves on]
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_url: Option<String>,
    /// GeoIP database in MaxMind's format (any GeoLite2 or DB-IP Country or City file)
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geoip: Option<PathBuf>,
    /// Whether regions count in routing [default: on]
    #[arg(long, value_name = "on|off")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geo_routing: Option<Switch>,
    /// Engine identifiers servers may have [default: MINECRAFT,HYTALE]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engines: Option<Vec<String>>,
    /// Time after its last heartbeat at which a server is offline, in milliseconds [default: 30000]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offline_after: Option<u64>,
    /// How long a world's lease lasts from each heartbeat of its node, in milliseconds [default: 60000]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<u64>,
    /// Address under which others reach the hub, for links, as `https://hub.example`. Without it, links are given only to
    /// callers on the hub's own machine
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_url: Option<String>,
    /// Proxies in front of the hub whose `X-Forwarded-For` is trusted, as `10.0.0.0/8,fd00::/8`; they may open any number of
    /// connections [default: none]
    #[arg(long, value_name = "CIDR,…", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trusted_proxies: Option<Vec<String>>,
    /// Connections that may be open at once [default: 7/8 of the open files that the system allows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_connections: Option<u32>,
    /// Connections that one address, or one /64 of IPv6, may have open at once; proxies, the hub's other nodes and its own
    /// machine may have any number [default: 4096, at most a quarter of all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_connections_per_address: Option<u32>,
    /// How long a link to an artifact is good, in milliseconds [default: 600000]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact_link_ttl: Option<u64>,
    /// Memory for the latest calls of extension points, which modules can be tried on, in MiB; 0 keeps none [default: 256]
    #[arg(long, value_name = "MIB")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_memory: Option<u64>,
    /// Processors that modules of one network may take at once [default: half of them, at least one]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module_cpus: Option<u64>,
    /// Disk space for compiled modules, in MiB; each network gets up to a quarter of it, and what was unused for longest is
    /// deleted first [default: 4096]
    #[arg(long, value_name = "MIB")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module_cache: Option<u64>,
    /// Server that mail goes out by, as `smtps://user:password@host` or `smtp://host:587?tls=required`; without one mail
    /// is put into `outbox/` in the data folder. Better set as `HUB_SMTP`, which other users cannot see
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smtp: Option<String>,
    /// Who mail is from [default: Network Hub <no-reply@localhost>]
    #[arg(long, value_name = "ADDRESS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mail_from: Option<String>,
    /// Networks that webhooks may reach though they are not public, without TLS, too, as `10.1.0.0/16,127.0.0.1`. Every
    /// network's owner can then send requests there [default: none]
    #[arg(long, value_name = "CIDR,…", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook_networks: Option<Vec<String>>,
    /// OpenID provider that people sign in with, just as it writes its own name (`issuer`), as `https://id.example`; needs
    /// the two below and --public-url
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oidc_issuer: Option<String>,
    /// What the OpenID provider calls this hub
    #[arg(long, value_name = "ID")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oidc_client_id: Option<String>,
    /// Secret that this hub shows the OpenID provider. Better set as `HUB_OIDC_CLIENT_SECRET`, which other users cannot see
    #[arg(long, value_name = "SECRET")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oidc_client_secret: Option<String>,
    /// Address to serve metrics on, for Prometheus at `/metrics`; it needs no key, so it belongs into the operator's own network
    #[arg(long, value_name = "ADDR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<SocketAddr>,
    /// Receiver of traces by OTLP over HTTP, such as `http://127.0.0.1:4318`; without it none are made
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otlp: Option<String>,
    /// Where what networks used is reported, each hour of each network as one CloudEvent by POST; without it nowhere
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage_sink: Option<String>,
    /// Bearer token of these reports. Better set as `HUB_USAGE_SINK_TOKEN`, which other users cannot see
    #[arg(long, value_name = "TOKEN")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage_sink_token: Option<String>,
}

/// Looks up the addresses of a host.
pub type HostResolver = Arc<dyn Fn(String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> + Send + Sync>;

/// Settings of webhooks that are not for users.
#[derive(Clone)]
pub struct WebhookSettings {
    /// What looks up their hosts; none: the system.
    pub resolver: Option<HostResolver>,
    /// The longest that a request may take.
    pub timeout: Duration,
}

impl Default for WebhookSettings {
    fn default() -> Self {
        Self { resolver: None, timeout: Duration::from_secs(10) }
    }
}

/// Settings of snapshots that are not for users.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotSettings {
    /// The largest snapshot that the hub itself receives, in bytes.
    pub limit: u64,
}

impl Default for SnapshotSettings {
    fn default() -> Self {
        Self { limit: 512 * 1024 * 1024 }
    }
}

/// How long connections may take; not for users.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionSettings {
    /// For the head of a connection's first request.
    pub head: Duration,
    /// For the next request. Longer than proxies keep a connection, so that they are the ones who close it.
    pub idle: Duration,
    /// For a body, besides what its size allows.
    pub body: Duration,
    /// For a client to read anything of what is written.
    pub write: Duration,
    /// For a large answer to get its memory.
    pub answer: Duration,
    /// Whether the own machine may have any number of connections.
    pub is_loopback_exempt: bool,
}

impl Default for ConnectionSettings {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(30),
            idle: Duration::from_secs(75),
            body: Duration::from_secs(30),
            write: Duration::from_mins(1),
            answer: Duration::from_secs(5),
            is_loopback_exempt: true,
        }
    }
}

/// `on` or `off`.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// Yes.
    On,
    /// No.
    Off,
}

/// Options of the sandbox for tests.
#[derive(Clone, Debug, Default)]
pub struct ModuleSettings {
    /// The executable whose command `compile-module` compiles; none: the running one.
    pub compiler: Option<PathBuf>,
    /// The computing time of every call; none: the point's.
    pub compute: Option<Duration>,
    /// The fuel of every call; none: the point's.
    pub fuel: Option<u64>,
    /// Where the time of calls comes from.
    pub clock: CallClock,
}

impl ModuleSettings {
    /// What one call at a point may cost.
    pub(crate) fn limits(&self, point: Point) -> Limits {
        let usual = Limits::of(point);
        let fuel = self.fuel.unwrap_or(usual.fuel);
        Limits { fuel, ..usual.with_compute(self.compute.unwrap_or(usual.compute)) }
    }
}

/// What a hub runs with.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Settings {
    /// Folder for everything the hub keeps on disk.
    pub data: PathBuf,
    /// PostgreSQL's URL; absent: SQLite in the data folder.
    pub database: Option<String>,
    /// Folder or S3-compatible store of blobs; absent: a folder in the data folder.
    pub blobs: Option<String>,
    /// Connections to PostgreSQL at most.
    pub database_connections: u32,
    /// Milliseconds that the database may take for one statement.
    pub database_timeout: u64,
    /// Address to serve on.
    pub listen: SocketAddr,
    /// NATS that several nodes share; absent: this node is alone.
    pub bus: Option<String>,
    /// Certificate authority of the bus.
    pub bus_ca: Option<PathBuf>,
    /// What this hub shows the bus.
    pub bus_credentials: Option<PathBuf>,
    /// Address under which the other nodes reach this one.
    #[serde(deserialize_with = "values::base_url")]
    pub node_url: Option<String>,
    /// GeoIP database.
    pub geoip: Option<PathBuf>,
    /// Whether regions count in routing.
    pub geo_routing: Switch,
    /// Engine identifiers servers may have.
    #[serde(deserialize_with = "values::list")]
    pub engines: Vec<String>,
    /// Milliseconds after its last heartbeat at which a server is offline.
    pub offline_after: u64,
    /// Milliseconds a world's lease lasts from each heartbeat of its node.
    pub lease: u64,
    /// Not for users.
    #[serde(skip)]
    pub snapshot_settings: SnapshotSettings,
    /// Address under which others reach the hub, without a slash at its end.
    #[serde(deserialize_with = "values::base_url")]
    pub public_url: Option<String>,
    /// Proxies whose `X-Forwarded-For` is trusted.
    #[serde(deserialize_with = "values::networks")]
    pub trusted_proxies: Vec<IpNet>,
    /// Connections at once; absent: what the limit of open files allows.
    pub max_connections: Option<u32>,
    /// Connections of one address at once; absent: a share of all.
    pub max_connections_per_address: Option<u32>,
    /// Not for users.
    #[serde(skip)]
    pub connections: ConnectionSettings,
    /// Milliseconds for which a link to an artifact is good.
    pub artifact_link_ttl: u64,
    /// MiB for the latest calls of extension points.
    pub record_memory: u64,
    /// Processors that modules of one network may take at once; absent: half of them.
    pub module_cpus: Option<u64>,
    /// MiB on disk for compiled modules.
    pub module_cache: u64,
    /// Server that mail goes out by.
    pub smtp: Option<String>,
    /// Who mail is from.
    pub mail_from: String,
    /// Networks that webhooks may reach though they are not public.
    #[serde(deserialize_with = "values::networks")]
    pub webhook_networks: Vec<IpNet>,
    /// Not for users.
    #[serde(skip)]
    pub webhooks: WebhookSettings,
    /// OpenID provider that people sign in with; absent: they sign in by passwords alone.
    pub oidc_issuer: Option<String>,
    /// What the OpenID provider calls this hub.
    pub oidc_client_id: Option<String>,
    /// What this hub shows the OpenID provider.
    pub oidc_client_secret: Option<String>,
    /// Address to serve metrics on; absent: they are off.
    pub metrics: Option<SocketAddr>,
    /// Receiver of traces; absent: none are made.
    #[serde(deserialize_with = "values::base_url")]
    pub otlp: Option<String>,
    /// Where what networks used is reported.
    #[serde(deserialize_with = "values::web_address")]
    pub usage_sink: Option<String>,
    /// Bearer token of these reports.
    pub usage_sink_token: Option<String>,
    /// Bounds of every network that are lower than the hub's own, by their names; a table of the config file.
    pub limits: Bounds,
    /// Not for users.
    #[serde(skip)]
    pub modules: ModuleSettings,
}

/// `Debug` without the secrets, and the URLs, which hold passwords.
macro_rules! debug_without_secrets {
    ($($type:ident { $($shown:ident),+ })+) => {$(
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($type))$(.field(stringify!($shown), &self.$shown))+.finish_non_exhaustive()
            }
        }
    )+};
}
debug_without_secrets! {
    StorageArgs { data, config }
    ServeArgs { storage, listen }
    Settings { data, listen }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            data: PathBuf::from("hub-data"),
            database: None,
            blobs: None,
            database_connections: 20,
            database_timeout: 15_000,
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            bus: None,
            bus_ca: None,
            bus_credentials: None,
            node_url: None,
            geoip: None,
            geo_routing: Switch::On,
            engines: vec!["MINECRAFT".to_owned(), "HYTALE".to_owned()],
            offline_after: 30_000,
            lease: 60_000,
            snapshot_settings: SnapshotSettings::default(),
            public_url: None,
            trusted_proxies: Vec::new(),
            max_connections: None,
            max_connections_per_address: None,
            connections: ConnectionSettings::default(),
            artifact_link_ttl: 600_000,
            record_memory: 256,
            module_cpus: None,
            module_cache: 4096,
            smtp: None,
            mail_from: "Network Hub <no-reply@localhost>".to_owned(),
            webhook_networks: Vec::new(),
            webhooks: WebhookSettings::default(),
            oidc_issuer: None,
            oidc_client_id: None,
            oidc_client_secret: None,
            metrics: None,
            otlp: None,
            usage_sink: None,
            usage_sink_token: None,
            limits: Bounds::default(),
            modules: ModuleSettings::default(),
        }
    }
}

impl Settings {
    /// The settings of a hub that serves.
    pub fn of_serve(args: &ServeArgs) -> anyhow::Result<Self> {
        Self::merge(args.storage.config.as_ref(), args)
    }

    /// The settings of a command that works on the database.
    pub fn of_storage(args: &StorageArgs) -> anyhow::Result<Self> {
        Self::merge(args.config.as_ref(), args)
    }

    fn merge(config: Option<&PathBuf>, args: impl Serialize) -> anyhow::Result<Self> {
        let mut figment = Figment::from(Serialized::defaults(Self::default()));
        if let Some(file) = config {
            anyhow::ensure!(file.is_file(), "the config file {} does not exist", file.display());
            figment = figment.merge(Toml::file_exact(file));
        }
        let known = [
            "data",
            "database",
            "blobs",
            "database_connections",
            "database_timeout",
            "listen",
            "bus",
            "node_url",
            "geoip",
            "geo_routing",
            "engines",
            "offline_after",
            "lease",
            "public_url",
            "trusted_proxies",
            "max_connections",
            "max_connections_per_address",
            "bus_ca",
            "bus_credentials",
            "artifact_link_ttl",
            "record_memory",
            "module_cpus",
            "module_cache",
            "smtp",
            "mail_from",
            "webhook_networks",
            "oidc_issuer",
            "oidc_client_id",
            "oidc_client_secret",
            "metrics",
            "otlp",
            "usage_sink",
            "usage_sink_token",
        ];
        let environment = Env::prefixed("HUB_").only(&known).map(|key| key.as_str().replace('_', "-").into());
        let figment = figment.merge(environment).merge(Serialized::defaults(args));
        let settings: Self = figment.extract()?;
        anyhow::ensure!(
            settings.bus.is_none() || settings.blobs.is_some(),
            "several nodes (--bus) need one store for their blobs: name it with --blobs, an S3-compatible store as \
             s3://KEY:SECRET@HOST/BUCKET or a folder that all nodes share"
        );
        Ok(settings)
    }

    /// Where the database is.
    pub fn database(&self) -> hub_db::Config {
        match &self.database {
            Some(url) => hub_db::Config::Postgres {
                url: url.clone(),
                max_connections: self.database_connections,
                statement_timeout: Duration::from_millis(self.database_timeout),
            },
            None => hub_db::Config::Sqlite { path: self.database_file() },
        }
    }

    /// The embedded database.
    pub(crate) fn database_file(&self) -> PathBuf {
        self.data.join("hub.db")
    }

    /// Time after its last heartbeat at which a server is offline.
    pub fn offline_after(&self) -> Duration {
        Duration::from_millis(self.offline_after)
    }

    /// How long a world's lease lasts from each heartbeat of its node.
    pub fn lease(&self) -> Duration {
        Duration::from_millis(self.lease)
    }

    /// The address under which the other nodes reach this one.
    pub(crate) fn node_url(&self) -> anyhow::Result<String> {
        if let Some(url) = &self.node_url {
            return Ok(url.clone());
        }
        anyhow::ensure!(
            !self.listen.ip().is_unspecified(),
            "this node serves on all addresses: name the one by which the others reach it with --node-url"
        );
        Ok(format!("http://{}", self.listen))
    }

    /// A whole address for a path of the hub's.
    pub fn url(&self, path: &str) -> String {
        if let Some(base) = &self.public_url {
            return format!("{base}{path}");
        }
        let port = self.listen.port();
        // A hub that serves on all addresses can at least be reached from its own machine.
        if self.listen.ip().is_unspecified() {
            return format!("http://localhost:{port}{path}");
        }
        format!("http://{}{path}", self.listen)
    }
}
