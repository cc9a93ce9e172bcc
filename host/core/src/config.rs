//! Settings. Precedence: command line, environment, config file, defaults.

mod complaint;
mod listen_address;
#[cfg(test)]
mod tests;
mod values;

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use figment::Figment;
use figment::providers::{Env, Format as _, Serialized, Toml};
use futures_util::future::BoxFuture;
use hub_sandbox::confined::ProcessLimits;
use hub_sandbox::contract::Point;
use hub_sandbox::{CallClock, Limits};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use crate::bounds::Bounds;
pub use listen_address::ListenAddress;

/// Storage options. Every option is also an environment variable (`HUB_DATA` …) and a line of the config file.
#[derive(Args, Clone, Default, Serialize)]
pub struct StorageArgs {
    /// Data folder for everything the hub stores on disk [default: hub-data]
    #[arg(long, value_name = "DIR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,
    /// PostgreSQL URL, used instead of the embedded SQLite: `postgres://user:password@host/database`; add
    /// `?pgbouncer=true` behind a pooler that changes sessions between transactions
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// Storage for artifacts, bundles, world snapshots and large modules: a folder, or an S3-compatible store as
    /// `s3://KEY:SECRET@HOST[:PORT]/BUCKET[/PREFIX][?region=R&tls=off&style=virtual]`; nodes of a cluster share it
    /// [default: `blobs` in the data folder]
    #[arg(long, value_name = "DIR|URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blobs: Option<String>,
    /// File with the key that seals the hub's secrets in the database, created at the first start; nodes of a cluster
    /// have the same one. No backup contains it: keep a copy apart from the backups [default: `secrets.key` in the data
    /// folder]
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none", rename = "secrets-key")]
    pub secrets_key: Option<PathBuf>,
    /// Config file (TOML; one line per option, for example `listen = "0.0.0.0:8080"`); also set by `HUB_CONFIG`
    #[arg(long, value_name = "FILE", env = "HUB_CONFIG", hide_env = true)]
    #[serde(skip)]
    pub config: Option<PathBuf>,
}

/// Options of a running hub.
#[derive(Args, Clone, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ServeArgs {
    /// Storage options.
    #[command(flatten)]
    #[serde(flatten)]
    pub storage: StorageArgs,
    /// Listen address: an IP address or a name of this machine, and a port [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<ListenAddress>,
    /// Maximum number of PostgreSQL connections of this node [default: 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database_connections: Option<u32>,
    /// Database statement timeout, in milliseconds [default: 15000]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database_timeout: Option<u64>,
    /// NATS server (with JetStream) shared by the nodes of a cluster: `nats://HOST:PORT` or `tls://HOST:PORT`, with
    /// optional `USER:PASSWORD@` or `TOKEN@` before the host; the nodes also share the database. Prefer the variable
    /// `HUB_BUS` for passwords: other users cannot see it [default: single node]
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bus: Option<String>,
    /// Certificate authority of the bus (PEM file) [default: the system's authorities]
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bus_ca: Option<PathBuf>,
    /// Credentials file for the bus: NATS credentials (`.creds`) or an nkey seed
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bus_credentials: Option<PathBuf>,
    /// URL of this node for other nodes, for example `http://10.0.0.7:8080` [default: the listen address]
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_url: Option<String>,
    /// GeoIP database in MaxMind format (any GeoLite2 or DB-IP Country or City file)
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geoip: Option<PathBuf>,
    /// Use regions in routing [default: on]
    #[arg(long, value_name = "on|off")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geo_routing: Option<Switch>,
    /// Allowed engine identifiers of servers [default: MINECRAFT,HYTALE]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engines: Option<Vec<String>>,
    /// Time without a heartbeat after which a server is offline, in milliseconds [default: 30000]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offline_after: Option<u64>,
    /// Duration of a world's lease, renewed by each heartbeat of its node, in milliseconds [default: 60000]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<u64>,
    /// Public URL of the hub, used in links, for example `https://hub.example`. Without it, only callers on the hub's
    /// own machine get links
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_url: Option<String>,
    /// Trusted proxies in front of the hub (networks or addresses): their `X-Forwarded-For` is used, and their number
    /// of connections is unlimited; for example `10.0.0.0/8,fd00::/8` [default: none]
    #[arg(long, value_name = "CIDR,…", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trusted_proxies: Option<Vec<String>>,
    /// Maximum number of open connections [default: 7/8 of the system's limit on open files]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_connections: Option<u32>,
    /// Maximum number of open connections per address (per /64 for IPv6); proxies, other nodes and the hub's own
    /// machine are unlimited [default: 4096, at most a quarter of all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_connections_per_address: Option<u32>,
    /// Validity of artifact download links, in milliseconds [default: 600000]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact_link_ttl: Option<u64>,
    /// Memory for recorded calls of extension points, used to test modules, in MiB; 0 disables recording [default:
    /// 256]
    #[arg(long, value_name = "MIB")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_memory: Option<u64>,
    /// Maximum number of processors used by modules of one network [default: half, at least one]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module_cpus: Option<u64>,
    /// Disk space for compiled modules, in MiB; each network gets at most a quarter, and least recently used modules
    /// are deleted first [default: 4096]
    #[arg(long, value_name = "MIB")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module_cache: Option<u64>,
    /// Mail server, as `smtps://user:password@host` or `smtp://host:587?tls=required`; without one, mail is written to
    /// `outbox/` in the data folder. Prefer the variable `HUB_SMTP`: other users cannot see it
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smtp: Option<String>,
    /// Sender of mail [default: Network Hub <no-reply@localhost>]
    #[arg(long, value_name = "ADDRESS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mail_from: Option<String>,
    /// Non-public networks that webhooks may reach, also without TLS, for example `10.1.0.0/16,127.0.0.1`. The owner
    /// of any network can then send requests there [default: none]
    #[arg(long, value_name = "CIDR,…", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook_networks: Option<Vec<String>>,
    /// Issuer URL of the OpenID provider for sign-in, exactly as in its `issuer` field, for example
    /// `https://id.example`; requires the two options below and --public-url
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oidc_issuer: Option<String>,
    /// Client id of this hub at the OpenID provider
    #[arg(long, value_name = "ID")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oidc_client_id: Option<String>,
    /// Client secret of this hub at the OpenID provider. Prefer the variable `HUB_OIDC_CLIENT_SECRET`: other users
    /// cannot see it
    #[arg(long, value_name = "SECRET")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oidc_client_secret: Option<String>,
    /// Listen address for Prometheus metrics at `/metrics`; requires no key, so use a private network
    #[arg(long, value_name = "ADDR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<ListenAddress>,
    /// OTLP/HTTP trace collector, for example `http://127.0.0.1:4318` [default: no traces]
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otlp: Option<String>,
    /// URL for usage reports: each hour of each network is sent as one CloudEvent by POST [default: no reports]
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage_sink: Option<String>,
    /// Bearer token for usage reports. Prefer the variable `HUB_USAGE_SINK_TOKEN`: other users cannot see it
    #[arg(long, value_name = "TOKEN")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage_sink_token: Option<String>,
}

/// Resolves host names to addresses.
pub type HostResolver = Arc<dyn Fn(String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> + Send + Sync>;

/// Internal settings of webhooks.
#[derive(Clone)]
pub struct WebhookSettings {
    /// Host name resolver; none: the system's.
    pub resolver: Option<HostResolver>,
    /// Request timeout.
    pub timeout: Duration,
}

impl Default for WebhookSettings {
    fn default() -> Self {
        Self { resolver: None, timeout: Duration::from_secs(10) }
    }
}

/// Internal settings of snapshots.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotSettings {
    /// Largest snapshot that the hub receives, in bytes.
    pub limit: u64,
}

impl Default for SnapshotSettings {
    fn default() -> Self {
        Self { limit: 512 * 1024 * 1024 }
    }
}

/// Internal timeouts of connections.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionSettings {
    /// Time for the head of a connection's first request.
    pub head: Duration,
    /// Time until the next request. Longer than proxies keep a connection, so that the proxies close it.
    pub idle: Duration,
    /// Base time for a request body, extended according to its size.
    pub body: Duration,
    /// Time for a client to read anything of a write.
    pub write: Duration,
    /// Time for a large response to get memory.
    pub answer: Duration,
    /// True if the hub's own machine may open any number of connections.
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
    /// Enabled.
    On,
    /// Disabled.
    Off,
}

/// Sandbox settings for tests.
#[derive(Clone, Debug, Default)]
pub struct ModuleSettings {
    /// Executable that compiles modules with the command `compile-module`; none: the running one.
    pub compiler: Option<PathBuf>,
    /// Computing time of every call; none: the point's.
    pub compute: Option<Duration>,
    /// Fuel of every call; none: the point's.
    pub fuel: Option<u64>,
    /// Time a network's first call waits for its modules; none: two seconds.
    pub load: Option<Duration>,
    /// Clock of calls.
    pub clock: CallClock,
}

impl ModuleSettings {
    /// Limits of one call at a point.
    pub fn limits(&self, point: Point) -> Limits {
        let usual = Limits::of(point);
        let fuel = self.fuel.unwrap_or(usual.fuel);
        Limits { fuel, ..usual.with_compute(self.compute.unwrap_or(usual.compute)) }
    }
}

/// Settings of imports for tests.
#[derive(Clone, Debug, Default)]
pub struct ImportSettings {
    /// Executable that reads files with the command `read-import`; none: the running one.
    pub reader: Option<PathBuf>,
    /// Limits of a reader; none: the usual ones.
    pub limits: Option<ProcessLimits>,
}

/// Effective settings of a hub.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Settings {
    /// Data folder.
    pub data: PathBuf,
    /// PostgreSQL URL; none: SQLite in the data folder.
    pub database: Option<String>,
    /// Folder or S3-compatible store of blobs; none: a folder in the data folder.
    pub blobs: Option<String>,
    /// File of the key that seals secrets; none: in the data folder.
    pub secrets_key: Option<PathBuf>,
    /// Maximum number of PostgreSQL connections.
    pub database_connections: u32,
    /// Database statement timeout in milliseconds.
    pub database_timeout: u64,
    /// Internal: maximum wait for a connection to the database; none: the usual one.
    #[serde(skip)]
    pub database_patience: Option<Duration>,
    /// Listen address.
    pub listen: ListenAddress,
    /// NATS server of a cluster; none: single node.
    pub bus: Option<String>,
    /// Certificate authority of the bus.
    pub bus_ca: Option<PathBuf>,
    /// Credentials file for the bus.
    pub bus_credentials: Option<PathBuf>,
    /// URL of this node for other nodes.
    #[serde(deserialize_with = "values::base_url")]
    pub node_url: Option<String>,
    /// GeoIP database.
    pub geoip: Option<PathBuf>,
    /// Use of regions in routing.
    pub geo_routing: Switch,
    /// Allowed engine identifiers of servers.
    #[serde(deserialize_with = "values::list")]
    pub engines: Vec<String>,
    /// Milliseconds without a heartbeat after which a server is offline.
    pub offline_after: u64,
    /// Duration of a world's lease in milliseconds.
    pub lease: u64,
    /// Internal.
    #[serde(skip)]
    pub snapshot_settings: SnapshotSettings,
    /// Public URL of the hub, without a trailing slash.
    #[serde(deserialize_with = "values::base_url")]
    pub public_url: Option<String>,
    /// Proxies whose `X-Forwarded-For` is trusted.
    #[serde(deserialize_with = "values::networks")]
    pub trusted_proxies: Vec<IpNet>,
    /// Maximum number of connections; none: derived from the limit on open files.
    pub max_connections: Option<u32>,
    /// Maximum number of connections per address; none: a share of all.
    pub max_connections_per_address: Option<u32>,
    /// Internal.
    #[serde(skip)]
    pub connections: ConnectionSettings,
    /// Validity of artifact download links in milliseconds.
    pub artifact_link_ttl: u64,
    /// Memory for recorded calls of extension points, in MiB.
    pub record_memory: u64,
    /// Maximum number of processors used by modules of one network; none: half.
    pub module_cpus: Option<u64>,
    /// Disk space for compiled modules, in MiB.
    pub module_cache: u64,
    /// Mail server.
    pub smtp: Option<String>,
    /// Sender of mail.
    pub mail_from: String,
    /// Non-public networks that webhooks may reach.
    #[serde(deserialize_with = "values::networks")]
    pub webhook_networks: Vec<IpNet>,
    /// Internal.
    #[serde(skip)]
    pub webhooks: WebhookSettings,
    /// OpenID provider for sign-in; none: passwords only.
    pub oidc_issuer: Option<String>,
    /// Client id of this hub at the OpenID provider.
    pub oidc_client_id: Option<String>,
    /// Client secret of this hub at the OpenID provider.
    pub oidc_client_secret: Option<String>,
    /// Listen address for metrics; none: disabled.
    pub metrics: Option<ListenAddress>,
    /// Trace collector; none: no traces.
    #[serde(deserialize_with = "values::base_url")]
    pub otlp: Option<String>,
    /// URL for usage reports.
    #[serde(deserialize_with = "values::web_address")]
    pub usage_sink: Option<String>,
    /// Bearer token for usage reports.
    pub usage_sink_token: Option<String>,
    /// Limits below the hub's own, by name, for every network; a table in the config file.
    pub limits: Bounds,
    /// Internal.
    #[serde(skip)]
    pub modules: ModuleSettings,
    /// Internal.
    #[serde(skip)]
    pub imports: ImportSettings,
}

/// Implements `Debug` without secrets and without URLs, which contain passwords.
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
            database_patience: None,
            blobs: None,
            secrets_key: None,
            database_connections: 20,
            database_timeout: 15_000,
            listen: ([127, 0, 0, 1], 8080).into(),
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
            imports: ImportSettings::default(),
        }
    }
}

impl Settings {
    /// Loads the settings of a running hub.
    pub fn of_serve(args: &ServeArgs) -> anyhow::Result<Self> {
        Self::merge(args.storage.config.as_ref(), args)
    }

    /// Loads the settings of a command that works on the database.
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
            "secrets_key",
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
        let settings: Self = figment.extract().map_err(|error| complaint::of(&error, config.map(PathBuf::as_path)))?;
        let is_postgres = |url: &String| url.starts_with("postgres://") || url.starts_with("postgresql://");
        anyhow::ensure!(
            settings.database.as_ref().is_none_or(is_postgres),
            "the database must be a PostgreSQL, postgres://USER:PASSWORD@HOST/DATABASE; without --database, the hub has its own"
        );
        anyhow::ensure!(
            settings.bus.is_none() || settings.blobs.is_some(),
            "a cluster (--bus) needs a shared blob store: set --blobs to an S3-compatible store \
             (s3://KEY:SECRET@HOST/BUCKET) or a folder shared by all nodes"
        );
        Ok(settings)
    }

    /// Returns the database configuration.
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

    /// Path of the embedded database.
    pub fn database_file(&self) -> PathBuf {
        self.data.join("hub.db")
    }

    /// Path of the key that seals secrets in the database.
    pub fn secrets_key_file(&self) -> PathBuf {
        self.secrets_key.clone().unwrap_or_else(|| self.data.join("secrets.key"))
    }

    /// True if browsers reach the hub by TLS, as far as the settings say.
    pub fn is_tls(&self) -> bool {
        self.public_url.as_deref().is_some_and(|url| url.starts_with("https://"))
    }

    /// Time without a heartbeat after which a server is offline.
    pub fn offline_after(&self) -> Duration {
        Duration::from_millis(self.offline_after)
    }

    /// Duration of a world's lease.
    pub fn lease(&self) -> Duration {
        Duration::from_millis(self.lease)
    }

    /// URL of this node for other nodes.
    pub fn node_url(&self) -> anyhow::Result<String> {
        if let Some(url) = &self.node_url {
            return Ok(url.clone());
        }
        anyhow::ensure!(
            !self.listen.is_unspecified(),
            "this node listens on all addresses: set --node-url to the one that other nodes can reach"
        );
        Ok(format!("http://{}", self.listen))
    }

    /// Absolute URL for a path of the hub.
    pub fn url(&self, path: &str) -> String {
        if let Some(base) = &self.public_url {
            return format!("{base}{path}");
        }
        let port = self.listen.port();
        // A hub that listens on all addresses can at least be reached from its own machine.
        if self.listen.is_unspecified() {
            return format!("http://localhost:{port}{path}");
        }
        format!("http://{}{path}", self.listen)
    }
}
